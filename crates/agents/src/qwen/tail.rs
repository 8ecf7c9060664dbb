//! Reads the end of a Qwen Code transcript: how it ends, and how full the context is.
//!
//! Reads only the newest entries of the conversation. An interrupted answer leaves no mark, so only a cancelled tool
//! call counts as an interruption.

use super::transcript::{Entry, EntryPart};
use crate::json::newest_first;
use towline_core::arbiter::{TranscriptEnd, TranscriptTail};
use towline_core::meter::ReportedContext;
use towline_core::time::Timestamp;

/// `text` is the last part of the file.
pub(crate) fn tail(text: &[u8]) -> Option<TranscriptTail> {
    let entry = newest_first::<Entry<'_>>(text).find(Entry::is_conversation)?;
    let is_cancelled =
        entry.tool_call_result.get("status").text().is_some_and(|status| status == "cancelled");
    let end = if is_cancelled { TranscriptEnd::Interrupted } else { TranscriptEnd::Other };
    Some(TranscriptTail { end, at: Timestamp::parse_utc(entry.timestamp.as_deref()?)?, until: None })
}

/// Whether the newest answer ends with this text.
pub(crate) fn holds(text: &[u8], last_words: &str) -> bool {
    let answer = newest_first::<Entry<'_>>(text).find(|entry| entry.kind.is("assistant"));
    let said = |part: &EntryPart<'_>| part.text.as_deref().unwrap_or_default().to_owned();
    answer.is_some_and(|entry| {
        let words: String = entry.parts().iter().map(said).collect();
        words.trim_end().ends_with(last_words)
    })
}

/// The tokens that the newest answer took; numbers from before a compression are void. The window is in no entry.
pub(crate) fn context(text: &[u8]) -> Option<ReportedContext> {
    newest_first::<Entry<'_>>(text).find_map(|entry| {
        if entry.subtype.is("chat_compression") {
            return Some(None);
        }
        let tokens = entry.usage_metadata.get("promptTokenCount").number().filter(|tokens| *tokens > 0)?;
        let at = entry.timestamp.as_deref().and_then(Timestamp::parse_utc);
        Some(Some(ReportedContext { tokens, window: None, at }))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &[u8] = include_bytes!("../../transcripts/qwen-0.24.4-session.jsonl");
    const SECOND: &[u8] = include_bytes!("../../transcripts/qwen-0.24.4-cleared.jsonl");

    #[test]
    fn a_refused_tool_is_the_end_of_its_turn() {
        let text = std::str::from_utf8(FIRST).unwrap();
        let end = text.find("did not allow tool call").unwrap();
        let line = end + text[end..].find('\n').unwrap();
        assert_eq!(tail(&FIRST[..line]).unwrap().end, TranscriptEnd::Interrupted);
        assert_eq!(tail(FIRST).unwrap().end, TranscriptEnd::Other);
    }

    #[test]
    fn the_last_answer_is_recognised_and_a_compression_voids_its_numbers() {
        assert!(holds(SECOND, "</task-notification>") && !holds(SECOND, "agent finished"));
        assert_eq!(context(SECOND).unwrap().tokens, 1200);
        assert_eq!(context(FIRST), None);
    }
}
