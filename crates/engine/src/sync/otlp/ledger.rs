//! The usage that was counted of each session, so that none counts twice: neither that of a session that is deleted and
//! captured again, nor what a fork copied from a deleted session, nor that of a session that moves to another project.
//!
//! Kept as facts of the archive: quarters of an hour, models and counts. Contains no text and no id of a session that was
//! deleted. Knows neither series nor the receiver.

use super::ids::trace_id;
use super::progress::{load, save};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;
use towline_core::usage::{BandUsage, ModelPrices, UsageTotal};
use towline_store::archive::Conversation;
use towline_store::{Archive, StoreError};

/// Tokens by kind, and picodollars: one number for each metric.
pub(super) type Values = [u64; 5];

/// A quarter of an hour and a model.
type Cell = (i64, Option<String>);

/// The usage seen of a cell: the part that counted, and all of it, with the messages that another session has, too.
type Seen = [Values; 2];

/// The usage counted of a session, by its row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Ledger {
    /// The session's row id may be used again, its `uid` is not.
    uid: String,
    /// Under this the ledger is kept once the session is deleted.
    digest: String,
    cells: Vec<(Cell, Seen)>,
}

/// Which usage counts, and what it costs.
pub(super) struct Counting<'a> {
    pub archive: &'a Archive,
    pub prices: &'a ModelPrices,
    /// Rounded down to the quarter of an hour.
    pub times: Range<Timestamp>,
}

impl Counting<'_> {
    /// The usage of a session that was not counted before, by model.
    pub fn grown(&self, of: &Conversation) -> Result<Vec<(Option<String>, Values)>, StoreError> {
        let mut ledger = self.ledger(of)?;
        let mut known: BTreeMap<Cell, Seen> = ledger.cells.iter().cloned().collect();
        let mut grown = vec![];
        for (cell, now) in self.used(of)? {
            let before = known.entry(cell.clone()).or_default();
            let more = growth(*before, now);
            *before = [0, 1].map(|which| larger(before[which], now[which]));
            if more != Values::default() {
                grown.push((cell.1, more));
            }
        }
        let cells: Vec<(Cell, Seen)> = known.into_iter().collect();
        if cells != ledger.cells {
            ledger.cells = cells;
            save(self.archive, &fact_of(of.row()), &ledger)?;
        }
        Ok(grown)
    }

    /// A session that is deleted: it may be captured again.
    pub fn bury(&self, row: i64) -> Result<(), StoreError> {
        let Some(ledger) = load::<Ledger>(self.archive, &fact_of(row))? else { return Ok(()) };
        save(self.archive, &fact_of_deleted(&ledger.digest), &ledger)?;
        self.archive.drop_fact(&fact_of(row))
    }

    /// The ledger of a session, which may have been deleted and captured again.
    fn ledger(&self, of: &Conversation) -> Result<Ledger, StoreError> {
        let uid = of.uid.to_string();
        let found: Option<Ledger> = load(self.archive, &fact_of(of.row()))?;
        if let Some(found) = found.filter(|found| found.uid == uid) {
            return Ok(found);
        }
        self.bury(of.row())?;
        let digest = digest(&of.session);
        let buried: Option<Ledger> = load(self.archive, &fact_of_deleted(&digest))?;
        let ledger = Ledger { uid, digest, cells: buried.map(|buried| buried.cells).unwrap_or_default() };
        if !ledger.cells.is_empty() {
            save(self.archive, &fact_of(of.row()), &ledger)?;
            self.archive.drop_fact(&fact_of_deleted(&ledger.digest))?;
        }
        Ok(ledger)
    }

    /// The usage of a session in the archive.
    fn used(&self, of: &Conversation) -> Result<BTreeMap<Cell, Seen>, StoreError> {
        let mut found: BTreeMap<Cell, Seen> = BTreeMap::new();
        for (quarter, is_counted, used) in self.archive.usage_of_conversation(of, &self.times)? {
            let values = values(&used, self.prices, quarter);
            let [counted, all] = found.entry((quarter.0, used.model)).or_default();
            *all = sum(*all, values);
            if is_counted {
                *counted = sum(*counted, values);
            }
        }
        Ok(found)
    }
}

/// A message that another session had counts here once that session is deleted. It was counted there: only what is new
/// in both counts.
fn growth(before: Seen, now: Seen) -> Values {
    std::array::from_fn(|at| {
        let [counted, all] = [0, 1].map(|which| now[which][at].saturating_sub(before[which][at]));
        counted.min(all)
    })
}

fn fact_of(row: i64) -> String {
    format!("otlp counted of {row}")
}

fn fact_of_deleted(digest: &str) -> String {
    format!("otlp counted of deleted {digest}")
}

fn digest(session: &SessionKey) -> String {
    trace_id(session).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn larger(one: Values, other: Values) -> Values {
    std::array::from_fn(|at| one[at].max(other[at]))
}

pub(super) fn sum(one: Values, other: Values) -> Values {
    std::array::from_fn(|at| one[at].saturating_add(other[at]))
}

fn values(used: &BandUsage, prices: &ModelPrices, at: Timestamp) -> Values {
    let mut total = UsageTotal::default();
    total.add(used, prices, at);
    let (tokens, cost) = (used.tokens, u64::try_from(total.cost.0).unwrap_or(u64::MAX));
    [tokens.prompt(), tokens.output, tokens.cache_read, tokens.cache_write, cost]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(counted: u64, all: u64) -> Seen {
        [[counted; 5], [all; 5]]
    }

    #[test]
    fn usage_that_moves_to_a_fork_or_comes_back_counted_twice() {
        for (before, now, expected, why) in [
            (seen(0, 0), seen(5, 5), 5, "all is new"),
            (seen(0, 10), seen(10, 10), 0, "the copies of a deleted session count from now on"),
            (seen(5, 15), seen(18, 18), 3, "the same, with new usage"),
            (seen(5, 5), seen(5, 15), 0, "a copy of another session was captured"),
            (seen(10, 10), seen(4, 4), 0, "a part was deleted"),
        ] {
            assert_eq!(growth(before, now), [expected; 5], "{why}");
        }
    }
}
