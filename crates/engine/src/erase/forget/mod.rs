//! Forgetting: erases a target from every file of the data folder.
//!
//! `meant` resolves the target; this module neither asks nor prints. It may be killed at any point and run
//! again: the archive is erased last, because names are resolved by it.

mod meant;

pub use meant::{Meant, Request, find};

use crate::index::{self, embeddings};
use crate::ingest::{effects, live};
use crate::memory::remember::numbers;
use crate::runtime::archive::Writable;
use crate::runtime::faults::fallback_logs;
use crate::runtime::{Env, Failure, archive, settings, spawn};
use crate::status::proposals;
use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::memory::name;
use towline_search::Purged;
use towline_store::archive::{EraseMode, EraseScope, ErasedRows, ErasedTexts};
use towline_store::erase::{self, DamagedFile, EraseGuard, EraseReport, EraseSelection};
use towline_store::lock::{ProjectionLock, pauses};
use towline_store::{ProjectionLimits, Store, StoreError};

/// How long to wait for other processes that use the data.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a step of background work waits for another writer, and leaves the archive to others after it.
const SWEEP_PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_STEPS: Duration = Duration::from_millis(20);

/// Counts of erased rows, real or rehearsed.
#[derive(Debug, Default)]
pub struct Tally {
    pub archive: ErasedRows,
    pub hot: EraseReport,
    /// Databases that were set aside: they cannot be cleaned, only deleted.
    pub aside: Vec<DamagedFile>,
    /// Files that still contain the text.
    pub holding: Vec<PathBuf>,
}

impl Tally {
    pub fn is_nothing(&self) -> bool {
        self.archive.is_nothing() && self.hot == EraseReport::default() && self.holding.is_empty()
    }
}

/// Whether databases that were set aside are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsideFate {
    Deleted,
    Kept,
}

/// The result of an erasure, or of its preview.
pub struct ForgetReport {
    pub target: Meant,
    pub tally: Tally,
    pub aside_fate: AsideFate,
    pub is_done: bool,
}

/// Resolves the target and counts what would be erased.
pub fn plan(env: &Env, request: &Request<'_>, aside_fate: AsideFate) -> Result<ForgetReport, Failure> {
    // Apply the journal first: its records are found through their database rows.
    live::store(env)?;
    let target = find(env, request)?;
    Ok(ForgetReport { tally: preview(env, &target)?, target, aside_fate, is_done: false })
}

impl ForgetReport {
    /// Carries out a plan.
    pub fn carry_out(self, env: &Env) -> Result<ForgetReport, Failure> {
        let tally = carry_out(env, &self.target, self.aside_fate)?;
        Ok(ForgetReport { tally, is_done: true, ..self })
    }
}

/// Erases one memory, after finishing an interrupted erasure. Refuses an id of anything else.
pub fn forget_memory(env: &Env, id: &str) -> Result<ForgetReport, Failure> {
    let id: Vec<String> = numbers(&[id.to_owned()])?.into_iter().map(name).collect();
    finish_interrupted(env)?;
    let request = Request { what: id.first().map(String::as_str), ..Request::default() };
    plan(env, &request, AsideFate::Deleted)?.carry_out(env)
}

/// Counts what would be erased, and changes nothing.
pub fn preview(env: &Env, meant: &Meant) -> Result<Tally, Failure> {
    let hot = match Store::read(&env.home, PATIENCE).map_err(failed)? {
        None => EraseReport::default(),
        Some(_) => with_store(env, |store, _| {
            let mut all = EraseReport::default();
            for traces in meant.traces(store, env)? {
                all = all.plus(store.preview_erase(&traces)?);
            }
            Ok(all)
        })?,
    };
    let archive = if env.home.archive().exists() {
        from_archive(env, meant, EraseMode::Rehearsal)?
    } else {
        ErasedRows::default()
    };
    let aside = erase::set_aside_files(&env.home).map_err(|error| unreadable(env, error))?;
    Ok(Tally { archive, hot, aside, holding: holding(env, meant)? })
}

/// Erases the target for good. If interrupted, run it again.
pub fn carry_out(env: &Env, meant: &Meant, aside_fate: AsideFate) -> Result<Tally, Failure> {
    let folder = |error| unreadable(env, error);
    env.home.create().map_err(folder)?;
    let eraser = begin(env)?;
    let hot = from_hot(env, meant)?;
    shed_small_files(env, meant).map_err(folder)?;
    let aside = erase::set_aside_files(&env.home).map_err(folder)?;
    if aside_fate == AsideFate::Deleted {
        aside.iter().try_for_each(DamagedFile::remove).map_err(folder)?;
    }
    let archive = from_archive(env, meant, EraseMode::ForGood)?;
    eraser.end().map_err(folder)?;
    Ok(Tally { archive, hot, aside, holding: holding(env, meant)? })
}

/// Erases the target from the journal and the database projected from it.
pub fn from_hot(env: &Env, meant: &Meant) -> Result<EraseReport, Failure> {
    traces_from_hot(env, |store| meant.traces(store, env))
}

/// The same for bookmarks and batons, by their ids.
pub fn notes_from_hot(env: &Env, notes: BTreeSet<Uid>) -> Result<EraseReport, Failure> {
    traces_from_hot(env, |_| Ok(vec![EraseSelection::Notes(notes)]))
}

fn traces_from_hot(
    env: &Env,
    find: impl FnOnce(&Store) -> Result<Vec<EraseSelection>, StoreError>,
) -> Result<EraseReport, Failure> {
    with_store(env, |store, lock| {
        let traces = find(store)?;
        let projected = store.apply_and_seal(lock, &limits(env))?;
        effects::carry_out(env, &settings(env), store, &projected.effects)?;
        let mut all = EraseReport::default();
        for traces in &traces {
            all = all.plus(store.erase(lock, traces)?);
        }
        if all != EraseReport::default() {
            store.compact()?;
        }
        Ok(all)
    })
}

/// Finishes an interrupted erasure: rows deleted from their tables may still be in the files.
pub fn finish_interrupted(env: &Env) -> Result<bool, Failure> {
    let folder = |error| unreadable(env, error);
    if !erase::is_unfinished(&env.home) {
        return Ok(false);
    }
    let Some(eraser) = EraseGuard::begin(&env.home, []).map_err(folder)? else { return Ok(false) };
    vacuum(env)?;
    eraser.end().map_err(folder)?;
    Ok(true)
}

/// Takes the exclusive right to erase. Waits for a background process that finishes an earlier erase.
pub fn begin(env: &Env) -> Result<EraseGuard, Failure> {
    let take = |patience| EraseGuard::begin(&env.home, pauses(patience));
    let guard = env.take_turn("what is kept", PATIENCE, take).map_err(|error| unreadable(env, error))?;
    guard.ok_or_else(busy)
}

/// Rewrites both databases without free pages and logs.
pub fn vacuum(env: &Env) -> Result<(), Failure> {
    if env.home.database().exists() {
        with_store(env, |store, _| store.compact())?;
    }
    if env.home.archive().exists() {
        let writable = archive::open(env, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
        compact(env, writable, &ErasedTexts { is_everywhere: true, ..ErasedTexts::default() })?;
    }
    Ok(())
}

/// Removes the remains of deleted rows from the archive, and drops what was derived from them.
fn compact(env: &Env, writable: Writable, texts: &ErasedTexts) -> Result<(), Failure> {
    let writable = writable.compact().map_err(failed)?;
    let purged = index::erase(env, texts).map_err(|error| Failure::new(&error))?;
    embeddings::remove_deleted(&env.home, &writable.archive).map_err(|error| Failure::new(&error))?;
    if purged == Purged::Rest || !writable.archive.is_swept().map_err(failed)? {
        // A search does not build an index that was deleted, and a large archive is swept in steps.
        spawn::start_detached(env);
    }
    Ok(())
}

/// Overwrites what forgetting left in the unused bytes of a large archive, step by step; between two steps others can write.
/// For background work.
pub fn sweep(env: &Env) -> Result<(), Failure> {
    if !env.home.archive().exists() {
        return Ok(());
    }
    let mut open = archive::open(env, SWEEP_PATIENCE).map_err(failed)?;
    while let Some(writable) = open.take() {
        if writable.archive.is_swept().map_err(failed)? {
            break;
        }
        let swept = writable.sweep().map_err(failed)?;
        open = swept.let_others_write(env, BETWEEN_STEPS, SWEEP_PATIENCE).map_err(failed)?;
    }
    Ok(())
}

/// Applies the whole journal, however long that takes.
pub fn limits(env: &Env) -> ProjectionLimits<'static> {
    ProjectionLimits { has_time: &|| true, now: env.now, new_machine: env.uid(), patience: PATIENCE }
}

/// Runs `act` with the database and its lock; hooks leave their events in the journal meanwhile.
pub fn with_store<T>(
    env: &Env,
    act: impl FnOnce(&Store, &ProjectionLock) -> Result<T, StoreError>,
) -> Result<T, Failure> {
    let take = |patience| ProjectionLock::take_within(&env.home, pauses(patience));
    let lock = env.take_turn("the database", PATIENCE, take).map_err(|error| unreadable(env, error))?;
    let lock = lock.ok_or_else(busy)?;
    let (store, projected) = Store::open_and_apply(&env.home, &lock, &limits(env)).map_err(failed)?;
    effects::carry_out(env, &settings(env), &store, &projected.effects).map_err(failed)?;
    act(&store, &lock).map_err(failed)
}

fn from_archive(env: &Env, meant: &Meant, erasing: EraseMode) -> Result<ErasedRows, Failure> {
    let mut writable = archive::open(env, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
    let extent = match meant {
        Meant::Turns { of, from, to } => EraseScope::Turns { of, from: *from, to: *to },
        Meant::Sessions { sessions, stretch } => EraseScope::Sessions { sessions, stretch: *stretch },
        Meant::Project { project, stretch } => EraseScope::Project { project, stretch: *stretch },
        Meant::Everyone { stretch } => EraseScope::Everyone { stretch: *stretch },
        Meant::Memories(numbers) => EraseScope::Memories(numbers),
        Meant::Text(needle) => EraseScope::Text(needle.clone()),
    };
    let erased = writable.archive.erase(&extent, erasing, env.now).map_err(failed)?;
    if erasing == EraseMode::ForGood {
        proposals::note(env, &writable.archive);
        let texts = writable.archive.take_erased_texts();
        compact(env, writable, &texts)?;
    }
    Ok(erased)
}

fn shed_small_files(env: &Env, meant: &Meant) -> io::Result<()> {
    let needles = meant.needles();
    for log in fallback_logs(env) {
        for needle in &needles {
            erase::remove_lines(&log, needle)?;
        }
    }
    erase::drop_derived(&env.home, needles.first().map(AsRef::as_ref))
}

fn holding(env: &Env, meant: &Meant) -> Result<Vec<PathBuf>, Failure> {
    let Meant::Text(needle) = meant else { return Ok(vec![]) };
    let aside = erase::set_aside_files(&env.home).map_err(|error| unreadable(env, error))?;
    let aside: BTreeSet<PathBuf> = aside.into_iter().map(|aside| aside.path).collect();
    let found = erase::files_containing(&env.home, needle).map_err(|error| unreadable(env, error))?;
    Ok(found.into_iter().filter(|path| !aside.contains(path)).collect())
}

/// Another process holds the lock.
pub fn busy() -> Failure {
    Failure::busy("another process is at work on what is kept").hint("Wait for it, then run it again.")
}

pub fn failed(error: StoreError) -> Failure {
    Failure::new(&error).hint("Run it again; if it fails, run `tow doctor`.")
}

fn unreadable(env: &Env, error: io::Error) -> Failure {
    Failure::new(&archive::folder_error(env)(error)).hint("Run `tow doctor` to see who may write there.")
}
