//! How a rollout of Codex ends.
//!
//! Only where turns begin and end counts: what else is written in between, before or after says nothing about that.
//! A line that is not whole is no JSON and is passed over, be it cut off in front or still being written.

use crate::wire::{Loose, Text};
use serde::Deserialize;
use serde_json::value::RawValue;
use towline_core::arbiter::{Tail, TailEnd};
use towline_core::time::Timestamp;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    /// Left unread unless the entry is an event: it may be large.
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Turn<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    reason: Text<'a>,
    error: Loose,
}

/// `text` is the last part of the file.
pub(crate) fn tail(text: &[u8]) -> Option<Tail> {
    let whole = |line| serde_json::from_slice::<Entry<'_>>(line).ok();
    let mut entries = text
        .rsplit(|byte| *byte == b'\n')
        .filter_map(whole)
        .filter(|entry| entry.kind.0.is_some())
        .peekable();
    let newest = at(entries.peek()?)?;
    let turn = entries.find_map(|entry| Some((end(&entry)?, at(&entry))));
    match turn {
        // A turn that goes on has got as far as its newest entry.
        Some((TailEnd::Other, _)) | None => Some(Tail { end: TailEnd::Other, at: newest }),
        Some((end, at)) => Some(Tail { end, at: at? }),
    }
}

fn at(entry: &Entry<'_>) -> Option<Timestamp> {
    Timestamp::parse_utc(entry.timestamp.as_deref()?)
}

/// `None` for what is neither begin nor end of a turn.
fn end(entry: &Entry<'_>) -> Option<TailEnd> {
    if !entry.kind.is("event_msg") {
        return None;
    }
    let turn: Turn<'_> = serde_json::from_str(entry.payload?.get()).ok()?;
    match turn.kind.as_deref() {
        Some("turn_aborted") if turn.reason.is("interrupted") => Some(TailEnd::Interrupted),
        Some("task_complete") if turn.error.0.is_object() => Some(failure(&turn)),
        Some("task_started" | "task_complete" | "turn_aborted") => Some(TailEnd::Other),
        _ => None,
    }
}

fn failure(turn: &Turn<'_>) -> TailEnd {
    let is_limit = turn.error.0.get("codex_error_info").is_some_and(|info| info == "usage_limit_exceeded");
    if is_limit { TailEnd::Limited } else { TailEnd::Failed }
}

#[cfg(test)]
mod tests;
