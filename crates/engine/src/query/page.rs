//! Bounded output: a shared byte budget, texts clipped to it, and the headings above them.
//!
//! Every clipped byte is counted. Escapes untrusted text for the terminal.

use crate::runtime::calendar;
use std::fmt::Write;
use towline_core::escape::{for_terminal, lines_for_terminal};
use towline_core::text::clip;
use towline_core::time::Timestamp;
use towline_store::archive::{Conversation, TurnRow};

/// Bytes that may still be shown; `None` is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    left: Option<usize>,
}

/// A text clipped to the available room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clipped {
    pub text: String,
    pub left_out: usize,
}

impl Room {
    /// 0 is unlimited.
    pub fn of(bytes: usize) -> Room {
        Room { left: (bytes > 0).then_some(bytes) }
    }

    /// An equal share for each of `number` texts.
    pub fn shared_by(self, number: usize) -> Room {
        Room { left: self.left.map(|left| left / number.max(1)) }
    }

    pub fn is_used_up(&self) -> bool {
        self.left == Some(0)
    }

    /// The beginning of a text: at most `longest` bytes and the room left. Unlimited room returns all.
    pub fn take(&mut self, text: String, longest: usize) -> Clipped {
        let Some(left) = &mut self.left else { return Clipped { text, left_out: 0 } };
        let kept = clip(&text, longest.min(*left)).len();
        let left_out = text.len() - kept;
        let is_last = left_out > 0 && *left <= longest;
        *left = if is_last { 0 } else { *left - kept };
        let text = if left_out == 0 { text } else { text[..kept].to_owned() };
        Clipped { text, left_out }
    }
}

#[derive(Debug, Default)]
pub struct Page {
    pub text: String,
}

impl Page {
    pub fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Quotes untrusted text, indented by two columns; `more` is the command that shows the clipped rest.
    pub fn quote(&mut self, clipped: &Clipped, more: &str) {
        for line in lines_for_terminal(&clipped.text).lines() {
            let _ = writeln!(self.text, "{}", format!("  {line}").trim_end());
        }
        if clipped.left_out > 0 {
            self.line(&format!("  [{} more bytes: {more}]", clipped.left_out));
        }
    }
}

/// One-line heading of a session.
pub fn head(of: &Conversation) -> String {
    let project = of.project.as_deref().map(|name| format!(", project {}", for_terminal(name)));
    let branch = of.branch.as_deref().map(|name| format!(", branch {}", for_terminal(name)));
    format!(
        "session {} ({}){}{}",
        of.short,
        of.session,
        project.unwrap_or_default(),
        branch.unwrap_or_default()
    )
}

/// Short id of a turn.
pub fn id_of(of: &Conversation, turn: &TurnRow) -> String {
    format!("{}#{}", of.short, turn.ordinal)
}

/// Start and end of a span, with the day only if it differs from today.
pub fn spanned(from: Timestamp, to: Timestamp, now: Timestamp) -> String {
    let (begun, ended) = (calendar::clock(from, now), calendar::clock(to, from));
    if to.since_ms(from) < 1000 || begun == ended { begun } else { format!("{begun} to {ended}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_the_room_there_is_and_what_is_missing_is_counted() {
        let mut room = Room::of(10);
        assert_eq!(room.take("漢字".into(), 4), Clipped { text: "漢".into(), left_out: 3 });
        assert_eq!(room.take("abc".into(), 100), Clipped { text: "abc".into(), left_out: 0 });
        assert_eq!(room.take("abcdef".into(), 100), Clipped { text: "abcd".into(), left_out: 2 });
        assert!(room.is_used_up());
        assert_eq!(Room::of(0).take("x".repeat(100), 10).left_out, 0, "0 is without bounds");
    }

    #[test]
    fn room_without_bounds_stays_so_when_it_is_shared() {
        assert_eq!(Room::of(0).shared_by(7).take("x".repeat(100), 10).left_out, 0);
        assert_eq!(Room::of(70).shared_by(7).take("x".repeat(100), 100).left_out, 90);
    }

    #[test]
    fn what_is_quoted_cannot_steer_a_terminal() {
        let mut page = Page::default();
        page.quote(&Clipped { text: "a\u{1b}[2J\r\n\n漢".into(), left_out: 7 }, "`tow detail x`");
        assert_eq!(page.text, "  a[2J\n\n  漢\n  [7 more bytes: `tow detail x`]\n");
    }
}
