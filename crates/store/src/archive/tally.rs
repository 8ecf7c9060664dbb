//! Totals of turns and conversations: details, files, commits, tokens.
//!
//! Reads the rows of one conversation at most.

use super::Archive;
use super::read::Conversation;
use crate::StoreError;
use crate::query::parse_column;
use rusqlite::Row;
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

impl Archive {
    /// The number of details of each of these turns; turns without details are left out.
    pub fn detail_counts(
        &self,
        conversation: &Conversation,
        turns: RangeInclusive<u32>,
    ) -> Result<HashMap<u32, u32>, StoreError> {
        self.query_turns(DETAIL_COUNTS, conversation, turns, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// The number of details per tool or kind of each of these turns, in the order of first use.
    pub fn tools(
        &self,
        conversation: &Conversation,
        turns: RangeInclusive<u32>,
    ) -> Result<HashMap<u32, Vec<(String, u32)>>, StoreError> {
        let rows: Vec<(u32, (String, u32))> = self
            .query_turns(TOOLS, conversation, turns, |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        let mut by_turn: HashMap<u32, Vec<(String, u32)>> = HashMap::new();
        rows.into_iter().for_each(|(turn, used)| by_turn.entry(turn).or_default().push(used));
        Ok(by_turn)
    }

    pub fn files(
        &self,
        conversation: &Conversation,
        turns: RangeInclusive<u32>,
    ) -> Result<Vec<TouchedFile>, StoreError> {
        self.query_turns(FILES, conversation, turns, |row| {
            Ok(TouchedFile { turn: row.get(0)?, path: row.get(1)?, how: touch(row, 2)? })
        })
    }

    pub fn commits(
        &self,
        conversation: &Conversation,
        turns: RangeInclusive<u32>,
    ) -> Result<Vec<Commit>, StoreError> {
        self.query_turns(COMMITS, conversation, turns, |row| {
            Ok(Commit { hash: row.get(0)?, subject: row.get(1)? })
        })
    }

    /// Usage of these turns by model, subagents included.
    pub fn usage(
        &self,
        conversation: &Conversation,
        turns: RangeInclusive<u32>,
    ) -> Result<Vec<ModelUsage>, StoreError> {
        self.query_turns(USAGE, conversation, turns, |row| {
            let tokens = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
            Ok(ModelUsage {
                model: row.get(0)?,
                messages: row.get(1)?,
                tokens: TokenCounts {
                    input: tokens(2)?,
                    cache_read: tokens(3)?,
                    cache_write: tokens(4)?,
                    cache_write_1h: tokens(5)?,
                    output: tokens(6)?,
                },
            })
        })
    }

    fn query_turns<T, All: FromIterator<T>>(
        &self,
        query: &str,
        conversation: &Conversation,
        turns: RangeInclusive<u32>,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<All, StoreError> {
        let turns = (conversation.id, *turns.start(), *turns.end());
        Ok(self.db.prepare_cached(query)?.query_map(turns, read)?.collect::<Result<_, _>>()?)
    }
}

pub(super) fn touch(row: &Row<'_>, column: usize) -> rusqlite::Result<FileAccess> {
    parse_column(row, column, FileAccess::named)
}
