//! Forgetting: everything that is kept of something goes, from every file of the data folder.
//!
//! Decides nothing about what is meant (`meant`), asks nobody, prints nothing. It may be killed at any point and done
//! again: what the archive knows goes last, since it is what names are found by.

mod meant;

pub use meant::{Meant, Request, find};

use crate::edge::Edge;
use crate::failure::Failure;
use crate::hook::fallback_logs;
use crate::{capture, finding, outcome, sentences, tell};
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::forget::Needle;
use towline_core::id::Uid;
use towline_store::archive::{ErasedRows, Erasing, Extent};
use towline_store::erase::{self, Aside, Erased, Eraser, Traces};
use towline_store::lock::{FoldLock, pauses};
use towline_store::{Pace, Store, StoreError};

/// How long others may take with what is to be erased.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was, or would be, erased.
#[derive(Debug, Default)]
pub struct Tally {
    pub archive: ErasedRows,
    pub hot: Erased,
    /// Databases that were set aside: they cannot be cleaned, only deleted.
    pub aside: Vec<Aside>,
    /// Files whose bytes hold the text that is looked for.
    pub holding: Vec<PathBuf>,
}

impl Tally {
    pub fn is_nothing(&self) -> bool {
        self.archive.is_nothing() && self.hot == Erased::default() && self.holding.is_empty()
    }
}

/// What becomes of databases that were set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsideFate {
    Deleted,
    Kept,
}

/// Counts what would go, and changes nothing.
pub fn rehearse(edge: &Edge, meant: &Meant) -> Result<Tally, Failure> {
    let hot = match Store::read(&edge.home, PATIENCE).map_err(failed)? {
        None => Erased::default(),
        Some(_) => with_store(edge, |store, _| {
            let mut all = Erased::default();
            for traces in meant.traces(store, edge)? {
                all = all.plus(store.rehearse_erasing(&traces)?);
            }
            Ok(all)
        })?,
    };
    let archive = if edge.home.archive().exists() {
        from_archive(edge, meant, Erasing::Rehearsal)?
    } else {
        ErasedRows::default()
    };
    let aside = erase::set_aside_files(&edge.home).map_err(|error| unreadable(edge, error))?;
    Ok(Tally { archive, hot, aside, holding: holding(edge, meant)? })
}

/// Erases it for good. Whoever dies in the middle of it runs it again.
pub fn carry_out(edge: &Edge, meant: &Meant, aside_fate: AsideFate) -> Result<Tally, Failure> {
    let folder = |error| unreadable(edge, error);
    edge.home.create().map_err(folder)?;
    let eraser = begin(edge)?;
    let hot = from_hot(edge, meant)?;
    shed_small_files(edge, meant).map_err(folder)?;
    let aside = erase::set_aside_files(&edge.home).map_err(folder)?;
    if aside_fate == AsideFate::Deleted {
        aside.iter().try_for_each(Aside::remove).map_err(folder)?;
    }
    let archive = from_archive(edge, meant, Erasing::ForGood)?;
    eraser.end().map_err(folder)?;
    Ok(Tally { archive, hot, aside, holding: holding(edge, meant)? })
}

/// Erases it from the journal and the database that is folded from it.
pub fn from_hot(edge: &Edge, meant: &Meant) -> Result<Erased, Failure> {
    traces_from_hot(edge, |store| meant.traces(store, edge))
}

/// The same of bookmarks and batons, by their ids.
pub fn notes_from_hot(edge: &Edge, notes: BTreeSet<Uid>) -> Result<Erased, Failure> {
    traces_from_hot(edge, |_| Ok(vec![Traces::Notes(notes)]))
}

fn traces_from_hot(
    edge: &Edge,
    find: impl FnOnce(&Store) -> Result<Vec<Traces>, StoreError>,
) -> Result<Erased, Failure> {
    with_store(edge, |store, lock| {
        let traces = find(store)?;
        let pace = Pace { has_time: &|| true, now: edge.now, new_machine: edge.uid(), patience: PATIENCE };
        let folded = store.settle(lock, &pace)?;
        outcome::carry_out(edge, &tell::settings(edge), store, &folded.effects)?;
        let mut all = Erased::default();
        for traces in &traces {
            all = all.plus(store.erase(lock, traces)?);
        }
        store.compact()?;
        Ok(all)
    })
}

/// What somebody who was stopped has left behind: rows that are gone from their tables and not yet from the files.
pub fn finish_interrupted(edge: &Edge) -> Result<bool, Failure> {
    let folder = |error| unreadable(edge, error);
    if !erase::is_unfinished(&edge.home) {
        return Ok(false);
    }
    let Some(eraser) = Eraser::begin(&edge.home).map_err(folder)? else { return Ok(false) };
    clear_out(edge)?;
    eraser.end().map_err(folder)?;
    Ok(true)
}

/// The right to erase, for as long as nobody else has it.
pub fn begin(edge: &Edge) -> Result<Eraser, Failure> {
    Eraser::begin(&edge.home).map_err(|error| unreadable(edge, error))?.ok_or_else(busy)
}

/// Makes both databases anew without their free pages and logs.
pub fn clear_out(edge: &Edge) -> Result<(), Failure> {
    if edge.home.database().exists() {
        with_store(edge, |store, _| store.compact())?;
    }
    if edge.home.archive().exists() {
        let writable = capture::open(edge, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
        writable.archive.compact().map_err(failed)?;
        finding::forget_index(&edge.home).map_err(failed)?;
        sentences::shed(&edge.home, &writable.archive).map_err(|error| Failure::new(&error))?;
    }
    Ok(())
}

/// The database with the right to write it; hooks leave their events to the journal meanwhile.
pub fn with_store<T>(
    edge: &Edge,
    act: impl FnOnce(&Store, &FoldLock) -> Result<T, StoreError>,
) -> Result<T, Failure> {
    let lock =
        FoldLock::take_within(&edge.home, pauses(PATIENCE)).map_err(|error| unreadable(edge, error))?;
    let lock = lock.ok_or_else(busy)?;
    let pace = Pace { has_time: &|| true, now: edge.now, new_machine: edge.uid(), patience: PATIENCE };
    let (store, folded) = Store::open_and_fold(&edge.home, &lock, &pace).map_err(failed)?;
    outcome::carry_out(edge, &tell::settings(edge), &store, &folded.effects).map_err(failed)?;
    act(&store, &lock).map_err(failed)
}

fn from_archive(edge: &Edge, meant: &Meant, erasing: Erasing) -> Result<ErasedRows, Failure> {
    let mut writable = capture::open(edge, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
    let extent = match meant {
        Meant::Turns { of, from, to } => Extent::Turns { of, from: *from, to: *to },
        Meant::Sessions { sessions, stretch } => Extent::Sessions { sessions, stretch: *stretch },
        Meant::Project { project, stretch } => Extent::Project { project, stretch: *stretch },
        Meant::Everyone { stretch } => Extent::Everyone { stretch: *stretch },
        Meant::Memories(numbers) => Extent::Memories(numbers),
        Meant::Text(needle) => Extent::Text(needle.clone()),
    };
    let erased = writable.archive.erase(&extent, erasing, edge.now).map_err(failed)?;
    if erasing == Erasing::ForGood {
        writable.archive.compact().map_err(failed)?;
        finding::forget_index(&edge.home).map_err(failed)?;
        sentences::shed(&edge.home, &writable.archive).map_err(|error| Failure::new(&error))?;
    }
    Ok(erased)
}

fn shed_small_files(edge: &Edge, meant: &Meant) -> io::Result<()> {
    let needles = meant.needles();
    for log in fallback_logs(edge) {
        for needle in &needles {
            erase::shed_lines(&log, needle)?;
        }
    }
    erase::drop_derived(&edge.home, needles.first().map(AsRef::as_ref))
}

fn holding(edge: &Edge, meant: &Meant) -> Result<Vec<PathBuf>, Failure> {
    match meant {
        Meant::Text(needle) => holds_text(edge, needle),
        Meant::Turns { .. }
        | Meant::Sessions { .. }
        | Meant::Project { .. }
        | Meant::Everyone { .. }
        | Meant::Memories(_) => Ok(vec![]),
    }
}

fn holds_text(edge: &Edge, needle: &Needle) -> Result<Vec<PathBuf>, Failure> {
    let aside = erase::set_aside_files(&edge.home).map_err(|error| unreadable(edge, error))?;
    let aside: BTreeSet<PathBuf> = aside.into_iter().map(|aside| aside.path).collect();
    let found = erase::holding(&edge.home, needle).map_err(|error| unreadable(edge, error))?;
    Ok(found.into_iter().filter(|path| !aside.contains(path)).collect())
}

/// Somebody else has what would be written.
pub fn busy() -> Failure {
    Failure::busy("another process is at work on what is kept").hint("Wait for it, then run it again.")
}

pub fn failed(error: StoreError) -> Failure {
    Failure::new(&error).hint("Run it again; if it fails, run `tow doctor`.")
}

fn unreadable(edge: &Edge, error: io::Error) -> Failure {
    let error = StoreError::Folder { path: edge.home.folder().to_owned(), source: error };
    Failure::new(&error).hint("Run `tow doctor` to see who may write there.")
}
