//! Faults: one row per kind and text, with count, first and last time.
//!
//! Bounded: only the newest are kept.

use crate::columns::from_row;
use crate::journal;
use crate::query::Query;
use crate::{Result, Store};
use towline_core::fault::{FaultKind, FaultRecord};
use towline_core::time::Timestamp;

const ADD: &str = "
    insert into faults (kind, detail, count, first_at, last_at) values (?1, ?2, 1, ?3, ?3)
    on conflict (kind, detail) do update set count = count + 1, last_at = max(last_at, excluded.last_at)";

const ALL: &str = "select kind, detail, count, first_at, last_at, told_at from faults order by last_at desc";

/// Faults are reported once, and again only when they occur a day later.
const MARK_REPORTED: &str =
    "update faults set told_at = ?1 where told_at is null or last_at > told_at + 86400000";

/// Keeps the newest rows: a stream of distinct faults must not fill the disk.
const BOUND: &str = "
    delete from faults where last_at < (select last_at from faults order by last_at desc limit 1 offset 500)";

/// Faults of one kind and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultRow {
    pub kind: FaultKind,
    pub detail: String,
    pub count: u64,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    told_at: Option<Timestamp>,
}

from_row!(FaultRow { kind, detail, count, first_at, last_at, told_at });

impl FaultRow {
    fn is_unreported(&self) -> bool {
        self.told_at.is_none_or(|told| self.last_at.since_ms(told) > 86_400_000)
    }
}

impl Store {
    pub(crate) fn add_fault(&self, fault: &FaultRecord) -> Result<()> {
        self.db.run(ADD, (fault.kind.name(), &fault.detail, fault.at.0))
    }

    /// All faults, newest first.
    pub fn faults(&self) -> Result<Vec<FaultRow>> {
        self.db.all(ALL, [])
    }

    /// Faults that are still in the journal because applying failed, oldest first.
    pub fn unapplied_faults(&self) -> Result<Vec<FaultRecord>> {
        let segments = self.segments()?;
        journal::faults_from(&segments, self.applied_position(&segments)?)
            .map_err(|source| self.folder_error(source))
    }

    /// Returns the faults to report to the user, and marks them as reported.
    pub fn tell_faults(&self, now: Timestamp) -> Result<Vec<FaultRow>> {
        let mut unreported = self.faults()?;
        unreported.retain(|fault| fault.kind.is_worth_telling() && fault.is_unreported());
        if !unreported.is_empty() {
            self.db.execute(MARK_REPORTED, [now.0])?;
        }
        Ok(unreported)
    }

    pub fn clear_faults(&self) -> Result<usize> {
        Ok(self.db.execute("delete from faults", [])?)
    }

    pub(crate) fn bound_faults(&self) -> Result<usize> {
        Ok(self.db.execute(BOUND, [])?)
    }
}
