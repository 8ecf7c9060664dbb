//! Context usage of Gemini CLI, read from its transcript.
//!
//! Reads only the newest answer. A list of messages without a count is a compacted conversation, and a header an empty
//! one: older counts are void.

use super::entry::TranscriptLine;
use crate::json::newest_first;
use towline_core::meter::ReportedContext;

/// The window of every model of the client but a few small ones that it runs locally.
const WINDOW: u64 = 1_048_576;

/// `text` is the last part of the file.
pub(crate) fn context(text: &[u8]) -> Option<ReportedContext> {
    newest_first::<TranscriptLine<'_>>(text).find_map(|line| line_context(&line))?
}

/// `None` if the line has no count, `Some(None)` if it invalidates older ones.
fn line_context(line: &TranscriptLine<'_>) -> Option<Option<ReportedContext>> {
    let messages = line.patch.get("messages");
    let is_uncounted = messages.is_present() && !messages.raw().contains(r#""tokens":{"#);
    if is_uncounted || (line.id.0.is_none() && line.session_id.0.is_some()) {
        return Some(None);
    }
    let tokens = line.tokens.get("total").number().filter(|tokens| *tokens > 0)?;
    let is_hosted = line.model.as_deref().is_some_and(|model| model.starts_with("gemini"));
    Some(Some(ReportedContext { tokens, window: is_hosted.then_some(WINDOW), at: line.at() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: Option<u64>) {
        assert_eq!(context(lines.join("\n").as_bytes()).map(|context| context.tokens), expected, "{lines:?}");
    }

    #[test]
    fn older_counts_are_void_once_the_conversation_is_replaced() {
        let answer =
            r#"{"id":"a","type":"gemini","content":"x","tokens":{"input":9,"total":12},"model":"gemini-3"}"#;
        let update = r#"{"$set":{"lastUpdated":"2026-11-18T16:16:51.527Z"}}"#;
        check(&[answer, update], Some(12));
        check(&[answer, r#"{"$set":{"messages":[{"id":"s","type":"user","content":[]}]}}"#], None);
        check(&[answer, r#"{"$set":{"messages":[{"id":"a","tokens":{"total":12}}]}}"#], Some(12));
        check(&[answer, r#"{"sessionId":"s","projectHash":"h","kind":"main"}"#], None);
        check(&[], None);
    }

    #[test]
    fn the_window_is_known_for_hosted_models() {
        let line = r#"{"id":"a","type":"gemini","content":"","tokens":{"total":5},"model":"gemma-4"}"#;
        assert_eq!(context(line.as_bytes()).unwrap().window, None);
        assert_eq!(
            context(line.replace("gemma-4", "gemini-3.8-flash").as_bytes()).unwrap().window,
            Some(WINDOW)
        );
    }
}
