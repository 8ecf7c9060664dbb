//! Wire types of the lines of `events.jsonl`, under the client's own names.
//!
//! Large values stay unparsed until requested. No field is required, and one of a wrong type affects no other.

use crate::json::{ListPart, Nested, OptText, PartList, RawValue};
use serde::Deserialize;
use std::borrow::Cow;

/// One line of the file.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct EventLine<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub id: OptText<'a>,
    pub timestamp: OptText<'a>,
    /// The subagent that the line belongs to. Subagents write into their session's file.
    #[serde(rename = "agentId")]
    pub agent_id: OptText<'a>,
    pub data: Nested<EventData<'a>>,
}

/// The contents of a line of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct EventData<'a> {
    pub session_id: OptText<'a>,
    pub context: RawValue<'a>,
    pub interaction_id: OptText<'a>,
    pub content: OptText<'a>,
    pub reasoning_text: OptText<'a>,
    pub tool_requests: PartList<ToolRequest<'a>>,
    pub tool_call_id: OptText<'a>,
    pub tool_name: OptText<'a>,
    pub arguments: RawValue<'a>,
    pub success: RawValue<'a>,
    pub result: RawValue<'a>,
    pub error: RawValue<'a>,
    pub shell_execution: RawValue<'a>,
    pub message: OptText<'a>,
    pub status_code: RawValue<'a>,
    pub usage: RawValue<'a>,
    pub summary_content: OptText<'a>,
    pub compaction_tokens_used: RawValue<'a>,
    pub post_compaction_tokens: RawValue<'a>,
    pub info_type: OptText<'a>,
    pub hook_type: OptText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct ToolRequest<'a> {
    pub tool_call_id: OptText<'a>,
    pub name: OptText<'a>,
    pub arguments: RawValue<'a>,
}

impl<'de: 'a, 'a> ListPart<'de> for ToolRequest<'a> {
    fn of_text(_: Cow<'de, str>) -> Self {
        ToolRequest::default()
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct TokenUsage<'a> {
    pub model: OptText<'a>,
    pub api_call_id: OptText<'a>,
    pub input_tokens: RawValue<'a>,
    pub output_tokens: RawValue<'a>,
    pub cache_read_tokens: RawValue<'a>,
    pub cache_write_tokens: RawValue<'a>,
    pub max_prompt_tokens: RawValue<'a>,
}

/// A count, which the client sometimes writes with a fraction of zero.
pub(super) fn count(number: RawValue<'_>) -> Option<u64> {
    number.raw().split('.').next()?.parse().ok()
}

/// Whether a request failed because an allowance is used up: too many requests, or nothing left to pay with.
pub(super) fn is_usage_limit(data: &EventData<'_>) -> bool {
    matches!(data.status_code.number(), Some(402 | 429))
}
