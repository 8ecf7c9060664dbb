//! Classifies the end of a Claude Code transcript.
//!
//! Reads only the newest entry of the main conversation: the file also holds subagents' messages and the client's
//! notes. Incomplete lines are not JSON and are skipped, whether truncated at the front or still being written.

use super::entry::ContentBlock;
use super::reset;
use crate::json::{OptText, RawValue, newest_first};
use serde::Deserialize;
use towline_core::arbiter::{TranscriptEnd, TranscriptTail};
use towline_core::time::Timestamp;

/// Written by the client in the user's name when a turn is interrupted.
pub(super) const INTERRUPTED: [&str; 2] =
    ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];

/// Written by the client in the user's name about a command that it runs itself.
const LOCAL_COMMAND: [&str; 2] = ["<local-command-", "<command-name>"];

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct TailEntry<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub subtype: OptText<'a>,
    pub timestamp: OptText<'a>,
    #[serde(rename = "isSidechain")]
    pub is_sidechain: RawValue<'a>,
    #[serde(rename = "isApiErrorMessage")]
    pub is_api_error: RawValue<'a>,
    error: OptText<'a>,
    #[serde(rename = "quotaLimits")]
    quota: RawValue<'a>,
    /// Unparsed until the entry is known to count: it may be large.
    pub message: RawValue<'a>,
}

/// `text` is the last part of the file.
pub(crate) fn tail(text: &[u8]) -> Option<TranscriptTail> {
    let (end, entry) = newest_first(text).find_map(|entry| Some((end(&entry)?, entry)))?;
    // No fallback to an older entry, which would describe an older end.
    let at = Timestamp::parse_utc(entry.timestamp.as_deref().unwrap_or(""))?;
    let until = if end == TranscriptEnd::Limited { until(&entry, at) } else { None };
    Some(TranscriptTail { end, at, until })
}

/// Whether the newest answer ends with this text. The client writes it a little later than it calls the hook.
pub(crate) fn holds(text: &[u8], last_words: &str) -> bool {
    let is_answer =
        |entry: &TailEntry<'_>| entry.kind.as_deref() == Some("assistant") && !entry.is_sidechain.is_true();
    let answer = newest_first::<TailEntry<'_>>(text).find(is_answer).map(|entry| words(&entry));
    answer.is_some_and(|answer| answer.trim_end().ends_with(last_words))
}

/// Newer clients store the end of a limit, older ones mention it in the message.
fn until(entry: &TailEntry<'_>, at: Timestamp) -> Option<Timestamp> {
    let written: Option<i64> = entry.quota.get("resetsAt").parse_as();
    let seconds = written.and_then(|seconds| seconds.checked_mul(1000)).map(Timestamp);
    seconds.or_else(|| reset::parse_reset(&words(entry), at))
}

/// `None` for entries outside the main conversation.
fn end(entry: &TailEntry<'_>) -> Option<TranscriptEnd> {
    match entry.kind.as_deref() {
        _ if entry.is_sidechain.is_true() => None,
        Some("user") => user_end(&words(entry)),
        Some("assistant") if entry.is_api_error.is_true() => Some(failure(entry)),
        Some("assistant") => Some(TranscriptEnd::Other),
        _ => None,
    }
}

fn user_end(words: &str) -> Option<TranscriptEnd> {
    match words {
        words if INTERRUPTED.contains(&words) => Some(TranscriptEnd::Interrupted),
        words if LOCAL_COMMAND.iter().any(|mark| words.starts_with(mark)) => None,
        _ => Some(TranscriptEnd::Other),
    }
}

fn failure(entry: &TailEntry<'_>) -> TranscriptEnd {
    if is_limit(&entry.error, &words(entry)) { TranscriptEnd::Limited } else { TranscriptEnd::Failed }
}

/// Clients that do not name the error mention the limit in the message.
pub(super) fn is_limit(error: &OptText<'_>, words: &str) -> bool {
    let words = words.to_lowercase();
    error.is("rate_limit") || words.contains("usage limit") || words.contains("rate limit")
}

/// The text of a message, which is a string or a list of blocks; other content is left out.
fn words(entry: &TailEntry<'_>) -> String {
    let blocks: Vec<ContentBlock<'_>> = entry.message.get("content").parts();
    blocks.into_iter().filter_map(|block| block.text.0).collect()
}

#[cfg(test)]
mod tests;
