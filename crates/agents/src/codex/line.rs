//! Wire types of rollout lines, under the client's own names.
//!
//! Large values stay unparsed until requested. No field is required, and one of a wrong type affects no other.

use crate::reader::{LongText, RawValue};
use crate::wire::{self, OptText, PartList};
use serde::Deserialize;
use std::borrow::Cow;

/// One line of the file. The payload is parsed in place if its kind is known in advance, and left unparsed otherwise.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "P: Deserialize<'de> + Default"))]
pub(super) struct RolloutLine<'a, P = RawValue<'a>> {
    #[serde(borrow, rename = "type")]
    pub kind: OptText<'a>,
    #[serde(borrow)]
    pub timestamp: OptText<'a>,
    /// The line's number within the thread, across all of the thread's files; absent in the older format.
    #[serde(borrow)]
    pub ordinal: RawValue<'a>,
    pub payload: P,
    #[serde(borrow)]
    pub metadata: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionMeta<'a> {
    #[serde(borrow)]
    pub id: OptText<'a>,
    #[serde(borrow)]
    pub session_id: OptText<'a>,
    #[serde(borrow)]
    pub cwd: OptText<'a>,
    #[serde(borrow)]
    pub forked_from_id: OptText<'a>,
    #[serde(borrow)]
    pub forked_from_ordinal_exclusive: RawValue<'a>,
    #[serde(borrow)]
    pub history_base: RawValue<'a>,
    #[serde(borrow)]
    pub thread_source: OptText<'a>,
    #[serde(borrow)]
    pub source: RawValue<'a>,
}

/// The history that a file with only the remainder of a conversation continues.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HistoryBase<'a> {
    #[serde(borrow)]
    pub thread_id: OptText<'a>,
    #[serde(borrow)]
    pub end_ordinal_exclusive: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ThreadSource<'a> {
    #[serde(borrow)]
    pub subagent: RawValue<'a>,
}

/// An item of the model's conversation, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: OptText<'a>,
    #[serde(borrow)]
    pub id: OptText<'a>,
    #[serde(borrow)]
    pub role: OptText<'a>,
    #[serde(borrow)]
    pub content: PartList<ContentPart<'a>>,
    #[serde(borrow)]
    pub summary: PartList<ContentPart<'a>>,
    #[serde(borrow)]
    pub name: OptText<'a>,
    #[serde(borrow)]
    pub namespace: OptText<'a>,
    #[serde(borrow)]
    pub call_id: OptText<'a>,
    #[serde(borrow)]
    pub arguments: RawValue<'a>,
    #[serde(borrow)]
    pub input: RawValue<'a>,
    #[serde(borrow)]
    pub action: RawValue<'a>,
    #[serde(borrow)]
    pub output: RawValue<'a>,
    #[serde(borrow)]
    pub tools: RawValue<'a>,
    #[serde(borrow, rename = "internal_chat_message_metadata_passthrough")]
    pub provenance: RawValue<'a>,
}

/// The origin of an item; older clients do not record it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ItemProvenance<'a> {
    #[serde(borrow)]
    pub turn_id: OptText<'a>,
    #[serde(borrow)]
    pub content_item_kinds: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ItemMetadata<'a> {
    #[serde(borrow)]
    pub compaction_output: RawValue<'a>,
}

/// One part of a message or of a tool's output.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ContentPart<'a> {
    #[serde(borrow)]
    pub text: LongText<'a>,
    #[serde(borrow)]
    pub image_url: OptText<'a>,
}

impl<'de: 'a, 'a> wire::ListPart<'de> for ContentPart<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        ContentPart { text: LongText(Some(text)), ..ContentPart::default() }
    }
}

/// An output that older clients wrote as JSON in a string.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OlderOutput<'a> {
    #[serde(borrow)]
    pub metadata: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ExitCode<'a> {
    #[serde(borrow)]
    pub exit_code: RawValue<'a>,
}

/// An event, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RolloutEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: OptText<'a>,
    #[serde(borrow)]
    pub turn_id: OptText<'a>,
    #[serde(borrow)]
    pub reason: OptText<'a>,
    #[serde(borrow)]
    pub error: RawValue<'a>,
    #[serde(borrow)]
    pub info: RawValue<'a>,
    #[serde(borrow)]
    pub num_turns: RawValue<'a>,
    #[serde(borrow)]
    pub item: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct CompletedItem<'a> {
    #[serde(borrow)]
    pub id: OptText<'a>,
    #[serde(borrow)]
    pub status: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TurnError<'a> {
    #[serde(borrow)]
    pub message: OptText<'a>,
    #[serde(borrow)]
    pub codex_error_info: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TurnContext<'a> {
    #[serde(borrow)]
    pub turn_id: OptText<'a>,
    #[serde(borrow)]
    pub model: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Compacted<'a> {
    #[serde(borrow)]
    pub message: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct UsageRecord<'a> {
    #[serde(borrow)]
    pub turn_id: OptText<'a>,
    #[serde(borrow)]
    pub response_id: OptText<'a>,
    #[serde(borrow)]
    pub usage: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenInfo<'a> {
    #[serde(borrow)]
    pub total_token_usage: RawValue<'a>,
    #[serde(borrow)]
    pub last_token_usage: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenUsage<'a> {
    #[serde(borrow)]
    pub input_tokens: RawValue<'a>,
    #[serde(borrow)]
    pub cached_input_tokens: RawValue<'a>,
    #[serde(borrow)]
    pub cache_write_input_tokens: RawValue<'a>,
    #[serde(borrow)]
    pub output_tokens: RawValue<'a>,
    #[serde(borrow)]
    pub total_tokens: RawValue<'a>,
}
