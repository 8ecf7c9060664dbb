//! What model providers were paid, by day in universal time, and what may still be spent.
//!
//! Tokens are set aside before a call and paid afterwards. What is set aside stands with its job and lasts as long as its
//! lease: whoever dies gives it back. No two processes together go beyond a limit.

use super::Archive;
use super::jobs::Job;
use crate::StoreError;
use rusqlite::Row;
use towline_core::time::Timestamp;

/// What a call cost, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub calls: u64,
    pub input: u64,
    pub output: u64,
}

impl Spent {
    pub fn tokens(&self) -> u64 {
        self.input + self.output
    }
}

/// How a day's tokens stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub spent: u64,
    /// For calls that are under way.
    pub reserved: u64,
}

/// What one provider was paid on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpentDay {
    pub day: String,
    pub provider: String,
    pub spent: Spent,
    /// Memories that came of it.
    pub kept: u64,
}

const SPENT: &str = "select ifnull(sum(input + output), 0) from spending where day = ?1";
/// Without what the job itself had set aside before.
const RESERVED: &str = "
    select ifnull(sum(reserved), 0) from jobs
    where reserved_day = ?1 and reserved > 0 and leased_until > ?2 and id is not ?3";
const PAY: &str = "
    insert into spending (day, provider, calls, input, output, kept) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict (day, provider) do update set calls = calls + excluded.calls, input = input + excluded.input,
        output = output + excluded.output, kept = kept + excluded.kept";
const DAYS: &str = "
    select day, provider, calls, input, output, kept from spending order by day desc, provider limit ?1";

/// The day of a time, in universal time.
pub(super) fn day(at: Timestamp) -> String {
    at.to_utc()[..10].to_owned()
}

impl Archive {
    /// Sets tokens aside for the job's call, unless the day's limit would be exceeded by what is spent and set aside.
    pub fn reserve(
        &self,
        job: &Job,
        tokens: u64,
        (limit, now): (u64, Timestamp),
    ) -> Result<bool, StoreError> {
        self.as_one(|| {
            let known = self.budget_without(Some(job.number()), now)?;
            let wanted = known.spent.saturating_add(known.reserved).saturating_add(tokens);
            if wanted > limit { Ok(false) } else { self.set_aside_for(job, tokens, now) }
        })
    }

    /// How this day's tokens stand.
    pub fn budget(&self, now: Timestamp) -> Result<Budget, StoreError> {
        self.budget_without(None, now)
    }

    fn budget_without(&self, job: Option<i64>, now: Timestamp) -> Result<Budget, StoreError> {
        let today = day(now);
        let spent: i64 = self.db.prepare_cached(SPENT)?.query_row([&today], |row| row.get(0))?;
        let reserved: i64 =
            self.db.prepare_cached(RESERVED)?.query_row((&today, now.0, job), |row| row.get(0))?;
        Ok(Budget { spent: spent.cast_unsigned(), reserved: reserved.cast_unsigned() })
    }

    pub(super) fn pay(
        &self,
        provider: &str,
        spent: Spent,
        (kept, at): (u64, Timestamp),
    ) -> Result<(), StoreError> {
        if spent == Spent::default() && kept == 0 {
            return Ok(());
        }
        let number = u64::cast_signed;
        let row =
            (day(at), provider, number(spent.calls), number(spent.input), number(spent.output), number(kept));
        self.db.prepare_cached(PAY)?.execute(row)?;
        self.note_dearest(provider, spent.tokens())
    }

    /// What was spent, the newest day first.
    pub fn spending(&self, most: u32) -> Result<Vec<SpentDay>, StoreError> {
        let mut statement = self.db.prepare_cached(DAYS)?;
        let read = |row: &Row<'_>| {
            let number = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
            Ok(SpentDay {
                day: row.get(0)?,
                provider: row.get(1)?,
                spent: Spent { calls: number(2)?, input: number(3)?, output: number(4)? },
                kept: number(5)?,
            })
        };
        Ok(statement.query_map([most], read)?.collect::<Result<_, _>>()?)
    }
}
