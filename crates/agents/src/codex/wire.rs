//! Wire type of Codex's hook payloads, under the client's own field names.
//!
//! One struct for all events: absent fields are empty. Tool input and output are never copied, only measured.

use crate::json::{OptText, RawValue};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CodexPayload<'a> {
    pub session_id: OptText<'a>,
    pub hook_event_name: OptText<'a>,
    pub transcript_path: OptText<'a>,
    pub cwd: OptText<'a>,
    pub turn_id: OptText<'a>,
    pub agent_id: OptText<'a>,
    pub agent_transcript_path: OptText<'a>,
    pub model: OptText<'a>,
    pub source: OptText<'a>,
    pub prompt: OptText<'a>,
    pub last_assistant_message: OptText<'a>,
    pub tool_name: OptText<'a>,
    pub tool_input: RawValue<'a>,
    pub tool_response: RawValue<'a>,
    pub trigger: OptText<'a>,
    pub token_usage: RawValue<'a>,
    pub stop_hook_active: RawValue<'a>,
}
