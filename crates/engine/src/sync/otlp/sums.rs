//! Counts the usage of sessions that changed into sums that never fall.
//!
//! Reads only what changed since it counted last, in steps, each recorded with its place in the archive's change list.
//! Excluded folders are not counted, and a series is dropped once no session that may be told of belongs to it.

use super::ledger::{Counting, Values, sum};
use super::progress::{WINDOW, load, save};
use crate::capture::Wishes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use towline_core::time::Timestamp;
use towline_core::usage::ModelPrices;
use towline_store::archive::{ArchiveChange, UsageSeries};
use towline_store::{Archive, StoreError};

/// The name of our cursor in the archive.
pub(super) const READER: &str = "otlp sums";
pub(super) const SUMS: &str = "otlp sums";
/// Usage is counted up to this far ahead: a session's clock may be ahead of ours.
const AHEAD_MS: i64 = 24 * 3_600_000;

/// What a sum is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Series {
    pub agent: String,
    pub project: Option<String>,
    pub model: Option<String>,
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [project, model] = [&self.project, &self.model].map(|name| name.as_deref().unwrap_or("-"));
        write!(f, "{} {project} {model}", self.agent)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Total {
    /// The sum began with 0 then.
    pub since_ms: i64,
    pub values: Values,
}

/// The sums as they were counted last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sums {
    /// Usage that is captured later belongs to series that begin then.
    counted_ms: i64,
    /// The last session that a scan of all has counted, while one is under way.
    scan: Option<i64>,
    /// They have grown since the receiver took them.
    is_due: bool,
    series: Vec<(Series, Total)>,
}

/// What is counted.
pub(super) struct SumsSource<'a> {
    pub archive: &'a Archive,
    pub wishes: &'a Wishes,
    pub prices: &'a ModelPrices,
    pub since: Timestamp,
    pub now: Timestamp,
}

impl SumsSource<'_> {
    /// Counts the next changed sessions. False if others are left.
    pub fn count(&self) -> Result<bool, StoreError> {
        let place = self.archive.read_up_to(READER)?;
        let found: Option<Sums> = load(self.archive, SUMS)?;
        let holds = place.map(|place| self.archive.holds_changes_after(place)).transpose()?.unwrap_or(false);
        let (mut sums, place) = match (found, place) {
            (Some(sums), Some(place)) if holds => (sums, place),
            (found, _) => {
                let counted_ms = self.since.0;
                let begun = found.unwrap_or_else(|| Sums { counted_ms, ..Sums::default() });
                (Sums { scan: Some(0), ..begun }, self.archive.last_change()?)
            }
        };
        let (rows, next, is_last) = sums.next_rows(self.archive, place)?;
        if is_last && next == place && sums.scan.is_none() {
            return Ok(true);
        }
        self.archive.in_transaction(|| {
            rows.into_iter().try_for_each(|row| self.add(&mut sums, row))?;
            if is_last {
                sums.counted_ms = self.now.0;
                self.drop_untold(&mut sums)?;
            }
            self.archive.note_read_up_to(READER, next)?;
            sums.save(self.archive)
        })?;
        Ok(is_last)
    }

    fn add(&self, sums: &mut Sums, row: i64) -> Result<(), StoreError> {
        let times = self.since..self.now.plus_ms(AHEAD_MS);
        let counting = Counting { archive: self.archive, prices: self.prices, times };
        let Some(of) = self.archive.conversation_at(row)? else { return counting.bury(row) };
        if of.last_at < self.since || !self.archive.is_captured_here(&of)? {
            return Ok(());
        }
        let grown = counting.grown(&of)?;
        let series = self.archive.usage_series_of(&of)?;
        if !grown.is_empty() && !is_excluded(self.wishes, &series) {
            sums.grow(&series, grown);
        }
        Ok(())
    }

    /// The sums to send; `None` if the receiver has them.
    pub fn due(&self) -> Result<Option<Sums>, StoreError> {
        let Some(mut sums) = load::<Sums>(self.archive, SUMS)?.filter(|sums| sums.is_due) else {
            return Ok(None);
        };
        self.drop_untold(&mut sums)?;
        Ok(Some(sums))
    }

    /// Drops the series whose sessions are all excluded or deleted.
    fn drop_untold(&self, sums: &mut Sums) -> Result<(), StoreError> {
        let told = self.archive.usage_series()?.into_iter().filter(|of| !is_excluded(self.wishes, of));
        let told: BTreeSet<(String, Option<String>)> = told.map(|of| (of.agent, of.project)).collect();
        sums.series.retain(|(of, _)| told.contains(&(of.agent.clone(), of.project.clone())));
        Ok(())
    }
}

/// Whether the folder of sessions or their project's is excluded.
pub(super) fn is_excluded(wishes: &Wishes, of: &UsageSeries) -> bool {
    [&of.folder, &of.root].into_iter().flatten().any(|folder| wishes.excludes(folder))
}

impl Sums {
    pub fn series(&self) -> &[(Series, Total)] {
        &self.series
    }

    /// The receiver has them.
    pub fn sent(self, at: Timestamp) -> Sums {
        Sums { counted_ms: self.counted_ms.max(at.0), is_due: false, ..self }
    }

    pub fn save(&self, archive: &Archive) -> Result<(), StoreError> {
        save(archive, SUMS, self)
    }

    /// The sessions to look at, the place after them, and whether none follow.
    fn next_rows(&mut self, archive: &Archive, place: i64) -> Result<(BTreeSet<i64>, i64, bool), StoreError> {
        if let Some(after) = self.scan {
            let rows = archive.conversation_rows_after(after, WINDOW)?;
            self.scan = rows.last().copied();
            return Ok((rows.into_iter().collect(), place, false));
        }
        let changes = archive.changes_after(place, WINDOW)?;
        let next = changes.last().map_or(place, |(seq, _)| *seq);
        let is_last = changes.len() < WINDOW as usize;
        let row = |(_, change)| match change {
            ArchiveChange::Conversation { row, .. } => Some(row),
            ArchiveChange::Memory { .. } | ArchiveChange::Summary { .. } => None,
        };
        Ok((changes.into_iter().filter_map(row).collect(), next, is_last))
    }

    fn grow(&mut self, of: &UsageSeries, grown: Vec<(Option<String>, Values)>) {
        let mut series: BTreeMap<Series, Total> = self.series.drain(..).collect();
        for (model, more) in grown {
            let UsageSeries { agent, project, .. } = of.clone();
            let none = Total { since_ms: self.counted_ms, values: Values::default() };
            let total = series.entry(Series { agent, project, model }).or_insert(none);
            total.values = sum(total.values, more);
        }
        self.series = series.into_iter().collect();
        self.is_due = true;
    }
}
