//! Stored state of the sync with the hub: last success, current error, this machine's name.
//!
//! Kept as facts of the archive. Never contains a password, and of errors only the text shown to users.

use super::backoff::Trouble;
use crate::runtime::{Env, archive};
use std::time::Duration;
use towline_core::time::Timestamp;
use towline_store::{Archive, StoreError};

const TROUBLE: &str = "hub trouble";
const SYNCED: &str = "hub synced at";
const MACHINE: &str = "hub machine";

/// How long to wait for another writer of the archive.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of the sync as this machine knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub trouble: Option<Trouble>,
    pub synced_at: Option<Timestamp>,
    /// This machine's name at the hub.
    pub machine: Option<String>,
}

impl Known {
    pub fn of(archive: &Archive) -> Result<Known, StoreError> {
        let number = |text: String| text.parse().ok().map(Timestamp);
        Ok(Known {
            trouble: archive.fact(TROUBLE)?.and_then(|text| serde_json::from_str(&text).ok()),
            synced_at: archive.fact(SYNCED)?.and_then(number),
            machine: archive.fact(MACHINE)?.filter(|name| !name.is_empty()),
        })
    }

    /// Whether a sync is due: the interval has passed and no backoff is active.
    pub fn is_due(&self, every_s: u32, now: Timestamp) -> bool {
        let since = self.synced_at.map(|at| now.0.saturating_sub(at.0));
        // A clock that was set back must not postpone it.
        let is_time = since.is_none_or(|ms| ms < 0 || ms >= i64::from(every_s) * 1000);
        is_time && !self.trouble.as_ref().is_some_and(|trouble| trouble.holds(now))
    }
}

/// Records a successful sync, which clears any error.
pub fn note_success(env: &Env, at: Timestamp) -> Result<(), StoreError> {
    let Some(writable) = archive::open(env, PATIENCE)? else { return Ok(()) };
    writable.archive.in_transaction(|| {
        writable.archive.set_fact(SYNCED, &at.0.to_string())?;
        writable.archive.set_fact(TROUBLE, "")
    })
}

/// Records a failed sync. Returns the updated trouble.
pub fn note_trouble(
    env: &Env,
    what: String,
    mend: String,
    at: Timestamp,
) -> Result<Option<Trouble>, StoreError> {
    let Some(writable) = archive::open(env, PATIENCE)? else { return Ok(None) };
    let earlier = Known::of(&writable.archive)?.trouble;
    let [.., high, low] = env.uid().0;
    let dice = u64::from(u16::from_be_bytes([high, low]));
    let trouble = Trouble::after(earlier.as_ref(), what, mend, at, dice);
    writable.archive.set_fact(TROUBLE, &serde_json::to_string(&trouble).unwrap_or_default())?;
    Ok(Some(trouble))
}

/// Sets this machine's name.
pub fn note_machine(archive: &Archive, name: &str) -> Result<(), StoreError> {
    archive.in_transaction(|| {
        archive.set_fact(MACHINE, name)?;
        archive.set_fact(TROUBLE, "")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_is_due_after_its_time_and_when_the_clock_was_set_back() {
        let known = |synced_at| Known { synced_at, ..Known::default() };
        let at = Timestamp(1_000_000);
        assert!(known(None).is_due(60, at));
        assert!(!known(Some(at.plus_ms(-59_999))).is_due(60, at));
        assert!(known(Some(at.plus_ms(-60_000))).is_due(60, at));
        assert!(known(Some(at.plus_ms(5))).is_due(60, at));
    }

    #[test]
    fn a_hub_that_is_left_alone_is_not_asked() {
        let at = Timestamp(1_000_000);
        let trouble = Trouble::after(None, "down".into(), String::new(), at, 0);
        let known = Known { trouble: Some(trouble.clone()), ..Known::default() };
        assert!(!known.is_due(60, at) && known.is_due(60, trouble.again()));
    }
}
