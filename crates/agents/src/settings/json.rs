//! Locates values in a JSON text as spans, so that an edit changes only its own bytes.
//!
//! Reads strict JSON that `check` accepted. Builds no tree, unescapes nothing but keys, and never recurses.

use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::refusal::RefusalCause;
use crate::skim::{skip_space, string_end, value_end};

/// The byte range of a value.
pub(super) type ByteSpan = Range<usize>;

/// One element of an array, or one `"key": value` of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    /// The key, unescaped; `None` in an array, and for a key that is not valid Unicode.
    pub key: Option<String>,
    pub whole: ByteSpan,
    /// The value alone.
    pub value: ByteSpan,
}

/// The kind of a value, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Object,
    Array,
    Scalar,
}

const BYTE_ORDER_MARK: char = '\u{feff}';
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// Accepts one strict JSON value, with or without a byte order mark before it.
pub(super) fn check(text: &str) -> Result<(), RefusalCause> {
    serde_json::from_str::<IgnoredAny>(without_mark(text)).map(drop).map_err(|error| {
        let (line, column, reason) = (error.line(), error.column(), reason(&error));
        RefusalCause::NotJson { line, column, reason }
    })
}

pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Whether the text is blank, which the agents read as no settings.
pub(super) fn is_blank(text: &str) -> bool {
    without_mark(text).trim_matches(SPACE).is_empty()
}

pub(super) fn root(text: &str) -> ByteSpan {
    let start = skip_space(text.as_bytes(), text.len() - without_mark(text).len());
    start..end_of_value(text, start)
}

pub(super) fn kind(text: &str, span: &ByteSpan) -> ValueKind {
    match byte(text, span.start) {
        Some(b'{') => ValueKind::Object,
        Some(b'[') => ValueKind::Array,
        _ => ValueKind::Scalar,
    }
}

/// The elements of the object or array at `container`, in order. A scalar has none.
pub(super) fn elements(text: &str, container: &ByteSpan) -> Vec<Element> {
    let mut found = Vec::new();
    if kind(text, container) == ValueKind::Scalar {
        return found;
    }
    let mut at = skip_space(text.as_bytes(), container.start + 1);
    while at + 1 < container.end {
        let element = element(text, at);
        at = skip_space(text.as_bytes(), element.whole.end);
        if byte(text, at) == Some(b',') {
            at = skip_space(text.as_bytes(), at + 1);
        }
        found.push(element);
    }
    found
}

/// The value of `key`. The last of a repeated key counts, as for the agents.
pub(super) fn member(text: &str, object: &ByteSpan, key: &str) -> Option<Element> {
    let is_named = |element: &Element| element.key.as_deref() == Some(key);
    elements(text, object).into_iter().rev().find(is_named)
}

/// The parsed value at `span`; `null` if it cannot be represented.
pub(super) fn value(text: &str, span: &ByteSpan) -> Value {
    serde_json::from_str(&text[span.clone()]).unwrap_or_default()
}

/// The whitespace directly before `at`.
pub(super) fn space_before(text: &str, at: usize) -> &str {
    let head = &text[..at];
    &head[head.trim_end_matches(SPACE).len()..]
}

fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    }
}

fn element(text: &str, start: usize) -> Element {
    let end = end_of_value(text, start);
    let colon = skip_space(text.as_bytes(), end);
    if byte(text, colon) != Some(b':') {
        return Element { key: None, whole: start..end, value: start..end };
    }
    let value = skip_space(text.as_bytes(), colon + 1);
    let value = value..end_of_value(text, value);
    Element { key: serde_json::from_str(&text[start..end]).ok(), whole: start..value.end, value }
}

fn end_of_value(text: &str, start: usize) -> usize {
    value_end(text.as_bytes(), start).unwrap_or(text.len())
}

/// The offset after the string that begins at `start`.
pub(super) fn end_of_string(text: &str, start: usize) -> usize {
    string_end(text.as_bytes(), start).unwrap_or(text.len())
}

fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_elements(text: &str, expected: &[(Option<&str>, &str)]) {
        check(text).expect("the text is JSON");
        let found = elements(text, &root(text));
        let shown: Vec<_> = found.iter().map(|e| (e.key.as_deref(), &text[e.value.clone()])).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn members_are_found_with_their_exact_bytes() {
        check_elements(
            " {\"a\" : 1.5e3 ,\r\n\"b\":{\"}\":\"]\"},\"c\":[ ] , \"d\":null}\n",
            &[(Some("a"), "1.5e3"), (Some("b"), "{\"}\":\"]\"}"), (Some("c"), "[ ]"), (Some("d"), "null")],
        );
    }

    #[test]
    fn items_are_found_with_their_exact_bytes() {
        check_elements(
            "[true,\"a\\\"b\\\\\" ,[[]], {}]",
            &[(None, "true"), (None, "\"a\\\"b\\\\\""), (None, "[[]]"), (None, "{}")],
        );
    }

    #[test]
    fn empty_containers_have_no_elements() {
        check_elements("{}", &[]);
        check_elements("[ \n ]", &[]);
    }

    #[test]
    fn escaped_key_is_read_as_what_it_means() {
        check_elements("{\"ho\\u006fks\":1}", &[(Some("hooks"), "1")]);
    }

    #[test]
    fn last_of_a_repeated_key_counts() {
        let text = "{\"a\":1,\"a\":2}";
        let found = member(text, &root(text), "a").expect("the key is there");
        assert_eq!(&text[found.value], "2");
    }

    #[test]
    fn byte_order_mark_is_no_part_of_the_value() {
        let text = "\u{feff} {\"a\":1}";
        check(text).expect("the text is JSON");
        assert_eq!(&text[root(text)], "{\"a\":1}");
    }

    #[test]
    fn error_tells_line_and_column() {
        let found = check("{\n  \"a\": 1,\n}").expect_err("a trailing comma is no JSON");
        let RefusalCause::NotJson { line, column, reason } = found else { panic!("{found}") };
        assert_eq!((line, column, reason.as_str()), (3, 1, "key must be a string"));
    }

    #[test]
    fn deep_nesting_does_not_exhaust_the_stack() {
        let text = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        check(&text).expect("the text is JSON");
        assert_eq!(elements(&text, &root(&text)).len(), 1);
    }
}
