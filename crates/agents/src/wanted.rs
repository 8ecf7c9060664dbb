//! The files that a tool is about to read or change, from the event before the tool runs.
//!
//! Reads nothing else of the call, and decides nothing about it.

use crate::Agent;
use crate::wire::{HookPayload, parse, payload_text};
use towline_core::id::SessionKey;

/// The event before a tool runs; all agents use this name.
pub const BEFORE_TOOL: &str = "PreToolUse";

/// The files that a pending tool call names, and the session it runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingFiles {
    pub session: SessionKey,
    pub folder: Option<String>,
    /// As given in the tool's input.
    pub paths: Vec<String>,
}

impl Agent {
    /// The files that a tool is about to read or change, if the payload announces such a tool.
    pub fn pending_files(self, payload: &[u8]) -> Option<PendingFiles> {
        let text = payload_text(payload);
        let wire: HookPayload<'_> = parse(&text).ok()?;
        if !wire.hook_event_name.is(BEFORE_TOOL) {
            return None;
        }
        let action = self.tool_action(wire.tool_name.as_deref()?, wire.tool_input.raw());
        let paths: Vec<String> = action.paths().map(str::to_owned).collect();
        if paths.is_empty() {
            return None;
        }
        let session = self.session(wire.session_id.0).ok()?;
        Some(PendingFiles { session, folder: wire.cwd.into_owned(), paths })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(agent: Agent, payload: &str, expected: Option<&[&str]>) {
        let found = agent.pending_files(payload.as_bytes());
        let paths = found.as_ref().map(|found| found.paths.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(paths.as_deref(), expected, "{payload}");
    }

    #[test]
    fn the_files_of_a_call_are_known_before_it_runs() {
        let claude = |tool: &str, input: &str| {
            format!(
                r#"{{"hook_event_name":"PreToolUse","session_id":"one","cwd":"/a","tool_name":"{tool}","tool_input":{input}}}"#
            )
        };
        check(Agent::Claude, &claude("Edit", r#"{"file_path":"/a/x.rs"}"#), Some(&["/a/x.rs"]));
        check(Agent::Claude, &claude("Read", r#"{"file_path":"/a/x.rs"}"#), Some(&["/a/x.rs"]));
        check(Agent::Claude, &claude("Bash", r#"{"command":"true"}"#), None);
        let patch = include_str!("../fixtures/codex/0.166.0/PreToolUse.apply_patch.json");
        check(Agent::Codex, patch, Some(&["patched.txt"]));
        check(Agent::Codex, "{}", None);
        check(Agent::Claude, "", None);
    }
}
