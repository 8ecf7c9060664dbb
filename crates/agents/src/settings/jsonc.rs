//! JSON with comments and trailing commas, as editors write it, edited by way of a strict JSON twin.
//!
//! The twin has the same bytes at the same offsets, with spaces in place of comments and trailing commas. An edit of
//! the twin is repeated on the text, and never loses a comment.

use super::change::common_ends;
use super::json::{self, ValueKind};
use super::refusal::RefusalCause;

/// A text and its strict twin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commented {
    text: String,
    strict: String,
}

impl Commented {
    /// Parses a text that holds one object.
    pub fn object(text: &str) -> Result<Self, RefusalCause> {
        let strict = without_trailing_commas(&without_comments(text));
        json::check(&strict)?;
        if json::kind(&strict, &json::root(&strict)) != ValueKind::Object {
            return Err(RefusalCause::RootNotObject);
        }
        Ok(Self { text: text.to_owned(), strict })
    }

    pub fn strict(&self) -> &str {
        &self.strict
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// Repeats on the text an edit of the twin at one position.
    pub fn follow(&self, edited: &str) -> Result<Self, RefusalCause> {
        let (old, new) = (self.strict.as_bytes(), edited.as_bytes());
        let (start, end) = common_ends(old, new);
        let (start, end) = (boundary(&self.text, start), old.len() - end);
        let end = (end..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(end);
        let inserted = &edited[start..edited.len() - (old.len() - end)];
        let kept = self.comments(start, end);
        Self::object(&format!("{}{kept}{inserted}{}", &self.text[..start], &self.text[end..]))
    }

    /// The comments in a range; a line comment includes its line end.
    fn comments(&self, start: usize, end: usize) -> String {
        // Equal ranges hold no comment; such a range may begin inside a string.
        if self.text[start..end] == self.strict[start..end] {
            return String::new();
        }
        let mut kept = String::new();
        let mut at = start;
        while let Some((from, to)) = next_comment(&self.text, at).filter(|(from, _)| *from < end) {
            kept.push(' ');
            kept.push_str(&self.text[from..to]);
            if self.text[from..].starts_with("//") {
                kept.push('\n');
            }
            at = to;
        }
        kept
    }
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The next comment from `from` on, outside of any string.
fn next_comment(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => at = json::end_of_string(text, at),
            (b'/', Some(b'/')) => {
                let line = text[at..].find(['\n', '\r']).map_or(text.len(), |length| at + length);
                return Some((at, line));
            }
            (b'/', Some(b'*')) => {
                let end = text[at + 2..].find("*/").map_or(text.len(), |length| at + length + 4);
                return Some((at, end));
            }
            _ => at += 1,
        }
    }
    None
}

fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((from, to)) = next_comment(text, at) {
        plain.push_str(&text[at..from]);
        // Line breaks stay, so that an error is reported on the right line.
        plain.extend(text.as_bytes()[from..to].iter().map(|byte| if *byte == b'\n' { '\n' } else { ' ' }));
        at = to;
    }
    plain.push_str(&text[at..]);
    plain
}

/// Expects a text without comments.
fn without_trailing_commas(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut plain, mut at) = (bytes.to_vec(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = json::end_of_string(text, at),
            b',' => {
                let next = bytes[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
                if matches!(next, Some(b']' | b'}')) {
                    plain[at] = b' ';
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    String::from_utf8(plain).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_is_strict_and_of_the_same_length() {
        let text = "{ // é\n \"a\": \"// no, \\\" ] comment\", /* b\n */ \"c\": [1, 2, ], }\n";
        let twin = Commented::object(text).unwrap();
        assert_eq!(twin.strict().len(), text.len());
        let value: serde_json::Value = serde_json::from_str(twin.strict()).unwrap();
        assert_eq!(value["a"], "// no, \" ] comment");
        assert_eq!(value["c"], serde_json::json!([1, 2]));
    }

    #[test]
    fn invalid_json_is_reported_with_its_line() {
        let wrong = Commented::object("{\n // fine\n \"a\": oops\n}").unwrap_err();
        assert!(matches!(wrong, RefusalCause::NotJson { line: 3, .. }), "{wrong}");
        assert!(matches!(Commented::object("// only\n[1]").unwrap_err(), RefusalCause::RootNotObject));
        assert!(Commented::object("{ /* not closed ").is_err());
    }

    #[test]
    fn an_edit_of_the_twin_is_an_edit_of_the_text_and_no_comment_is_lost() {
        let check = |text: &str, old: &str, new: &str, expected: &str| {
            let twin = Commented::object(text).unwrap();
            let edited = twin.strict().replacen(old, new, 1);
            assert_ne!(edited, twin.strict());
            assert_eq!(twin.follow(&edited).unwrap().into_text(), expected);
        };
        check("{\"a\": [1 /* x */, ]} // é", "[1", "[1, 2", "{\"a\": [1, 2 /* x */, ]} // é");
        check("{\"a\": [ /* none */ ]}", "[            ]", "[7]", "{\"a\": [ /* none */7]}");
        check("{\"a\": [1, // one\n2]}", "1,       \n2", "1", "{\"a\": [1 // one\n]}");
    }
}
