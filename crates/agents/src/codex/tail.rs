//! Classifies the end of a Codex rollout.
//!
//! Reads only the events that start and end turns. Skips incomplete lines, truncated or still being written.

use super::entry::{RolloutEvent, RolloutLine};
use super::transcript::is_usage_limit;
use crate::json::{RawValue, newest_first};
use towline_core::arbiter::{TranscriptEnd, TranscriptTail};
use towline_core::time::Timestamp;

/// `text` is the last part of the file.
pub(crate) fn tail(text: &[u8]) -> Option<TranscriptTail> {
    let mut entries = newest_first(text).filter(|entry: &RolloutLine<'_>| entry.kind.0.is_some()).peekable();
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
fn limits_before<'a>(entries: impl Iterator<Item = RolloutLine<'a>>) -> Option<RawValue<'a>> {
    let turns = entries.filter_map(|entry| turn(&entry));
    turns.take_while(|turn| !turn.kind.is("task_started")).find_map(|turn| {
        let is_count = turn.kind.is("token_count");
        is_count.then_some(turn.rate_limits)
    })
}

/// The end of the last exhausted limit.
fn until(limits: RawValue<'_>) -> Option<Timestamp> {
    let windows = ["primary", "secondary"].into_iter().map(|name| limits.get(name));
    let is_used_up =
        |window: &RawValue<'_>| window.get("used_percent").parse_as().is_some_and(|used: f64| used >= 100.0);
    let ends = windows.filter(is_used_up).filter_map(|window| window.get("resets_at").parse_as::<i64>());
    let seconds = ends.max()?;
    seconds.checked_mul(1000).map(Timestamp)
}

fn at(entry: &RolloutLine<'_>) -> Option<Timestamp> {
    Timestamp::parse_utc(entry.timestamp.as_deref()?)
}

/// `None` for entries that neither start nor end a turn.
fn end(entry: &RolloutLine<'_>) -> Option<TranscriptEnd> {
    let turn = turn(entry)?;
    match turn.kind.as_deref() {
        Some("turn_aborted") if turn.reason.is("interrupted") => Some(TranscriptEnd::Interrupted),
        Some("task_complete") if turn.error.raw().starts_with('{') => Some(failure(turn.error)),
        Some("task_started" | "task_complete" | "turn_aborted") => Some(TranscriptEnd::Other),
        _ => None,
    }
}

fn turn<'a>(entry: &RolloutLine<'a>) -> Option<RolloutEvent<'a>> {
    entry.kind.is("event_msg").then(|| entry.payload.parse_as())?
}

fn failure(error: RawValue<'_>) -> TranscriptEnd {
    if is_usage_limit(error) { TranscriptEnd::Limited } else { TranscriptEnd::Failed }
}

#[cfg(test)]
mod tests;
