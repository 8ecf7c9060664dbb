//! Withdraws projects: the user's rows are removed from the hub, and other machines drop them.
//!
//! Works page by page, each recorded locally before the hub gets it, so that the next sync continues after a
//! kill. Leaving the hub altogether waits until nothing is left to withdraw.

use super::link::{Link, NoLink};
use super::{PATIENCE, machine};
use crate::runtime::archive::Writable;
use crate::runtime::config::edit::change;
use crate::runtime::{Env, Failure, archive};
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::share::RowKind;
use towline_hub::OutgoingRow;
use towline_store::archive::WithdrawingProject;

/// Rows in one transaction of the hub, and of the archive.
const AT_ONCE: u32 = 500;

/// Withdraws the next page of a project. Returns the number of rows, and the cursor of the page after it, if there is one.
pub fn withdraw_page(
    env: &Env,
    link: &mut Link,
    project: &WithdrawingProject,
    after: u64,
) -> Result<(u64, Option<u64>), NoLink> {
    let page = link.hub.own_rows(&link.membership, project.id, after, AT_ONCE)?;
    let writable = || -> Result<Writable, NoLink> { archive::open(env, PATIENCE)?.ok_or(NoLink::Busy) };
    let here = link.membership.machine;
    let rows: Vec<_> = page.rows.into_iter().map(|row| row.taken_back(here)).collect();
    if !rows.is_empty() {
        writable()?.archive.note_taken_back(&rows)?;
    }
    let count = rows.len() as u64;
    let told = rows.into_iter().map(|row| OutgoingRow { row, text: String::new(), meaning: None });
    link.hub.push(&link.membership, &told.collect::<Vec<_>>())?;
    if page.is_all {
        writable()?.archive.end_leaving(project)?;
        return Ok((count, None));
    }
    Ok((count, Some(page.after)))
}

/// How many rows of each kind the user shared in these projects.
pub fn counted(env: &Env, projects: &[Uid], patience: Duration) -> Result<Vec<(RowKind, u64)>, NoLink> {
    let mut link = Link::open(env, &machine(env)?, patience)?;
    let mut counts: Vec<(RowKind, u64)> = RowKind::ALL.map(|kind| (kind, 0)).to_vec();
    for project in projects {
        for (kind, rows) in link.hub.own_counts(&link.membership, *project)? {
            counts.iter_mut().filter(|(known, _)| *known == kind).for_each(|(_, sum)| *sum += rows);
        }
    }
    Ok(counts)
}

/// Leaves the hub if that was requested and nothing is left to withdraw. Returns whether it did.
pub fn leave_if_done(env: &Env, link: &mut Link) -> Result<bool, Failure> {
    let writable = archive::open(env, PATIENCE).map_err(NoLink::from)?.ok_or(NoLink::Busy)?;
    let wishes = writable.archive.is_leave_requested().map_err(NoLink::from)?;
    if !wishes || !writable.archive.leaving_projects().map_err(NoLink::from)?.is_empty() {
        return Ok(false);
    }
    // Do not hold the archive while waiting for the hub.
    drop(writable);
    link.hub.remove_machine(&link.membership).map_err(NoLink::from)?;
    forget_hub(env)?;
    Ok(true)
}

/// Removes the hub from this machine's archive and configuration.
pub fn forget_hub(env: &Env) -> Result<(), Failure> {
    let writable = archive::open(env, PATIENCE).map_err(NoLink::from)?.ok_or(NoLink::Busy)?;
    writable.archive.leave_hub().map_err(NoLink::from)?;
    drop(writable);
    change(&env.later(), &[("hub.url", None), ("hub.team", None)])
}
