//! Test machines: data folders that share one project, each owned by a user, and a hub in memory.
//!
//! The hub merges with `core::share` alone and numbers changes like the real one.

use crate::capture::Wishes;
use crate::erase::forget::{self, AsideFate, Meant};
use crate::runtime::archive::Writable;
use crate::runtime::{Env, archive};
use crate::sync::outgoing::{Batch, note_sent, outgoing};
use crate::sync::{Sharing, incoming};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::{
    ConfidencePercent, Memory, MemoryAuthor, MemoryContent, MemoryDraft, MemoryTrust, MemoryType,
};
use towline_core::project::ProjectIdentity;
use towline_core::share::{RowLife, SharedRow};
use towline_core::time::Timestamp;
use towline_store::archive::{MemoryQuery, NewMemory, PullCounts, ShareLevel, SharedProject};
use towline_store::lock::ArchiveLock;
use towline_store::{Archive, DataFolder};

pub const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Default)]
pub struct Hub {
    pub rows: BTreeMap<Uid, (SharedRow, u64)>,
    seq: u64,
}

impl Hub {
    pub fn push(&mut self, rows: Vec<SharedRow>) {
        for row in rows {
            let known = self.rows.get(&row.uid).map(|(known, _)| known.clone());
            let merged = known.clone().map_or(row.clone(), |known| known.merged(row));
            if known.as_ref() != Some(&merged) {
                self.seq += 1;
                self.rows.insert(merged.uid, (merged, self.seq));
            }
        }
    }

    pub fn pull(&self, after: u64, most: usize) -> (Vec<SharedRow>, u64) {
        let mut rows: Vec<&(SharedRow, u64)> = self.rows.values().filter(|(_, seq)| *seq > after).collect();
        rows.sort_by_key(|(_, seq)| *seq);
        rows.truncate(most);
        let upto = rows.last().map_or(after, |(_, seq)| *seq);
        (rows.into_iter().map(|(row, _)| row.clone()).collect(), upto)
    }

    pub fn row(&self, uid: Uid) -> &SharedRow {
        &self.rows[&uid].0
    }

    pub fn is_forgotten(&self, uid: Uid) -> bool {
        matches!(self.row(uid).life, RowLife::Forgotten { .. })
    }
}

pub struct Machine {
    pub folder: TempDir,
    pub env: Env,
    pub person: &'static str,
    wishes: Wishes,
}

impl Machine {
    pub fn new(person: &'static str, seed: u8, extent: ShareLevel) -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let lock = ArchiveLock::take_within(&home, []).unwrap().unwrap();
        // The first open sets the machine's id.
        drop(Archive::open(&home, &lock, PATIENCE, Uid([seed; 16])).unwrap());
        drop(lock);
        let env = Env::at(home, folder.path().join("config.toml"));
        let machine = Machine { folder, env, person, wishes: Wishes::default_rules() };
        let writable = machine.open();
        let row = writable.archive.project_made(&boat()).unwrap();
        writable.archive.set_person(person).unwrap();
        writable.archive.share_project(row, "x/boat", extent, Timestamp(1)).unwrap();
        drop(writable);
        machine
    }

    pub fn open(&self) -> Writable {
        archive::open(&self.env, PATIENCE).unwrap().unwrap()
    }

    pub fn sharing(&self) -> Sharing<'_> {
        Sharing { person: self.person, wishes: &self.wishes }
    }

    pub fn project(&self) -> SharedProject {
        self.open().archive.shared_projects().unwrap().remove(0)
    }

    pub fn batch(&self, most: usize) -> Batch {
        outgoing(&self.open().archive, None, self.sharing(), most).unwrap()
    }

    /// Pushes a batch; returns whether it held rows or more will follow.
    pub fn push(&self, hub: &mut Hub, most: usize) -> bool {
        let batch = self.batch(most);
        hub.push(batch.rows.iter().map(|sending| sending.row.clone()).collect());
        note_sent(&self.open().archive, &batch).unwrap();
        !batch.rows.is_empty() || !batch.is_all
    }

    pub fn push_all(&self, hub: &mut Hub) {
        while self.push(hub, 7) {}
    }

    pub fn pull(&self, hub: &Hub, most: usize) -> PullCounts {
        let project = self.project();
        let pulled = hub.pull(project.cursor, most);
        self.take_in(&project, pulled)
    }

    pub fn take_in(&self, project: &SharedProject, pulled: (Vec<SharedRow>, u64)) -> PullCounts {
        let mut arrivals = incoming::Arrivals::new(&self.env, self.sharing());
        let taken = arrivals.take(project, pulled.0, pulled.1).unwrap();
        arrivals.end().unwrap();
        taken
    }

    pub fn pull_all(&self, hub: &Hub) -> PullCounts {
        self.pull(hub, usize::MAX)
    }

    pub fn remember(&self, seed: u8, title: &str) -> Uid {
        self.learn(seed, title, MemoryTrust::Agent)
    }

    pub fn learn(&self, seed: u8, title: &str, trust: MemoryTrust) -> Uid {
        let writable = self.open();
        let project = writable.archive.shared_projects().unwrap().remove(0).row;
        let new = NewMemory {
            uid: Uid::derived(Timestamp(i64::from(seed)), &[self.person, title]),
            content: content(title),
            project: Some(project),
            session: Some(SessionKey::parse("a:one-session").unwrap()),
            turn: Some(1),
            branch: Some("main".into()),
            commit: None,
            maker: MemoryAuthor::Rules,
            trust,
            confidence: ConfidencePercent::percent(70),
            cost: 9,
            at: Timestamp(i64::from(seed)),
            valid_from: Timestamp(i64::from(seed)),
            quarantine: None,
        };
        writable.archive.add_memory(&new).unwrap();
        new.uid
    }

    pub fn memory(&self, uid: Uid) -> Option<Memory> {
        let writable = self.open();
        let number = writable.archive.memory_by_uid(uid).unwrap()?;
        writable.archive.memory(number).unwrap()
    }

    pub fn memories(&self) -> Vec<Memory> {
        self.open().archive.memories(&MemoryQuery { limit: 1_000, ..MemoryQuery::default() }).unwrap()
    }

    pub fn forget(&self, meant: &Meant) {
        forget::carry_out(&self.env, meant, AsideFate::Kept).unwrap();
    }

    pub fn forget_memory(&self, uid: Uid) {
        let number = self.memory(uid).unwrap().number;
        self.forget(&Meant::Memories(vec![number]));
    }

    /// The files that contain a word.
    pub fn holding(&self, word: &str) -> Vec<String> {
        let mut found = vec![];
        look_through(self.folder.path(), word.as_bytes(), &mut found);
        found
    }
}

fn look_through(folder: &Path, word: &[u8], found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look_through(&path, word, found);
        } else if fs::read(&path).unwrap().windows(word.len()).any(|window| window == word) {
            found.push(path.display().to_string());
        }
    }
}

pub fn boat() -> ProjectIdentity {
    ProjectIdentity { root: "/boat".into(), remote: Some("x/boat".into()), name: None, branch: None }
}

pub fn content(title: &str) -> MemoryContent {
    let kind = MemoryType::parse("discovery").unwrap();
    MemoryContent::of(MemoryDraft { facts: vec![format!("{title} holds")], ..MemoryDraft::new(kind, title) })
        .unwrap()
}

/// All machines push and pull until nothing changes.
pub fn settle(machines: &[Machine], hub: &mut Hub) {
    for _ in 0..20 {
        let before = hub.seq;
        for machine in machines {
            machine.push_all(hub);
            machine.pull_all(hub);
        }
        let is_behind = machines.iter().any(|machine| machine.project().cursor != hub.seq);
        if hub.seq == before && !is_behind {
            return;
        }
    }
    panic!("they never come to an end");
}
