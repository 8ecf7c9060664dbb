//! Bounded queries: the latest turns of a session or project, the latest sessions.
//!
//! Each query reads at most the requested rows or one conversation, never the whole history.

use super::Archive;
use super::read::{CONVERSATION, Conversation, TURN, TurnRow};
use crate::Result;
use crate::query::Query;
use std::fmt;
use towline_core::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnFilter {
    /// Without bookmarks, notifications and reverted turns.
    Standing,
    All,
}

/// The last turns within bounds.
#[derive(Clone, Copy, Debug)]
pub struct TurnQuery {
    pub since: Timestamp,
    /// Exclusive.
    pub before: Timestamp,
    /// Exclusive.
    pub before_ordinal: u32,
    pub which: TurnFilter,
    pub most: usize,
}

impl TurnQuery {
    /// The last `most` turns of all.
    pub fn last(most: usize, which: TurnFilter) -> Self {
        let (since, before) = (Timestamp(i64::MIN), Timestamp(i64::MAX));
        Self { since, before, before_ordinal: u32::MAX, which, most }
    }
}

/// The latest sessions within bounds.
#[derive(Clone, Copy, Debug)]
pub struct SessionQuery<'a> {
    pub project: Option<i64>,
    pub agent: Option<&'a str>,
    pub since: Timestamp,
    /// The page starts behind this session.
    pub behind: Option<PageKey>,
    pub most: usize,
}

/// The last session of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    last_at: Timestamp,
    row: i64,
}

impl PageKey {
    pub fn of(last: &Conversation) -> PageKey {
        PageKey { last_at: last.last_at, row: last.id }
    }

    /// Parses the `Display` format.
    pub fn parse(text: &str) -> Option<PageKey> {
        let (last_at, row) = text.split_once('.')?;
        Some(PageKey { last_at: Timestamp(last_at.parse().ok()?), row: row.parse().ok()? })
    }
}

impl fmt::Display for PageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.last_at.0, self.row)
    }
}

/// The condition of turns with a request that were not reverted.
macro_rules! standing {
    ($before:literal, $after:literal) => {
        concat!($before, " t.reverted = 0 and t.origin not in ('bookmark', 'notification') ", $after)
    };
}
pub(super) use standing;

pub(super) const OF_CONVERSATION: &str = standing!(
    "where t.conversation = ?1 and t.ordinal < ?2 and t.at >= ?3 and t.at < ?4 and (?5 or",
    ") order by t.ordinal desc limit ?6"
);
const BEHIND_TURN: &str =
    standing!("where t.conversation = ?1 and t.ordinal > ?2 and (?3 or", ") order by t.ordinal limit ?4");
const COUNT: &str = standing!(
    "select count(*), count(case when",
    "then 1 end) from turns t where t.conversation = ?1 and t.ordinal < ?2 and t.at >= ?3 and t.at < ?4"
);
const FIRST_LINE: &str =
    standing!("select t.line from turns t where t.conversation = ?1 and", "order by t.ordinal limit 1");
const LAST_LINE: &str =
    standing!("select t.line from turns t where t.conversation = ?1 and", "order by t.ordinal desc limit 1");

const OF_PROJECT: &str = "
    where c.project = ?5 and c.last_at >= ?1 and (c.last_at, c.id) < (?2, ?3) and (?4 is null or c.agent = ?4)
    order by c.last_at desc, c.id desc limit ?6";
const OF_ALL: &str = "
    where c.last_at >= ?1 and (c.last_at, c.id) < (?2, ?3) and (?4 is null or c.agent = ?4)
    order by c.last_at desc, c.id desc limit ?5";

/// Sessions read before checking whether older ones can still contain a requested turn.
const AT_A_TIME: usize = 32;

impl Archive {
    /// The last turns of a conversation within the bounds, in order.
    pub fn turns_of(&self, conversation: &Conversation, asked: &TurnQuery) -> Result<Vec<TurnRow>> {
        let query = format!("{TURN} {OF_CONVERSATION}");
        let most = i64::try_from(asked.most).unwrap_or(i64::MAX);
        let (since, before) = (asked.since.0, asked.before.0);
        let all = asked.which == TurnFilter::All;
        let mut turns: Vec<TurnRow> =
            self.db.all(&query, (conversation.id, asked.before_ordinal, since, before, all, most))?;
        turns.reverse();
        Ok(turns)
    }

    /// The first turns of a conversation after this one, in order.
    pub fn turns_after(
        &self,
        conversation: &Conversation,
        after: u32,
        asked: &TurnQuery,
    ) -> Result<Vec<TurnRow>> {
        let query = format!("{TURN} {BEHIND_TURN}");
        let most = i64::try_from(asked.most).unwrap_or(i64::MAX);
        self.db.all(&query, (conversation.id, after, asked.which == TurnFilter::All, most))
    }

    /// The last turns within the bounds over all sessions of a project, or of all, oldest first.
    pub fn turns_across(
        &self,
        project: Option<i64>,
        asked: &TurnQuery,
    ) -> Result<Vec<(Conversation, TurnRow)>> {
        let mut found: Vec<(Conversation, TurnRow)> = vec![];
        let mut most = AT_A_TIME;
        let mut seen = 0;
        loop {
            let sessions = SessionQuery { project, agent: None, since: asked.since, behind: None, most };
            let conversations = self.find_sessions(&sessions)?;
            for conversation in &conversations[seen.min(conversations.len())..] {
                let is_full = found.len() >= asked.most;
                if is_full && found.first().is_none_or(|(_, oldest)| conversation.last_at < oldest.at) {
                    return Ok(found);
                }
                let turns = self.turns_of(conversation, asked)?;
                found.extend(turns.into_iter().map(|turn| (conversation.clone(), turn)));
                found.sort_by_key(|(_, turn)| (turn.at, turn.conversation, turn.ordinal));
                found.drain(..found.len().saturating_sub(asked.most));
            }
            if conversations.len() < most {
                return Ok(found);
            }
            seen = conversations.len();
            most *= 2;
        }
    }

    /// The number of turns of a conversation within the bounds: all, and the standing ones.
    pub fn count_turns(&self, conversation: &Conversation, asked: &TurnQuery) -> Result<(u32, u32)> {
        let row = (conversation.id, asked.before_ordinal, asked.since.0, asked.before.0);
        self.db.value(COUNT, row)
    }

    /// The first and the last line of a conversation's standing turns.
    pub fn first_and_last_line(
        &self,
        conversation: &Conversation,
    ) -> Result<(Option<String>, Option<String>)> {
        let line = |query: &str| self.db.first(query, [conversation.id]);
        Ok((line(FIRST_LINE)?, line(LAST_LINE)?))
    }

    pub fn first_turn_at(&self) -> Result<Option<Timestamp>> {
        self.db.value("select min(at) from turns", [])
    }

    /// The latest first.
    pub fn find_sessions(&self, asked: &SessionQuery<'_>) -> Result<Vec<Conversation>> {
        let most = i64::try_from(asked.most).unwrap_or(i64::MAX);
        let end = PageKey { last_at: Timestamp(i64::MAX), row: i64::MAX };
        let (since, agent, behind) = (asked.since.0, asked.agent, asked.behind.unwrap_or(end));
        let (at, row) = (behind.last_at.0, behind.row);
        match asked.project {
            Some(project) => {
                self.db.all(&format!("{CONVERSATION} {OF_PROJECT}"), (since, at, row, agent, project, most))
            }
            None => self.db.all(&format!("{CONVERSATION} {OF_ALL}"), (since, at, row, agent, most)),
        }
    }
}

#[cfg(test)]
mod tests;
