//! Wire type of Claude Code's hook payloads, under the client's own field names.
//!
//! One struct for all events: absent fields are empty. Tool input and output are never copied, only measured.

use crate::reader::RawValue;
use crate::wire::{LenientText, LooseValue};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudePayload<'a> {
    #[serde(borrow)]
    pub session_id: LenientText<'a>,
    #[serde(borrow)]
    pub hook_event_name: LenientText<'a>,
    #[serde(borrow)]
    pub transcript_path: LenientText<'a>,
    #[serde(borrow)]
    pub cwd: LenientText<'a>,
    #[serde(borrow)]
    pub new_cwd: LenientText<'a>,
    #[serde(borrow)]
    pub prompt_id: LenientText<'a>,
    #[serde(borrow)]
    pub agent_id: LenientText<'a>,
    #[serde(borrow)]
    pub agent_transcript_path: LenientText<'a>,
    #[serde(borrow)]
    pub agent_type: LenientText<'a>,
    #[serde(borrow)]
    pub model: LenientText<'a>,
    #[serde(borrow)]
    pub source: LenientText<'a>,
    #[serde(borrow)]
    pub reason: LenientText<'a>,
    #[serde(borrow)]
    pub prompt: LenientText<'a>,
    #[serde(borrow)]
    pub last_assistant_message: LenientText<'a>,
    #[serde(borrow)]
    pub tool_name: LenientText<'a>,
    #[serde(borrow)]
    pub tool_input: RawValue<'a>,
    #[serde(borrow)]
    pub tool_response: RawValue<'a>,
    #[serde(borrow)]
    pub notification_type: LenientText<'a>,
    #[serde(borrow)]
    pub message: LenientText<'a>,
    #[serde(borrow)]
    pub trigger: LenientText<'a>,
    #[serde(borrow)]
    pub error: LenientText<'a>,
    pub is_interrupt: LooseValue,
    pub background_tasks: LooseValue,
    pub stop_hook_active: LooseValue,
}

impl ClaudePayload<'_> {
    /// The size of the tool's input and output; `cut` bytes were removed from the payload before parsing.
    pub fn tool_bytes(&self, cut: usize) -> u64 {
        let bytes = cut + self.tool_input.raw().len() + self.tool_response.raw().len();
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}
