//! Calls whose results have not come yet.
//!
//! Bounded: of very many open calls the oldest are forgotten, and what comes of them counts to the turn that runs then.

use crate::deed::{Deed, makes_commits};
use crate::id::Mark;
use crate::text::clip;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

const MOST: usize = 64;
const LONGEST_TOOL: usize = 80;
const LONGEST_COMMAND: usize = 400;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Calls(VecDeque<Call>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Call {
    pub mark: Mark,
    pub turn: Option<Mark>,
    pub tool: String,
    pub is_excluded: bool,
    /// The command, if it may commit something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commits: Option<String>,
}

impl Call {
    /// A call of which nothing but its tool is known.
    pub fn nameless(mark: Mark, turn: Option<Mark>, tool: &str) -> Self {
        Self { mark, turn, tool: clip(tool, LONGEST_TOOL).to_owned(), is_excluded: false, commits: None }
    }

    pub fn new(mark: Mark, turn: Option<Mark>, tool: &str, deed: &Deed<'_>) -> Self {
        let command = if let Deed::Ran { command } = deed { Some(command) } else { None };
        let commits = command.filter(|command| makes_commits(command));
        let commits = commits.map(|command| clip(command, LONGEST_COMMAND).to_owned());
        Self { commits, ..Self::nameless(mark, turn, tool) }
    }
}

impl Calls {
    pub fn open(&mut self, call: Call) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(call);
    }

    pub fn close(&mut self, mark: Mark) -> Option<Call> {
        let index = self.0.iter().rposition(|call| call.mark == mark)?;
        self.0.remove(index)
    }
}
