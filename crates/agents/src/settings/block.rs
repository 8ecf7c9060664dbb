//! A few lines of ours between two markers in a text file: appended, and updated in place.
//!
//! Works on bytes and parses nothing but the markers. Never guesses the end of an unclosed block.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::apply::RetryPace;
use super::change::{Containers, EditPlan};
use super::refusal::{EditRefusal, RefusalCause};
use super::subject::ManagedContent;

/// The marker lines: comments in every format in which we write a block.
const OPENED: &str = "# >>> towline >>>";
const CLOSED: &str = "# <<< towline <<<";

/// A text file, and the lines that we want in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedBlock {
    owner: &'static str,
    file: PathBuf,
    lines: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockState {
    Absent,
    /// Exactly once, and correct.
    Right,
    /// More than once, or with other lines.
    Outdated,
}

impl MarkedBlock {
    pub fn new(owner: &'static str, file: PathBuf, lines: impl Into<String>) -> Self {
        Self { owner, file, lines: lines.into() }
    }

    pub fn inspect_file(&self, pace: RetryPace) -> Result<BlockState, EditRefusal> {
        let plan = self.preview(pace)?;
        let blocks = self.blocks(plan.before.as_deref().unwrap_or_default())?;
        Ok(match (blocks.is_empty(), plan.is_empty()) {
            (true, _) => BlockState::Absent,
            (false, true) => BlockState::Right,
            (false, false) => BlockState::Outdated,
        })
    }

    fn text(&self) -> String {
        format!("{OPENED}\n{}\n{CLOSED}\n", self.lines)
    }

    /// The ranges of our blocks, including markers and line ends.
    fn blocks(&self, bytes: &[u8]) -> Result<Vec<Range<usize>>, EditRefusal> {
        let (mut blocks, mut open, mut start) = (vec![], None, 0);
        for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let end = start + line.len();
            let is_mark = |mark: &str| line.trim_ascii() == mark.as_bytes();
            match open {
                None if is_mark(OPENED) => open = Some((start, number + 1)),
                Some((_, line)) if is_mark(OPENED) => {
                    return Err(self.refuse(RefusalCause::OpenBlock { line }));
                }
                Some((from, _)) if is_mark(CLOSED) => {
                    blocks.push(from..end);
                    open = None;
                }
                None | Some(_) => {}
            }
            start = end;
        }
        open.map_or(Ok(blocks), |(_, line)| Err(self.refuse(RefusalCause::OpenBlock { line })))
    }
}

impl ManagedContent for MarkedBlock {
    fn owner(&self) -> &'static str {
        self.owner
    }

    fn file(&self) -> &Path {
        &self.file
    }

    fn plan(&self, existing: Option<&[u8]>) -> Result<EditPlan, EditRefusal> {
        let bytes = existing.unwrap_or_default();
        let blocks = self.blocks(bytes)?;
        let after = match blocks.first() {
            None => [bytes, gap(bytes), self.text().as_bytes()].concat(),
            Some(first) => {
                let behind = without(bytes, &blocks, first.end);
                [&bytes[..first.start], self.text().as_bytes(), &behind].concat()
            }
        };
        Ok(EditPlan::of_bytes(&self.file, existing, Some(after)))
    }

    fn plan_removal(&self, existing: Option<&[u8]>, _kept: &Containers) -> Result<EditPlan, EditRefusal> {
        let blocks = self.blocks(existing.unwrap_or_default())?;
        Ok(EditPlan::of_bytes(&self.file, existing, existing.map(|bytes| without(bytes, &blocks, 0))))
    }
}

/// The separator before an appended block: the last line may lack its end, or continue on the next line.
fn gap(text: &[u8]) -> &'static [u8] {
    let last = text.strip_suffix(b"\n");
    match (text.is_empty(), last) {
        (true, _) => b"",
        (false, None) if text.ends_with(b"\\") => b"\n\n",
        (false, Some(line)) if !line.ends_with(b"\\") => b"",
        (false, _) => b"\n",
    }
}

/// The bytes from `start` on, without these blocks.
fn without(bytes: &[u8], blocks: &[Range<usize>], start: usize) -> Vec<u8> {
    let (mut rest, mut from) = (vec![], start);
    for block in blocks.iter().filter(|block| block.start >= start) {
        rest.extend_from_slice(&bytes[from..block.start]);
        from = block.end;
    }
    rest.extend_from_slice(&bytes[from..]);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> MarkedBlock {
        MarkedBlock::new("tmux", PathBuf::from("/home/user/.tmux.conf"), "ours")
    }

    fn planned(text: &str) -> String {
        String::from_utf8(block().plan(Some(text.as_bytes())).unwrap().after.unwrap()).unwrap()
    }

    fn removed(text: &str) -> String {
        let plan = block().plan_removal(Some(text.as_bytes()), &Containers::default()).unwrap();
        String::from_utf8(plan.after.unwrap()).unwrap()
    }

    const OURS: &str = "# >>> towline >>>\nours\n# <<< towline <<<\n";

    #[test]
    fn the_block_stands_behind_the_text_and_a_second_plan_changes_nothing() {
        for (text, gap) in
            [("", ""), ("a\n", ""), ("a", "\n"), ("a \\\n", "\n"), ("a \\", "\n\n"), ("\n", "")]
        {
            let after = planned(text);
            assert_eq!(after, format!("{text}{gap}{OURS}"));
            assert_eq!(planned(&after), after);
            assert_eq!(removed(&after), format!("{text}{gap}"));
        }
    }

    #[test]
    fn a_block_is_renewed_where_it_stands_and_a_second_one_goes() {
        let old = "# >>> towline >>>\nold\nolder\n# <<< towline <<<\n";
        assert_eq!(planned(&format!("a\n{old}b\n{OURS}c\n{old}")), format!("a\n{OURS}b\nc\n"));
        assert_eq!(removed(&format!("a\n{old}b\n{OURS}c\n{old}")), "a\nb\nc\n");
    }

    #[test]
    fn marks_are_found_with_blanks_around_them_and_without_a_last_line_end() {
        assert_eq!(removed("a\n  # >>> towline >>> \r\nx\n# <<< towline <<<"), "a\n");
    }

    #[test]
    fn a_block_that_is_never_closed_is_refused_with_its_line() {
        for text in
            ["a\n# >>> towline >>>\nb\n", "a\n# >>> towline >>>\n# >>> towline >>>\n# <<< towline <<<\n"]
        {
            let refusal = block().plan(Some(text.as_bytes())).unwrap_err();
            assert!(matches!(refusal.cause, RefusalCause::OpenBlock { line: 2 }), "{refusal:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay_as_they_are() {
        let after = block().plan(Some(b"\xff\xfe\n")).unwrap().after.unwrap();
        assert_eq!(after, [b"\xff\xfe\n", OURS.as_bytes()].concat());
    }
}
