//! Health of model providers: the last answer of each, and the current failure.
//!
//! After a failure no process calls the provider until `again_at`; one answer clears the failure.

use super::Archive;
use crate::Result;
use crate::columns::{Columns, from_row};
use crate::query::Query;
use towline_core::time::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderHealth {
    pub answered_at: Option<Timestamp>,
    pub trouble: Option<ProviderFailure>,
    /// Earliest time of the next call.
    pub again_at: Timestamp,
    /// The highest cost of a single call, in tokens.
    pub dearest: u64,
}

/// A series of failed calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFailure {
    pub since: Timestamp,
    pub last_at: Timestamp,
    /// Consecutive failures.
    pub failures: u32,
    /// One word.
    pub cause: String,
    pub detail: String,
}

const HEALTH: &str = "
    select answered_at, failing_since, failed_at, failures, cause, detail, again_at, dearest
    from providers where name = ?1";
const ANSWERED: &str = "
    insert into providers (name, answered_at, failures, cause, detail, again_at, dearest) values (?1, ?2, 0, '', '', 0, 0)
    on conflict (name) do update set answered_at = excluded.answered_at, failing_since = null, failed_at = null,
        failures = 0, cause = '', detail = '', again_at = 0";
const FAILED: &str = "
    insert into providers (name, failing_since, failed_at, failures, cause, detail, again_at, dearest)
    values (?1, ?2, ?2, 1, ?3, ?4, ?5, 0)
    on conflict (name) do update set failing_since = ifnull(failing_since, excluded.failing_since),
        failed_at = excluded.failed_at, failures = failures + 1, cause = excluded.cause, detail = excluded.detail,
        again_at = max(again_at, excluded.again_at)";
const AT_ONCE: &str = "update providers set again_at = 0";
const DEAREST: &str = "
    insert into providers (name, failures, cause, detail, again_at, dearest) values (?1, 0, '', '', 0, ?2)
    on conflict (name) do update set dearest = max(dearest, excluded.dearest)";

impl Archive {
    /// The health of a provider; one that was never called is healthy.
    pub fn health(&self, provider: &str) -> Result<ProviderHealth> {
        Ok(self.db.first(HEALTH, [provider])?.unwrap_or_default())
    }

    /// Records an answer. Returns the failure it ends.
    pub fn provider_answered(&self, provider: &str, at: Timestamp) -> Result<Option<ProviderFailure>> {
        self.in_transaction(|| {
            let before = self.health(provider)?.trouble;
            self.db.change(ANSWERED, (provider, at.0))?;
            Ok(before)
        })
    }

    /// Records a failure. `again_at`: earliest time of the next call.
    pub fn provider_failed(
        &self,
        provider: &str,
        cause: &str,
        detail: &str,
        at: Timestamp,
        again_at: Timestamp,
    ) -> Result<()> {
        self.db.run(FAILED, (provider, at.0, cause, detail, again_at.0))
    }

    /// Lifts all backoffs, at a user's request.
    pub fn ask_providers_again(&self) -> Result<()> {
        self.db.run(AT_ONCE, [])
    }

    pub(super) fn record_largest_call(&self, provider: &str, tokens: u64) -> Result<()> {
        self.db.run(DEAREST, (provider, tokens.cast_signed()))
    }
}

from_row!(ProviderHealth { answered_at, trouble: trouble, again_at, dearest });

fn trouble(columns: &mut Columns<'_>) -> rusqlite::Result<Option<ProviderFailure>> {
    let (since, last_at): (Option<Timestamp>, Option<Timestamp>) = columns.get()?;
    let (failures, cause, detail) = columns.get()?;
    let failure =
        |since| ProviderFailure { since, last_at: last_at.unwrap_or(since), failures, cause, detail };
    Ok(since.map(failure))
}
