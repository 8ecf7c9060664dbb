//! Where the rows of each session lie, so that one can be read after the other without sorting any text.
//!
//! Row numbers only.

use super::ForeignSession;
use super::table::Value;
use std::collections::BTreeMap;
use towline_core::id::{AgentName, SessionId, SessionKey};
use towline_core::time::Timestamp;

/// The rows of a session by their turns: which table, and which row of it. What has no turn comes first.
pub(super) type Index = BTreeMap<Option<i64>, Vec<(usize, i64)>>;

/// The sessions that are found while a database is looked through.
#[derive(Default)]
pub(super) struct Sessions(BTreeMap<SessionKey, Gathered>);

#[derive(Default)]
pub(super) struct Gathered {
    pub folder: Option<String>,
    pub project: Option<String>,
    times: Option<(Timestamp, Timestamp)>,
    counts: BTreeMap<usize, (u64, i64)>,
    index: Index,
}

/// One row, and to what it belongs.
pub(super) struct Entry<'v> {
    pub table: usize,
    pub row: i64,
    pub turn: Option<i64>,
    pub at: &'v Value,
}

impl Sessions {
    pub fn session(&mut self, key: SessionKey) -> &mut Gathered {
        self.0.entry(key).or_default()
    }

    pub fn known(&mut self, key: &SessionKey) -> Option<&mut Gathered> {
        self.0.get_mut(key)
    }

    /// Those that hold anything, the oldest first.
    pub fn finished(self) -> Vec<ForeignSession> {
        let some = self.0.into_iter().filter(|(_, gathered)| !gathered.index.is_empty());
        let mut all: Vec<_> = some.map(|(key, gathered)| gathered.finished(key)).collect();
        all.sort_by(|a, b| (a.first_at, &a.key).cmp(&(b.first_at, &b.key)));
        all
    }
}

impl Gathered {
    pub fn add(&mut self, entry: &Entry<'_>) {
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

/// A session of the agent that goes by this name.
pub(super) fn key(agent: &str, id: SessionId) -> Option<SessionKey> {
    Some(SessionKey { agent: AgentName::parse(agent).ok()?, id })
}
