//! The memories of the projects that are being distilled, in short form: a new memory is compared with the few that may
//! be related, not with hundreds that are read for it.
//!
//! Lasts as long as no other process writes the archive: whoever releases the lock calls `check`. Reads full rows only
//! of candidates.

use super::{Alike, Kept, MOST, MOST_BY_NAME, alike_among, is_level, keep_by, kinds};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use towline_core::memory::{Gist, Memory, MemoryContent, MemoryType, hash_word};
use towline_core::time::Timestamp;
use towline_store::archive::{MemoryFilter, MemoryQuery, NewMemory};
use towline_store::{Archive, StoreError};

/// Entries beyond which the projects that were not used for longest are dropped: about 50 MB.
const MOST_ENTRIES: usize = 50_000;
/// Memories read at once.
const AT_ONCE: u32 = 500;

/// The project, and whether its memories are in quarantine.
type Place = (Option<i64>, bool);

/// The time at which a memory was made, and its number.
type Key = (Timestamp, i64);

#[derive(Default)]
pub struct KnownMemories {
    places: RefCell<HashMap<Place, Entries>>,
    /// Of the connection and of its data.
    versions: RefCell<Option<(u64, i64)>>,
}

/// The memories of one place.
#[derive(Default)]
struct Entries {
    slots: Vec<Option<KnownMemory>>,
    by_number: HashMap<i64, usize>,
    by_kind: HashMap<MemoryType, BTreeMap<Key, usize>>,
    /// Files and concepts, as hashes. A slot may be empty by now.
    by_name: HashMap<u32, Vec<usize>>,
    /// Counts up with every use of any place.
    used: u64,
}

struct KnownMemory {
    gist: Gist,
    kind: MemoryType,
    key: Key,
}

impl KnownMemories {
    /// Forgets everything if another connection has written, and what was not used for longest if there is too much.
    pub fn check(&self, archive: &Archive) -> Result<(), StoreError> {
        let versions = archive.data_version()?;
        if self.versions.borrow_mut().replace(versions) != Some(versions) {
            self.forget();
        }
        let mut places = self.places.borrow_mut();
        while places.len() > 1
            && places.values().map(|entries| entries.by_number.len()).sum::<usize>() > MOST_ENTRIES
        {
            let oldest = places.iter().min_by_key(|(_, entries)| entries.used).map(|(place, _)| *place);
            oldest.and_then(|place| places.remove(&place));
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
        let mut places = self.places.borrow_mut();
        let Some(entries) = places.get_mut(&place(new)) else { return Ok(kept) };
        match &kept {
            Kept::New(number) => entries.add((new.at, *number), &new.content),
            Kept::Replaced { old, new: number } => {
                old.iter().for_each(|old| entries.remove(old.number));
                entries.add((new.at, *number), &new.content);
            }
            // It may have got more facts.
            Kept::FoundAgain(number) => {
                if let Some(memory) = archive.memory(*number)? {
                    entries.add((memory.made_at, *number), &memory.content);
                }
            }
            Kept::Outdated { .. } | Kept::Forgotten => {}
        }
        Ok(kept)
    }

    fn alike(&self, archive: &Archive, new: &NewMemory) -> Result<Alike, StoreError> {
        let mut places = self.places.borrow_mut();
        let used = places.values().map(|entries| entries.used).max().unwrap_or(0) + 1;
        let entries = match places.entry(place(new)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(missing) => missing.insert(Entries::load(archive, new)?),
        };
        entries.used = used;
        let mut found = archive.memories_numbered(&entries.candidates(new))?;
        found.retain(|memory| is_level(memory, new));
        alike_among(archive, new, found)
    }
}

fn place(new: &NewMemory) -> Place {
    (new.project, new.quarantine.is_some())
}

impl Entries {
    fn load(archive: &Archive, new: &NewMemory) -> Result<Entries, StoreError> {
        let only = if new.quarantine.is_some() { MemoryFilter::HeldBack } else { MemoryFilter::Standing };
        let mut all = MemoryQuery { project: new.project, only, limit: AT_ONCE, ..MemoryQuery::default() };
        let mut entries = Entries::default();
        let is_here =
            |memory: &&Memory| memory.project.is_some() == new.project.is_some() && is_level(memory, new);
        loop {
            let page = archive.memories(&all)?;
            let Some(last) = page.last() else { return Ok(entries) };
            all.before = Some(last.number);
            for memory in page.iter().filter(is_here) {
                entries.add((memory.made_at, memory.number), &memory.content);
            }
        }
    }

    fn add(&mut self, key: Key, content: &MemoryContent) {
        self.remove(key.1);
        let slot = self.slots.len();
        for name in names(content) {
            self.by_name.entry(name).or_default().push(slot);
        }
        self.by_number.insert(key.1, slot);
        self.by_kind.entry(content.kind.clone()).or_default().insert(key, slot);
        self.slots.push(Some(KnownMemory { gist: Gist::of(content), kind: content.kind.clone(), key }));
    }

    fn remove(&mut self, number: i64) {
        let slot = self.by_number.remove(&number);
        let Some(entry) = slot.and_then(|slot| self.slots[slot].take()) else { return };
        self.by_kind.get_mut(&entry.kind).and_then(|slots| slots.remove(&entry.key));
    }

    /// The newest of each kind, and older ones about the same files or concepts; newest first.
    fn candidates(&self, new: &NewMemory) -> Vec<i64> {
        let gist = Gist::of(&new.content);
        let related = |slot: usize| self.slots[slot].as_ref().filter(|entry| gist.may_relate(&entry.gist));
        // The oldest of those that are compared by their kind alone.
        let mut oldest: Vec<(MemoryType, Key)> = vec![];
        let mut found: Vec<Key> = vec![];
        for kind in kinds(&new.content.kind) {
            let newest = self.by_kind.get(&kind).into_iter().flat_map(|slots| slots.iter().rev());
            for (rank, (key, slot)) in (1..=MOST).zip(newest) {
                found.extend(related(*slot).map(|entry| entry.key));
                if rank == MOST {
                    oldest.push((kind.clone(), *key));
                }
            }
        }
        let is_older =
            |entry: &&KnownMemory| oldest.iter().any(|(kind, key)| entry.key < *key && entry.kind == *kind);
        let named = names(&new.content).into_iter().filter_map(|name| self.by_name.get(&name)).flatten();
        let mut older: Vec<Key> =
            named.filter_map(|slot| related(*slot)).filter(is_older).map(|entry| entry.key).collect();
        older.sort_unstable_by_key(|key| Reverse(*key));
        older.dedup();
        found.extend(older.into_iter().take(MOST_BY_NAME as usize));
        found.sort_unstable_by_key(|key| Reverse(*key));
        found.into_iter().map(|(_, number)| number).collect()
    }
}

/// The files and concepts of a memory, as hashes.
fn names(content: &MemoryContent) -> Vec<u32> {
    let files = content.files.iter().map(|(path, _)| path);
    let mut names: Vec<u32> = files.chain(&content.concepts).map(|name| hash_word(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
