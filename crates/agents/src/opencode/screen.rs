//! Classifies the bottom of the screen of OpenCode and Kilo.
//!
//! Reads the input, a block of lines with a bar on the left, and the hint below it, or the dialog in its place. Never reads
//! the conversation above, and reports anything uncertain as unknown, such as a list that the user opened. An input that
//! waits is uncertain, too: the client shows one for a while after a prompt, and its plugin tells how each turn ends.

use std::ops::Range;
use towline_core::arbiter::ScreenProbe;

/// The bar on the left of the input, of dialogs and of sent prompts; and the line below the input.
const BAR: char = '┃';
const EDGE: &str = "╹▀▀";

/// Hints below an input while the client works.
const BUSY: [&str; 2] = ["esc interrupt", "esc again to interrupt"];

/// The keys in the last line of a dialog: of a permission, of a refusal's reason, and of a question.
const KEYS: [&str; 3] = ["enter confirm", "esc cancel", "esc dismiss"];

/// The columns between the bar and the text.
pub(super) const TEXT: usize = 3;

/// `text` is the screen's lines, without colours.
pub(crate) fn screen(text: &str) -> ScreenProbe {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match composer(&lines) {
        Some(composer) if composer.is_busy() => ScreenProbe::Busy,
        None if shows_dialog(&lines) => ScreenProbe::Dialog,
        Some(_) | None => ScreenProbe::Unknown,
    }
}

/// The input.
pub(super) struct Composer<'a> {
    /// The line numbers of the text.
    pub(super) inside: Range<usize>,
    /// The column of the bar.
    pub(super) column: usize,
    /// The line below the text: the agent and the model, or the shell.
    pub(super) mode: &'a str,
    hint: &'a str,
}

/// The lowest line of the screen ends it: a padding line, the text, a padding line, the mode, the edge, and a hint.
pub(super) fn composer<'a>(lines: &[&'a str]) -> Option<Composer<'a>> {
    let edge = lines.iter().rposition(|line| line.trim_start().starts_with(EDGE))?;
    let column = lines[edge].chars().take_while(|glyph| *glyph == ' ').count();
    let is_inside = |line: &&&str| behind_bar(line, column).is_some();
    let height = lines[..edge].iter().rev().take_while(is_inside).count();
    let start = edge - height;
    let hint = lines[edge + 1..].iter().find(|line| !line.is_empty()).copied().unwrap_or_default();
    let mode = behind_bar(lines.get(edge.checked_sub(1)?)?, column)?.trim();
    let is_padding = |at: usize| lines.get(at).is_some_and(|line| behind_bar(line, column) == Some(""));
    let is_whole = height >= 4 && is_padding(start) && is_padding(edge - 2) && !mode.is_empty();
    is_whole.then(|| Composer { inside: start + 1..edge - 2, column, mode, hint })
}

/// What follows the bar in this column; a line that also ends with a bar is one of a menu.
fn behind_bar(line: &str, column: usize) -> Option<&str> {
    let (before, behind) = line.split_once(BAR)?;
    let is_here = before.chars().count() == column && before.trim().is_empty();
    (is_here && !behind.ends_with(BAR)).then_some(behind)
}

impl Composer<'_> {
    pub(super) fn is_busy(&self) -> bool {
        BUSY.iter().any(|hint| self.hint.contains(hint))
    }

    pub(super) fn is_shell(&self) -> bool {
        self.mode == "Shell"
    }
}

/// Whether a dialog is the lowest element.
pub(super) fn shows_dialog(lines: &[&str]) -> bool {
    let lowest = lines.iter().rev().skip_while(|line| line.is_empty());
    let block: Vec<&str> = lowest.take_while(|line| line.trim_start().starts_with(BAR)).copied().collect();
    let keys = block.iter().find(|line| line.trim() != "┃");
    keys.is_some_and(|keys| KEYS.iter().any(|key| keys.ends_with(key)))
}

#[cfg(test)]
mod tests;
