//! The files that a tool is about to read or change, from the event before the tool runs.
//!
//! Reads nothing else of the call, and decides nothing about it.

use crate::Agent;
use crate::wire::{HookPayload, parse, payload_text};
use towline_core::id::SessionKey;

/// The files that a pending tool call names, and the session it runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingFiles {
    pub session: SessionKey,
    pub folder: Option<String>,
    /// As given in the tool's input.
    pub paths: Vec<String>,
}

impl Agent {
    /// The event before a tool runs.
    pub fn before_tool(self) -> &'static str {
        self.adapter().hooks.before_tool
    }

    /// The files that a tool is about to read or change, if the payload announces such a tool. `named` is the event, for
    /// agents whose payloads do not name it.
    pub fn pending_files(self, named: Option<&str>, payload: &[u8]) -> Option<PendingFiles> {
        let text = payload_text(payload);
        let mut wire: HookPayload<'_> = parse(&text).ok()?;
        if named.or(wire.hook_event_name.as_deref()) != Some(self.before_tool()) {
            return None;
        }
        if let Some(corrected) = self.adapter().hooks.corrected {
            corrected(&mut wire);
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
        let named = Some(agent.before_tool()).filter(|_| agent == Agent::Copilot);
        let found = agent.pending_files(named, payload.as_bytes());
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
        let edit = include_str!("../fixtures/copilot/1.0.102/preToolUse.create.json");
        check(Agent::Copilot, edit, Some(&["/home/user/project/b.txt"]));
        let read = |event: &str| {
            format!(
                r#"{{"hook_event_name":"{event}","session_id":"ses_1","cwd":"/a","tool_name":"read","tool_input":{{"filePath":"/a/x.rs"}}}}"#
            )
        };
        for agent in [Agent::Opencode, Agent::Kilo] {
            check(agent, &read("PreFileUse"), Some(&["/a/x.rs"]));
            check(agent, &read("PostToolUse"), None);
        }
        check(Agent::Claude, "", None);
    }
}
