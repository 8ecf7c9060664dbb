//! What the hub has of a shared project, taken into the archive.
//!
//! May be killed at any point and done again: rows and how far they were read are written together. What somebody forgot
//! elsewhere goes from here as `tow forget` would take it, out of every file.

use super::Sharing;
use super::words;
use crate::capture;
use crate::edge::Edge;
use crate::failure::Failure;
use crate::forget::{self, Meant, busy, failed};
use std::time::Duration;
use towline_core::share::{Life, RowKind, SharedRow};
use towline_store::StoreError;
use towline_store::archive::{Archive, Arrival, Carried, SharedProject, TakenIn};

const PATIENCE: Duration = Duration::from_secs(10);

/// Takes in what was pulled of a project, up to `after`.
pub fn take(
    edge: &Edge,
    sharing: Sharing<'_>,
    project: &SharedProject,
    (rows, after): (Vec<SharedRow>, u64),
) -> Result<TakenIn, Failure> {
    if sharing.wishes.excludes(&project.root) {
        return Ok(TakenIn::default());
    }
    let losing = losing(edge, &rows)?;
    let eraser = losing.as_ref().map(|_| forget::begin(edge)).transpose()?;
    for turns in losing.unwrap_or_default() {
        forget::from_hot(edge, &turns)?;
    }
    let mut writable = capture::open(edge, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
    if writable.archive.own_person().map_err(failed)? != sharing.person {
        writable.archive.set_person(sharing.person).map_err(failed)?;
    }
    let arrival = Arrival { rows: rows.into_iter().map(carried).collect(), after, now: edge.now };
    let taken = writable.archive.take(project, arrival).map_err(failed)?;
    drop(writable);
    if let Some(eraser) = eraser {
        if taken.gone > 0 {
            forget::clear_out(edge)?;
        }
        eraser
            .end()
            .map_err(|source| failed(StoreError::Folder { path: edge.home.folder().to_owned(), source }))?;
    }
    Ok(taken)
}

/// The turns of this machine that somebody forgot; `None` where nothing goes at all.
fn losing(edge: &Edge, rows: &[SharedRow]) -> Result<Option<Vec<Meant>>, Failure> {
    let Some(archive) = Archive::read(&edge.home, PATIENCE).map_err(failed)? else { return Ok(None) };
    if !archive.would_lose(rows).map_err(failed)? {
        return Ok(None);
    }
    let lines =
        rows.iter().filter(|row| row.kind == RowKind::Line && matches!(row.life, Life::Forgotten { .. }));
    let mut turns = vec![];
    for line in lines {
        if let Some((of, turn)) = archive.turn_by_uid(line.uid).map_err(failed)? {
            turns.push(Meant::Turns { of, from: turn.ordinal, to: turn.ordinal });
        }
    }
    Ok(Some(turns))
}

/// Words that cannot be understood are left out: a newer version on another machine wrote them.
fn carried(mut row: SharedRow) -> Carried<towline_core::text::Clean<'static>> {
    row.from.person = words::short(&row.from.person);
    let words = match &row.life {
        Life::Lives(registers) if row.is_shared() => {
            words::read(row.kind, &registers.words.value).ok().flatten()
        }
        Life::Lives(_) | Life::Forgotten { .. } => None,
    };
    Carried { row, words }
}
