//! Captured files: the offset each was read up to, and the state with which its reader resumes.
//!
//! Independent of agents: the reader's state is opaque text here.

use super::{Archive, Conversation, PackedOpening};
use crate::Result;
use crate::columns::{Columns, FromRow, from_row, values};
use crate::query::Query;
use towline_core::forget::{Forgotten, ForgottenParts, project_marks};
use towline_core::id::{AgentName, IdHash, SessionId, SessionKey};
use towline_core::time::Timestamp;

const FIND: &str = "
    select s.path, s.agent, s.conversation, s.turn, c.session, p.root, p.remote, s.offset, s.head, s.head_bytes, s.tail,
        s.modified, s.state
    from sources s left join conversations c on c.id = s.conversation left join projects p on p.id = c.project
    where s.path = ?1";

const SAVE: &str = "
    insert into sources (path, agent, conversation, offset, head, head_bytes, tail, state, read_at, turn, modified)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
    on conflict (path) do update set conversation = excluded.conversation, offset = excluded.offset,
        head = excluded.head, head_bytes = excluded.head_bytes, tail = excluded.tail, state = excluded.state,
        read_at = excluded.read_at, turn = excluded.turn, modified = excluded.modified";

#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptSource {
    pub path: String,
    pub agent: String,
    pub(super) conversation: Option<i64>,
    /// For a subagent's file: the turn of its session in which it began.
    pub(super) turn: Option<i64>,
    /// The session of the file, and the marks of its project, once known.
    pub(super) session: Option<SessionKey>,
    pub(super) project: Vec<IdHash>,
    /// The opening row of the file, while none of its content may be kept.
    pub(super) opening: Option<PackedOpening>,
    pub reading: ReadPosition,
}

/// How far a file was read, and checksums of those bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadPosition {
    pub offset: u64,
    /// A checksum of the file's first `head_bytes` bytes.
    pub head: u32,
    pub head_bytes: u32,
    /// A checksum of the last bytes before the offset.
    pub tail: u32,
    /// The file's modification time in nanoseconds.
    pub modified: i64,
    /// The reader's state.
    pub state: String,
}

impl TranscriptSource {
    /// A file that has not been read yet, or must be read again.
    pub fn fresh(agent: &str, path: &str) -> Self {
        let (path, agent) = (path.to_owned(), agent.to_owned());
        Self {
            path,
            agent,
            conversation: None,
            turn: None,
            session: None,
            project: vec![],
            opening: None,
            reading: ReadPosition::default(),
        }
    }

    /// The forgotten parts of the file's session.
    pub fn forgotten_parts<'f>(&self, forgotten: &'f Forgotten) -> Option<ForgottenParts<'f>> {
        forgotten.of(self.session.as_ref()?, &self.project)
    }

    /// Records the session and the project of the file.
    pub(super) fn opened(&mut self, session: SessionKey, opening: &PackedOpening) {
        self.session = Some(session);
        self.project = opening.project.as_ref().map(towline_core::forget::marks_of).unwrap_or_default();
    }
}

from_row!(ReadPosition { offset, head, head_bytes, tail, modified, state });

impl FromRow for TranscriptSource {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let (path, agent, conversation, turn): (_, String, _, _) = columns.get()?;
        let (session, root, remote): (Option<String>, Option<String>, Option<String>) = columns.get()?;
        let session = session.and_then(|session| session_of(&agent, &session));
        let project = root.map(|root| project_marks(&root, remote.as_deref())).unwrap_or_default();
        let (opening, reading) = (None, columns.get()?);
        Ok(TranscriptSource { path, agent, conversation, turn, session, project, opening, reading })
    }
}

/// The session key, if both names are valid.
pub(super) fn session_of(agent: &str, session: &str) -> Option<SessionKey> {
    Some(SessionKey { agent: AgentName::parse(agent).ok()?, id: SessionId::parse(session).ok()? })
}

impl Archive {
    pub fn source(&self, path: &str) -> Result<Option<TranscriptSource>> {
        self.db.first(FIND, [path])
    }

    /// The working folder of the file's session, if known.
    pub fn folder_of(&self, source: &TranscriptSource) -> Result<Option<String>> {
        const FOLDER: &str = "select folder from conversations where id = ?1";
        Ok(self.db.first(FOLDER, [source.conversation])?.flatten())
    }

    /// The states of the readers of a session's files, the one that was read last first. Of a session with very many
    /// subagents only the latest: an agent waits, and the session's own file is read at the end of each turn.
    pub fn reader_states(&self, conversation: &Conversation) -> Result<Vec<String>> {
        const STATES: &str =
            "select state from sources where conversation = ?1 order by read_at desc limit 32";
        self.db.all(STATES, [conversation.id])
    }

    /// Whether a file of this size and modification time was read to its end.
    pub fn is_read_completely(&self, path: &str, bytes: u64, modified: i64) -> Result<bool> {
        const READ: &str = "select 1 from sources where path = ?1 and offset = ?2 and modified = ?3";
        self.db.exists(READ, (path, bytes.cast_signed(), modified))
    }

    /// Resets the offset of a file: it is reread from its start, which adds nothing that is already stored.
    pub fn forget_source(&self, path: &str) -> Result<()> {
        self.db.run("delete from sources where path = ?1", [path])
    }

    pub(super) fn save_source(&self, source: &TranscriptSource, now: Timestamp) -> Result<()> {
        self.db.run(
            SAVE,
            values! {
                source.path, source.agent, source.conversation, source.reading.offset, source.reading.head,
                source.reading.head_bytes, source.reading.tail, source.reading.state, now, source.turn,
                source.reading.modified
            },
        )
    }
}
