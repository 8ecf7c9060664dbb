//! Context usage of Codex, read from its rollout.
//!
//! Reads only the newest count, and none from before a compaction. Subagent threads have their own files.

use super::entry::{Item, RolloutLine};
use crate::json::newest_first;
use towline_core::meter::ReportedContext;
use towline_core::time::Timestamp;

/// `text` is the last part of the file.
pub(crate) fn context(text: &[u8]) -> Option<ReportedContext> {
    newest_first::<RolloutLine<'_>>(text).find_map(|entry| entry_context(&entry))?
}

/// `None` if the entry has no count, `Some(None)` if it invalidates older ones.
fn entry_context(entry: &RolloutLine<'_>) -> Option<Option<ReportedContext>> {
    match entry.kind.as_deref() {
        Some("compacted") => Some(None),
        Some("event_msg") => count(entry).map(Some),
        _ => None,
    }
}

/// Whether the newest answer ends with this text and is counted: no item follows its count. The client calls the hook
/// before it writes either; a loaded machine was seen to write nothing of the turn by then.
pub(crate) fn holds_counted(text: &[u8], last_words: &str) -> bool {
    let mut entries = newest_first::<RolloutLine<'_>>(text);
    let newest = entries.find(|entry| entry.kind.is("response_item") || count(entry).is_some());
    let is_counted = newest.is_some_and(|entry| entry.kind.is("event_msg"));
    is_counted && entries.find_map(|entry| answer(&entry)).is_some_and(|answer| answer.ends_with(last_words))
}

/// The text of an answer; `None` for any other entry.
fn answer(entry: &RolloutLine<'_>) -> Option<String> {
    let item: Item<'_> = entry.kind.is("response_item").then(|| entry.payload.parse_as())??;
    let is_answer = item.kind.is("message") && item.role.is("assistant");
    let text: String = item.content.0.iter().filter_map(|part| part.text.as_deref()).collect();
    is_answer.then(|| text.trim_end().to_owned())
}

fn count(entry: &RolloutLine<'_>) -> Option<ReportedContext> {
    if entry.payload.get("type").text()? != "token_count" {
        return None;
    }
    let info = entry.payload.get("info");
    let tokens = info.get("last_token_usage").get("total_tokens").number()?;
    let window = info.get("model_context_window").number();
    let at = entry.timestamp.as_deref().and_then(Timestamp::parse_utc);
    (tokens > 0).then_some(ReportedContext { tokens, window, at })
}

#[cfg(test)]
mod tests;
