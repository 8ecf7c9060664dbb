//! Text line by line: quotes of clipped texts, and the headings above them.
//!
//! Escapes untrusted text for the terminal.

use std::fmt::Write;
use towline_core::escape::{escape_for_terminal, lines_for_terminal};
use towline_core::time::Timestamp;
use towline_engine::query::{Clipped, Conversation};
use towline_engine::runtime::calendar;

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

/// The items without repetitions, in the order of their first occurrence.
pub fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = vec![];
    for item in items {
        if !found.contains(&item) {
            found.push(item);
        }
    }
    found
}

/// One-line heading of a session.
pub fn head(of: &Conversation) -> String {
    let project = of.project.as_deref().map(|name| format!(", project {}", escape_for_terminal(name)));
    let branch = of.branch.as_deref().map(|name| format!(", branch {}", escape_for_terminal(name)));
    format!(
        "session {} ({}){}{}",
        of.short,
        of.session,
        project.unwrap_or_default(),
        branch.unwrap_or_default()
    )
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
    fn what_is_quoted_cannot_steer_a_terminal() {
        let mut page = Page::default();
        page.quote(&Clipped { text: "a\u{1b}[2J\r\n\n漢".into(), left_out: 7 }, "`tow session detail x`");
        assert_eq!(page.text, "  a[2J\n\n  漢\n  [7 more bytes: `tow session detail x`]\n");
    }
}
