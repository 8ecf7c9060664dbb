//! All rows of a conversation, one by one: for an export and for its import.
//!
//! Rows refer to each other by the agent's ids or by ordinals within the conversation, never by database row ids.

use super::memories::MEMORY;
use super::pack::DetailBytes;
use super::read::{CONVERSATION, Conversation};
use super::{Archive, KeptSummary};
use crate::columns::{FromRow, from_row};
use crate::query::Query;
use crate::{Result, StoreError};
use rusqlite::Row;
use std::ops::ControlFlow;
use towline_core::capture::{DetailKind, FileAccess, Speaker};
use towline_core::deed::Commit;
use towline_core::event::PromptOrigin;
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::memory::Memory;
use towline_core::piece::{StopReason, TokenCounts};
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;

/// A row of an archive. Its text type is plain for export and `CleanText` for import.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportedRow<Text> {
    /// Precedes all other rows of its conversation.
    Conversation(ExportedConversation),
    /// Precedes the rows it contains.
    Turn(ExportedTurn),
    Body(ExportedMessage<Text>),
    Detail(ExportedDetail<Text>),
    Usage(ExportedUsage),
    File {
        turn: u32,
        path: String,
        how: FileAccess,
    },
    Commit {
        turn: u32,
        commit: Commit,
    },
    Revert {
        from: u64,
        at: Timestamp,
    },
    Summary(KeptSummary),
    /// Belongs to no conversation: a memory outlives its session.
    Memory(Box<ExportedMemory>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportedConversation {
    pub session: SessionKey,
    pub folder: Option<String>,
    /// Includes the branch.
    pub project: Option<ProjectIdentity>,
    /// The session it was forked from, and the position up to which the two share turns.
    pub base: Option<(String, u64)>,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub turns: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportedTurn {
    pub uid: Uid,
    pub ordinal: u32,
    pub mark: IdHash,
    pub place: u64,
    pub at: Timestamp,
    pub until: Timestamp,
    pub origin: PromptOrigin,
    pub agent_turn: Option<String>,
    pub stopped: Option<StopReason>,
    pub tools: u32,
    pub failures: u32,
    pub line: String,
    pub reverted: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportedMessage<Text> {
    pub turn: u32,
    pub mark: IdHash,
    pub message: String,
    pub place: u64,
    pub at: Timestamp,
    pub speaker: Speaker,
    pub cut: u64,
    pub text: Text,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportedDetail<Text> {
    /// 0 before the first turn.
    pub turn: u32,
    pub mark: IdHash,
    pub place: u64,
    pub at: Timestamp,
    pub kind: DetailKind,
    pub subagent: Option<String>,
    pub tool: Option<String>,
    pub call: Option<IdHash>,
    pub outcome: Option<String>,
    pub cut: u64,
    pub text: Text,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ExportedUsage {
    pub turn: u32,
    pub message: String,
    pub at: Timestamp,
    pub subagent: Option<String>,
    pub model: Option<String>,
    pub tokens: TokenCounts,
}

/// A memory with all that an import needs, except its trace.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportedMemory {
    pub memory: Memory,
    /// The traces of its project, by which another machine finds it.
    pub traces: Option<ProjectIdentity>,
    /// The global id of the memory that replaced it.
    pub replaced_by: Option<Uid>,
}

/// Selects the memories of an export.
#[derive(Clone, Copy, Debug)]
pub enum MemorySelector<'a> {
    OfSession(&'a SessionKey),
    /// Of one project or of all, made since then.
    Since {
        project: Option<i64>,
        since: Timestamp,
    },
}

impl<Text> ExportedRow<Text> {
    /// The same row with another text type.
    pub fn map_text<Other>(self, map: impl FnOnce(Text) -> Other) -> ExportedRow<Other> {
        match self {
            ExportedRow::Conversation(conversation) => ExportedRow::Conversation(conversation),
            ExportedRow::Turn(turn) => ExportedRow::Turn(turn),
            ExportedRow::Body(ExportedMessage { turn, mark, message, place, at, speaker, cut, text }) => {
                let text = map(text);
                ExportedRow::Body(ExportedMessage { turn, mark, message, place, at, speaker, cut, text })
            }
            ExportedRow::Detail(detail) => ExportedRow::Detail(detail.map_text(map)),
            ExportedRow::Usage(usage) => ExportedRow::Usage(usage),
            ExportedRow::File { turn, path, how } => ExportedRow::File { turn, path, how },
            ExportedRow::Commit { turn, commit } => ExportedRow::Commit { turn, commit },
            ExportedRow::Revert { from, at } => ExportedRow::Revert { from, at },
            ExportedRow::Summary(summary) => ExportedRow::Summary(summary),
            ExportedRow::Memory(memory) => ExportedRow::Memory(memory),
        }
    }
}

impl<Text> ExportedDetail<Text> {
    fn map_text<Other>(self, map: impl FnOnce(Text) -> Other) -> ExportedDetail<Other> {
        let ExportedDetail { turn, mark, place, at, kind, subagent, tool, call, outcome, cut, text } = self;
        let text = map(text);
        ExportedDetail { turn, mark, place, at, kind, subagent, tool, call, outcome, cut, text }
    }
}

const HEAD: &str = "
    select p.root, p.remote, p.name, c.base_before from conversations c left join projects p on p.id = c.project
    where c.id = ?1";

const TURNS: &str = "
    select uid, ordinal, mark, place, at, until, origin, agent_turn, stopped, tools, failures, line, reverted
    from turns where conversation = ?1 order by ordinal";

const BODIES: &str = "
    select turn, mark, message, place, at, speaker, cut, text from bodies where conversation = ?1
    order by turn, place, id";

const DETAILS: &str = "
    select turn, mark, place, at, kind, subagent, tool, call, outcome, cut, packed, content from details
    where conversation = ?1 order by turn, place, id";

const USAGE: &str = "
    select turn, message, at, subagent, model, input, cache_read, cache_write, cache_write_1h, output from usage
    where conversation = ?1 order by message";

const FILES: &str = "
    select turn, path, how from files where conversation = ?1 order by turn, path, how";

const COMMITS: &str = "
    select turn, hash, subject from commits where conversation = ?1 order by turn, hash";

const REVERTS: &str = "select from_place, at from reverts where conversation = ?1 order by from_place, at";

const AFTER: &str = "
    where m.id > ?1 and (?2 is null or m.session = ?2) and (?3 is null or m.project = ?3) and m.made_at >= ?4
    order by m.id limit ?5";
const OF_MEMORY: &str = "
    select p.root, p.remote, p.name, (select b.uid from memories b where b.id = m.superseded_by)
    from memories m left join projects p on p.id = m.project where m.id = ?1";

/// Receives the rows one by one; an error stops the iteration.
type EachRow<'a, E> = &'a mut dyn FnMut(ExportedRow<String>) -> Result<(), E>;
type ReadRow = fn(&Row<'_>) -> Result<ExportedRow<String>>;

impl Archive {
    /// Conversations of one project or of all that were active since `since`, by start time.
    pub fn conversations_since(&self, since: Timestamp, project: Option<i64>) -> Result<Vec<Conversation>> {
        let query = format!(
            "{CONVERSATION} where c.last_at >= ?1 and (?2 is null or c.project = ?2)
             order by c.first_at, c.agent, c.session"
        );
        self.db.all(&query, (since.0, project))
    }

    /// Passes every row of a conversation to `each`.
    pub fn each_row<E: From<StoreError>>(
        &self,
        conversation: &Conversation,
        each: EachRow<'_, E>,
    ) -> Result<(), E> {
        each(ExportedRow::Conversation(self.kept_conversation(conversation)?))?;
        let reads: [(&str, ReadRow); 7] = [
            (TURNS, |row| Ok(ExportedRow::Turn(FromRow::of(row)?))),
            (BODIES, |row| Ok(ExportedRow::Body(FromRow::of(row)?))),
            (DETAILS, |row| Ok(ExportedRow::Detail(exported_detail(row)?))),
            (USAGE, |row| Ok(ExportedRow::Usage(FromRow::of(row)?))),
            (FILES, kept_file),
            (COMMITS, kept_commit),
            (REVERTS, kept_revert),
        ];
        for (query, read) in reads {
            let _ = self
                .db
                .each(query, [conversation.id], &mut |row| each(read(row)?).map(ControlFlow::Continue))?;
        }
        let summary = self.summary(conversation)?;
        summary.map_or(Ok(()), |summary| each(ExportedRow::Summary(summary)))
    }

    /// Passes every selected memory to `each`, by number.
    pub fn each_memory<E: From<StoreError>>(
        &self,
        which: MemorySelector<'_>,
        each: EachRow<'_, E>,
    ) -> Result<(), E> {
        const AT_ONCE: u32 = 200;
        let mut last = 0;
        loop {
            let memories = self.memories_after(which, last, AT_ONCE)?;
            let Some(end) = memories.last().map(|kept| kept.memory.number) else { return Ok(()) };
            last = end;
            for kept in memories {
                each(ExportedRow::Memory(Box::new(kept)))?;
            }
        }
    }

    fn memories_after(&self, which: MemorySelector<'_>, last: i64, most: u32) -> Result<Vec<ExportedMemory>> {
        let (session, project, since) = match which {
            MemorySelector::OfSession(session) => (Some(session.to_string()), None, i64::MIN),
            MemorySelector::Since { project, since } => (None, project, since.0),
        };
        let query = format!("{MEMORY} {AFTER}");
        let found = self.db.all(&query, (last, session, project, since, most))?;
        found.into_iter().map(|memory| self.kept_memory(memory)).collect()
    }

    fn kept_memory(&self, memory: Memory) -> Result<ExportedMemory> {
        let (traces, replaced_by) = self.db.value(OF_MEMORY, [memory.number])?;
        Ok(ExportedMemory { memory, traces, replaced_by })
    }

    fn kept_conversation(&self, conversation: &Conversation) -> Result<ExportedConversation> {
        let (traces, base_before): (Option<ProjectIdentity>, _) = self.db.value(HEAD, [conversation.id])?;
        let branch = conversation.branch.clone();
        Ok(ExportedConversation {
            session: conversation.session.clone(),
            folder: conversation.folder.clone(),
            project: traces.map(|traces| ProjectIdentity { branch, ..traces }),
            base: conversation.base.clone().zip(base_before),
            first_at: conversation.first_at,
            last_at: conversation.last_at,
            turns: conversation.turns,
        })
    }
}

from_row! { ExportedTurn {
    uid, ordinal, mark, place, at, until, origin, agent_turn, stopped, tools, failures, line, reverted
} }
from_row!(ExportedMessage<String> { turn, mark, message, place, at, speaker, cut, text });
from_row!(ExportedDetail<DetailBytes> { turn, mark, place, at, kind, subagent, tool, call, outcome, cut, text });
from_row!(ExportedUsage { turn, message, at, subagent, model, tokens });

pub(super) fn exported_detail(row: &Row<'_>) -> Result<ExportedDetail<String>> {
    let detail = ExportedDetail::<DetailBytes>::of(row)?;
    let text = detail.text.text()?;
    Ok(detail.map_text(|_| text))
}

fn kept_file(row: &Row<'_>) -> Result<ExportedRow<String>> {
    let (turn, path, how) = FromRow::of(row)?;
    Ok(ExportedRow::File { turn, path, how })
}

fn kept_commit(row: &Row<'_>) -> Result<ExportedRow<String>> {
    let (turn, commit) = FromRow::of(row)?;
    Ok(ExportedRow::Commit { turn, commit })
}

fn kept_revert(row: &Row<'_>) -> Result<ExportedRow<String>> {
    let (from, at) = FromRow::of(row)?;
    Ok(ExportedRow::Revert { from, at })
}
