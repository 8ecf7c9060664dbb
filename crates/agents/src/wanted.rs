//! The files that a tool is about to read or change, where a client asks before it runs one.
//!
//! Looks at nothing else of the call, and decides nothing about it.

use crate::Agent;
use crate::reader::Any;
use crate::wire::{Text, parse, text_of};
use serde::Deserialize;
use towline_core::deed::Deed;
use towline_core::id::SessionKey;

/// The event before a tool runs, as all agents call it.
pub const BEFORE_TOOL: &str = "PreToolUse";

/// Whose tool it is, and which files it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesWanted {
    pub session: SessionKey,
    pub folder: Option<String>,
    /// As the tool was given them.
    pub paths: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wire<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    hook_event_name: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    tool_name: Text<'a>,
    #[serde(borrow)]
    tool_input: Any<'a>,
}

/// `None` for every other event, and for tools that are about no file.
pub(crate) fn files_wanted(agent: Agent, payload: &[u8]) -> Option<FilesWanted> {
    let text = text_of(payload);
    let wire: Wire<'_> = parse(&text).ok()?;
    if !wire.hook_event_name.is(BEFORE_TOOL) {
        return None;
    }
    let paths = match agent.deed(wire.tool_name.as_deref()?, wire.tool_input.raw()) {
        Deed::Read { path } => vec![path.into_owned()],
        Deed::Changed { paths } => paths.into_iter().map(|path| path.into_owned()).collect(),
        Deed::Ran { .. }
        | Deed::Waited
        | Deed::Searched { .. }
        | Deed::Fetched { .. }
        | Deed::Delegated { .. }
        | Deed::Asked { .. }
        | Deed::Planned
        | Deed::Other => return None,
    };
    let session = agent.session(wire.session_id.0).ok()?;
    Some(FilesWanted { session, folder: wire.cwd.into_owned(), paths })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(agent: Agent, payload: &str, expected: Option<&[&str]>) {
        let found = agent.files_wanted(payload.as_bytes());
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
