//! Context usage of Claude Code, read from its transcript.
//!
//! Reads only the newest answer of the main conversation. One line of it is enough, since the client repeats the
//! numbers on every line of the same answer. Errors have no numbers, and numbers from before a compaction are void.

use super::tail::TailEntry;
use crate::json::{RawValue, newest_first};
use towline_core::meter::ReportedContext;
use towline_core::time::Timestamp;

/// `text` is the last part of the file, `announced` the model that the session named at its start.
pub(crate) fn context(text: &[u8], announced: Option<&str>) -> Option<ReportedContext> {
    newest_first::<TailEntry<'_>>(text)
        .filter(|entry| !entry.is_sidechain.is_true())
        .find_map(|entry| entry_context(&entry, announced))?
}

/// `None` if the entry has no numbers, `Some(None)` if it invalidates older ones.
fn entry_context(entry: &TailEntry<'_>, announced: Option<&str>) -> Option<Option<ReportedContext>> {
    match entry.kind.as_deref() {
        Some("system") if entry.subtype.is("compact_boundary") => Some(None),
        Some("assistant") if !entry.is_api_error.is_true() => answer(entry, announced).map(Some),
        _ => None,
    }
}

fn answer(entry: &TailEntry<'_>, announced: Option<&str>) -> Option<ReportedContext> {
    let tokens = sent_tokens(entry.message.get("usage"));
    let window = window(&entry.message.get("model").text()?, announced);
    // A context larger than the small window must be in the large one.
    let window = window.map(|window| if tokens > window { LARGE } else { window });
    let at = entry.timestamp.as_deref().and_then(Timestamp::parse_utc);
    (tokens > 0).then_some(ReportedContext { tokens, window, at })
}

/// Counted as the client does: the tokens it sent, without the output.
pub(super) fn sent_tokens(usage: RawValue<'_>) -> u64 {
    let parts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    parts.into_iter().map(|name| usage.get(name).number().unwrap_or(0)).fold(0, u64::saturating_add)
}

const SMALL: u64 = 200_000;
const LARGE: u64 = 1_000_000;

/// The client requests the larger window by a suffix that the model's answers do not repeat.
fn window(model: &str, announced: Option<&str>) -> Option<u64> {
    let has_suffix = |name: &str| name.ends_with("[1m]");
    let is_announced = announced.is_some_and(|name| has_suffix(name) && name.starts_with(model));
    if has_suffix(model) || is_announced {
        return Some(LARGE);
    }
    let generation = generation(model)?;
    Some(if generation >= (4, 7) { LARGE } else { SMALL })
}

/// `claude-opus-4-8` and `claude-sonnet-4-20250514`, and the older `claude-3-5-haiku-20241022`. A number of eight
/// digits is a date. `None` for other names.
fn generation(model: &str) -> Option<(u32, u32)> {
    let mut words = model.strip_prefix("claude-")?.split('-').skip_while(|word| number(word).is_none());
    let major = number(words.next()?)?;
    Some((major, words.next().and_then(number).unwrap_or(0)))
}

fn number(word: &str) -> Option<u32> {
    if word.len() < 3 { word.parse().ok() } else { None }
}

#[cfg(test)]
mod tests;
