//! Tool calls whose results have not arrived yet.
//!
//! Bounded: the oldest of too many open calls are dropped, and their results count toward the then current turn.

use crate::deed::{ToolAction, makes_commits};
use crate::id::IdHash;
use crate::text::clip;
use crate::work::PlanChange;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const MAX_PENDING: usize = 64;
const MAX_TOOL_BYTES: usize = 80;
const MAX_COMMAND_BYTES: usize = 400;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct PendingCalls(VecDeque<PendingCall>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PendingCall {
    pub mark: IdHash,
    pub turn: Option<IdHash>,
    pub tool: String,
    pub is_excluded: bool,
    /// The command, if it may create a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<String>,
    /// The item that it adds to the to-do list, if its result names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adds: Option<String>,
}

impl PendingCall {
    /// A call with only its tool recorded.
    pub fn tool_only(mark: IdHash, turn: Option<IdHash>, tool: &str) -> Self {
        let tool = clip(tool, MAX_TOOL_BYTES).to_owned();
        Self { mark, turn, tool, is_excluded: false, commits: None, adds: None }
    }

    pub fn new(mark: IdHash, turn: Option<IdHash>, tool: &str, deed: &ToolAction<'_>) -> Self {
        let command = if let ToolAction::Ran { command } = deed { Some(command) } else { None };
        let commits = command.filter(|command| makes_commits(command));
        let commits = commits.map(|command| clip(command, MAX_COMMAND_BYTES).to_owned());
        let added = if let ToolAction::Planned(PlanChange::Added(text)) = deed { Some(text) } else { None };
        let adds = added.map(|text| clip(text, MAX_COMMAND_BYTES).to_owned());
        Self { commits, adds, ..Self::tool_only(mark, turn, tool) }
    }
}

impl PendingCalls {
    pub fn open(&mut self, call: PendingCall) {
        if self.0.len() >= MAX_PENDING {
            self.0.pop_front();
        }
        self.0.push_back(call);
    }

    pub fn close(&mut self, mark: IdHash) -> Option<PendingCall> {
        let index = self.0.iter().rposition(|call| call.mark == mark)?;
        self.0.remove(index)
    }
}
