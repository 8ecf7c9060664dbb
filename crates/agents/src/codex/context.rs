//! How full the context of Codex is, by what its rollout says.
//!
//! Only the newest count counts, and none is left after a compaction. A thread inside the session has a file of its
//! own.

use super::tail::Entry;
use crate::wire::{Loose, Text, newest_first};
use serde::Deserialize;
use serde_json::Value;
use towline_core::context::Context;
use towline_core::time::Timestamp;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Count<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    info: Loose,
}

/// `text` is the last part of the file.
pub(crate) fn context(text: &[u8]) -> Option<Context> {
    newest_first::<Entry<'_>>(text).find_map(|entry| said(&entry))?
}

/// `None` for what says nothing about it, and `Some(None)` where nothing older counts.
fn said(entry: &Entry<'_>) -> Option<Option<Context>> {
    match entry.kind.as_deref() {
        Some("compacted") => Some(None),
        Some("event_msg") => count(entry).map(Some),
        _ => None,
    }
}

/// Whether nothing was said or done since the last count.
pub(crate) fn ends_counted(text: &[u8]) -> bool {
    let mut entries = newest_first::<Entry<'_>>(text);
    let newest = entries.find(|entry| entry.kind.is("response_item") || count(entry).is_some());
    newest.is_some_and(|entry| entry.kind.is("event_msg"))
}

fn count(entry: &Entry<'_>) -> Option<Context> {
    let count: Count<'_> = entry.payload.as_a()?;
    if !count.kind.is("token_count") {
        return None;
    }
    let tokens = count.info.0.get("last_token_usage")?.get("total_tokens").and_then(Value::as_u64)?;
    let window = count.info.0.get("model_context_window").and_then(Value::as_u64);
    let at = entry.timestamp.as_deref().and_then(Timestamp::parse_utc);
    (tokens > 0).then_some(Context { tokens, window, at })
}

#[cfg(test)]
mod tests;
