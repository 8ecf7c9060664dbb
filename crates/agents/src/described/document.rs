//! A transcript that is one JSON value, written anew each time: its entries as lines, or why there are none.
//!
//! Gives no entry a meaning, and opens no file.

use super::json_path::JsonPath;
use serde_json::Value;

/// Longer than any agent keeps a conversation in one value: it is held in memory.
pub const LONGEST_DOCUMENT: u64 = 64 << 20;

/// Why a whole JSON file has no entries that could be read. Repeats nothing of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDocument {
    #[error("it is longer than {} MB, the most that is read of a whole JSON file", LONGEST_DOCUMENT >> 20)]
    TooLong,
    #[error("it is no whole JSON value: line {line}, column {column}")]
    NotJson { line: usize, column: usize },
    #[error("`transcript.entries` leads to no list in it")]
    NoEntries,
}

impl BadDocument {
    /// The remedy for the author of the description.
    pub fn cure(self) -> &'static str {
        match self {
            BadDocument::TooLong => "begin a new session: this one is not captured any more",
            BadDocument::NotJson { .. } => {
                "mend `transcript.format` if the file is no single JSON value; if the agent was writing it, run this again"
            }
            BadDocument::NoEntries => "mend `transcript.entries`",
        }
    }
}

/// One line per entry, as if the agent had appended them. A file that was just made may still be empty.
pub(super) fn as_lines(entries: &[JsonPath], document: &[u8]) -> Result<Vec<u8>, BadDocument> {
    let mut lines = vec![];
    if document.is_empty() {
        return Ok(lines);
    }
    let not_json =
        |error: serde_json::Error| BadDocument::NotJson { line: error.line(), column: error.column() };
    let value: Value = serde_json::from_slice(document).map_err(not_json)?;
    if !entries.iter().any(|path| path.leads_somewhere(&value)) {
        return Err(BadDocument::NoEntries);
    }
    for entry in entries.iter().flat_map(|path| path.all(&value)) {
        serde_json::to_writer(&mut lines, entry).map_err(not_json)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(entries: &str, document: &str, expected: Result<&str, BadDocument>) {
        let found = as_lines(&[JsonPath::parse(entries).unwrap()], document.as_bytes());
        assert_eq!(found.map(|lines| String::from_utf8(lines).unwrap()), expected.map(str::to_owned));
    }

    #[test]
    fn a_wrong_path_to_the_entries_is_no_empty_conversation() {
        let document = r#"{"messages":[{"a":1},{"b":2}],"turns":[{"of":[]}],"title":"x"}"#;
        check("messages[]", document, Ok("{\"a\":1}\n{\"b\":2}\n"));
        check("message[]", document, Err(BadDocument::NoEntries));
        check("title[]", document, Err(BadDocument::NoEntries));
        check("turns[].messages[]", document, Err(BadDocument::NoEntries));
        check("[]", document, Err(BadDocument::NoEntries));
        check("turns[].of[]", document, Ok(""));
        check("messages[type=none]", document, Ok(""));
        check("messages[]", r#"{"messages":[]}"#, Ok(""));
        check("[]", "[]", Ok(""));
        check("[]", "", Ok(""));
    }

    #[test]
    fn half_of_a_document_is_named_with_its_place() {
        let half = "{\"messages\":[\n{\"a\":";
        check("messages[]", half, Err(BadDocument::NotJson { line: 2, column: 5 }));
    }
}
