//! Records what the hub was offered and what it has, so that no row is sent twice, and the hub's cursor in the list of
//! changes.
//!
//! An offer is recorded before it is made: after a crash we know what the hub may have.

use super::tombs::TombFate;
use super::{SharedProject, SyncRow};
use crate::Result;
use crate::archive::Archive;
use crate::columns::values;
use crate::query::Query;
use std::collections::HashSet;
use towline_core::id::{IdHash, Uid};
use towline_core::share::{
    Register, Registers, RowKind, RowLife, RowProvenance, SharedRow, Visibility, WriteStamp,
};

/// The hub's name as a consumer of the list of changes.
pub(super) const READER: &str = "hub";
/// The fact that holds the position of a full scan.
const SCAN: &str = "hub scan";

/// The state of rows that were offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendState {
    Offered,
    Had,
}

/// Without a digest the row was offered, and it is not known whether the hub has it.
const NOTE: &str = "
    insert into sent (uid, kind, project, machine, digest, count) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict (uid) do update set digest = excluded.digest, count = max(count, excluded.count)";
const SENT_DIGEST: &str = "select digest from sent where uid = ?1";
const OF_KIND: &str = "
    select uid, project, count from sent where kind = ?1 and machine = ?2 and project in (select id from shared_projects)
    order by uid";
const EXCHANGED: &str = "
    select ifnull(sum(machine = ?2), 0), ifnull(sum(machine <> ?2), 0) from sent
    where project = ?1 and digest is not null";
const WAITING: &str = "
    select count(*) from changes c where c.seq > ?1 and ?2 = case c.what
        when 'memory' then (select m.project from memories m where m.id = c.row)
        else (select v.project from conversations v where v.id = c.row) end";
const TOMB_SENT: &str = "update tombs set told = 1 where uid = ?1 and fate = ?2";
const NO_SCAN: &str = "delete from facts where name = 'hub scan'";

impl Archive {
    /// Records rows as offered, or as received by the hub.
    pub fn note_sent(&self, rows: &[SharedRow], outcome: SendState) -> Result<()> {
        self.in_transaction(|| {
            for row in rows {
                self.note_one(row, outcome)?;
            }
            Ok(())
        })
    }

    pub(super) fn note_one(&self, row: &SharedRow, outcome: SendState) -> Result<()> {
        let is_had = outcome == SendState::Had;
        if let Some(fate) = fate_of(row).filter(|_| is_had) {
            self.db.change(TOMB_SENT, (row.uid.0, fate.name()))?;
        }
        if is_had && matches!(row.kind, RowKind::Proposal | RowKind::Answer) {
            self.note_proposal_sent(row)?;
        }
        let (digest, machine) = (is_had.then(|| digest(row)), row.from.machine);
        self.db.run(NOTE, values![row.uid, row.kind, row.project, machine, digest, count_of(row)])
    }

    /// Whether the hub is known to have exactly this state.
    pub fn is_sent(&self, row: &SharedRow) -> Result<bool> {
        Ok(self.sent(row.uid)?.flatten() == Some(digest(row).0))
    }

    /// Whether the hub may have any version of it.
    pub fn was_offered(&self, uid: Uid) -> Result<bool> {
        Ok(self.sent(uid)?.is_some())
    }

    fn sent(&self, uid: Uid) -> Result<Option<Option<i64>>> {
        self.db.first(SENT_DIGEST, [uid.0])
    }

    /// The number of a project's rows that the hub has from this machine, and that came from others.
    pub fn exchanged(&self, project: &SharedProject) -> Result<(u64, u64)> {
        self.db.value(EXCHANGED, (project.id.0, self.machine.0))
    }

    /// The number of a project's changes not yet sent to the hub.
    pub fn changes_waiting(&self, project: &SharedProject) -> Result<u64> {
        let cursor = self.read_up_to(READER)?.unwrap_or(0);
        self.db.value(WAITING, (cursor, project.row))
    }

    /// Withdrawals of this machine's bookmarks or batons that were offered and are not in `left`. Those of a project
    /// that is no longer shared stay with the machines that have them.
    pub fn lost_sync_rows(&self, kind: RowKind, left: &HashSet<Uid>) -> Result<Vec<SyncRow<String>>> {
        let person = self.own_person()?;
        let offered: Vec<(Uid, Uid, u64)> = self.db.all(OF_KIND, (kind.name(), self.machine.0))?;
        let mut lost = vec![];
        for (uid, project, count) in offered.into_iter().filter(|(uid, ..)| !left.contains(uid)) {
            // Forgotten notes have a tomb already.
            if self.tombstone_fate(uid)? != Some(TombFate::Forgotten) {
                lost.push(withdrawal(uid, project, count, kind, &person, self.machine));
            }
        }
        Ok(lost)
    }

    /// Starts a full scan of all shared rows. Later changes are read after it.
    pub fn begin_scan(&self) -> Result<()> {
        self.in_transaction(|| {
            self.note_read_up_to(READER, self.last_change()?)?;
            self.set_fact(SCAN, "0 0")
        })
    }

    /// The last memory and conversation that the scan has passed; `None` if no scan is running.
    pub fn scan(&self) -> Result<Option<(i64, i64)>> {
        let read = |place: String| {
            let (memory, conversation) = place.split_once(' ')?;
            Some((memory.parse().ok()?, conversation.parse().ok()?))
        };
        Ok(self.fact(SCAN)?.map(|place| read(place).unwrap_or((0, 0))))
    }

    pub fn set_scan(&self, memory: i64, conversation: i64) -> Result<()> {
        self.set_fact(SCAN, &format!("{memory} {conversation}"))
    }

    pub fn end_scan(&self) -> Result<()> {
        self.db.run(NO_SCAN, [])
    }

    /// The hub's cursor in the list of changes. Starts a full scan if it was pruned or never set.
    pub fn hub_place(&self) -> Result<i64> {
        match self.read_up_to(READER)? {
            Some(place) if self.scan()?.is_some() || self.holds_changes_after(place)? => Ok(place),
            Some(_) | None => {
                self.begin_scan()?;
                self.last_change()
            }
        }
    }

    pub fn set_hub_place(&self, seq: i64) -> Result<()> {
        self.note_read_up_to(READER, seq)
    }
}

/// Added once to the count of a withdrawn note, so that it does not grow with every sync.
const WITHDRAWN_COUNT: u64 = 1 << 40;

fn withdrawal(
    uid: Uid,
    project: Uid,
    count: u64,
    kind: RowKind,
    person: &str,
    machine: Uid,
) -> SyncRow<String> {
    let stamp =
        WriteStamp { count: if count >= WITHDRAWN_COUNT { count } else { count + WITHDRAWN_COUNT }, machine };
    let mut registers = Registers::of_words(String::new(), stamp);
    registers.presence = Register { stamp, value: Visibility::Withdrawn };
    let (session, turn) = (None, None);
    let from = RowProvenance { person: person.to_owned(), machine, session, turn, made_at: uid.at() };
    let row = SharedRow { uid, kind, project, from, life: RowLife::Lives(Box::new(registers)) };
    SyncRow { row, words: None }
}

/// The fate that a row reports.
fn fate_of(row: &SharedRow) -> Option<TombFate> {
    match &row.life {
        RowLife::Forgotten { .. } => Some(TombFate::Forgotten),
        RowLife::Lives(registers) => {
            (registers.presence.value == Visibility::Withdrawn).then_some(TombFate::Withdrawn)
        }
    }
}

/// The write count of the row's words.
fn count_of(row: &SharedRow) -> u64 {
    match &row.life {
        RowLife::Lives(registers) => registers.words.stamp.count,
        RowLife::Forgotten { .. } => 0,
    }
}

/// A hash of everything that may change in a row.
fn digest(row: &SharedRow) -> IdHash {
    IdHash::of(&format!("{:?}", row.life))
}

impl<Text> SyncRow<Text> {
    /// Whether this machine made the row or wrote one of its registers.
    pub fn is_by(&self, machine: Uid) -> bool {
        match &self.row.life {
            RowLife::Forgotten { .. } => true,
            RowLife::Lives(registers) => {
                let stamps = [
                    registers.words.stamp,
                    registers.pin.stamp,
                    registers.standing.stamp,
                    registers.hold.stamp,
                    registers.presence.stamp,
                ];
                self.row.from.machine == machine || stamps.iter().any(|stamp| stamp.machine == machine)
            }
        }
    }
}
