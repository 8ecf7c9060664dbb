//! An index of each session's rows, so that sessions can be read one by one without sorting any text.
//!
//! Holds row numbers only.

use super::ForeignSession;
use super::table::Scalar;
use std::collections::BTreeMap;
use towline_core::id::{AgentName, SessionId, SessionKey};
use towline_core::time::Timestamp;

/// The rows of a session by turn, as table and row number. Rows without a turn come first.
pub(super) type RowIndex = BTreeMap<Option<i64>, Vec<(usize, i64)>>;

/// The sessions collected while a database is scanned.
#[derive(Default)]
pub(super) struct SessionMap(BTreeMap<SessionKey, CollectedSession>);

#[derive(Default)]
pub(super) struct CollectedSession {
    pub folder: Option<String>,
    pub project: Option<String>,
    times: Option<(Timestamp, Timestamp)>,
    counts: BTreeMap<usize, (u64, i64)>,
    index: RowIndex,
}

/// One row with its turn and time.
pub(super) struct RowRef<'v> {
    pub table: usize,
    pub row: i64,
    pub turn: Option<i64>,
    pub at: &'v Scalar,
}

impl SessionMap {
    pub fn session(&mut self, key: SessionKey) -> &mut CollectedSession {
        self.0.entry(key).or_default()
    }

    pub fn get_mut(&mut self, key: &SessionKey) -> Option<&mut CollectedSession> {
        self.0.get_mut(key)
    }

    /// The sessions that have rows, oldest first.
    pub fn finished(self) -> Vec<ForeignSession> {
        let some = self.0.into_iter().filter(|(_, collected)| !collected.index.is_empty());
        let mut all: Vec<_> = some.map(|(key, collected)| collected.finished(key)).collect();
        all.sort_by(|a, b| (a.first_at, &a.key).cmp(&(b.first_at, &b.key)));
        all
    }
}

impl CollectedSession {
    pub fn add(&mut self, entry: &RowRef<'_>) {
        self.index.entry(entry.turn).or_default().push((entry.table, entry.row));
        let (rows, last) = self.counts.entry(entry.table).or_default();
        (*rows, *last) = (*rows + 1, (*last).max(entry.row));
        if let Some(at) = entry.at.time() {
            let (first, last) = self.times.unwrap_or((at, at));
            self.times = Some((first.min(at), last.max(at)));
        }
    }

    fn finished(mut self, key: SessionKey) -> ForeignSession {
        self.index.values_mut().for_each(|rows| rows.sort_unstable());
        let (first_at, last_at) = self.times.unwrap_or_default();
        let stamp = self.counts.iter().map(|(table, (rows, last))| format!("{table}:{rows}/{last}"));
        let rows = self.counts.values().map(|(rows, _)| rows).sum();
        let turns = self.index.keys().flatten().count();
        ForeignSession {
            key,
            folder: self.folder,
            project: self.project,
            first_at,
            last_at,
            turns: u32::try_from(turns).unwrap_or(u32::MAX),
            rows,
            stamp: stamp.collect::<Vec<_>>().join(" "),
            index: self.index,
        }
    }
}

pub(super) fn key(agent: &str, id: SessionId) -> Option<SessionKey> {
    Some(SessionKey { agent: AgentName::parse(agent).ok()?, id })
}
