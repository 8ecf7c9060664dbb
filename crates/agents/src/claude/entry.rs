//! Wire types of transcript entries, under the client's own names.
//!
//! Large and rarely needed values stay unparsed until requested; the message is parsed in place, once. No field is
//! required, and a field of a wrong type does not affect the others.

use crate::json::{ListPart, Nested, OptText, PartList, RawValue};
use serde::Deserialize;
use std::borrow::Cow;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct TranscriptEntry<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub subtype: OptText<'a>,
    pub uuid: OptText<'a>,
    pub parent_uuid: OptText<'a>,
    pub session_id: OptText<'a>,
    pub agent_id: OptText<'a>,
    pub prompt_id: OptText<'a>,
    pub cwd: OptText<'a>,
    pub git_branch: OptText<'a>,
    pub timestamp: OptText<'a>,
    /// The source of a user's prompt; absent in text that the client writes in the user's name.
    pub prompt_source: OptText<'a>,
    /// Where a prompt stands in the conversation that the model sees.
    pub turn_position: RawValue<'a>,
    pub error: OptText<'a>,
    pub origin: RawValue<'a>,
    pub is_sidechain: RawValue<'a>,
    pub is_meta: RawValue<'a>,
    pub is_compact_summary: RawValue<'a>,
    pub is_api_error_message: RawValue<'a>,
    pub message: Nested<EntryMessage<'a>>,
    pub attachment: RawValue<'a>,
    pub content: RawValue<'a>,
    pub tool_use_result: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct EntryMessage<'a> {
    pub id: OptText<'a>,
    pub model: OptText<'a>,
    pub content: PartList<ContentBlock<'a>>,
    pub usage: Nested<MessageUsage<'a>>,
}

/// A block of a message, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ContentBlock<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub text: OptText<'a>,
    pub thinking: OptText<'a>,
    pub id: OptText<'a>,
    pub name: OptText<'a>,
    pub input: RawValue<'a>,
    pub tool_use_id: OptText<'a>,
    pub content: RawValue<'a>,
    pub is_error: RawValue<'a>,
    pub source: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ImageSource<'a> {
    pub media_type: OptText<'a>,
    pub data: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct MessageUsage<'a> {
    pub input_tokens: RawValue<'a>,
    pub cache_read_input_tokens: RawValue<'a>,
    pub cache_creation_input_tokens: RawValue<'a>,
    pub cache_creation: RawValue<'a>,
    pub output_tokens: RawValue<'a>,
}

/// An addition of the client to the conversation, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Attachment<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub prompt: PartList<ContentBlock<'a>>,
    pub command_mode: OptText<'a>,
    pub hook_event: OptText<'a>,
    pub origin: RawValue<'a>,
    pub content: RawValue<'a>,
    pub blocking_error: RawValue<'a>,
    pub filename: OptText<'a>,
    pub path: OptText<'a>,
    pub snippet: OptText<'a>,
}

impl<'de: 'a, 'a> ListPart<'de> for ContentBlock<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        ContentBlock {
            kind: OptText(Some(Cow::Borrowed("text"))),
            text: OptText(Some(text)),
            ..ContentBlock::default()
        }
    }
}
