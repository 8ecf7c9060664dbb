//! All rows of a conversation, one by one: for an export and for its import.
//!
//! Rows refer to each other by the agent's ids or by ordinals within the conversation, never by database row ids.

use super::memories::{MEMORY, memory};
use super::pack::DetailBytes;
use super::read::{CONVERSATION, Conversation};
use super::tally::touch;
use super::{Archive, KeptSummary};
use crate::StoreError;
use crate::query::{Query, parse_column};
use rusqlite::Row;
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
            ExportedRow::Detail(detail) => ExportedRow::Detail(ExportedDetail {
                turn: detail.turn,
                mark: detail.mark,
                place: detail.place,
                at: detail.at,
                kind: detail.kind,
                subagent: detail.subagent,
                tool: detail.tool,
                call: detail.call,
                outcome: detail.outcome,
                cut: detail.cut,
                text: map(detail.text),
            }),
            ExportedRow::Usage(usage) => ExportedRow::Usage(usage),
            ExportedRow::File { turn, path, how } => ExportedRow::File { turn, path, how },
            ExportedRow::Commit { turn, commit } => ExportedRow::Commit { turn, commit },
            ExportedRow::Revert { from, at } => ExportedRow::Revert { from, at },
            ExportedRow::Summary(summary) => ExportedRow::Summary(summary),
            ExportedRow::Memory(memory) => ExportedRow::Memory(memory),
        }
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

impl Archive {
    /// Conversations of one project or of all that were active since `since`, by start time.
    pub fn conversations_since(
        &self,
        since: Timestamp,
        project: Option<i64>,
    ) -> Result<Vec<Conversation>, StoreError> {
        let query = format!(
            "{CONVERSATION} where c.last_at >= ?1 and (?2 is null or c.project = ?2)
             order by c.first_at, c.agent, c.session"
        );
        self.conversations(&query, (since.0, project))
    }

    /// Passes every row of a conversation to `each`; holds one row in memory at a time.
    pub fn each_row<E: From<StoreError>>(
        &self,
        conversation: &Conversation,
        each: EachRow<'_, E>,
    ) -> Result<(), E> {
        each(ExportedRow::Conversation(self.kept_conversation(conversation)?))?;
        self.each_of(TURNS, conversation, &mut |row| Ok(ExportedRow::Turn(exported_turn(row)?)), each)?;
        self.each_of(BODIES, conversation, &mut |row| Ok(ExportedRow::Body(exported_message(row)?)), each)?;
        self.each_of(DETAILS, conversation, &mut |row| Ok(ExportedRow::Detail(exported_detail(row)?)), each)?;
        self.each_of(USAGE, conversation, &mut |row| Ok(ExportedRow::Usage(kept_usage(row)?)), each)?;
        self.each_of(FILES, conversation, &mut kept_file, each)?;
        self.each_of(COMMITS, conversation, &mut kept_commit, each)?;
        self.each_of(REVERTS, conversation, &mut kept_revert, each)?;
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

    fn memories_after(
        &self,
        which: MemorySelector<'_>,
        last: i64,
        most: u32,
    ) -> Result<Vec<ExportedMemory>, StoreError> {
        let (session, project, since) = match which {
            MemorySelector::OfSession(session) => (Some(session.to_string()), None, i64::MIN),
            MemorySelector::Since { project, since } => (None, project, since.0),
        };
        let query = format!("{MEMORY} {AFTER}");
        let found = self.db.all(&query, (last, session, project, since, most), memory)?;
        found.into_iter().map(|memory| self.kept_memory(memory)).collect()
    }

    fn kept_memory(&self, memory: Memory) -> Result<ExportedMemory, StoreError> {
        let read = |row: &Row<'_>| {
            let root: Option<String> = row.get(0)?;
            let (remote, name, by) = (row.get(1)?, row.get(2)?, row.get::<_, Option<[u8; 16]>>(3)?);
            let traces = root.map(|root| ProjectIdentity { root, remote, name, branch: None });
            Ok((traces, by.map(Uid)))
        };
        let (traces, replaced_by) = self.db.prepare_cached(OF_MEMORY)?.query_row([memory.number], read)?;
        Ok(ExportedMemory { memory, traces, replaced_by })
    }

    fn each_of<E: From<StoreError>>(
        &self,
        query: &str,
        conversation: &Conversation,
        read: &mut dyn FnMut(&Row<'_>) -> Result<ExportedRow<String>, StoreError>,
        each: EachRow<'_, E>,
    ) -> Result<(), E> {
        let mut statement = self.db.prepare_cached(query).map_err(StoreError::from)?;
        let mut rows = statement.query([conversation.id]).map_err(StoreError::from)?;
        while let Some(row) = rows.next().map_err(StoreError::from)? {
            each(read(row)?)?;
        }
        Ok(())
    }

    fn kept_conversation(&self, conversation: &Conversation) -> Result<ExportedConversation, StoreError> {
        let mut statement = self.db.prepare_cached(HEAD)?;
        let (project, before) = statement.query_row([conversation.id], |row| {
            let root: Option<String> = row.get(0)?;
            let (remote, name, branch) = (row.get(1)?, row.get(2)?, conversation.branch.clone());
            let project = root.map(|root| ProjectIdentity { root, remote, name, branch });
            Ok((project, row.get::<_, Option<i64>>(3)?))
        })?;
        Ok(ExportedConversation {
            session: conversation.session.clone(),
            folder: conversation.folder.clone(),
            project,
            base: conversation.base.clone().zip(before.map(i64::cast_unsigned)),
            first_at: conversation.first_at,
            last_at: conversation.last_at,
            turns: conversation.turns,
        })
    }
}

pub(super) fn exported_turn(row: &Row<'_>) -> Result<ExportedTurn, StoreError> {
    Ok(ExportedTurn {
        uid: Uid(row.get(0)?),
        ordinal: row.get(1)?,
        mark: IdHash(row.get(2)?),
        place: row.get::<_, i64>(3)?.cast_unsigned(),
        at: Timestamp(row.get(4)?),
        until: Timestamp(row.get(5)?),
        origin: parse_column(row, 6, PromptOrigin::named)?,
        agent_turn: row.get(7)?,
        stopped: row.get::<_, Option<String>>(8)?.and_then(|name| StopReason::named(&name)),
        tools: row.get(9)?,
        failures: row.get(10)?,
        line: row.get(11)?,
        reverted: row.get(12)?,
    })
}

pub(super) fn exported_message(row: &Row<'_>) -> Result<ExportedMessage<String>, StoreError> {
    Ok(ExportedMessage {
        turn: row.get(0)?,
        mark: IdHash(row.get(1)?),
        message: row.get(2)?,
        place: row.get::<_, i64>(3)?.cast_unsigned(),
        at: Timestamp(row.get(4)?),
        speaker: parse_column(row, 5, Speaker::named)?,
        cut: row.get::<_, i64>(6)?.cast_unsigned(),
        text: row.get(7)?,
    })
}

pub(super) fn exported_detail(row: &Row<'_>) -> Result<ExportedDetail<String>, StoreError> {
    let bytes: Vec<u8> = row.get(11)?;
    let content = if row.get(10)? { DetailBytes::Packed(bytes) } else { DetailBytes::Plain(bytes) };
    Ok(ExportedDetail {
        turn: row.get(0)?,
        mark: IdHash(row.get(1)?),
        place: row.get::<_, i64>(2)?.cast_unsigned(),
        at: Timestamp(row.get(3)?),
        kind: parse_column(row, 4, DetailKind::named)?,
        subagent: row.get(5)?,
        tool: row.get(6)?,
        call: row.get::<_, Option<i64>>(7)?.map(IdHash),
        outcome: row.get(8)?,
        cut: row.get::<_, i64>(9)?.cast_unsigned(),
        text: content.text()?,
    })
}

fn kept_usage(row: &Row<'_>) -> Result<ExportedUsage, StoreError> {
    let tokens = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
    Ok(ExportedUsage {
        turn: row.get(0)?,
        message: row.get(1)?,
        at: Timestamp(row.get(2)?),
        subagent: row.get(3)?,
        model: row.get(4)?,
        tokens: TokenCounts {
            input: tokens(5)?,
            cache_read: tokens(6)?,
            cache_write: tokens(7)?,
            cache_write_1h: tokens(8)?,
            output: tokens(9)?,
        },
    })
}

fn kept_file(row: &Row<'_>) -> Result<ExportedRow<String>, StoreError> {
    Ok(ExportedRow::File { turn: row.get(0)?, path: row.get(1)?, how: touch(row, 2)? })
}

fn kept_commit(row: &Row<'_>) -> Result<ExportedRow<String>, StoreError> {
    let commit = Commit { hash: row.get(1)?, subject: row.get(2)? };
    Ok(ExportedRow::Commit { turn: row.get(0)?, commit })
}

fn kept_revert(row: &Row<'_>) -> Result<ExportedRow<String>, StoreError> {
    Ok(ExportedRow::Revert { from: row.get::<_, i64>(0)?.cast_unsigned(), at: Timestamp(row.get(1)?) })
}
