//! Tokens spent on model providers per UTC day, and the remaining budget.
//!
//! Tokens are reserved before a call and paid after it. A reservation belongs to its job and ends with the lease, so a
//! dead worker's reservation expires. Concurrent processes together never exceed a limit.

use super::Archive;
use super::jobs::DistilJob;
use crate::Result;
use crate::columns::from_row;
use crate::query::Query;
use towline_core::time::Timestamp;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCost {
    pub calls: u64,
    pub input: u64,
    pub output: u64,
}

impl CallCost {
    pub fn tokens(&self) -> u64 {
        self.input + self.output
    }
}

/// Tokens of one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayBudget {
    pub spent: u64,
    /// Reserved for running calls.
    pub reserved: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DailySpending {
    pub day: String,
    pub provider: String,
    pub spent: CallCost,
    /// Memories made from the answers.
    pub kept: u64,
}

from_row!(CallCost { calls, input, output });
from_row!(DailySpending { day, provider, spent, kept });

const SPENT: &str = "select ifnull(sum(input + output), 0) from spending where day = ?1";
/// Excludes the job's own earlier reservation.
const RESERVED: &str = "
    select ifnull(sum(reserved), 0) from jobs
    where reserved_day = ?1 and reserved > 0 and leased_until > ?2 and id is not ?3";
const PAY: &str = "
    insert into spending (day, provider, calls, input, output, kept) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict (day, provider) do update set calls = calls + excluded.calls, input = input + excluded.input,
        output = output + excluded.output, kept = kept + excluded.kept";
const DAYS: &str = "
    select day, provider, calls, input, output, kept from spending order by day desc, provider limit ?1";

/// The UTC day of a time.
pub(super) fn day(at: Timestamp) -> String {
    at.to_utc()[..10].to_owned()
}

impl Archive {
    /// Reserves tokens for the job's call. False if spent and reserved tokens would exceed the day's limit.
    pub fn reserve(&self, job: &DistilJob, tokens: u64, limit: u64, now: Timestamp) -> Result<bool> {
        self.in_transaction(|| {
            let today = self.budget_without(Some(job.number()), now)?;
            let total = today.spent.saturating_add(today.reserved).saturating_add(tokens);
            if total > limit { Ok(false) } else { self.reserve_tokens(job, tokens, now) }
        })
    }

    /// The tokens spent and reserved today.
    pub fn budget(&self, now: Timestamp) -> Result<DayBudget> {
        self.budget_without(None, now)
    }

    fn budget_without(&self, job: Option<i64>, now: Timestamp) -> Result<DayBudget> {
        let today = day(now);
        let spent = self.db.value(SPENT, [&today])?;
        Ok(DayBudget { spent, reserved: self.db.value(RESERVED, (&today, now.0, job))? })
    }

    pub(super) fn record_cost(
        &self,
        provider: &str,
        spent: CallCost,
        kept: u64,
        at: Timestamp,
    ) -> Result<()> {
        if spent == CallCost::default() && kept == 0 {
            return Ok(());
        }
        let number = u64::cast_signed;
        let row =
            (day(at), provider, number(spent.calls), number(spent.input), number(spent.output), number(kept));
        self.db.change(PAY, row)?;
        self.record_largest_call(provider, spent.tokens())
    }

    /// Spending per day, newest first.
    pub fn spending(&self, most: u32) -> Result<Vec<DailySpending>> {
        self.db.all(DAYS, [most])
    }
}
