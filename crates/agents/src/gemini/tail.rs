//! Classifies the end of a Gemini CLI transcript, and finds the answer of its last turn.
//!
//! Reads messages only. After an interruption the client repeats the whole conversation behind the line that tells of
//! it: copies are skipped, and a list that is longer than the part at hand stands for the interruption.

use super::entry::TranscriptLine;
use crate::json::newest_first;
use towline_core::arbiter::{TranscriptEnd, TranscriptTail};
use towline_core::piece::StopReason;
use towline_core::time::Timestamp;

/// The end of a line that replaces the conversation.
const LIST_END: &str = r#"],"lastUpdated":""#;

/// `text` is the last part of the file.
pub(crate) fn tail(text: &[u8]) -> Option<TranscriptTail> {
    let mut lists = 0_usize;
    for line in newest_first::<TranscriptLine<'_>>(text) {
        if line.patch.get("messages").is_present() {
            lists += 1;
        } else if let Some(end) = end(&line, lists > 0) {
            return Some(TranscriptTail { end, at: line.at()?, until: None });
        }
    }
    cut_list(text).filter(|_| lists == 0)
}

/// Whether the answer to the last prompt ends with this text. The client writes it before it calls the hook.
pub(crate) fn holds(text: &[u8], last_words: &str) -> bool {
    last_answer(text).is_some_and(|answer| answer.trim_end().ends_with(last_words))
}

/// The answer to the last prompt, if the turn has one.
pub(crate) fn last_answer(text: &[u8]) -> Option<String> {
    let messages = newest_first::<TranscriptLine<'_>>(text).filter(|line| line.id.0.is_some());
    let is_said = |line: &TranscriptLine<'_>| line.kind.is("gemini") && !line.is_copy();
    for line in messages {
        if line.kind.is("user") && line.parts().iter().any(|part| !part.response.is_present()) {
            return None;
        }
        let answer = line.content.text().filter(|text| is_said(&line) && !text.trim().is_empty());
        if let Some(answer) = answer {
            return Some(answer.into_owned());
        }
    }
    None
}

/// `None` for lines that say nothing of the turn. `is_repeated`: a list of all messages follows, and with it copies.
fn end(line: &TranscriptLine<'_>, is_repeated: bool) -> Option<TranscriptEnd> {
    if let Some(stop) = line.stop() {
        return Some(match stop {
            StopReason::Interrupted => TranscriptEnd::Interrupted,
            StopReason::Failed => TranscriptEnd::Failed,
            StopReason::Limited => TranscriptEnd::Limited,
        });
    }
    match line.kind.as_deref() {
        Some("gemini") if line.tool_calls.raw().contains(r#""status":"cancelled""#) => {
            Some(TranscriptEnd::Interrupted)
        }
        Some("gemini") if !line.is_copy() => Some(TranscriptEnd::Other),
        Some("user") if !is_repeated && !is_cancelled(line) => Some(TranscriptEnd::Other),
        _ => None,
    }
}

/// The result of a tool that was cancelled: the call before it tells more.
fn is_cancelled(line: &TranscriptLine<'_>) -> bool {
    let begins = |part: &super::entry::Part<'_>| {
        let error = part.response.get("response").get("error").text();
        error.is_some_and(|error| error.starts_with("[Operation Cancelled]"))
    };
    line.parts().iter().any(begins)
}

/// The end of a list whose beginning is cut off, which is then the newest line.
fn cut_list(text: &[u8]) -> Option<TranscriptTail> {
    let last = str::from_utf8(text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next()?);
    let tail = match last {
        Ok(last) => last,
        // The cut may be inside a character.
        Err(_) => str::from_utf8(text.get(text.len().saturating_sub(LIST_END.len() + 64)..)?).ok()?,
    };
    let (_, at) = tail.rsplit_once(LIST_END)?;
    let at = Timestamp::parse_utc(at.split('"').next()?)?;
    Some(TranscriptTail { end: TranscriptEnd::Interrupted, at, until: None })
}

#[cfg(test)]
mod tests;
