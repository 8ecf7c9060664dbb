//! Keeps the data folder small: checkpoints, sealing, expiry. Runs while no agent waits for it.
//!
//! Every part may be interrupted and repeated at any point; none of them removes data within the retention period.

use crate::database::release_pages;
use crate::home::{DataFolder, size};
use crate::lock::ProjectionLock;
use crate::query::Query;
use crate::{Result, Store, StoreError, UpkeepKind, journal, marks};
use rusqlite::{Transaction, TransactionBehavior};
use std::time::Duration;
use towline_core::event::Event;
use towline_core::expiry::ClockWatch;
use towline_core::time::Timestamp;

/// A WAL beyond this size makes opens slower wherever its index is built anew from all of it. Creating the database writes
/// 250 KB: the first prompt must not start background work for that.
const WAL_NEEDS_UPKEEP: u64 = 384 * 1024;

/// Beyond this size the process that applies checkpoints the WAL although an agent waits: upkeep has not run.
const WAL_MUST_SHRINK: u64 = 2 * 1024 * 1024;

const SEAL_AT: u64 = 4 * 1024 * 1024;
const EXPIRE_EVERY_MS: i64 = 6 * 3600 * 1000;
/// One run deletes no more events than this, beyond those of one session.
const MOST_EVENTS: usize = 20_000;
/// One run blanks the texts of no more sessions than this.
const MOST_SESSIONS: u32 = 2_000;
/// One run gives no more pages back than this, since hooks wait meanwhile.
const MOST_PAGES: u32 = 2_000;
const DAY_MS: i64 = 86_400_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub events_days: u32,
    pub journal_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpkeepReport {
    /// Whether expiry was due and ran.
    pub was_time_to_expire: bool,
    pub expired_events: usize,
    pub expired_journal_bytes: u64,
    /// The end of a hold on deletion, after a jump of the clock.
    pub held_until: Option<Timestamp>,
    /// By so many days, if this run noticed it.
    pub jumped_days: i64,
}

/// Whether a jump of the clock holds deletion back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockTrust {
    Watched,
    /// The user says that the clock is right, and asks for deletion now.
    Confirmed,
}

/// Whether upkeep should run soon.
pub fn is_due(store: &Store, now: Timestamp) -> Result<bool> {
    Ok(is_large(&store.home) || store.has_due_job(now)?)
}

/// Whether upkeep should run soon because of the size of a file.
pub fn is_large(home: &DataFolder) -> bool {
    size(&home.write_ahead_log()) > WAL_NEEDS_UPKEEP || journal::unsealed_bytes(home) > SEAL_AT
}

/// Keeps the WAL from growing without bound even if upkeep never runs.
pub fn shrink_if_huge(store: &Store) -> Result<()> {
    if size(&store.home.write_ahead_log()) > WAL_MUST_SHRINK { checkpoint(store) } else { Ok(()) }
}

/// Checkpoints and truncates the WAL, without waiting for readers that block it.
/// The journal is synced first: after a power cut the database must not be ahead of the journal.
pub fn checkpoint(store: &Store) -> Result<()> {
    journal::sync(&store.home).map_err(|source| store.folder_error(source))?;
    let patience: i64 = store.db.pragma_query_value(None, "busy_timeout", |row| row.get(0))?;
    store.db.busy_timeout(Duration::ZERO)?;
    store.db.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
    store.db.busy_timeout(Duration::from_millis(patience.unsigned_abs()))?;
    begin_wal(store)
}

/// Changes a page; the second time it is as before. SQLite writes no page for a row that keeps its value.
const FLIP: &str = "update folded set mark = ~mark where only_row = 1";

/// Writes the first frame of an empty WAL. SQLite syncs the header of a WAL to the disk when it begins one: a prompt after
/// each checkpoint waited 7 to 33 ms for that.
fn begin_wal(store: &Store) -> Result<()> {
    if size(&store.home.write_ahead_log()) > 0 {
        return Ok(());
    }
    let transaction = Transaction::new_unchecked(&store.db, TransactionBehavior::Immediate)?;
    transaction.run(FLIP, [])?;
    transaction.run(FLIP, [])?;
    Ok(transaction.commit()?)
}

/// Seals the journal if it is large enough to be worth it.
pub fn seal_if_large(home: &DataFolder, lock: &ProjectionLock) -> Result<()> {
    if journal::unsealed_bytes(home) <= SEAL_AT {
        return Ok(());
    }
    journal::seal(home, lock).map_err(|source| StoreError::Folder { path: home.journal(), source })
}

pub fn run_jobs(
    store: &Store,
    retention: Retention,
    now: Timestamp,
    clock: ClockTrust,
) -> Result<UpkeepReport> {
    let mut done = UpkeepReport::default();
    if clock == ClockTrust::Confirmed {
        store.set_clock_watch(ClockWatch { seen: now, held_until: None })?;
        done = expire(store, retention, now)?;
    }
    while let Some(job) = store.lease(now, now.plus_ms(60_000))? {
        match job.kind {
            Some(UpkeepKind::Expire) => done = expire_unless_held(store, retention, now)?,
            // A job of a newer version: left to it, and postponed so that we do not lease it again.
            None => {
                store.retry(&job, now.plus_ms(EXPIRE_EVERY_MS), "unknown to this version")?;
                continue;
            }
        }
        store.finish(&job)?;
    }
    Ok(done)
}

/// Schedules the next expiry.
pub fn plan_expiry(store: &Store, now: Timestamp) -> Result<()> {
    store.queue(UpkeepKind::Expire, "all", now.plus_ms(EXPIRE_EVERY_MS))
}

/// Deletes nothing while the clock may be wrong.
fn expire_unless_held(store: &Store, retention: Retention, now: Timestamp) -> Result<UpkeepReport> {
    let before = store.clock_watch(now)?;
    let watch = before.look(now);
    store.set_clock_watch(watch)?;
    if watch.held_until.is_none() {
        return expire(store, retention, now);
    }
    let is_news = watch.held_until != before.held_until;
    let jumped_days = if is_news { watch.days_since(before) } else { 0 };
    Ok(UpkeepReport { held_until: watch.held_until, jumped_days, ..UpkeepReport::default() })
}

const CLOCK: &str = "select value from facts where name = 'clock seen by expiry'";
const SET_CLOCK: &str = "insert or replace into facts (name, value) values ('clock seen by expiry', ?1)";
/// The last session before today: today's may have begun under a wrong clock.
const LAST_SESSION: &str =
    "select ifnull(max(started_at), ?1) from sessions where started_at < ?1 - 86400000";

/// Sessions whose last event has expired and that still have the beginning of a prompt or an answer.
const WITH_OLD_TEXT: &str = "
    select id from sessions where last_event_at < ?1 and (prompt <> '' or answer is not null) limit ?2";
const BLANK_OLD_TEXT: [&str; 2] = [
    "update heard_turns set prompt = '', revision = revision + 1 where session = ?1 and prompt <> ''",
    "update sessions set prompt = '', answer = null, revision = revision + 1 where id = ?1",
];

/// Texts that were typed or handed on, once that has ended. Both are few.
const BLANK_ENDED: [&str; 2] = [
    "update intents set text = '', revision = revision + 1
        where text <> '' and moved_at < ?1 and stage not in ('waiting', 'typing', 'typed')",
    "update hops set text = '', revision = revision + 1
        where text <> '' and moved_at < ?1 and stage not in ('asked', 'written', 'clearing', 'continuing')",
];

impl Store {
    /// Blanks typed texts and handoffs that ended before, and the beginnings of prompts and answers of at most `most` sessions
    /// that had no event since. Returns how many sessions.
    fn expire_texts(&self, before: Timestamp, most: u32) -> Result<usize> {
        for statement in BLANK_ENDED {
            self.db.change(statement, [before.0])?;
        }
        let sessions = self.db.all::<i64>(WITH_OLD_TEXT, (before.0, most))?;
        for id in &sessions {
            for statement in BLANK_OLD_TEXT {
                self.db.change(statement, [id])?;
            }
        }
        Ok(sessions.len())
    }

    fn clock_watch(&self, now: Timestamp) -> Result<ClockWatch> {
        let kept: Option<String> = self.db.first(CLOCK, [])?;
        let parsed = kept.as_deref().and_then(|text| text.split_once(' ')).and_then(|(seen, until)| {
            Some(ClockWatch {
                seen: Timestamp(seen.parse().ok()?),
                held_until: until.parse().ok().map(Timestamp),
            })
        });
        match parsed {
            Some(watch) => Ok(watch),
            None => Ok(ClockWatch { seen: self.db.value(LAST_SESSION, [now.0])?, held_until: None }),
        }
    }

    fn set_clock_watch(&self, watch: ClockWatch) -> Result<()> {
        let until = watch.held_until.map_or("-".to_owned(), |until| until.0.to_string());
        self.db.run(SET_CLOCK, [format!("{} {until}", watch.seen.0)])
    }
}

fn expire(store: &Store, retention: Retention, now: Timestamp) -> Result<UpkeepReport> {
    let before = now.plus_ms(-(i64::from(retention.events_days) * DAY_MS));
    let transaction = store.db.unchecked_transaction()?;
    let expired_events = store.expire_events(before, MOST_EVENTS)?;
    store.expire_texts(before, MOST_SESSIONS)?;
    store.bound_faults()?;
    transaction.commit()?;
    release_pages(&store.db, MOST_PAGES)?;
    marks::remove_old_folder(&store.home).map_err(|source| store.folder_error(source))?;
    let applied = store.applied_position(&store.segments()?)?;
    // A label without its project would not be listed there after a rebuild.
    let scene_of = |event: &Event| store.scene_of(&event.session).ok().flatten();
    let expired_journal_bytes = journal::expire(&store.home, applied, retention.journal_bytes, &scene_of)
        .map_err(|source| store.folder_error(source))?;
    Ok(UpkeepReport {
        was_time_to_expire: true,
        expired_events,
        expired_journal_bytes,
        ..UpkeepReport::default()
    })
}
