//! Collects the parts of a turn that a model may see.
//!
//! Omits excluded tools and the output of tools that only read, since the file still exists. Reads only, and
//! decompresses no more than can be shown.

use super::digest::{Call, Material};
use std::collections::HashMap;
use towline_agents::Agent;
use towline_core::capture::{DetailKind, Speaker};
use towline_core::deed::ToolAction;
use towline_core::memory::MemoryTrust;
use towline_core::text::clip;
use towline_store::archive::{Conversation, DetailRow, TurnRow};
use towline_store::{Archive, StoreError};

/// More calls than any digest shows.
const MOST_CALLS: usize = 60;
/// Larger outputs are cut; a digest shows only head and tail.
const MOST_BYTES: usize = 64 * 1024;

/// Collects the input of a digest. `skipped` says which tools are left out.
pub fn gather(
    archive: &Archive,
    of: &Conversation,
    turn: &TurnRow,
    skipped: &dyn Fn(&str) -> bool,
) -> Result<Material, StoreError> {
    let agent = Agent::from_name(of.session.agent.as_str());
    let bodies = archive.bodies(turn)?;
    let words = |speaker: Speaker| -> Vec<String> {
        let said = bodies.iter().filter(|body| body.speaker == speaker);
        said.map(|body| body.text.clone()).filter(|text| !text.trim().is_empty()).collect()
    };
    let turns = turn.ordinal..=turn.ordinal;
    let files = archive.files(of, turns.clone())?.into_iter();
    Ok(Material {
        project: of.project.clone(),
        branch: of.branch.clone(),
        asked: words(Speaker::Person),
        said: words(Speaker::Agent),
        calls: calls(archive, agent, turn, skipped)?,
        files: files.map(|file| (within(&file.path, of.folder.as_deref()).to_owned(), file.how)).collect(),
        commits: archive.commits(of, turns)?,
    })
}

/// Makes a path relative to the session's folder if it is below it.
pub(crate) fn within<'a>(path: &'a str, folder: Option<&str>) -> &'a str {
    let below = folder.and_then(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
    below.unwrap_or(path)
}

fn calls(
    archive: &Archive,
    agent: Option<Agent>,
    turn: &TurnRow,
    skipped: &dyn Fn(&str) -> bool,
) -> Result<Vec<Call>, StoreError> {
    let details = archive.details(turn)?;
    let is_own = |row: &&DetailRow| row.subagent.is_none();
    let outputs: HashMap<i64, &DetailRow> = details
        .iter()
        .filter(|row| row.kind == DetailKind::Output)
        .filter_map(|row| Some((row.call?, row)))
        .collect();
    let named = |row: &&DetailRow| row.tool.as_deref().is_some_and(|tool| !skipped(tool));
    let inputs = details.iter().filter(|row| row.kind == DetailKind::Input).filter(is_own).filter(named);
    let mut inputs: Vec<&DetailRow> = inputs.collect();
    let beyond = inputs.len().saturating_sub(MOST_CALLS);
    inputs.drain(..beyond);
    let mut found = vec![];
    for row in inputs {
        let output = row.call.and_then(|call| outputs.get(&call)).copied();
        found.extend(call(archive, agent, row, output)?);
    }
    Ok(found)
}

/// Returns `None` for a call that only read, asked or planned.
fn call(
    archive: &Archive,
    agent: Option<Agent>,
    row: &DetailRow,
    output: Option<&DetailRow>,
) -> Result<Option<Call>, StoreError> {
    let (tool, input) = (row.tool.as_deref().unwrap_or(""), archive.content(row)?);
    let deed = agent.map_or(ToolAction::Other, |agent| agent.tool_action(tool, &input));
    let failed = output.is_some_and(|row| row.outcome.as_deref() == Some("failed"));
    let Some((words, trust, shows)) = in_words(&deed, tool, &input) else { return Ok(None) };
    let output = match output {
        Some(row) if shows == Shows::Output || failed => clip(&archive.content(row)?, MOST_BYTES).to_owned(),
        Some(_) | None => String::new(),
    };
    Ok(Some(Call { deed: words, output, failed, trust }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    Output,
    Nothing,
}

fn in_words(deed: &ToolAction<'_>, tool: &str, input: &str) -> Option<(String, MemoryTrust, Shows)> {
    match deed {
        ToolAction::Ran { command } => Some((format!("ran {command}"), trust_in(command), Shows::Output)),
        ToolAction::Changed { paths } => {
            Some((format!("changed {}", paths.join(" ")), MemoryTrust::Agent, Shows::Nothing))
        }
        ToolAction::Fetched { address } => {
            Some((format!("fetched {address}"), MemoryTrust::Web, Shows::Output))
        }
        ToolAction::Delegated { task } => {
            Some((format!("had a helper {task}"), MemoryTrust::Tool, Shows::Output))
        }
        // An MCP tool may return content from anywhere.
        ToolAction::Other => {
            Some((format!("used {tool} {}", clip(input, 400)), MemoryTrust::Web, Shows::Output))
        }
        ToolAction::Read { .. }
        | ToolAction::Searched { .. }
        | ToolAction::Waited
        | ToolAction::Asked { .. }
        | ToolAction::Planned(_) => None,
    }
}

/// A command's output has the trust of a tool, unless the command fetched it from the network.
fn trust_in(command: &str) -> MemoryTrust {
    const FETCHERS: [&str; 5] = ["curl", "wget", "lynx", "http", "gh"];
    let mut words = command.split(|c: char| c.is_whitespace() || "|&;()$`'\"".contains(c));
    if words.any(|word| FETCHERS.contains(&word) || word.contains("://")) {
        MemoryTrust::Web
    } else {
        MemoryTrust::Tool
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_fetched_is_not_a_tools_own_word() {
        for (command, expected) in [
            ("cargo test", MemoryTrust::Tool),
            ("curl -s x.y", MemoryTrust::Web),
            ("cd a && git clone https://x.y/z", MemoryTrust::Web),
            ("grep curly src", MemoryTrust::Tool),
        ] {
            assert_eq!(trust_in(command), expected, "{command}");
        }
    }

    #[test]
    fn paths_are_told_from_the_sessions_folder() {
        assert_eq!(within("/a/b/src/x.rs", Some("/a/b")), "src/x.rs");
        assert_eq!(within("/a/bc/x.rs", Some("/a/b")), "/a/bc/x.rs");
        assert_eq!(within("x.rs", None), "x.rs");
    }
}
