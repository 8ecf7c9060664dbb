//! Totals of turns and conversations: details, files, commits, tokens.
//!
//! Reads the rows of one conversation at most.

use super::Archive;
use super::read::Conversation;
use crate::Result;
use crate::columns::{FromRow, from_row};
use crate::query::Query;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use towline_core::capture::FileAccess;
use towline_core::deed::Commit;
use towline_core::piece::TokenCounts;

/// A file that a turn read or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedFile {
    pub turn: u32,
    pub path: String,
    pub how: FileAccess,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelUsage {
    pub model: Option<String>,
    pub messages: u32,
    pub tokens: TokenCounts,
}

const DETAIL_COUNTS: &str = "
    select turn, count(*) from details where conversation = ?1 and turn between ?2 and ?3 group by turn";

/// An input and its output count once.
const TOOLS: &str = "
    select turn, ifnull(tool, kind), count(*) from details
    where conversation = ?1 and turn between ?2 and ?3 and kind in ('input', 'image', 'summary') and subagent is null
    group by 1, 2 order by 1, min(place)";

const FILES: &str = "
    select turn, path, how from files where conversation = ?1 and turn between ?2 and ?3
    order by turn, path, how";

const COMMITS: &str = "
    select hash, subject from commits where conversation = ?1 and turn between ?2 and ?3 order by turn, hash";

const USAGE: &str = "
    select model, count(*), sum(input), sum(cache_read), sum(cache_write), sum(cache_write_1h), sum(output) from usage
    where conversation = ?1 and turn between ?2 and ?3 group by model order by model";

from_row!(TouchedFile { turn, path, how });
from_row!(Commit { hash, subject });
from_row!(ModelUsage { model, messages, tokens });

impl Archive {
    /// The number of details of each of these turns; turns without details are left out.
    pub fn detail_counts(&self, of: &Conversation, turns: RangeInclusive<u32>) -> Result<HashMap<u32, u32>> {
        Ok(self.of_turns(DETAIL_COUNTS, of, turns)?.into_iter().collect())
    }

    /// The number of details per tool or kind of each of these turns, in the order of first use.
    pub fn tools(
        &self,
        of: &Conversation,
        turns: RangeInclusive<u32>,
    ) -> Result<HashMap<u32, Vec<(String, u32)>>> {
        let mut by_turn: HashMap<u32, Vec<(String, u32)>> = HashMap::new();
        for (turn, used) in self.of_turns(TOOLS, of, turns)? {
            by_turn.entry(turn).or_default().push(used);
        }
        Ok(by_turn)
    }

    pub fn files(&self, of: &Conversation, turns: RangeInclusive<u32>) -> Result<Vec<TouchedFile>> {
        self.of_turns(FILES, of, turns)
    }

    pub fn commits(&self, of: &Conversation, turns: RangeInclusive<u32>) -> Result<Vec<Commit>> {
        self.of_turns(COMMITS, of, turns)
    }

    /// Usage of these turns by model, subagents included.
    pub fn usage(&self, of: &Conversation, turns: RangeInclusive<u32>) -> Result<Vec<ModelUsage>> {
        self.of_turns(USAGE, of, turns)
    }

    fn of_turns<T: FromRow>(
        &self,
        query: &str,
        of: &Conversation,
        turns: RangeInclusive<u32>,
    ) -> Result<Vec<T>> {
        self.db.all(query, (of.id, *turns.start(), *turns.end()))
    }
}
