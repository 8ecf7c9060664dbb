//! Classifies the end of a Codex rollout.
//!
//! Reads only the events that start and end turns. Skips incomplete lines, truncated or still being written.

use crate::json::{LooseValue, OptText, RawValue, newest_first};
use serde::Deserialize;
use serde_json::Value;
use towline_core::arbiter::{TranscriptEnd, TranscriptTail};
use towline_core::time::Timestamp;

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct RolloutEntry<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub timestamp: OptText<'a>,
    /// Unparsed unless the entry is an event: it may be large.
    pub payload: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct TurnEvent<'a> {
    #[serde(rename = "type")]
    kind: OptText<'a>,
    reason: OptText<'a>,
    error: LooseValue,
    rate_limits: LooseValue,
}

/// `text` is the last part of the file.
pub(crate) fn tail(text: &[u8]) -> Option<TranscriptTail> {
    let mut entries = newest_first(text).filter(|entry: &RolloutEntry<'_>| entry.kind.0.is_some()).peekable();
    let newest = at(entries.peek()?)?;
    let turn = entries.find_map(|entry| Some((end(&entry)?, at(&entry))));
    match turn {
        // A running turn has progressed up to its newest entry.
        Some((TranscriptEnd::Other, _)) | None => {
            Some(TranscriptTail { end: TranscriptEnd::Other, at: newest, until: None })
        }
        Some((TranscriptEnd::Limited, at)) => Some(TranscriptTail {
            end: TranscriptEnd::Limited,
            at: at?,
            until: limits_before(entries).and_then(until),
        }),
        Some((end, at)) => Some(TranscriptTail { end, at: at?, until: None }),
    }
}

/// The rate limits that the client received in the same turn.
fn limits_before<'a>(entries: impl Iterator<Item = RolloutEntry<'a>>) -> Option<Value> {
    let turns = entries.filter_map(|entry| turn(&entry));
    turns.take_while(|turn| !turn.kind.is("task_started")).find_map(|turn| {
        let is_count = turn.kind.is("token_count");
        is_count.then_some(turn.rate_limits.0)
    })
}

/// The end of the last exhausted limit.
fn until(limits: Value) -> Option<Timestamp> {
    let windows = ["primary", "secondary"].into_iter().filter_map(|name| limits.get(name));
    let used_up = windows.filter(|window| window["used_percent"].as_f64().is_some_and(|used| used >= 100.0));
    let seconds = used_up.filter_map(|window| window["resets_at"].as_i64()).max()?;
    seconds.checked_mul(1000).map(Timestamp)
}

fn at(entry: &RolloutEntry<'_>) -> Option<Timestamp> {
    Timestamp::parse_utc(entry.timestamp.as_deref()?)
}

/// `None` for entries that neither start nor end a turn.
fn end(entry: &RolloutEntry<'_>) -> Option<TranscriptEnd> {
    let turn = turn(entry)?;
    match turn.kind.as_deref() {
        Some("turn_aborted") if turn.reason.is("interrupted") => Some(TranscriptEnd::Interrupted),
        Some("task_complete") if turn.error.0.is_object() => Some(failure(&turn)),
        Some("task_started" | "task_complete" | "turn_aborted") => Some(TranscriptEnd::Other),
        _ => None,
    }
}

fn turn<'a>(entry: &RolloutEntry<'a>) -> Option<TurnEvent<'a>> {
    entry.kind.is("event_msg").then(|| entry.payload.parse_as())?
}

fn failure(turn: &TurnEvent<'_>) -> TranscriptEnd {
    let is_limit = turn.error.0.get("codex_error_info").is_some_and(|info| info == "usage_limit_exceeded");
    if is_limit { TranscriptEnd::Limited } else { TranscriptEnd::Failed }
}

#[cfg(test)]
mod tests;
