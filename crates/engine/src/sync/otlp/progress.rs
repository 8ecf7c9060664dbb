//! How far the export is: the cursor in the archive's change list, the sessions with something left to send, and what was
//! sent of each session.
//!
//! Kept as facts of the archive. Contains no text, and no header.

use super::sums::SUMS;
use crate::runtime::Env;
use crate::runtime::config::OtlpSignal;
use crate::sync::backoff::Trouble;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use towline_core::id::Uid;
use towline_core::time::Timestamp;
use towline_store::archive::ArchiveChange;
use towline_store::{Archive, StoreError};

/// The name of our cursor in the archive.
pub(super) const READER: &str = "otlp";

const PROGRESS: &str = "otlp progress";
const TALLY: &str = "otlp tally";
/// When the export was last seen to be off, after it was on.
const OFF: &str = "otlp off at";

/// The first run sends what happened from so long before it on: who enables the export expects the work under way.
const BEFORE_MS: i64 = 3_600_000;
/// How often it is recorded that the export is still off.
const STILL_OFF_MS: i64 = 60_000;

/// Changes, or sessions of a scan, that are read at a time.
pub(super) const WINDOW: u32 = 500;
/// Sessions with something left beyond which no further ones are taken in: they are in memory together.
const MOST_OPEN: usize = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Nothing that happened earlier is sent: set once, by the first run.
    pub since_ms: i64,
    /// The last session that a scan of all has looked at, while one is under way.
    scan: Option<i64>,
    /// The sessions with something left, each with the first turn to look at.
    pub open: BTreeMap<i64, u32>,
}

/// What was sent of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SentTurns {
    /// The session's row id may be used again, its `uid` is not.
    uid: String,
    /// Turns up to this one are sent, and the spans with these ids of the next.
    pub turns: u32,
    pub part: BTreeSet<u64>,
    /// The calls of sent turns that were due up to this row are sent.
    pub detail: i64,
    /// The first turn of the present run of the session; 0 in the first run.
    pub run: u32,
    /// The first turn that was sent of this run, and when it began and the last one ended.
    pub first: Option<u32>,
    pub began_ms: i64,
    pub until_ms: i64,
}

/// What was sent since the export was enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub spans: u64,
    pub points: u64,
    /// Spans and points that the receiver rejected, and what it said about the last of them.
    pub rejected: u64,
    pub why: String,
    pub sent_at_ms: Option<i64>,
}

/// The state of the export, for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpStatus {
    /// A signal that fails says nothing of the others.
    pub troubles: Vec<(OtlpSignal, Trouble)>,
    pub tally: Tally,
}

impl OtlpStatus {
    pub fn of(archive: &Archive) -> Result<OtlpStatus, StoreError> {
        let mut troubles = vec![];
        for signal in OtlpSignal::ALL {
            troubles.extend(trouble(archive, signal)?.map(|trouble| (signal, trouble)));
        }
        Ok(OtlpStatus { troubles, tally: tally(archive)? })
    }
}

impl Progress {
    /// `None` if the export was not enabled until now.
    pub fn load(archive: &Archive) -> Result<Option<Progress>, StoreError> {
        load(archive, PROGRESS)
    }

    /// The progress to continue from. Without any, and if the changes after the cursor were pruned, all sessions are
    /// looked at, and then the changes made meanwhile.
    pub fn begin(archive: &Archive, env: &Env) -> Result<Progress, StoreError> {
        let found = Progress::load(archive)?;
        let place = archive.read_up_to(READER)?.unwrap_or(0);
        match found {
            Some(found) if archive.holds_changes_after(place)? => Ok(found),
            found => {
                archive.note_read_up_to(READER, archive.last_change()?)?;
                let since_ms = match found {
                    Some(found) => found.since_ms,
                    None => first_ms(archive, env.now)?,
                };
                let begun = Progress { since_ms, scan: Some(0), ..Progress::default() };
                begun.save(archive)?;
                Ok(begun)
            }
        }
    }

    pub fn save(&self, archive: &Archive) -> Result<(), StoreError> {
        save(archive, PROGRESS, self)
    }

    pub fn since(&self) -> Timestamp {
        Timestamp(self.since_ms)
    }

    pub fn is_scanning(&self) -> bool {
        self.scan.is_some()
    }

    /// Takes in the next changed sessions, unless many are open. Returns the new cursor, and whether nothing is left.
    pub fn take_changes(&mut self, archive: &Archive) -> Result<(i64, bool), StoreError> {
        let place = archive.read_up_to(READER)?.unwrap_or(0);
        if self.open.len() >= MOST_OPEN {
            return Ok((place, true));
        }
        if let Some(after) = self.scan {
            let rows = archive.conversation_rows_after(after, WINDOW)?;
            self.scan = rows.last().copied();
            rows.into_iter().for_each(|row| self.open_from(row, 0));
            return Ok((place, false));
        }
        let changes = archive.changes_after(place, WINDOW)?;
        for (_, change) in &changes {
            if let ArchiveChange::Conversation { row, from_turn } = change {
                self.open_from(*row, *from_turn);
            }
        }
        let place = changes.last().map_or(place, |(seq, _)| *seq);
        Ok((place, changes.len() < WINDOW as usize))
    }

    fn open_from(&mut self, row: i64, from_turn: u32) {
        self.open.entry(row).and_modify(|from| *from = from_turn.min(*from)).or_insert(from_turn);
    }
}

impl SentTurns {
    pub fn load(archive: &Archive, row: i64, uid: Uid) -> Result<SentTurns, StoreError> {
        let uid = uid.to_string();
        let found: Option<SentTurns> = load(archive, &fact_of(row))?;
        Ok(found.filter(|found| found.uid == uid).unwrap_or(SentTurns { uid, ..SentTurns::default() }))
    }

    pub fn save(&self, archive: &Archive, row: i64) -> Result<(), StoreError> {
        save(archive, &fact_of(row), self)
    }

    pub fn forget(archive: &Archive, row: i64) -> Result<(), StoreError> {
        archive.drop_fact(&fact_of(row))
    }
}

fn fact_of(row: i64) -> String {
    format!("otlp sent of {row}")
}

/// What happened while the export was off is not sent, as far as somebody looked.
fn first_ms(archive: &Archive, now: Timestamp) -> Result<i64, StoreError> {
    let off: Option<i64> = load(archive, OFF)?;
    Ok(now.plus_ms(-BEFORE_MS).0.max(off.unwrap_or(i64::MIN)).min(now.0))
}

/// Whether it has to be recorded that the export is off.
pub(super) fn is_end_due(archive: &Archive, now: Timestamp) -> Result<bool, StoreError> {
    let off: Option<i64> = load(archive, OFF)?;
    Ok(Progress::load(archive)?.is_some() || off.is_some_and(|off| now.0 - off > STILL_OFF_MS))
}

/// The export is off: when it is enabled again, it begins anew. What was sent of each session is not forgotten.
pub(super) fn end(archive: &Archive, now: Timestamp) -> Result<(), StoreError> {
    archive.in_transaction(|| {
        OtlpSignal::ALL.into_iter().try_for_each(|signal| save_trouble(archive, signal, None))?;
        [PROGRESS, SUMS].into_iter().try_for_each(|fact| archive.drop_fact(fact))?;
        save(archive, OFF, &now.0)
    })
}

pub(super) fn tally(archive: &Archive) -> Result<Tally, StoreError> {
    Ok(load(archive, TALLY)?.unwrap_or_default())
}

pub(super) fn save_tally(archive: &Archive, tally: &Tally) -> Result<(), StoreError> {
    save(archive, TALLY, tally)
}

pub(super) fn trouble(archive: &Archive, of: OtlpSignal) -> Result<Option<Trouble>, StoreError> {
    load(archive, &trouble_of(of))
}

pub(super) fn save_trouble(
    archive: &Archive,
    of: OtlpSignal,
    trouble: Option<&Trouble>,
) -> Result<(), StoreError> {
    match trouble {
        Some(trouble) => save(archive, &trouble_of(of), trouble),
        None => archive.drop_fact(&trouble_of(of)),
    }
}

fn trouble_of(signal: OtlpSignal) -> String {
    format!("otlp trouble of {}", signal.name())
}

/// A fact of another version counts as none.
pub(super) fn load<T: DeserializeOwned>(archive: &Archive, fact: &str) -> Result<Option<T>, StoreError> {
    Ok(archive.fact(fact)?.and_then(|text| serde_json::from_str(&text).ok()))
}

pub(super) fn save(archive: &Archive, fact: &str, value: &impl Serialize) -> Result<(), StoreError> {
    archive.set_fact(fact, &serde_json::to_string(value).unwrap_or_default())
}
