//! Classifies the bottom of Codex's screen.
//!
//! Reads the input line and the lines directly above and below it, or the dialog in its place. Never reads the
//! conversation further up, and reports anything uncertain as unknown: while text streams, the client shows no sign of
//! work at all.

use towline_core::arbiter::ScreenProbe;

/// `text` is the screen's lines, without colours.
pub(crate) fn screen(text: &str) -> ScreenProbe {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let last = lines.iter().rev().find(|line| !line.is_empty());
    let Some(cursor) = lines.iter().rposition(|line| line.starts_with('›')) else {
        return ScreenProbe::Unknown;
    };
    let (above, below) = (&lines[..cursor], &lines[cursor + 1..]);
    match is_option(lines[cursor]) {
        true if last == Some(&"  Press enter to confirm or esc to cancel") => ScreenProbe::Dialog,
        false if is_busy(above, below) => ScreenProbe::Busy,
        false if is_at_rest(above, below) => ScreenProbe::Prompt,
        true | false => ScreenProbe::Unknown,
    }
}

/// `› 1. Yes, proceed (y)`. A user may type the same, so this alone proves no dialog.
fn is_option(line: &str) -> bool {
    let number = line.trim_start_matches('›').trim_start().split_once(". ").map_or("", |(number, _)| number);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// A working client says so above the input line, or offers to queue typed text.
fn is_busy(above: &[&str], below: &[&str]) -> bool {
    let says = above.iter().rev().find(|line| !line.is_empty()).is_some_and(|line| {
        (line.starts_with("• ") || line.starts_with("◦ ")) && line.ends_with(" • esc to interrupt)")
    });
    says || below.contains(&"  tab to queue message")
}

/// Whether the end of a turn is directly above the input line.
fn is_at_rest(above: &[&str], below: &[&str]) -> bool {
    let is_browsing = below.iter().any(|line| line.starts_with("  Browsing"));
    let end = above.iter().rposition(|line| !line.is_empty()).unwrap_or(0);
    let begin = above[..end].iter().rposition(|line| line.is_empty()).map_or(0, |blank| blank + 1);
    !is_browsing && above.get(begin).is_some_and(|line| is_duration(line) || line.starts_with(INTERRUPTED))
}

const INTERRUPTED: &str = "■ Conversation interrupted";

/// `  Worked for 3m 12s • …`
pub(super) fn is_duration(line: &str) -> bool {
    line.strip_prefix("  Worked for ").is_some_and(|time| {
        time.starts_with(|first: char| first == '<' || first.is_ascii_digit()) && time.contains(" • ")
    })
}

#[cfg(test)]
mod tests;
