//! Classifies the bottom of Claude Code's screen.
//!
//! Reads the input box and the lines directly above and below it, or the dialog in its place. Never reads the
//! conversation further up, and reports anything uncertain as unknown: while text streams beside half-typed input, the
//! client shows no sign of work at all.

use std::ops::Range;
use towline_core::arbiter::ScreenProbe;

/// Frames of the client's spinner.
const SPINNER: [char; 8] = ['·', '✢', '✳', '✶', '✻', '✽', '✺', '*'];

/// Beginnings of the banner's last line; below it the conversation is still empty.
const BANNER: [&str; 3] = ["  ▘▘ ▝▝ ", " ▝▝   ▝▝ ", "▝   "];

/// Shown below an empty input box, unless the client works or the user has a custom status line.
const IDLE_HINT: &str = "? for shortcuts";

/// Shown in its place while the client works.
const BUSY_HINT: &str = "esc to interrupt";

/// `text` is the screen's lines, without colours.
pub(crate) fn screen(text: &str) -> ScreenProbe {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    match input_box(&lines) {
        // While the user views a subagent, dialogs of others appear above the box.
        Some(input) if shows_dialog(input.conversation()) => ScreenProbe::Dialog,
        Some(input) if input.is_busy() => ScreenProbe::Busy,
        Some(input) if input.waits() => ScreenProbe::Prompt,
        None if shows_dialog(&lines) => ScreenProbe::Dialog,
        Some(_) | None => ScreenProbe::Unknown,
    }
}

/// The input box, between two horizontal lines.
pub(super) struct InputBox<'a> {
    above: &'a [&'a str],
    pub(super) below: &'a [&'a str],
    /// The line numbers of the text.
    pub(super) inside: Range<usize>,
    width: usize,
}

pub(super) fn input_box<'a>(lines: &'a [&'a str]) -> Option<InputBox<'a>> {
    let bottom = lines.iter().rposition(|line| is_border(line))?;
    let top = lines[..bottom].iter().rposition(|line| is_border(line))?;
    let below = &lines[bottom + 1..];
    let (first, more) = lines[top + 1..bottom].split_first()?;
    let is_typed_into = (first.starts_with('❯') || first.starts_with('!'))
        && more.iter().all(|line| line.is_empty() || line.starts_with("  "));
    // A dialog below an old box is a dialog.
    let is_lowest = !below.iter().any(|line| line.starts_with('▔') || is_cursor(line));
    let width = lines[bottom].chars().count();
    (is_typed_into && is_lowest).then_some(InputBox {
        above: &lines[..top],
        below,
        inside: top + 1..bottom,
        width,
    })
}

/// A horizontal line, possibly with a subagent's name in it.
fn is_border(line: &str) -> bool {
    line.starts_with("───") && line.ends_with('─')
}

impl<'a> InputBox<'a> {
    pub(super) fn is_busy(&self) -> bool {
        // The line with the spinner has tips or tasks indented below it.
        let work_line = self.conversation().iter().rev().find(|line| !line.starts_with("  "));
        self.hints(BUSY_HINT) || work_line.is_some_and(|line| is_at_work(line))
    }

    pub(super) fn waits(&self) -> bool {
        self.hints(IDLE_HINT) || self.conversation().last().is_some_and(|line| is_end_of_turn(line))
    }

    /// Whether the lines below the box contain this hint, possibly cut off by a narrow pane.
    fn hints(&self, hint: &str) -> bool {
        let is_it = |part: &str| match part.strip_suffix('…') {
            Some(start) => start.len() > "esc to".len() && hint.starts_with(start),
            None => part == hint,
        };
        let parts = self.below.iter().flat_map(|line| line.split(" · ")).flat_map(|part| part.split("  "));
        parts.map(str::trim).any(is_it)
    }

    /// The lines above the box, without the notice that newer clients put in between.
    pub(super) fn conversation(&self) -> &'a [&'a str] {
        let is_notice = |line: &str| line.starts_with("  ") && line.chars().count() + 2 == self.width;
        let mut rest = self.above;
        while let Some((last, before)) = rest.split_last()
            && (last.is_empty() || is_notice(last))
        {
            rest = before;
        }
        rest
    }
}

fn is_at_work(line: &str) -> bool {
    let mut chars = line.chars();
    let turns = chars.next().is_some_and(|first| SPINNER.contains(&first)) && chars.next() == Some(' ');
    let is_verb =
        chars.as_str().split_once('…').is_some_and(|(_, more)| more.is_empty() || more.starts_with(" ("));
    let waits_for_subagent = chars.as_str().starts_with("Waiting for ") && line.contains(" background agent");
    turns && (is_verb || waits_for_subagent)
}

fn is_end_of_turn(line: &str) -> bool {
    let duration = line.strip_prefix("✻ ").and_then(|line| line.split_once(" for "));
    let is_duration = duration.is_some_and(|(verb, time)| {
        !verb.contains(' ')
            && time.starts_with(|first: char| first.is_ascii_digit())
            && !time.contains("agent")
    });
    let is_fresh = BANNER.iter().any(|start| line.starts_with(start)) || line == "❯ /clear";
    let note = line.strip_prefix("  ⎿").map_or("", str::trim_start);
    is_duration || is_fresh || note.starts_with("Interrupted · ")
}

/// Dialogs end with a hint on how to leave them, or with their last option.
pub(super) fn shows_dialog(lines: &[&str]) -> bool {
    let mut lowest = lines.iter().rev().filter(|line| !line.is_empty() && !is_border(line));
    let Some(last) = lowest.next() else { return false };
    let hints = last.split(" · ").any(|part| part.trim() == "Esc to cancel");
    hints || (is_option(last) && (is_cursor(last) || lowest.take(DIALOG_LINES).any(|line| is_cursor(line))))
}

/// The most lines that a dialog's options take with their explanations.
const DIALOG_LINES: usize = 12;

/// The option that Enter would choose.
fn is_cursor(line: &str) -> bool {
    line.trim_start().strip_prefix("❯ ").is_some_and(is_option)
}

/// `2. No`.
fn is_option(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("❯ ").unwrap_or(line);
    let number = line.split_once('.').map_or("", |(number, _)| number);
    !number.is_empty() && number.len() <= 2 && number.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
