//! Reads captured content back: conversations, their turns, messages and details.
//!
//! Every query uses an index, however long the history; compressed text is unpacked only on request.

use super::Archive;
use super::ask::{SessionQuery, TurnFilter, TurnQuery, standing};
use super::pack::DetailBytes;
use crate::Result;
use crate::columns::{Columns, from_row};
use crate::query::Query;
use std::collections::HashMap;
use towline_core::capture::{DetailKind, Speaker};
use towline_core::event::PromptOrigin;
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::piece::StopReason;
use towline_core::time::Timestamp;

/// A captured session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub(super) id: i64,
    pub uid: Uid,
    pub session: SessionKey,
    /// The id that users and models use.
    pub short: String,
    pub folder: Option<String>,
    pub project: Option<String>,
    pub branch: Option<String>,
    /// The session that it was forked from.
    pub base: Option<String>,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub turns: u32,
}

/// A turn without its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    pub(super) conversation: i64,
    pub uid: Uid,
    pub ordinal: u32,
    pub at: Timestamp,
    /// When the last thing in it happened.
    pub until: Timestamp,
    pub origin: PromptOrigin,
    pub stopped: Option<StopReason>,
    pub tools: u32,
    pub failures: u32,
    pub line: String,
    /// The user rewound the session to before this turn.
    pub reverted: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// The agent's own id of the message.
    pub message: String,
    pub at: Timestamp,
    pub speaker: Speaker,
    pub text: String,
}

/// A detail without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetailRow {
    pub(super) id: i64,
    /// Position within the turn, from 1.
    pub number: u32,
    pub at: Timestamp,
    pub kind: DetailKind,
    pub subagent: Option<String>,
    pub tool: Option<String>,
    /// Joins an input and its output.
    pub call: Option<i64>,
    pub outcome: Option<String>,
    pub size: u64,
    /// Bytes that were cut off when it was captured.
    pub cut: u64,
}

pub(super) const CONVERSATION: &str = "
    select c.id, c.uid, c.agent || ':' || c.session, c.short, c.folder, p.name, c.branch, c.base, c.first_at, c.last_at,
        c.turns
    from conversations c left join projects p on p.id = c.project";

pub(super) const TURN: &str = "
    select t.conversation, t.uid, t.ordinal, t.at, t.until, t.origin, t.stopped, t.tools, t.failures, t.line, t.reverted
    from turns t";

/// Turns of up to an hour are found by their start, longer ones through their own index: neither scans a whole day.
pub(super) const LONG: &str = "
    cross join conversations c on c.id = t.conversation
    where t.until - t.at > 3600000 and t.at between ?3 - 604800000 and ?3 - 3600001 and t.until >= ?3
        and (?4 is null or c.project = ?4)";
pub(super) const UNDER_WAY: &str = "
    cross join conversations c on c.id = t.conversation
    where t.at between ?1 and ?2 and t.until >= ?3 and (?4 is null or c.project = ?4)
    order by 4, 1, 3 limit 1000";

/// Shorter turns are found by their start.
const HOUR_MS: i64 = 3_600_000;

const BODIES: &str = "
    select message, at, speaker, text from bodies where conversation = ?1 and turn = ?2 order by place, id";

/// Details of subagents sort last: their files are read at other times and must not change the numbers of the session's
/// own details.
const DETAILS: &str = "
    select id, at, kind, subagent, tool, call, outcome, size, cut from details
    where conversation = ?1 and turn = ?2 order by subagent is not null, subagent, place, id";

const CONTENT: &str = "select packed, content from details where id = ?1";

impl Conversation {
    /// The row id by which changes refer to it.
    pub fn row(&self) -> i64 {
        self.id
    }

    /// The id of one of its turns for users and models.
    pub fn turn_id(&self, turn: &TurnRow) -> String {
        format!("{}#{}", self.short, turn.ordinal)
    }
}

impl DetailRow {
    /// The row id: a detail that is captured later has a higher one.
    pub fn row(&self) -> i64 {
        self.id
    }
}

impl Archive {
    pub fn conversation(&self, session: &SessionKey) -> Result<Option<Conversation>> {
        let query = format!("{CONVERSATION} where c.agent = ?1 and c.session = ?2");
        self.db.first(&query, (session.agent.as_str(), session.id.as_str()))
    }

    /// The latest first; of one project, or of all.
    pub fn latest_conversations(&self, project: Option<i64>, most: usize) -> Result<Vec<Conversation>> {
        let since = Timestamp(i64::MIN);
        self.find_sessions(&SessionQuery { project, agent: None, since, behind: None, most })
    }

    /// The turns of a conversation between two ordinals, in order.
    pub fn turns(&self, conversation: &Conversation, from: u32, to: u32) -> Result<Vec<TurnRow>> {
        let query =
            format!("{TURN} where t.conversation = ?1 and t.ordinal between ?2 and ?3 order by t.ordinal");
        self.db.all(&query, (conversation.id, from, to))
    }

    /// The last turns of a conversation with a request that were not reverted, in order.
    pub fn last_turns(&self, conversation: &Conversation, most: usize) -> Result<Vec<TurnRow>> {
        self.turns_of(conversation, &TurnQuery::last(most, TurnFilter::Standing))
    }

    /// Start time, mark and line of each turn of a conversation, in order.
    pub fn turn_marks(&self, conversation: &Conversation) -> Result<Vec<(Timestamp, IdHash, String)>> {
        const MARKS: &str = "select at, mark, line from turns where conversation = ?1 order by ordinal";
        self.db.all(MARKS, [conversation.id])
    }

    /// Counts the turns of a conversation with a request that were not reverted.
    pub fn turns_worth_giving(&self, conversation: &Conversation) -> Result<u32> {
        const COUNT: &str = standing!("select count(*) from turns t where t.conversation = ?1 and", "");
        self.db.value(COUNT, [conversation.id])
    }

    /// Turns that were running between two times, both included, with their conversations: of one project, or of all.
    /// An earlier turn counts if it lasted into that time and began at most a week before it.
    pub fn turns_between(
        &self,
        from: Timestamp,
        to: Timestamp,
        project: Option<i64>,
    ) -> Result<Vec<(Conversation, TurnRow)>> {
        let query = format!("{TURN} {LONG} union all {TURN} {UNDER_WAY}");
        let turns: Vec<TurnRow> = self.db.all(&query, (from.plus_ms(-HOUR_MS).0, to.0, from.0, project))?;
        let mut known: HashMap<i64, Conversation> = HashMap::new();
        let mut found = Vec::with_capacity(turns.len());
        for turn in turns {
            let conversation = match known.get(&turn.conversation) {
                Some(conversation) => conversation.clone(),
                None => self.conversation_by_row(turn.conversation)?,
            };
            known.entry(turn.conversation).or_insert_with(|| conversation.clone());
            found.push((conversation, turn));
        }
        Ok(found)
    }

    pub(super) fn conversation_by_row(&self, id: i64) -> Result<Conversation> {
        let query = format!("{CONVERSATION} where c.id = ?1");
        self.db.value(&query, [id])
    }

    /// The conversation of a change or a job; `None` if it was deleted.
    pub fn conversation_at(&self, row: i64) -> Result<Option<Conversation>> {
        let query = format!("{CONVERSATION} where c.id = ?1");
        self.db.first(&query, [row])
    }

    pub fn project_of(&self, conversation: &Conversation) -> Result<Option<i64>> {
        const PROJECT: &str = "select project from conversations where id = ?1";
        Ok(self.db.first(PROJECT, [conversation.id])?.flatten())
    }

    /// The messages of a turn, in order.
    pub fn bodies(&self, turn: &TurnRow) -> Result<Vec<MessageRow>> {
        self.db.all(BODIES, (turn.conversation, turn.ordinal))
    }

    /// The details of a turn, in order and numbered, without their texts.
    pub fn details(&self, turn: &TurnRow) -> Result<Vec<DetailRow>> {
        self.detail_rows(turn.conversation, turn.ordinal)
    }

    /// Details that belong to no turn: they precede the first prompt.
    pub fn details_before(&self, first_turn_of: &Conversation) -> Result<Vec<DetailRow>> {
        self.detail_rows(first_turn_of.id, 0)
    }

    fn detail_rows(&self, conversation: i64, turn: u32) -> Result<Vec<DetailRow>> {
        let mut details: Vec<DetailRow> = self.db.all(DETAILS, (conversation, turn))?;
        details.iter_mut().zip(1..).for_each(|(detail, number)| detail.number = number);
        Ok(details)
    }

    /// The highest row id of a detail.
    pub fn last_detail_row(&self) -> Result<i64> {
        self.db.value("select ifnull(max(id), 0) from details", [])
    }

    pub fn content(&self, detail: &DetailRow) -> Result<String> {
        let content: Option<DetailBytes> = self.db.first(CONTENT, [detail.id])?;
        content.map_or(Ok(String::new()), |content| content.text())
    }
}

from_row!(Conversation { id, uid, session, short, folder, project, branch, base, first_at, last_at, turns });
from_row! { TurnRow {
    conversation, uid, ordinal, at, until, origin, stopped, tools, failures, line, reverted
} }
from_row!(MessageRow { message, at, speaker: speaker, text });
// Details are numbered once their order is known.
from_row!(DetailRow { id, number = 0, at, kind, subagent, tool, call, outcome, size, cut });

fn speaker(columns: &mut Columns<'_>) -> rusqlite::Result<Speaker> {
    Ok(columns.lenient(Speaker::named)?.unwrap_or(Speaker::Agent))
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use rusqlite::StatementStatus;

    #[test]
    fn the_queries_of_each_turn_are_prepared_once() {
        let bench = Bench::new();
        bench.session("agent:s1", "app", &[(1, 2), (3, 4), (5, 6)]);
        let archive = &bench.archive;
        let conversation = archive.latest_conversations(None, 1).unwrap().remove(0);
        for turn in archive.turns(&conversation, 0, 9).unwrap() {
            archive.bodies(&turn).unwrap();
            archive.details(&turn).unwrap();
        }
        for query in [BODIES, DETAILS] {
            let statement = archive.db.prepare_cached(query).unwrap();
            let counted = (
                statement.get_status(StatementStatus::Run),
                statement.get_status(StatementStatus::RePrepare),
            );
            assert_eq!(counted, (3, 0), "{query}");
        }
    }
}
