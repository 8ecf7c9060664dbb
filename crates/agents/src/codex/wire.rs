//! The fields of Codex's payloads that mean something to us, under the client's own names.
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
    pub turn_id: Text<'a>,
    #[serde(borrow)]
    pub agent_id: Text<'a>,
    #[serde(borrow)]
    pub agent_transcript_path: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub source: Text<'a>,
    #[serde(borrow)]
    pub prompt: Text<'a>,
    #[serde(borrow)]
    pub last_assistant_message: Text<'a>,
    #[serde(borrow)]
    pub tool_name: Text<'a>,
    #[serde(borrow)]
    pub trigger: Text<'a>,
    pub token_usage: Loose,
}
