//! One sync with the hub: sends local changes and takes in remote ones.
//!
//! Every step is stored before the next begins, so that a killed sync continues there. The archive is never
//! held while waiting for the hub, and every wait for the hub is bounded.

use super::amount::Amount;
use super::batons::{self, BatonsError};
use super::incoming::Arrivals;
use super::leaving;
use super::link::{Link, NoLink};
use super::meaning::Sense;
use super::outgoing::{self, Batch, OutgoingError, Sending};
use super::{Sharing, is_due, machine, seats, state, words};
use crate::capture::Wishes;
use crate::runtime::archive::Writable;
use crate::runtime::faults::record_here;
use crate::runtime::{Env, Failure, archive, chain};
use crate::status::proposals;
use std::collections::BTreeMap;
use std::time::Duration;
use towline_core::fault::FaultKind;
use towline_core::share::RowKind;
use towline_hub::{MemberRole, OutgoingRow};
use towline_store::archive::SharedProject;
use towline_store::lock::{HubLock, pauses};
use towline_store::{Store, StoreError};

/// Counts of a sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Exchanged {
    pub sent: u64,
    pub taken: u64,
    /// Rows erased because they were forgotten or withdrawn elsewhere.
    pub erased: u64,
    /// Hub rows that received a missing embedding.
    pub meant: u64,
    /// Rows that the user withdrew.
    pub withdrawn: u64,
    /// Time ran out before all was done.
    pub is_more: bool,
    /// All rows are withdrawn, and this machine has left the hub.
    pub has_left: bool,
}

/// Why a sync failed or stopped early.
#[derive(Debug, thiserror::Error)]
pub enum NoExchange {
    #[error("another process is at it")]
    Busy,
    #[error(transparent)]
    Link(#[from] NoLink),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("what is shared could not be read")]
    Outgoing(#[from] OutgoingError),
    #[error(transparent)]
    Batons(#[from] BatonsError),
    #[error("{}", .0.what)]
    Told(Failure),
}

impl From<NoExchange> for Failure {
    fn from(error: NoExchange) -> Failure {
        match error {
            NoExchange::Busy => {
                Failure::busy("another process exchanges with the hub, or writes what is kept")
                    .hint("Wait for it; `tow hub status` shows how far it came.")
            }
            NoExchange::Link(error) => error.into(),
            NoExchange::Store(error) => error.into(),
            NoExchange::Outgoing(error) => Failure::new(&error).hint("Run `tow doctor`."),
            NoExchange::Batons(error) => Failure::new(&error).hint("Run `tow doctor`."),
            NoExchange::Told(failure) => failure,
        }
    }
}

/// Rows in one transaction of the hub, and of the archive.
const AT_ONCE: u32 = 500;
/// Time limit of a background sync.
const A_WHILE: Duration = Duration::from_secs(30);
/// Time limits for computing embeddings: in the background, and for a waiting user.
const TO_MEAN: Duration = Duration::from_secs(10);
const TO_MEAN_ALL: Duration = Duration::from_secs(60);
/// Rows that are embedded per request.
const MEANT_AT_ONCE: u32 = 100;
/// Timeout of one hub request.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long to wait for another writer of the archive.
const FOR_ARCHIVE: Duration = Duration::from_secs(10);

/// Syncs and records the result. Waits up to `patience` for a running sync; calls `seen` after each step.
pub fn exchange(
    env: &Env,
    amount: Amount,
    patience: Duration,
    seen: &mut dyn FnMut(&Exchanged),
) -> Result<Exchanged, NoExchange> {
    let lock = HubLock::take_within(&env.home, pauses(patience)).map_err(archive::folder_error(env))?;
    let lock = lock.ok_or(NoExchange::Busy)?;
    let done = Exchange { env, began: env.elapsed(), amount, done: Exchanged::default(), seen }.run();
    drop(lock);
    match &done {
        Ok(done) if done.has_left => {}
        Ok(_) => state::note_success(env, env.later().now)?,
        Err(NoExchange::Link(error)) => note(env, error)?,
        // Errors of this machine: the hub is not to blame.
        Err(_) => {}
    }
    done
}

/// A missing network is no fault. An error that the user must fix is recorded as a fault once.
fn note(env: &Env, error: &NoLink) -> Result<(), StoreError> {
    if matches!(error, NoLink::NotJoined) {
        return Ok(());
    }
    let later = env.later();
    let trouble = state::note_trouble(env, error.message(), error.remedy().unwrap_or_default(), later.now)?;
    if !error.is_transient() && trouble.is_some_and(|trouble| trouble.failures == 1) {
        record_here(&later, FaultKind::Notify, error.message());
    }
    Ok(())
}

/// How many rows of each kind would be sent now. Does not contact the hub.
pub fn preview(env: &Env) -> Result<BTreeMap<RowKind, u64>, NoExchange> {
    let wishes = Wishes::load(env).map_err(NoExchange::Told)?;
    let store = Store::read(&env.home, FOR_ARCHIVE)?;
    let writable = archive::open(env, FOR_ARCHIVE)?.ok_or(NoExchange::Busy)?;
    let person = writable.archive.own_person()?;
    let sharing = Sharing { person: &person, wishes: &wishes };
    Ok(outgoing::preview(&writable.archive, store.as_ref(), sharing)?)
}

struct Exchange<'a> {
    env: &'a Env,
    began: Duration,
    amount: Amount,
    done: Exchanged,
    seen: &'a mut dyn FnMut(&Exchanged),
}

impl Exchange<'_> {
    fn run(mut self) -> Result<Exchanged, NoExchange> {
        let mut link = Link::open(self.env, &machine(self.env)?, PATIENCE)?;
        // Send nothing if the privacy settings cannot be read.
        let wishes = Wishes::load(self.env).map_err(NoExchange::Told)?;
        let person = link.membership.person.clone();
        let sharing = Sharing { person: &person, wishes: &wishes };
        seats::tell(self.env, &mut link)?;
        // A failed withdrawal must not block the sync of other projects: report it at the end.
        let taken_back = self.take_back(&mut link);
        self.bound_queue(link.wanted.max_queue)?;
        let sense = Sense::for_hub(self.env, &mut link)?;
        self.send(&mut link, sharing, sense.as_ref())?;
        self.note_team(&mut link)?;
        let projects = self.writing()?.archive.shared_projects()?;
        for project in &projects {
            self.take(&mut link, sharing, project)?;
        }
        batons::tell(self.env, &self.writing()?.archive, sharing)?;
        proposals::note(self.env, &self.writing()?.archive);
        if let Some(sense) = sense {
            self.mean_all(&mut link, &sense, &projects, &wishes)?;
        }
        taken_back?;
        self.done.has_left = leaving::leave_if_done(self.env, &mut link).map_err(NoExchange::Told)?;
        Ok(self.done)
    }

    /// Page by page: each withdrawal is recorded locally before it is sent.
    fn take_back(&mut self, link: &mut Link) -> Result<(), NoExchange> {
        let projects = self.writing()?.archive.leaving_projects()?;
        for project in &projects {
            let mut after = 0;
            loop {
                if !self.has_time() {
                    self.done.is_more = true;
                    return Ok(());
                }
                let (rows, next) = leaving::withdraw_page(self.env, link, project, after)?;
                self.done.withdrawn += rows;
                (self.seen)(&self.done);
                match next {
                    Some(next) => after = next,
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// If too many changes are queued, replaces the queue by a full scan of the shared rows.
    fn bound_queue(&self, most: u32) -> Result<(), NoExchange> {
        let writable = self.writing()?;
        if writable.archive.scan()?.is_none() && outgoing::waiting(&writable.archive)? > i64::from(most) {
            writable.archive.begin_scan()?;
        }
        Ok(())
    }

    /// Batch by batch: each is recorded as sent before the next is read.
    fn send(
        &mut self,
        link: &mut Link,
        sharing: Sharing<'_>,
        sense: Option<&Sense>,
    ) -> Result<(), NoExchange> {
        while self.has_time() {
            let batch = self.batch(sharing)?;
            if !batch.rows.is_empty() {
                let rows: Vec<OutgoingRow> =
                    batch.rows.iter().map(|sending| offered(sending, sense)).collect();
                link.hub.push(&link.membership, &rows).map_err(NoLink::from)?;
                self.done.sent += rows.len() as u64;
                (self.seen)(&self.done);
            }
            outgoing::note_sent(&self.writing()?.archive, &batch)?;
            if batch.is_all {
                return Ok(());
            }
        }
        self.done.is_more = true;
        Ok(())
    }

    fn batch(&self, sharing: Sharing<'_>) -> Result<Batch, NoExchange> {
        let store = Store::read(&self.env.home, FOR_ARCHIVE)?;
        let writable = self.writing()?;
        Ok(outgoing::outgoing(&writable.archive, store.as_ref(), sharing, AT_ONCE as usize)?)
    }

    /// Page by page: rows and cursor are stored in one transaction.
    fn take(
        &mut self,
        link: &mut Link,
        sharing: Sharing<'_>,
        project: &SharedProject,
    ) -> Result<(), NoExchange> {
        let mut after = project.cursor;
        let mut arrivals = Arrivals::new(self.env, sharing);
        while self.has_time() {
            let pulled = link.hub.pull(&link.membership, project.id, after, AT_ONCE).map_err(NoLink::from)?;
            let is_all = pulled.is_all;
            after = pulled.after;
            if !pulled.rows.is_empty() {
                let taken = arrivals.take(project, pulled.rows, after).map_err(NoExchange::Told)?;
                self.done.taken += u64::from(taken.rows);
                self.done.erased += u64::from(taken.gone);
                (self.seen)(&self.done);
            }
            if is_all {
                return arrivals.end().map_err(NoExchange::Told);
            }
        }
        self.done.is_more = true;
        arrivals.end().map_err(NoExchange::Told)
    }

    /// Stores the names of the other machines, to show where a row came from, which of them are other members', and
    /// whether the user administers the team.
    fn note_team(&self, link: &mut Link) -> Result<(), NoExchange> {
        let machines = link.hub.machines(&link.membership).map_err(NoLink::from)?;
        let mut of_others: Vec<_> =
            machines.iter().filter(|machine| !machine.is_own).map(|machine| machine.id).collect();
        of_others.sort_unstable();
        let writable = self.writing()?;
        writable.archive.set_machines_of_others(&of_others)?;
        writable.archive.set_admin(link.membership.rights == MemberRole::Admin)?;
        let named = machines
            .into_iter()
            .filter_map(|machine| Some((machine.id, words::machine_name(&machine.name)?)));
        Ok(writable.archive.name_machines(&named.collect::<Vec<_>>())?)
    }

    /// Embeds hub rows without an embedding: older than the model, sent without a model, or edited. The hub
    /// lists them, so this resumes anywhere.
    fn mean_all(
        &mut self,
        link: &mut Link,
        sense: &Sense,
        projects: &[SharedProject],
        wishes: &Wishes,
    ) -> Result<(), NoExchange> {
        let began = self.env.elapsed();
        projects
            .iter()
            .filter(|project| !wishes.excludes(&project.root))
            .try_for_each(|project| self.mean(link, sense, project, began))
    }

    fn mean(
        &mut self,
        link: &mut Link,
        sense: &Sense,
        project: &SharedProject,
        began: Duration,
    ) -> Result<(), NoExchange> {
        let mut before = None;
        while self.has_time_to_mean(began) {
            let rows = link.hub.without_meaning(&link.membership, project.id, before, MEANT_AT_ONCE);
            let rows = rows.map_err(NoLink::from)?;
            let Some(last) = rows.last() else { return Ok(()) };
            before = Some(last.uid);
            let texts = rows.iter().filter_map(|row| Some((row, words::text_of(row)?)));
            let in_time = texts.take_while(|_| self.has_time_to_mean(began));
            let meant: Vec<_> = in_time.map(|(row, text)| (row, sense.embed(&text))).collect();
            let meant: Vec<_> = meant.iter().map(|(row, meaning)| (*row, meaning)).collect();
            self.done.meant += link.hub.upload_embeddings(&link.membership, &meant).map_err(NoLink::from)?;
            (self.seen)(&self.done);
        }
        self.done.is_more = true;
        Ok(())
    }

    fn has_time_to_mean(&self, began: Duration) -> bool {
        let most = match self.amount {
            Amount::All => TO_MEAN_ALL,
            Amount::AWhile => TO_MEAN,
        };
        self.has_time() && self.env.elapsed().saturating_sub(began) < most
    }

    fn has_time(&self) -> bool {
        match self.amount {
            Amount::All => true,
            Amount::AWhile => self.env.elapsed().saturating_sub(self.began) < A_WHILE,
        }
    }

    /// Fails as busy if another process holds the archive for this long.
    fn writing(&self) -> Result<Writable, NoExchange> {
        archive::open(self.env, FOR_ARCHIVE)?.ok_or(NoExchange::Busy)
    }
}

/// Attaches the embedding from the search index, if any; others are computed after the rows are sent.
fn offered(sending: &Sending, sense: Option<&Sense>) -> OutgoingRow {
    let text = sending.text.clone();
    let may_have = match sending.row.kind {
        RowKind::Memory | RowKind::Summary | RowKind::Line | RowKind::Body => !text.is_empty(),
        RowKind::Detail | RowKind::Bookmark | RowKind::Baton | RowKind::Proposal | RowKind::Answer => false,
    };
    let meaning = sense.filter(|_| may_have).and_then(|sense| sense.known(&text));
    OutgoingRow { row: sending.row.clone(), text, meaning }
}

/// Background sync, if one is due, limited to `A_WHILE`. Errors are recorded and do not stop other work.
/// Returns whether any row changed.
pub fn exchange_if_due(env: &Env) -> bool {
    let exchanged = match is_due(env, FOR_ARCHIVE) {
        Ok(false) => return false,
        Ok(true) => exchange(env, Amount::AWhile, Duration::ZERO, &mut |_| {}),
        Err(error) => Err(error.into()),
    };
    match exchanged {
        Ok(done) => done.taken > 0 || done.erased > 0,
        Err(NoExchange::Busy | NoExchange::Link(_)) => false,
        Err(error) => {
            record_here(env, FaultKind::Store, chain(&error));
            false
        }
    }
}
