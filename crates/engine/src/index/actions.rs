//! The part of a turn's tool calls that is indexed: commands, paths, short results, error lines, texts of subagents.
//!
//! Bulk output is left out: `deep` reads it on request. Every text is bounded, and so is that of a turn.

use memchr::memmem;
use std::borrow::Cow;
use std::ops::{ControlFlow, RangeInclusive};
use towline_core::capture::DetailKind;
use towline_core::text::{clip, clip_start};
use towline_core::time::Timestamp;
use towline_store::StoreError;
use towline_store::archive::{Archive, Conversation, DetailOrder, DetailText};

/// Bytes of an input: a command, a path and a pattern are short, and stand at its beginning.
const INPUT: usize = 600;
/// A shorter output is indexed whole.
const SHORT: usize = 400;
/// The start and the end of a failed output.
const FAILED: [usize; 2] = [800, 400];
/// The start and the end of a subagent's prompt and answer, and of a summary.
const TEXT: [usize; 2] = [6_000, 2_000];
/// Errors are looked for at both ends of an output.
const READ: [usize; 2] = [16_000, 16_000];
const ERROR_LINES: usize = 8;
const ERROR_LINE: usize = 240;
const TURN: usize = 64_000;

/// Marks of lines with an error, as compilers, test runners, interpreters and shells print them.
const ERROR_SIGNS: [&str; 8] =
    ["rror: ", "rror[", "panicked at", "FAILED", "atal: ", "FATAL: ", "xception: ", "command not found"];

/// The indexed text of one turn.
pub struct TurnActions {
    pub turn: u32,
    pub at: Timestamp,
    pub text: String,
}

/// Passes the indexed text of each of these turns that has one to `each`.
pub fn each_turn<E: From<StoreError>>(
    archive: &Archive,
    of: &Conversation,
    turns: RangeInclusive<u32>,
    each: &mut dyn FnMut(TurnActions) -> Result<(), E>,
) -> Result<(), E> {
    let mut current: Option<TurnActions> = None;
    let _ = archive.each_detail(of, turns, DetailOrder::OldestFirst, &mut |detail| {
        if current.as_ref().is_none_or(|current| current.turn != detail.turn) {
            current.take().map_or(Ok(()), &mut *each)?;
            current = Some(TurnActions { turn: detail.turn, at: detail.at, text: String::new() });
        }
        if let Some(current) = current.as_mut().filter(|current| current.text.len() < TURN) {
            current.at = detail.at;
            current.add(detail);
        }
        Ok::<_, E>(ControlFlow::Continue(()))
    })?;
    current.map_or(Ok(()), each)
}

impl TurnActions {
    fn add(&mut self, detail: &DetailText<'_>) {
        let tool = detail.tool.filter(|tool| detail.kind == DetailKind::Input && !self.text.contains(tool));
        for part in tool.map(Cow::Borrowed).into_iter().chain([indexed(detail)]) {
            if !part.is_empty() {
                self.text.push_str(&part);
                self.text.push('\n');
            }
        }
    }
}

/// The part of a detail that is indexed.
pub fn indexed<'a>(detail: &DetailText<'a>) -> Cow<'a, str> {
    let text = detail.text;
    match detail.kind {
        DetailKind::Input => Cow::Borrowed(clip(text, INPUT)),
        DetailKind::Output if text.len() <= SHORT => Cow::Borrowed(text),
        DetailKind::Output if detail.is_failed => {
            let ends = ends(text, FAILED).into_owned();
            Cow::Owned(error_lines(text).into_iter().fold(ends, |all, line| all + "\n" + line))
        }
        DetailKind::Output => Cow::Owned(error_lines(text).join("\n")),
        DetailKind::Thinking | DetailKind::Image => Cow::Borrowed(""),
        DetailKind::Note | DetailKind::Summary | DetailKind::Prompt | DetailKind::Answer => ends(text, TEXT),
    }
}

fn ends(text: &str, [start, end]: [usize; 2]) -> Cow<'_, str> {
    if text.len() <= start + end {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}\n…\n{}", clip(text, start), clip_start(text, end)))
}

/// The first lines with an error, in order.
fn error_lines(text: &str) -> Vec<&str> {
    let [start, end] = READ;
    if text.len() <= start + end {
        return error_lines_within(text);
    }
    let mut lines = error_lines_within(clip(text, start));
    lines.extend(error_lines_within(clip_start(text, end)));
    lines
}

fn error_lines_within(text: &str) -> Vec<&str> {
    let found = ERROR_SIGNS
        .iter()
        .flat_map(|sign| memmem::find_iter(text.as_bytes(), sign.as_bytes()).take(ERROR_LINES));
    let mut places: Vec<usize> = found.map(|at| line_start(text, at)).collect();
    places.sort_unstable();
    places.dedup();
    places.truncate(ERROR_LINES);
    let line = |at: usize| clip(text[at..].lines().next().unwrap_or_default(), ERROR_LINE);
    places.into_iter().map(line).collect()
}

fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str, is_failed: bool) -> String {
        let detail = DetailText {
            row: 1,
            turn: 1,
            at: Timestamp(0),
            kind: DetailKind::Output,
            tool: None,
            is_failed,
            text,
        };
        indexed(&detail).into_owned()
    }

    #[test]
    fn of_a_long_output_its_error_lines_are_indexed() {
        let bulk = "let shade = paint(hull);\n".repeat(300);
        let text =
            format!("{bulk}error[E0382]: use of moved value\n  --> hull.rs:3\n{bulk}TypeError: no mast\n");
        assert_eq!(output(&text, false), "error[E0382]: use of moved value\nTypeError: no mast");
        assert_eq!(output(&bulk, false), "");
        assert!(output(&bulk, true).starts_with("let shade"));
        assert_eq!(output("3 passed", false), "3 passed");
    }

    #[test]
    fn errors_are_found_at_both_ends_of_a_huge_output() {
        let bulk = "x".repeat(60_000);
        let text = format!("fatal: no keel\n{bulk}\nthread 'main' panicked at hull.rs:7");
        assert_eq!(output(&text, false), "fatal: no keel\nthread 'main' panicked at hull.rs:7");
    }
}
