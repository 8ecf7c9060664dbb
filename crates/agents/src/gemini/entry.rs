//! The lines of Gemini CLI's transcripts, under the client's names.
//!
//! Reads no meaning into them: a field of an unexpected type counts as absent.

use crate::json::{ListPart, OptText, PartList, RawValue};
use serde::Deserialize;
use std::borrow::Cow;
use towline_core::piece::StopReason;
use towline_core::time::Timestamp;

/// A line: the session's header, a message, or an operation on both.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct TranscriptLine<'a> {
    #[serde(rename = "sessionId")]
    pub session_id: OptText<'a>,
    #[serde(rename = "$set")]
    pub patch: RawValue<'a>,
    #[serde(rename = "$rewindTo")]
    pub rewind_to: OptText<'a>,
    pub id: OptText<'a>,
    pub timestamp: OptText<'a>,
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    /// Text, or a list of parts: the latter in the user's messages and in copies.
    pub content: RawValue<'a>,
    #[serde(rename = "displayContent")]
    pub display: PartList<Part<'a>>,
    pub thoughts: RawValue<'a>,
    pub tokens: RawValue<'a>,
    pub model: OptText<'a>,
    #[serde(rename = "toolCalls")]
    pub tool_calls: RawValue<'a>,
}

impl<'a> TranscriptLine<'a> {
    pub fn at(&self) -> Option<Timestamp> {
        Timestamp::parse_utc(self.timestamp.as_deref()?)
    }

    pub fn parts(&self) -> Vec<Part<'a>> {
        self.content.parts()
    }

    /// Whether the client wrote a message of the model again, from its history.
    pub fn is_copy(&self) -> bool {
        self.content.raw().starts_with('[') && !self.tokens.is_present()
    }

    /// The end of the turn that a message of the client's own tells of.
    pub fn stop(&self) -> Option<StopReason> {
        match self.kind.as_deref() {
            Some("info") if self.content.text().as_deref() == Some("Request cancelled.") => {
                Some(StopReason::Interrupted)
            }
            Some("error") => Some(failure(self.content.raw())),
            _ => None,
        }
    }
}

fn failure(words: &str) -> StopReason {
    let is_limit = ["RESOURCE_EXHAUSTED", "quota", "rate limit"].iter().any(|mark| words.contains(mark));
    if is_limit { StopReason::Limited } else { StopReason::Failed }
}

/// A part of a message.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Part<'a> {
    pub text: OptText<'a>,
    #[serde(rename = "inlineData")]
    pub inline_data: RawValue<'a>,
    #[serde(rename = "functionResponse")]
    pub response: RawValue<'a>,
}

impl<'de: 'a, 'a> ListPart<'de> for Part<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        Part { text: OptText(Some(text)), ..Part::default() }
    }
}

/// A finished call of a tool, with its result.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ToolCall<'a> {
    pub id: OptText<'a>,
    pub name: OptText<'a>,
    pub args: RawValue<'a>,
    pub result: PartList<Part<'a>>,
    pub status: OptText<'a>,
    pub timestamp: OptText<'a>,
}

impl<'de: 'a, 'a> ListPart<'de> for ToolCall<'a> {
    fn of_text(_: Cow<'de, str>) -> Self {
        ToolCall::default()
    }
}

/// A summary of what the model considered.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Thought<'a> {
    pub subject: OptText<'a>,
    pub description: OptText<'a>,
}

impl<'de: 'a, 'a> ListPart<'de> for Thought<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        Thought { description: OptText(Some(text)), ..Thought::default() }
    }
}

/// A message in the list with which the client replaces the conversation.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ListedMessage<'a> {
    pub id: OptText<'a>,
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub content: PartList<Part<'a>>,
}

impl<'de: 'a, 'a> ListPart<'de> for ListedMessage<'a> {
    fn of_text(_: Cow<'de, str>) -> Self {
        ListedMessage::default()
    }
}
