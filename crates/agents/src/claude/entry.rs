//! The fields of a transcript's entries that mean something to us, under the client's own names.
//!
//! What is large and seldom wanted is left unread until it is known to be; the message itself is read in place, once. No
//! field is required, and none of a wrong type spoils the others.

use crate::reader::{Any, LongText};
use crate::wire::{Nested, Part, Parts, Text};
use serde::Deserialize;
use std::borrow::Cow;

/// One line of the file.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Entry<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub subtype: Text<'a>,
    #[serde(borrow)]
    pub uuid: Text<'a>,
    #[serde(borrow)]
    pub parent_uuid: Text<'a>,
    #[serde(borrow)]
    pub session_id: Text<'a>,
    #[serde(borrow)]
    pub agent_id: Text<'a>,
    #[serde(borrow)]
    pub prompt_id: Text<'a>,
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub timestamp: Text<'a>,
    /// How a person's prompt came in; what the client says in the person's name has none.
    #[serde(borrow)]
    pub prompt_source: Text<'a>,
    #[serde(borrow)]
    pub error: Text<'a>,
    #[serde(borrow)]
    pub origin: Any<'a>,
    #[serde(borrow)]
    pub is_sidechain: Any<'a>,
    #[serde(borrow)]
    pub is_meta: Any<'a>,
    #[serde(borrow)]
    pub is_compact_summary: Any<'a>,
    #[serde(borrow)]
    pub is_api_error_message: Any<'a>,
    #[serde(borrow)]
    pub message: Nested<Message<'a>>,
    #[serde(borrow)]
    pub attachment: Any<'a>,
    #[serde(borrow)]
    pub content: Any<'a>,
    #[serde(borrow)]
    pub tool_use_result: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub content: Parts<Block<'a>>,
    #[serde(borrow)]
    pub usage: Nested<Usage<'a>>,
}

/// One part of a message, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: LongText<'a>,
    #[serde(borrow)]
    pub thinking: LongText<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub input: Any<'a>,
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub content: Any<'a>,
    #[serde(borrow)]
    pub is_error: Any<'a>,
    #[serde(borrow)]
    pub source: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Source<'a> {
    #[serde(borrow)]
    pub media_type: Text<'a>,
    #[serde(borrow)]
    pub data: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage<'a> {
    #[serde(borrow)]
    pub input_tokens: Any<'a>,
    #[serde(borrow)]
    pub cache_read_input_tokens: Any<'a>,
    #[serde(borrow)]
    pub cache_creation_input_tokens: Any<'a>,
    #[serde(borrow)]
    pub cache_creation: Any<'a>,
    #[serde(borrow)]
    pub output_tokens: Any<'a>,
}

/// What was written to the cache, by how long it is to stay there.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CacheCreation<'a> {
    #[serde(borrow)]
    pub ephemeral_1h_input_tokens: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Origin<'a> {
    #[serde(borrow)]
    pub kind: Text<'a>,
}

/// What the client adds to a conversation, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Attachment<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub prompt: Parts<Block<'a>>,
    #[serde(borrow)]
    pub command_mode: Text<'a>,
    #[serde(borrow)]
    pub hook_event: Text<'a>,
    #[serde(borrow)]
    pub origin: Any<'a>,
    #[serde(borrow)]
    pub content: Any<'a>,
    #[serde(borrow)]
    pub blocking_error: Any<'a>,
    #[serde(borrow)]
    pub filename: Text<'a>,
    #[serde(borrow)]
    pub path: Text<'a>,
    #[serde(borrow)]
    pub snippet: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct HookError<'a> {
    #[serde(borrow)]
    pub blocking_error: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FileContent<'a> {
    #[serde(borrow)]
    pub file: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Outcome<'a> {
    #[serde(borrow)]
    pub interrupted: Any<'a>,
}

impl<'de: 'a, 'a> Part<'de> for Block<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        Block { kind: Text(Some(Cow::Borrowed("text"))), text: LongText(Some(text)), ..Block::default() }
    }
}
