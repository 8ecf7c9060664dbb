//! Takes the hub's rows of a shared project into the archive.
//!
//! May be killed at any point and repeated: rows and cursor are written together. Rows forgotten elsewhere
//! are erased from every file, as `tow data forget` would.

use super::{Sharing, words};
use crate::erase::forget::{self, Meant, busy, failed};
use crate::runtime::{Env, Failure, archive};
use std::collections::BTreeSet;
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::share::{RowKind, RowLife, SharedRow};
use towline_store::archive::{Archive, PullCounts, PulledRows, SharedProject, SyncRow};
use towline_store::erase::EraseGuard;
use towline_store::{Store, StoreError};

const PATIENCE: Duration = Duration::from_secs(10);

/// Takes in one project page by page. Files are compacted once, at the end; if killed before, the eraser's
/// mark makes `tow data work` finish it.
pub struct Arrivals<'a> {
    env: &'a Env,
    sharing: Sharing<'a>,
    eraser: Option<EraseGuard>,
    gone: u32,
}

impl<'a> Arrivals<'a> {
    pub fn new(env: &'a Env, sharing: Sharing<'a>) -> Arrivals<'a> {
        Arrivals { env, sharing, eraser: None, gone: 0 }
    }

    /// Takes in the pulled rows of a project, up to `after`.
    pub fn take(
        &mut self,
        project: &SharedProject,
        rows: Vec<SharedRow>,
        after: u64,
    ) -> Result<PullCounts, Failure> {
        let Arrivals { env, sharing, .. } = *self;
        if sharing.wishes.excludes(&project.root) {
            return Ok(PullCounts::default());
        }
        let rows: Vec<SharedRow> = rows.into_iter().map(named).collect();
        if let Some(losses) = losses(env, &rows, sharing.person)? {
            if self.eraser.is_none() {
                self.eraser = Some(forget::begin(env)?);
            }
            losses.erase_from_hot(env)?;
        }
        let mut writable = archive::open(env, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
        if writable.archive.own_person().map_err(failed)? != sharing.person {
            writable.archive.set_person(sharing.person).map_err(failed)?;
        }
        let arrival = PulledRows { rows: rows.into_iter().map(carried).collect(), after, now: env.now };
        let taken = writable.archive.take(project, arrival).map_err(failed)?;
        self.gone += taken.gone;
        Ok(taken)
    }

    /// Removes erased rows from every file.
    pub fn end(self) -> Result<(), Failure> {
        let Some(eraser) = self.eraser else { return Ok(()) };
        if self.gone > 0 {
            forget::vacuum(self.env)?;
        }
        eraser.end().map_err(archive::folder_error(self.env)).map_err(failed)
    }
}

/// Local hook events of rows that were forgotten elsewhere.
struct Losses {
    turns: Vec<Meant>,
    notes: BTreeSet<Uid>,
}

impl Losses {
    fn erase_from_hot(self, env: &Env) -> Result<(), Failure> {
        for turns in &self.turns {
            forget::from_hot(env, turns)?;
        }
        if !self.notes.is_empty() {
            forget::notes_from_hot(env, self.notes)?;
        }
        Ok(())
    }
}

/// `None` if no local row is affected.
fn losses(env: &Env, rows: &[SharedRow], own: &str) -> Result<Option<Losses>, Failure> {
    let Some(archive) = Archive::read(&env.home, PATIENCE).map_err(failed)? else { return Ok(None) };
    let mut gone = vec![];
    for row in rows.iter().filter(|row| !row.is_shared()) {
        if !archive.is_anothers(row, own).map_err(failed)? {
            gone.push(row.clone());
        }
    }
    let notes = forgotten_notes(env, &gone, own).map_err(failed)?;
    if notes.is_empty() && !archive.would_delete(&gone).map_err(failed)? {
        return Ok(None);
    }
    let mut turns = vec![];
    for line in forgotten(&gone).filter(|row| row.kind == RowKind::Line) {
        if let Some((of, turn)) = archive.turn_by_uid(line.uid).map_err(failed)? {
            turns.push(Meant::Turns { of, from: turn.ordinal, to: turn.ordinal });
        }
    }
    Ok(Some(Losses { turns, notes }))
}

fn forgotten(rows: &[SharedRow]) -> impl Iterator<Item = &SharedRow> {
    rows.iter().filter(|row| matches!(row.life, RowLife::Forgotten { .. }))
}

/// Forgotten bookmarks and batons of this user that the local database holds, from any machine.
fn forgotten_notes(env: &Env, rows: &[SharedRow], own: &str) -> Result<BTreeSet<Uid>, StoreError> {
    let is_note =
        |row: &&SharedRow| matches!(row.kind, RowKind::Bookmark | RowKind::Baton) && row.from.person == own;
    let notes: Vec<Uid> = forgotten(rows).filter(is_note).map(|row| row.uid).collect();
    let mut known = BTreeSet::new();
    if notes.is_empty() {
        return Ok(known);
    }
    let Some(store) = Store::read(&env.home, PATIENCE)? else { return Ok(known) };
    for note in notes {
        if store.has_note(note)? {
            known.insert(note);
        }
    }
    Ok(known)
}

fn named(mut row: SharedRow) -> SharedRow {
    row.from.person = words::short(&row.from.person);
    row
}

/// Content that cannot be parsed is dropped: a newer version on another machine wrote it.
fn carried(row: SharedRow) -> SyncRow<towline_core::text::CleanText<'static>> {
    let words = match &row.life {
        RowLife::Lives(registers) if row.is_shared() => {
            words::read(row.kind, &registers.words.value).ok().flatten()
        }
        RowLife::Lives(_) | RowLife::Forgotten { .. } => None,
    };
    SyncRow { row, words }
}
