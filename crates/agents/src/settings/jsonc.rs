//! JSON with comments and trailing commas, as editors write it: edited by way of a twin that is strict JSON.
//!
//! The twin has the same bytes at the same places, with spaces for what strict JSON does not know. What an edit does to
//! the twin is done to the text; a comment is never lost by it.

use super::json::{self, Kind};
use super::refusal::Cause;

/// A text and its twin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Commented {
    text: String,
    strict: String,
}

impl Commented {
    /// A text that holds one object.
    pub fn object(text: &str) -> Result<Self, Cause> {
        let strict = without_trailing_commas(&without_comments(text));
        json::check(&strict).map_err(|json::Syntax { line, column, reason }| Cause::NotJson {
            line,
            column,
            reason,
        })?;
        if json::kind(&strict, &json::root(&strict)) != Kind::Object {
            return Err(Cause::RootNotObject);
        }
        Ok(Self { text: text.to_owned(), strict })
    }

    /// The twin.
    pub fn strict(&self) -> &str {
        &self.strict
    }

    pub fn into_text(self) -> String {
        self.text
    }

    /// Does to the text what was done to the twin, which was changed in one place.
    pub fn follow(&self, edited: &str) -> Result<Self, Cause> {
        let (old, new) = (self.strict.as_bytes(), edited.as_bytes());
        let alike = |(one, other): &(&u8, &u8)| one == other;
        let start = old.iter().zip(new).take_while(alike).count();
        let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(alike).count();
        let (start, end) = (boundary(&self.text, start), old.len() - end);
        let end = (end..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(end);
        let inserted = &edited[start..edited.len() - (old.len() - end)];
        let kept = self.comments(start, end);
        Self::object(&format!("{}{kept}{inserted}{}", &self.text[..start], &self.text[end..]))
    }

    /// The comments of a stretch; one that ends with its line brings the end with it.
    fn comments(&self, start: usize, end: usize) -> String {
        // Where the twin is the same there is none; a stretch may begin within a text there.
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

/// The last place at or before `at` where a character begins.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The next comment from `from` on, which stands outside of any text.
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
        // Lines stay lines, so that a mistake is named by the right one.
        plain.extend(text.as_bytes()[from..to].iter().map(|byte| if *byte == b'\n' { '\n' } else { ' ' }));
        at = to;
    }
    plain.push_str(&text[at..]);
    plain
}

/// Of a text without comments.
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
    fn what_is_no_json_even_so_is_named_by_its_line() {
        let wrong = Commented::object("{\n // fine\n \"a\": oops\n}").unwrap_err();
        assert!(matches!(wrong, Cause::NotJson { line: 3, .. }), "{wrong}");
        assert!(matches!(Commented::object("// only\n[1]").unwrap_err(), Cause::RootNotObject));
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
