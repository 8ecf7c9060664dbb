//! The end of a Copilot transcript: its state, its last answer and the context usage it reports.
//!
//! Reads only the session's own lines, never those of its subagents, which are in the same file. Skips incomplete lines,
//! truncated or still being written.

use super::entry::{EventLine, TokenUsage, count, is_usage_limit};
use crate::json::newest_first;
use towline_core::arbiter::{TranscriptEnd, TranscriptTail};
use towline_core::meter::ReportedContext;
use towline_core::time::Timestamp;

/// `text` is the last part of the file.
pub(crate) fn tail(text: &[u8]) -> Option<TranscriptTail> {
    let mut lines = own_lines(text).peekable();
    let newest = at(lines.peek()?)?;
    let ending = lines.find_map(|line| Some((end(&line)?, at(&line))));
    match ending {
        // A running turn has progressed up to its newest line.
        Some((TranscriptEnd::Other, _)) | None => {
            Some(TranscriptTail { end: TranscriptEnd::Other, at: newest, until: None })
        }
        Some((end, at)) => Some(TranscriptTail { end, at: at?, until: None }),
    }
}

/// Context usage by the newest response, or by the compaction after it.
pub(crate) fn context(text: &[u8]) -> Option<ReportedContext> {
    own_lines(text).find_map(|line| {
        let data = &line.data.0;
        let (tokens, window) = match line.kind.as_deref()? {
            "session.usage_record" => {
                let usage: TokenUsage<'_> = data.usage.parse_as()?;
                // Next context size = input + output tokens.
                (
                    count(usage.input_tokens)?.saturating_add(count(usage.output_tokens)?),
                    count(usage.max_prompt_tokens),
                )
            }
            "session.compaction_complete" => (count(data.post_compaction_tokens)?, None),
            _ => return None,
        };
        (tokens > 0).then_some(ReportedContext { tokens, window, at: at(&line) })
    })
}

/// The last message of the turn whose stop hook runs now. The client writes every tenth of a second, so that the file may
/// still end with the turn before, whose hook has ended.
pub(crate) fn last_message(text: &[u8]) -> Option<String> {
    let mut lines = own_lines(text);
    let newest = lines.find(|line| line.kind.as_deref().is_some_and(|kind| kind.starts_with("hook.")))?;
    let is_now = newest.kind.is("hook.start") && newest.data.0.hook_type.is("agentStop");
    is_now.then(|| lines.find_map(message))?
}

/// Whether the newest message ends with this text. Its cost is written before it.
pub(crate) fn holds(text: &[u8], last_words: &str) -> bool {
    own_lines(text).find_map(message).is_some_and(|message| message.trim_end().ends_with(last_words))
}

fn message(line: EventLine<'_>) -> Option<String> {
    let text = line.data.0.content.0.filter(|_| line.kind.is("assistant.message"))?;
    (!text.trim().is_empty()).then(|| text.into_owned())
}

fn own_lines(text: &[u8]) -> impl Iterator<Item = EventLine<'_>> {
    newest_first(text).filter(|line: &EventLine<'_>| line.kind.0.is_some() && line.agent_id.0.is_none())
}

fn at(line: &EventLine<'_>) -> Option<Timestamp> {
    Timestamp::parse_utc(line.timestamp.as_deref()?)
}

/// `None` for lines that neither start nor end a turn. The words said so far follow the line of an interruption.
fn end(line: &EventLine<'_>) -> Option<TranscriptEnd> {
    match line.kind.as_deref()? {
        "abort" => Some(TranscriptEnd::Interrupted),
        "session.error" if is_usage_limit(&line.data.0) => Some(TranscriptEnd::Limited),
        "session.error" => Some(TranscriptEnd::Failed),
        "user.message" | "system.notification" | "assistant.turn_start" => Some(TranscriptEnd::Other),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
