//! Classifies the bottom of Gemini CLI's screen.
//!
//! Reads the input box, the status row above it, or the dialog in its place. Never reads the conversation further up:
//! sent prompts are drawn like the box, but without the rule and the mode's row above them. The pane's title tells the
//! same states, except that it calls a client that asks for trust in its folder ready.

use std::ops::Range;
use towline_core::arbiter::ScreenProbe;

/// `text` is the screen's lines, without colours.
pub(crate) fn screen(text: &str) -> ScreenProbe {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match input_box(&lines) {
        Some(input) if is_busy(&lines, &input) => ScreenProbe::Busy,
        Some(_) => ScreenProbe::Prompt,
        None if shows_dialog(&lines) => ScreenProbe::Dialog,
        None => ScreenProbe::Unknown,
    }
}

/// The line numbers of the text in the input box: between two rows of half blocks, below a rule.
pub(super) fn input_box(lines: &[&str]) -> Option<Range<usize>> {
    let bottom = lines.iter().rposition(|line| is_row_of(line, '▀'))?;
    let top = lines[..bottom].iter().rposition(|line| is_row_of(line, '▄'))?;
    let has_mark =
        lines.get(top + 1).is_some_and(|line| [" >", " !", " *"].iter().any(|mark| line.starts_with(mark)));
    let is_below_rule = rule(lines, top).is_some();
    (has_mark && is_below_rule && top + 1 < bottom).then_some(top + 1..bottom)
}

/// The rule is two rows above the box: the mode stands between them.
fn rule(lines: &[&str], top: usize) -> Option<usize> {
    let from = top.saturating_sub(MODE_ROWS);
    lines[from..top].iter().rposition(|line| is_row_of(line, '─')).map(|at| from + at)
}

/// The most rows between rule and box; narrow panes wrap the mode.
const MODE_ROWS: usize = 4;

fn is_row_of(line: &str, glyph: char) -> bool {
    line.chars().count() > 8 && line.chars().all(|other| other == glyph)
}

/// A working client turns a spinner in the status row, directly above the rule.
pub(super) fn is_busy(lines: &[&str], input: &Range<usize>) -> bool {
    let Some(rule) = rule(lines, input.start - 1) else { return false };
    let status = lines[..rule].iter().rev().take_while(|line| !line.is_empty()).take(STATUS_ROWS);
    let is_spinner = |first: char| ('\u{2800}'..='\u{28ff}').contains(&first);
    status.into_iter().any(|line| line.starts_with(' ') && line.trim_start().starts_with(is_spinner))
}

/// The most rows that a narrow pane wraps the status into.
const STATUS_ROWS: usize = 3;

/// A box at the bottom of the screen, in place of the input: a dialog or a list.
pub(super) fn shows_box(lines: &[&str]) -> bool {
    lines.iter().rfind(|line| !line.is_empty()).is_some_and(|line| line.starts_with('╰'))
}

/// A box with numbered options, one of them selected.
fn shows_dialog(lines: &[&str]) -> bool {
    let is_option = |line: &&str| {
        let option = line.trim_start_matches(['│', ' ']).strip_prefix("● ");
        option.is_some_and(|option| option.starts_with(|first: char| first.is_ascii_digit()))
    };
    let from_bottom = lines.iter().rev().skip_while(|line| !line.starts_with('╰'));
    let inside = from_bottom.skip(1).take_while(|line| line.starts_with('│'));
    shows_box(lines) && inside.into_iter().any(is_option)
}

#[cfg(test)]
mod tests;
