//! How a transcript of Claude Code ends.
//!
//! Only the newest entry of the main conversation counts: the client also writes its helpers' words and notes of its
//! own. A line that is not whole is no JSON and is passed over, be it cut off in front or still being written.

use super::reset;
use crate::reader::Any;
use crate::wire::{Loose, Text, newest_first};
use serde::Deserialize;
use serde_json::Value;
use towline_core::arbiter::{Tail, TailEnd};
use towline_core::time::Timestamp;

/// What the client writes in the person's name when the turn is stopped.
pub(super) const INTERRUPTED: [&str; 2] =
    ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];

/// What the client writes in the person's name about a command that it carries out itself.
const LOCAL_COMMAND: [&str; 2] = ["<local-command-", "<command-name>"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub subtype: Text<'a>,
    #[serde(borrow)]
    pub timestamp: Text<'a>,
    #[serde(rename = "isSidechain")]
    pub is_sidechain: Loose,
    #[serde(rename = "isApiErrorMessage")]
    pub is_api_error: Loose,
    #[serde(borrow)]
    error: Text<'a>,
    #[serde(rename = "quotaLimits")]
    quota: Loose,
    /// Left unread until the entry is known to count: it may be large.
    #[serde(borrow)]
    pub message: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    content: Loose,
}

/// `text` is the last part of the file.
pub(crate) fn tail(text: &[u8]) -> Option<Tail> {
    let (end, entry) = newest_first(text).find_map(|entry| Some((end(&entry)?, entry)))?;
    // An older entry would tell of an older end.
    let at = Timestamp::parse_utc(entry.timestamp.as_deref().unwrap_or(""))?;
    let until = if end == TailEnd::Limited { until(&entry, at) } else { None };
    Some(Tail { end, at, until })
}

/// Whether the newest thing that was said ends in these words. The client writes a little later than it tells.
pub(crate) fn holds(text: &[u8], last_words: &str) -> bool {
    let is_answer =
        |entry: &Entry<'_>| entry.kind.as_deref() == Some("assistant") && !is_true(&entry.is_sidechain);
    let said = newest_first::<Entry<'_>>(text).find(is_answer).map(|entry| words(&entry));
    said.is_some_and(|said| said.trim_end().ends_with(last_words))
}

/// Newer clients write the end of a limit down, older ones say it in words.
fn until(entry: &Entry<'_>, at: Timestamp) -> Option<Timestamp> {
    let written = entry.quota.0.get("resetsAt").and_then(Value::as_i64);
    let seconds = written.and_then(|seconds| seconds.checked_mul(1000)).map(Timestamp);
    seconds.or_else(|| reset::said_in(&words(entry), at))
}

/// `None` for what is no part of the main conversation.
fn end(entry: &Entry<'_>) -> Option<TailEnd> {
    match entry.kind.as_deref() {
        _ if is_true(&entry.is_sidechain) => None,
        Some("user") => said_by_person(&words(entry)),
        Some("assistant") if is_true(&entry.is_api_error) => Some(failure(entry)),
        Some("assistant") => Some(TailEnd::Other),
        _ => None,
    }
}

fn said_by_person(words: &str) -> Option<TailEnd> {
    match words {
        words if INTERRUPTED.contains(&words) => Some(TailEnd::Interrupted),
        words if LOCAL_COMMAND.iter().any(|mark| words.starts_with(mark)) => None,
        _ => Some(TailEnd::Other),
    }
}

fn failure(entry: &Entry<'_>) -> TailEnd {
    if is_limit(&entry.error, &words(entry)) { TailEnd::Limited } else { TailEnd::Failed }
}

/// Clients that do not name the error name the limit in their words.
pub(super) fn is_limit(error: &Text<'_>, words: &str) -> bool {
    let words = words.to_lowercase();
    error.is("rate_limit") || words.contains("usage limit") || words.contains("rate limit")
}

/// The text of a message, which is either one string or a list of blocks; what else it holds is left out.
fn words(entry: &Entry<'_>) -> String {
    let message: Message = entry.message.as_a().unwrap_or_default();
    let content = message.content.0;
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
    content.as_str().into_iter().chain(texts).collect()
}

fn is_true(value: &Loose) -> bool {
    value.0.as_bool() == Some(true)
}

#[cfg(test)]
mod tests;
