//! How model providers are: when each last answered as it should, and what keeps it from that.
//!
//! A provider that fails is left alone for a while, whoever asks; it is well again by answering once.

use super::Archive;
use crate::StoreError;
use rusqlite::{OptionalExtension, Row};
use towline_core::time::Timestamp;

/// What is known of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    pub answered_at: Option<Timestamp>,
    pub trouble: Option<Trouble>,
    /// Not to be asked before.
    pub again_at: Timestamp,
    /// The most that a single call has cost, in tokens.
    pub dearest: u64,
}

/// What keeps a provider from answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    pub since: Timestamp,
    pub last_at: Timestamp,
    /// How often it failed, one failure after the other.
    pub failures: u32,
    /// One word for what it is.
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
    /// How a provider is; one that was never asked is well.
    pub fn health(&self, provider: &str) -> Result<Health, StoreError> {
        let found = self.db.prepare_cached(HEALTH)?.query_row([provider], health).optional()?;
        Ok(found.unwrap_or_default())
    }

    /// It answered as it should. Returns what had kept it from that.
    pub fn provider_answered(&self, provider: &str, at: Timestamp) -> Result<Option<Trouble>, StoreError> {
        self.as_one(|| {
            let before = self.health(provider)?.trouble;
            self.db.prepare_cached(ANSWERED)?.execute((provider, at.0))?;
            Ok(before)
        })
    }

    /// It did not. `again_at`: not to be asked before.
    pub fn provider_failed(
        &self,
        provider: &str,
        (cause, detail): (&str, &str),
        (at, again_at): (Timestamp, Timestamp),
    ) -> Result<(), StoreError> {
        self.db.prepare_cached(FAILED)?.execute((provider, at.0, cause, detail, again_at.0))?;
        Ok(())
    }

    /// A person says that it is worth asking again.
    pub fn ask_providers_again(&self) -> Result<(), StoreError> {
        self.db.prepare_cached(AT_ONCE)?.execute([])?;
        Ok(())
    }

    pub(super) fn note_dearest(&self, provider: &str, tokens: u64) -> Result<(), StoreError> {
        self.db.prepare_cached(DEAREST)?.execute((provider, tokens.cast_signed()))?;
        Ok(())
    }
}

fn health(row: &Row<'_>) -> rusqlite::Result<Health> {
    let time = |column| row.get::<_, Option<i64>>(column).map(|at| at.map(Timestamp));
    let since = time(1)?;
    let trouble = since.map(|since| -> rusqlite::Result<Trouble> {
        Ok(Trouble {
            since,
            last_at: time(2)?.unwrap_or(since),
            failures: row.get(3)?,
            cause: row.get(4)?,
            detail: row.get(5)?,
        })
    });
    Ok(Health {
        answered_at: time(0)?,
        trouble: trouble.transpose()?,
        again_at: Timestamp(row.get(6)?),
        dearest: row.get::<_, i64>(7)?.cast_unsigned(),
    })
}
