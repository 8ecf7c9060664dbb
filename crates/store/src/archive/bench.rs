//! A temporary archive for tests, filled row by row.
//!
//! Uses `restore` like any import: no table is written by hand.

use super::keep::{ExportedConversation, ExportedDetail, ExportedRow, ExportedTurn};
use super::restore::ImportState;
use super::{Archive, ExportedMessage};
use crate::home::DataFolder;
use crate::lock::ArchiveLock;
use std::time::Duration;
use tempfile::TempDir;
use towline_core::capture::{DetailKind, Speaker};
use towline_core::event::PromptOrigin;
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::project::ProjectIdentity;
use towline_core::text::{CleanText, SecretPolicy, TextPolicy};
use towline_core::time::Timestamp;

pub const MINUTE: i64 = 60_000;
pub const HOUR: i64 = 60 * MINUTE;

pub struct Bench {
    _folder: TempDir,
    _lock: ArchiveLock,
    pub archive: Archive,
}

impl Bench {
    pub fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let lock = ArchiveLock::take_within(&home, []).unwrap().unwrap();
        let archive = Archive::open(&home, &lock, Duration::ZERO, Uid([7; 16])).unwrap();
        Bench { _folder: folder, _lock: lock, archive }
    }

    pub fn put(&self, rows: Vec<ExportedRow<CleanText<'_>>>) {
        self.archive.restore(&mut ImportState::new().unwrap(), rows).unwrap();
    }

    /// A session of one project with turns that begin and end at these times.
    pub fn session(&self, key: &str, project: &str, turns: &[(i64, i64)]) {
        let spans = (1..).zip(turns).map(|(ordinal, (at, until))| turn(key, ordinal, *at, *until));
        let first = turns.first().map_or(0, |(at, _)| *at);
        let last = turns.iter().map(|(_, until)| *until).max().unwrap_or(0);
        let head = ExportedRow::Conversation(conversation(key, project, first, last));
        self.put(std::iter::once(head).chain(spans.map(ExportedRow::Turn)).collect());
    }

    /// The lines of the query plan.
    pub fn plan(&self, query: &str) -> String {
        let mut statement = self.archive.db.prepare(&format!("explain query plan {query}")).unwrap();
        let nulls = vec![rusqlite::types::Null; statement.parameter_count()];
        let rows = statement.query_map(rusqlite::params_from_iter(nulls), |row| row.get::<_, String>(3));
        rows.unwrap().map(|row| row.unwrap() + "\n").collect()
    }
}

pub fn conversation(key: &str, project: &str, first: i64, last: i64) -> ExportedConversation {
    let traces = ProjectIdentity {
        root: format!("/{project}"),
        remote: None,
        name: None,
        branch: Some("main".into()),
    };
    ExportedConversation {
        session: SessionKey::parse(key).unwrap(),
        folder: Some(format!("/{project}")),
        project: Some(traces),
        base: None,
        first_at: Timestamp(first),
        last_at: Timestamp(last),
        turns: 0,
    }
}

pub fn turn(key: &str, ordinal: u32, at: i64, until: i64) -> ExportedTurn {
    ExportedTurn {
        uid: Uid::derived(Timestamp(at), &[key, &ordinal.to_string()]),
        ordinal,
        mark: IdHash::of(&format!("prompt {ordinal}")),
        place: ordinal.into(),
        at: Timestamp(at),
        until: Timestamp(until),
        origin: PromptOrigin::Human,
        agent_turn: None,
        stopped: None,
        tools: 0,
        failures: 0,
        line: format!("line {ordinal}"),
        reverted: false,
    }
}

pub fn clean(text: &str) -> CleanText<'_> {
    CleanText::new(text.into(), TextPolicy { longest_bytes: usize::MAX, secrets: SecretPolicy::Redacted })
}

pub fn body(turn: u32, text: &str) -> ExportedMessage<CleanText<'_>> {
    ExportedMessage {
        turn,
        mark: IdHash::of(text),
        message: format!("message {turn}"),
        place: turn.into(),
        at: Timestamp(turn.into()),
        speaker: Speaker::Person,
        cut: 3,
        text: clean(text),
    }
}

pub fn detail(turn: u32, text: &str) -> ExportedDetail<CleanText<'_>> {
    ExportedDetail {
        turn,
        mark: IdHash::of(text),
        place: turn.into(),
        at: Timestamp(turn.into()),
        kind: DetailKind::Output,
        subagent: None,
        tool: Some("Bash".into()),
        call: Some(IdHash(-1)),
        outcome: Some("done".into()),
        cut: 0,
        text: clean(text),
    }
}
