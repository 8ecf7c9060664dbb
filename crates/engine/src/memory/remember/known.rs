//! The memories of the projects that are being distilled, in short form: a new memory is compared with the few that may
//! be related, not with hundreds that are read for it.
//!
//! Lasts as long as no other process writes the archive: whoever releases the lock calls `check`. Reads full rows only
//! of candidates.

use super::{Alike, Kept, MOST, MOST_BY_NAME, alike_among, is_level, keep_by, kinds};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use towline_core::memory::{Gist, Memory, MemoryType};
use towline_core::time::Timestamp;
use towline_store::archive::{MemoryFilter, MemoryQuery, NewMemory};
use towline_store::{Archive, StoreError};

/// Entries at which the list is emptied: about 30 MB.
const MOST_ENTRIES: usize = 100_000;

/// The project, and whether its memories are in quarantine.
type Place = (Option<i64>, bool);

/// By the time at which they were made, and by number.
type Entries = BTreeMap<(Timestamp, i64), Entry>;

#[derive(Default)]
pub struct KnownMemories {
    places: RefCell<HashMap<Place, Entries>>,
    /// Of the connection and of its data.
    versions: RefCell<Option<(u64, i64)>>,
}

struct Entry {
    gist: Gist,
    kind: MemoryType,
    files: Vec<String>,
    concepts: Vec<String>,
}

impl KnownMemories {
    /// Forgets everything if another connection has written.
    pub fn check(&self, archive: &Archive) -> Result<(), StoreError> {
        let versions = archive.data_version()?;
        let is_same = self.versions.borrow_mut().replace(versions) == Some(versions);
        let count: usize = self.places.borrow().values().map(BTreeMap::len).sum();
        if !is_same || count > MOST_ENTRIES {
            self.forget();
        }
        Ok(())
    }

    /// For changes that `keep` does not make.
    pub fn forget(&self) {
        self.places.borrow_mut().clear();
    }

    /// As `remember::keep`.
    pub fn keep(&self, archive: &Archive, new: &NewMemory, now: Timestamp) -> Result<Kept, StoreError> {
        let kept = keep_by(archive, new, now, &|archive, new| self.alike(archive, new))?;
        let added = match &kept {
            Kept::New(number) | Kept::Replaced { new: number, .. } => Some(*number),
            Kept::FoundAgain(_) | Kept::Outdated { .. } | Kept::Forgotten => None,
        };
        let mut places = self.places.borrow_mut();
        let Some(entries) = places.get_mut(&place(new)) else { return Ok(kept) };
        if let Kept::Replaced { old, .. } = &kept {
            entries.retain(|(_, number), _| !old.iter().any(|old| old.number == *number));
        }
        if let Some(memory) = added.map(|number| archive.memory(number)).transpose()?.flatten() {
            entries.insert((memory.made_at, memory.number), Entry::of(&memory));
        }
        Ok(kept)
    }

    fn alike(&self, archive: &Archive, new: &NewMemory) -> Result<Alike, StoreError> {
        let place = place(new);
        if !self.places.borrow().contains_key(&place) {
            let loaded = load(archive, new)?;
            self.places.borrow_mut().insert(place, loaded);
        }
        let places = self.places.borrow();
        let numbers = places.get(&place).map(|entries| candidates(entries, new)).unwrap_or_default();
        let mut found = archive.memories_numbered(&numbers)?;
        found.retain(|memory| is_level(memory, new));
        alike_among(archive, new, found)
    }
}

fn place(new: &NewMemory) -> Place {
    (new.project, new.quarantine.is_some())
}

fn load(archive: &Archive, new: &NewMemory) -> Result<Entries, StoreError> {
    let only = if new.quarantine.is_some() { MemoryFilter::HeldBack } else { MemoryFilter::Standing };
    let all = MemoryQuery { project: new.project, only, limit: u32::MAX, ..MemoryQuery::default() };
    let found = archive.memories(&all)?.into_iter();
    let of_project =
        found.filter(|memory| memory.project.is_some() == new.project.is_some() && is_level(memory, new));
    Ok(of_project.map(|memory| ((memory.made_at, memory.number), Entry::of(&memory))).collect())
}

impl Entry {
    fn of(memory: &Memory) -> Entry {
        let content = &memory.content;
        Entry {
            gist: Gist::of(content),
            kind: content.kind.clone(),
            files: content.files.iter().map(|(path, _)| path.clone()).collect(),
            concepts: content.concepts.clone(),
        }
    }

    fn shares_name(&self, new: &NewMemory) -> bool {
        let content = &new.content;
        content.files.iter().any(|(path, _)| self.files.contains(path))
            || content.concepts.iter().any(|concept| self.concepts.contains(concept))
    }
}

/// The newest of each kind, and older ones about the same files or concepts; newest first.
fn candidates(entries: &Entries, new: &NewMemory) -> Vec<i64> {
    let gist = Gist::of(&new.content);
    let mut ranks: Vec<(MemoryType, u32)> =
        kinds(&new.content.kind).into_iter().map(|kind| (kind, 0)).collect();
    let (mut found, mut older) = (vec![], 0);
    for ((_, number), entry) in entries.iter().rev() {
        let Some((_, rank)) = ranks.iter_mut().find(|(kind, _)| *kind == entry.kind) else { continue };
        *rank += 1;
        if !gist.may_relate(&entry.gist) {
            continue;
        }
        if *rank <= MOST {
            found.push(*number);
        } else if older < MOST_BY_NAME && entry.shares_name(new) {
            older += 1;
            found.push(*number);
        }
    }
    found
}
