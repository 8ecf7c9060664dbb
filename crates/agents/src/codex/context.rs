//! Context usage of Codex, read from its rollout.
//!
//! Reads only the newest count, and none from before a compaction. Subagent threads have their own files.

use super::tail::RolloutEntry;
use crate::json::{LooseValue, OptText, newest_first};
use serde::Deserialize;
use serde_json::Value;
use towline_core::context::ReportedContext;
use towline_core::time::Timestamp;

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct TokenCount<'a> {
    #[serde(rename = "type")]
    kind: OptText<'a>,
    info: LooseValue,
}

/// `text` is the last part of the file.
pub(crate) fn context(text: &[u8]) -> Option<ReportedContext> {
    newest_first::<RolloutEntry<'_>>(text).find_map(|entry| entry_context(&entry))?
}

/// `None` if the entry has no count, `Some(None)` if it invalidates older ones.
fn entry_context(entry: &RolloutEntry<'_>) -> Option<Option<ReportedContext>> {
    match entry.kind.as_deref() {
        Some("compacted") => Some(None),
        Some("event_msg") => count(entry).map(Some),
        _ => None,
    }
}

/// Whether no item follows the last count.
pub(crate) fn ends_counted(text: &[u8]) -> bool {
    let mut entries = newest_first::<RolloutEntry<'_>>(text);
    let newest = entries.find(|entry| entry.kind.is("response_item") || count(entry).is_some());
    newest.is_some_and(|entry| entry.kind.is("event_msg"))
}

fn count(entry: &RolloutEntry<'_>) -> Option<ReportedContext> {
    let count: TokenCount<'_> = entry.payload.parse_as()?;
    if !count.kind.is("token_count") {
        return None;
    }
    let tokens = count.info.0.get("last_token_usage")?.get("total_tokens").and_then(Value::as_u64)?;
    let window = count.info.0.get("model_context_window").and_then(Value::as_u64);
    let at = entry.timestamp.as_deref().and_then(Timestamp::parse_utc);
    (tokens > 0).then_some(ReportedContext { tokens, window, at })
}

#[cfg(test)]
mod tests;
