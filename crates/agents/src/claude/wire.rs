//! The fields of Claude Code's payloads that mean something to us, under the client's own names.
//!
//! One struct for all events: absent fields are empty. Of tool input and output only the size is known: they are never
//! copied, whatever it is.

use crate::reader::Any;
use crate::wire::{Loose, Text};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wire<'a> {
    #[serde(borrow)]
    pub session_id: Text<'a>,
    #[serde(borrow)]
    pub hook_event_name: Text<'a>,
    #[serde(borrow)]
    pub transcript_path: Text<'a>,
    #[serde(borrow)]
    pub cwd: Text<'a>,
    #[serde(borrow)]
    pub new_cwd: Text<'a>,
    #[serde(borrow)]
    pub prompt_id: Text<'a>,
    #[serde(borrow)]
    pub agent_id: Text<'a>,
    #[serde(borrow)]
    pub agent_transcript_path: Text<'a>,
    #[serde(borrow)]
    pub agent_type: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub source: Text<'a>,
    #[serde(borrow)]
    pub reason: Text<'a>,
    #[serde(borrow)]
    pub prompt: Text<'a>,
    #[serde(borrow)]
    pub last_assistant_message: Text<'a>,
    #[serde(borrow)]
    pub tool_name: Text<'a>,
    #[serde(borrow)]
    pub tool_input: Any<'a>,
    #[serde(borrow)]
    pub tool_response: Any<'a>,
    #[serde(borrow)]
    pub notification_type: Text<'a>,
    #[serde(borrow)]
    pub message: Text<'a>,
    #[serde(borrow)]
    pub trigger: Text<'a>,
    #[serde(borrow)]
    pub error: Text<'a>,
    pub is_interrupt: Loose,
    pub background_tasks: Loose,
    pub stop_hook_active: Loose,
}

impl Wire<'_> {
    /// How much the tool was given and gave; `cut` was taken out of the payload before it was read.
    pub fn tool_bytes(&self, cut: usize) -> u64 {
        let bytes = cut + self.tool_input.raw().len() + self.tool_response.raw().len();
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}
