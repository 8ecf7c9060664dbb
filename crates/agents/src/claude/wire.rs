//! The fields of Claude Code's payloads that mean something to us, under the client's own names.
//!
//! One struct for all events: absent fields are empty. Tool input and output are not among them, so they are never
//! copied, whatever their size.

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
    pub notification_type: Text<'a>,
    #[serde(borrow)]
    pub message: Text<'a>,
    #[serde(borrow)]
    pub trigger: Text<'a>,
    #[serde(borrow)]
    pub error: Text<'a>,
    pub is_interrupt: Loose,
    pub background_tasks: Loose,
}
