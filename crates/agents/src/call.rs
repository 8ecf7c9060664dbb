//! Finds fields of a tool call's input without parsing the rest.
//!
//! An input may have been broken by redaction, or cut: nothing here fails, and only the requested value is built.

use crate::skim::string_end;
use memchr::{memchr2, memchr3, memmem};
use std::borrow::Cow;

/// The string under the first of these keys, preferring keys of the top-level object.
pub(crate) fn text<'a>(input: &'a str, keys: &[&str]) -> Option<Cow<'a, str>> {
    keys.iter()
        .find_map(|key| unquoted(own(input, key)?))
        .or_else(|| keys.iter().find_map(|key| find_string_at_any_depth(input, key)))
}

/// The value under a top-level key, as written.
pub(crate) fn own<'a>(input: &'a str, key: &str) -> Option<&'a str> {
    let mut depth = 0_usize;
    let mut offset = 0;
    while let Some(found) = next_mark(input, offset) {
        offset = found + 1;
        match input.as_bytes()[found] {
            b'"' => {
                let end = closing_quote(input, offset);
                let name = &input[offset..end];
                offset = (end + 1).min(input.len());
                let value = input[offset..].trim_start().strip_prefix(':').map(str::trim_start);
                if let (1, true, Some(value)) = (depth, name == key, value) {
                    return Some(value);
                }
            }
            b'{' | b'[' => depth += 1,
            _ => depth = depth.saturating_sub(1),
        }
    }
    None
}

/// The first string under this key at any depth.
pub(crate) fn find_string_at_any_depth<'a>(input: &'a str, key: &str) -> Option<Cow<'a, str>> {
    let quoted = format!("\"{key}\"");
    let values = memmem::find_iter(input.as_bytes(), &quoted)
        .map(|offset| input[offset + quoted.len()..].trim_start());
    values.filter_map(|rest| rest.strip_prefix(':')).find_map(|value| unquoted(value.trim_start()))
}

/// The strings of a list, up to where it ends or breaks.
pub(crate) fn texts(list: &str) -> Vec<Cow<'_, str>> {
    let mut texts = vec![];
    let mut rest = list.strip_prefix('[').unwrap_or("").trim_start();
    while let Some(text) = unquoted(rest) {
        texts.push(text);
        let end = closing_quote(rest, 1) + 1;
        rest = rest.get(end..).unwrap_or("").trim_start();
        rest = rest.strip_prefix(',').unwrap_or("").trim_start();
    }
    texts
}

/// The string that starts with the leading quote; if it was cut, the remainder.
fn unquoted(value: &str) -> Option<Cow<'_, str>> {
    let inner = &value.strip_prefix('"')?[..closing_quote(value, 1) - 1];
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let whole = serde_json::from_str::<String>(&format!("\"{inner}\""));
    Some(whole.map_or(Cow::Borrowed(inner), Cow::Owned))
}

/// The end of the string that began before `from`: its closing quote, or the end of the input.
fn closing_quote(input: &str, from: usize) -> usize {
    string_end(input.as_bytes(), from - 1).map_or(input.len(), |end| end - 1)
}

/// The next quote or bracket. Closing brackets are searched only up to the next quote, which is a short way.
fn next_mark(input: &str, from: usize) -> Option<usize> {
    let rest = &input.as_bytes()[from..];
    let quote = memchr3(b'"', b'{', b'[', rest);
    let until = quote.unwrap_or(rest.len());
    let closing = memchr2(b'}', b']', &rest[..until]);
    closing.or(quote).map(|offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, key: &str, expected: Option<&str>) {
        assert_eq!(text(input, &[key]).as_deref(), expected, "{input}");
    }

    #[test]
    fn keys_of_the_top_level_object_are_preferred() {
        check(r#"{"content":"\"path\": \"no\"","inner":{"path":"no"}, "path" : "yes"}"#, "path", Some("yes"));
        check(r#"{"a":[{"path":"no"}],"path":"a\n\"b\" \u00e9"}"#, "path", Some("a\n\"b\" é"));
        check(r#"{"path":7}"#, "path", None);
        check("plain text", "path", None);
        check("", "path", None);
    }

    #[test]
    fn input_broken_by_redaction_is_read_up_to_the_break() {
        check(
            r#"{"command":"export TOKEN=[redacted:secret]"#,
            "command",
            Some("export TOKEN=[redacted:secret]"),
        );
        check(r#"{"token":[redacted:secret],"command":"ls"}"#, "command", Some("ls"));
        check(r#"{"token":"[redacted:secret],"command":"ls"}"#, "command", Some("ls"));
        check(r#"{"command":"a\"#, "command", Some("a\\"));
        check(r#"{"command":""#, "command", Some(""));
        check(r#"{"command""#, "command", None);
    }

    #[test]
    fn a_list_of_texts_ends_where_it_breaks() {
        assert_eq!(texts(r#"["bash", "-lc","a\tb"]"#), ["bash", "-lc", "a\tb"]);
        assert_eq!(texts(r#"["bash", 7, "x"]"#), ["bash"]);
        assert_eq!(texts(r#"["ba"#), ["ba"]);
        assert_eq!(texts("7"), [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn no_input_panics(input in r#"[{}\[\]",:\\a-bé \n]{0,60}"#) {
            let _ = (text(&input, &["a", "b"]), find_string_at_any_depth(&input, "a"), texts(&input), own(&input, "b"));
        }
    }
}
