//! The fields of a rollout's lines that mean something to us, under the client's own names.
//!
//! Whatever may be large is left unread until it is known to be wanted. No field is required, and none of a wrong type
//! spoils the others.

use crate::reader::{Any, LongText};
use crate::wire::{self, Parts, Text};
use serde::Deserialize;
use std::borrow::Cow;

/// One line of the file. What it is about is read in place where its kind is known before, and left unread otherwise.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "P: Deserialize<'de> + Default"))]
pub(super) struct Line<'a, P = Any<'a>> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub timestamp: Text<'a>,
    /// Its number in the thread, over all files of the thread; the older format has none.
    #[serde(borrow)]
    pub ordinal: Any<'a>,
    pub payload: P,
    #[serde(borrow)]
    pub metadata: Any<'a>,
}

/// The first line of a file.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionMeta<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub session_id: Text<'a>,
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub forked_from_id: Text<'a>,
    #[serde(borrow)]
    pub forked_from_ordinal_exclusive: Any<'a>,
    #[serde(borrow)]
    pub history_base: Any<'a>,
    #[serde(borrow)]
    pub thread_source: Text<'a>,
    #[serde(borrow)]
    pub source: Any<'a>,
}

/// What a file that holds only the rest of a conversation builds on.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HistoryBase<'a> {
    #[serde(borrow)]
    pub thread_id: Text<'a>,
    #[serde(borrow)]
    pub end_ordinal_exclusive: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ThreadSource<'a> {
    #[serde(borrow)]
    pub subagent: Any<'a>,
}

/// An item of the model's conversation, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub role: Text<'a>,
    #[serde(borrow)]
    pub content: Parts<Part<'a>>,
    #[serde(borrow)]
    pub summary: Parts<Part<'a>>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub namespace: Text<'a>,
    #[serde(borrow)]
    pub call_id: Text<'a>,
    #[serde(borrow)]
    pub arguments: Any<'a>,
    #[serde(borrow)]
    pub input: Any<'a>,
    #[serde(borrow)]
    pub action: Any<'a>,
    #[serde(borrow)]
    pub output: Any<'a>,
    #[serde(borrow)]
    pub tools: Any<'a>,
    #[serde(borrow, rename = "internal_chat_message_metadata_passthrough")]
    pub provenance: Any<'a>,
}

/// Where an item comes from; older clients do not say.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Provenance<'a> {
    #[serde(borrow)]
    pub turn_id: Text<'a>,
    #[serde(borrow)]
    pub content_item_kinds: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ItemMetadata<'a> {
    #[serde(borrow)]
    pub compaction_output: Any<'a>,
}

/// One part of a message or of a tool's output.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub text: LongText<'a>,
    #[serde(borrow)]
    pub image_url: Text<'a>,
}

impl<'de: 'a, 'a> wire::Part<'de> for Part<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        Part { text: LongText(Some(text)), ..Part::default() }
    }
}

/// An output that older clients wrote as JSON in a text.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OlderOutput<'a> {
    #[serde(borrow)]
    pub metadata: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ExitCode<'a> {
    #[serde(borrow)]
    pub exit_code: Any<'a>,
}

/// An event, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub turn_id: Text<'a>,
    #[serde(borrow)]
    pub reason: Text<'a>,
    #[serde(borrow)]
    pub error: Any<'a>,
    #[serde(borrow)]
    pub info: Any<'a>,
    #[serde(borrow)]
    pub num_turns: Any<'a>,
    #[serde(borrow)]
    pub item: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CompletedItem<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub status: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TurnError<'a> {
    #[serde(borrow)]
    pub message: Text<'a>,
    #[serde(borrow)]
    pub codex_error_info: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TurnContext<'a> {
    #[serde(borrow)]
    pub turn_id: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Compacted<'a> {
    #[serde(borrow)]
    pub message: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct UsageRecord<'a> {
    #[serde(borrow)]
    pub turn_id: Text<'a>,
    #[serde(borrow)]
    pub response_id: Text<'a>,
    #[serde(borrow)]
    pub usage: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenInfo<'a> {
    #[serde(borrow)]
    pub total_token_usage: Any<'a>,
    #[serde(borrow)]
    pub last_token_usage: Any<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage<'a> {
    #[serde(borrow)]
    pub input_tokens: Any<'a>,
    #[serde(borrow)]
    pub cached_input_tokens: Any<'a>,
    #[serde(borrow)]
    pub cache_write_input_tokens: Any<'a>,
    #[serde(borrow)]
    pub output_tokens: Any<'a>,
    #[serde(borrow)]
    pub total_tokens: Any<'a>,
}
