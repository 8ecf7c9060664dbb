//! Wire types of rollout lines, under the client's own names.
//!
//! Large values stay unparsed until requested. No field is required, and one of a wrong type affects no other.

use crate::json::{ListPart, OptText, PartList, RawValue};
use serde::Deserialize;
use std::borrow::Cow;

/// One line of the file. The payload is parsed in place if its kind is known in advance, and left unparsed otherwise.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a, P: Deserialize<'de> + Default"))]
pub(super) struct RolloutLine<'a, P = RawValue<'a>> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub timestamp: OptText<'a>,
    /// The line's number within the thread, across all of the thread's files; absent in the older format.
    pub ordinal: RawValue<'a>,
    pub payload: P,
    pub metadata: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct SessionMeta<'a> {
    pub id: OptText<'a>,
    pub session_id: OptText<'a>,
    pub cwd: OptText<'a>,
    pub git: RawValue<'a>,
    pub forked_from_id: OptText<'a>,
    pub forked_from_ordinal_exclusive: RawValue<'a>,
    pub history_base: RawValue<'a>,
    pub thread_source: OptText<'a>,
    pub source: RawValue<'a>,
}

/// An item of the model's conversation, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Item<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub id: OptText<'a>,
    pub role: OptText<'a>,
    pub content: PartList<ContentPart<'a>>,
    pub summary: PartList<ContentPart<'a>>,
    pub name: OptText<'a>,
    pub namespace: OptText<'a>,
    pub call_id: OptText<'a>,
    pub arguments: RawValue<'a>,
    pub input: RawValue<'a>,
    pub action: RawValue<'a>,
    pub output: RawValue<'a>,
    pub tools: RawValue<'a>,
    #[serde(rename = "internal_chat_message_metadata_passthrough")]
    pub provenance: RawValue<'a>,
}

/// The origin of an item; older clients do not record it.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ItemProvenance<'a> {
    pub turn_id: OptText<'a>,
    pub content_item_kinds: RawValue<'a>,
}

/// One part of a message or of a tool's output.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct ContentPart<'a> {
    pub text: OptText<'a>,
    pub image_url: OptText<'a>,
}

impl<'de: 'a, 'a> ListPart<'de> for ContentPart<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        ContentPart { text: OptText(Some(text)), ..ContentPart::default() }
    }
}

/// An event, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct RolloutEvent<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub turn_id: OptText<'a>,
    pub reason: OptText<'a>,
    pub error: RawValue<'a>,
    pub info: RawValue<'a>,
    pub num_turns: RawValue<'a>,
    pub item: RawValue<'a>,
    pub rate_limits: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct UsageRecord<'a> {
    pub turn_id: OptText<'a>,
    pub response_id: OptText<'a>,
    pub usage: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct TokenUsage<'a> {
    pub input_tokens: RawValue<'a>,
    pub cached_input_tokens: RawValue<'a>,
    pub cache_write_input_tokens: RawValue<'a>,
    pub output_tokens: RawValue<'a>,
    pub total_tokens: RawValue<'a>,
}
