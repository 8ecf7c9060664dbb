//! Wire types of transcript entries, under the client's own names.
//!
//! Large and rarely needed values stay unparsed until requested; the message is parsed in place, once. No field is
//! required, and a field of a wrong type does not affect the others.

use crate::reader::{LongText, RawValue};
use crate::wire::{ListPart, Nested, OptText, PartList};
use serde::Deserialize;
use std::borrow::Cow;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TranscriptEntry<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: OptText<'a>,
    #[serde(borrow)]
    pub subtype: OptText<'a>,
    #[serde(borrow)]
    pub uuid: OptText<'a>,
    #[serde(borrow)]
    pub parent_uuid: OptText<'a>,
    #[serde(borrow)]
    pub session_id: OptText<'a>,
    #[serde(borrow)]
    pub agent_id: OptText<'a>,
    #[serde(borrow)]
    pub prompt_id: OptText<'a>,
    #[serde(borrow)]
    pub cwd: OptText<'a>,
    #[serde(borrow)]
    pub timestamp: OptText<'a>,
    /// The source of a user's prompt; absent in text that the client writes in the user's name.
    #[serde(borrow)]
    pub prompt_source: OptText<'a>,
    #[serde(borrow)]
    pub error: OptText<'a>,
    #[serde(borrow)]
    pub origin: RawValue<'a>,
    #[serde(borrow)]
    pub is_sidechain: RawValue<'a>,
    #[serde(borrow)]
    pub is_meta: RawValue<'a>,
    #[serde(borrow)]
    pub is_compact_summary: RawValue<'a>,
    #[serde(borrow)]
    pub is_api_error_message: RawValue<'a>,
    #[serde(borrow)]
    pub message: Nested<EntryMessage<'a>>,
    #[serde(borrow)]
    pub attachment: RawValue<'a>,
    #[serde(borrow)]
    pub content: RawValue<'a>,
    #[serde(borrow)]
    pub tool_use_result: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct EntryMessage<'a> {
    #[serde(borrow)]
    pub id: OptText<'a>,
    #[serde(borrow)]
    pub model: OptText<'a>,
    #[serde(borrow)]
    pub content: PartList<ContentBlock<'a>>,
    #[serde(borrow)]
    pub usage: Nested<MessageUsage<'a>>,
}

/// A block of a message, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ContentBlock<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: OptText<'a>,
    #[serde(borrow)]
    pub text: LongText<'a>,
    #[serde(borrow)]
    pub thinking: LongText<'a>,
    #[serde(borrow)]
    pub id: OptText<'a>,
    #[serde(borrow)]
    pub name: OptText<'a>,
    #[serde(borrow)]
    pub input: RawValue<'a>,
    #[serde(borrow)]
    pub tool_use_id: OptText<'a>,
    #[serde(borrow)]
    pub content: RawValue<'a>,
    #[serde(borrow)]
    pub is_error: RawValue<'a>,
    #[serde(borrow)]
    pub source: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ImageSource<'a> {
    #[serde(borrow)]
    pub media_type: OptText<'a>,
    #[serde(borrow)]
    pub data: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageUsage<'a> {
    #[serde(borrow)]
    pub input_tokens: RawValue<'a>,
    #[serde(borrow)]
    pub cache_read_input_tokens: RawValue<'a>,
    #[serde(borrow)]
    pub cache_creation_input_tokens: RawValue<'a>,
    #[serde(borrow)]
    pub cache_creation: RawValue<'a>,
    #[serde(borrow)]
    pub output_tokens: RawValue<'a>,
}

/// Tokens written to the cache, by lifetime.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CacheCreation<'a> {
    #[serde(borrow)]
    pub ephemeral_1h_input_tokens: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WireOrigin<'a> {
    #[serde(borrow)]
    pub kind: OptText<'a>,
}

/// An addition of the client to the conversation, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: OptText<'a>,
    #[serde(borrow)]
    pub prompt: PartList<ContentBlock<'a>>,
    #[serde(borrow)]
    pub command_mode: OptText<'a>,
    #[serde(borrow)]
    pub hook_event: OptText<'a>,
    #[serde(borrow)]
    pub origin: RawValue<'a>,
    #[serde(borrow)]
    pub content: RawValue<'a>,
    #[serde(borrow)]
    pub blocking_error: RawValue<'a>,
    #[serde(borrow)]
    pub filename: OptText<'a>,
    #[serde(borrow)]
    pub path: OptText<'a>,
    #[serde(borrow)]
    pub snippet: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct HookError<'a> {
    #[serde(borrow)]
    pub blocking_error: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FileContent<'a> {
    #[serde(borrow)]
    pub file: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolUseResult<'a> {
    #[serde(borrow)]
    pub interrupted: RawValue<'a>,
}

impl<'de: 'a, 'a> ListPart<'de> for ContentBlock<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        ContentBlock {
            kind: OptText(Some(Cow::Borrowed("text"))),
            text: LongText(Some(text)),
            ..ContentBlock::default()
        }
    }
}
