//! Wire type of Claude Code's hook payloads, under the client's own field names.
//!
//! One struct for all events: absent fields are empty. Tool input and output are never copied, only measured.

use crate::reader::RawValue;
use crate::wire::{LooseValue, OptText};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudePayload<'a> {
    #[serde(borrow)]
    pub session_id: OptText<'a>,
    #[serde(borrow)]
    pub hook_event_name: OptText<'a>,
    #[serde(borrow)]
    pub transcript_path: OptText<'a>,
    #[serde(borrow)]
    pub cwd: OptText<'a>,
    #[serde(borrow)]
    pub new_cwd: OptText<'a>,
    #[serde(borrow)]
    pub prompt_id: OptText<'a>,
    #[serde(borrow)]
    pub agent_id: OptText<'a>,
    #[serde(borrow)]
    pub agent_transcript_path: OptText<'a>,
    #[serde(borrow)]
    pub agent_type: OptText<'a>,
    #[serde(borrow)]
    pub model: OptText<'a>,
    #[serde(borrow)]
    pub source: OptText<'a>,
    #[serde(borrow)]
    pub reason: OptText<'a>,
    #[serde(borrow)]
    pub prompt: OptText<'a>,
    #[serde(borrow)]
    pub last_assistant_message: OptText<'a>,
    #[serde(borrow)]
    pub tool_name: OptText<'a>,
    #[serde(borrow)]
    pub tool_input: RawValue<'a>,
    #[serde(borrow)]
    pub tool_response: RawValue<'a>,
    #[serde(borrow)]
    pub notification_type: OptText<'a>,
    #[serde(borrow)]
    pub message: OptText<'a>,
    #[serde(borrow)]
    pub trigger: OptText<'a>,
    #[serde(borrow)]
    pub error: OptText<'a>,
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
