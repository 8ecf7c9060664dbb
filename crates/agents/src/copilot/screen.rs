//! Classifies the bottom of Copilot's screen.
//!
//! Reads the input line between two horizontal lines and the hint below it, or the dialog in its place. Never reads the
//! conversation above, and reports anything uncertain as unknown, such as a screen with the sidebar open.

use std::ops::Range;
use towline_core::arbiter::ScreenProbe;

/// Frames of the client's spinner, which begins the hint while the client works or waits for its own shells.
const SPINNER: [char; 4] = ['◉', '◎', '○', '●'];

/// Parts of the hint below an input line that holds nothing, and below one that holds something.
pub(super) const HINT_WHEN_EMPTY: &str = "/ commands";
const HINTS_WHEN_TYPED: [&str; 2] = ["@ files", "/help show help"];

/// `text` is the screen's lines, without colours.
pub(crate) fn screen(text: &str) -> ScreenProbe {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match composer(&lines) {
        Some(composer) if composer.is_busy() => ScreenProbe::Busy,
        Some(composer) if composer.waits() => ScreenProbe::Prompt,
        None if shows_dialog(&lines) => ScreenProbe::Dialog,
        Some(_) | None => ScreenProbe::Unknown,
    }
}

/// The input line, between two horizontal lines.
pub(super) struct Composer<'a> {
    /// The line numbers of the text.
    pub(super) inside: Range<usize>,
    hint: &'a str,
}

pub(super) fn composer<'a>(lines: &[&'a str]) -> Option<Composer<'a>> {
    let bottom = lines.iter().rposition(|line| is_border(line))?;
    let top = lines[..bottom].iter().rposition(|line| is_border(line))?;
    let (first, more) = lines[top + 1..bottom].split_first()?;
    let is_typed_into =
        first.starts_with(['❯', '!']) && more.iter().all(|line| line.is_empty() || line.starts_with("  "));
    let mut below = lines[bottom + 1..].iter().filter(|line| !line.is_empty());
    let hint = below.next().copied().unwrap_or_default();
    is_typed_into.then_some(Composer { inside: top + 1..bottom, hint })
}

impl Composer<'_> {
    pub(super) fn is_busy(&self) -> bool {
        self.hint.trim_start().starts_with(SPINNER)
    }

    pub(super) fn hints(&self, wanted: &str) -> bool {
        self.hint.split(" · ").any(|part| part.trim().starts_with(wanted))
    }

    fn waits(&self) -> bool {
        self.hints(HINT_WHEN_EMPTY) || HINTS_WHEN_TYPED.iter().any(|hint| self.hints(hint))
    }
}

fn is_border(line: &str) -> bool {
    line.starts_with("───") && line.chars().all(|glyph| glyph == '─')
}

/// Whether a dialog is the lowest element but for the user's status line: a box for a permission, two lines for a question.
/// Lists that the user opened, such as the models, have neither below their keys.
pub(super) fn shows_dialog(lines: &[&str]) -> bool {
    let mut lowest = lines.iter().rev().filter(|line| !line.is_empty());
    let is_edge = |line: &&&str| line.starts_with('╰') || is_border(line);
    let (Some(edge), Some(keys)) = (lowest.by_ref().take(STATUS_LINES).find(is_edge), lowest.next()) else {
        return false;
    };
    (edge.starts_with('╰') && keys.contains("enter to select · esc to cancel"))
        || (is_border(edge) && keys.contains("enter accept") && keys.ends_with("esc cancel"))
}

/// How far up the edge of a dialog is looked for.
const STATUS_LINES: usize = 6;

#[cfg(test)]
mod tests;
