//! What the hub was offered and what it has: so that nothing travels twice, and how far the list of changes was read.
//!
//! An offer is noted before it is made: whoever is killed in between knows later what the hub may have.

use super::tombs::Fate;
use super::{Carried, SharedProject};
use crate::StoreError;
use crate::archive::Archive;
use rusqlite::{OptionalExtension, Row};
use std::collections::HashSet;
use towline_core::id::{Mark, Uid};
use towline_core::share::{Life, Presence, Provenance, Register, Registers, RowKind, SharedRow, Stamp};

/// Who reads the list of changes for the hub.
pub(super) const READER: &str = "hub";
/// Where a look at everything stands, among the archive's facts.
const SCAN: &str = "hub scan";

/// What became of rows that were offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Offered,
    Had,
}

const OFFER: &str = "
    insert into sent (uid, kind, project, machine, digest, count) values (?1, ?2, ?3, ?4, null, ?5)
    on conflict (uid) do update set digest = null, count = max(count, excluded.count)";
const HAS: &str = "
    insert into sent (uid, kind, project, machine, digest, count) values (?1, ?2, ?3, ?4, ?6, ?5)
    on conflict (uid) do update set digest = excluded.digest, count = max(count, excluded.count)";
const KNOWN: &str = "select digest from sent where uid = ?1";
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
const TOLD: &str = "update tombs set told = 1 where uid = ?1 and fate = ?2";
const NO_SCAN: &str = "delete from facts where name = 'hub scan'";

impl Archive {
    /// Notes what is offered, or what the hub has.
    pub fn note_sent(&self, rows: &[SharedRow], outcome: Outcome) -> Result<(), StoreError> {
        self.as_one(|| {
            for row in rows {
                self.note_one(row, outcome)?;
            }
            Ok(())
        })
    }

    pub(super) fn note_one(&self, row: &SharedRow, outcome: Outcome) -> Result<(), StoreError> {
        let count = count_of(row).cast_signed();
        match outcome {
            Outcome::Offered => {
                let (uid, kind) = (row.uid.0, row.kind.name());
                let offer = (uid, kind, row.project.0, row.from.machine.0, count);
                self.db.prepare_cached(OFFER)?.execute(offer)?
            }
            Outcome::Had => {
                if let Some(fate) = fate_of(row) {
                    self.db.prepare_cached(TOLD)?.execute((row.uid.0, fate.name()))?;
                }
                let (uid, kind) = (row.uid.0, row.kind.name());
                let has = (uid, kind, row.project.0, row.from.machine.0, count, digest(row).0);
                self.db.prepare_cached(HAS)?.execute(has)?
            }
        };
        Ok(())
    }

    /// Whether the hub is known to have just this.
    pub fn is_sent(&self, row: &SharedRow) -> Result<bool, StoreError> {
        Ok(self.sent(row.uid)?.flatten() == Some(digest(row).0))
    }

    /// Whether the hub may have anything of it.
    pub fn was_offered(&self, uid: Uid) -> Result<bool, StoreError> {
        Ok(self.sent(uid)?.is_some())
    }

    fn sent(&self, uid: Uid) -> Result<Option<Option<i64>>, StoreError> {
        Ok(self.db.prepare_cached(KNOWN)?.query_row([uid.0], |row| row.get(0)).optional()?)
    }

    /// How many rows of a project the hub has from this machine, and how many came from others.
    pub fn exchanged(&self, project: &SharedProject) -> Result<(u64, u64), StoreError> {
        let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        let (sent, taken) =
            self.db.prepare_cached(EXCHANGED)?.query_row((project.id.0, self.machine.0), read)?;
        Ok((sent.cast_unsigned(), taken.cast_unsigned()))
    }

    /// How many changes of a project wait to be looked at for the hub.
    pub fn changes_waiting(&self, project: &SharedProject) -> Result<u64, StoreError> {
        let place = self.read_up_to(READER)?.unwrap_or(0);
        let waiting: i64 =
            self.db.prepare_cached(WAITING)?.query_row((place, project.row), |row| row.get(0))?;
        Ok(waiting.cast_unsigned())
    }

    /// Bookmarks or batons of this machine that were offered and are not among those that are left: they go everywhere.
    /// Those of a project that is no longer shared stay with whoever has them.
    pub fn carried_lost(
        &self,
        kind: RowKind,
        left: &HashSet<Uid>,
    ) -> Result<Vec<Carried<String>>, StoreError> {
        let person = self.own_person()?;
        let mut statement = self.db.prepare_cached(OF_KIND)?;
        let offered = statement.query_map((kind.name(), self.machine.0), |row| {
            Ok((Uid(row.get(0)?), Uid(row.get(1)?), row.get::<_, i64>(2)?.cast_unsigned()))
        })?;
        let offered = offered.collect::<Result<Vec<_>, _>>()?.into_iter();
        let mut lost = vec![];
        for offered in offered.filter(|(uid, ..)| !left.contains(uid)) {
            // Of what is forgotten everybody knows already.
            if self.fate(offered.0)? != Some(Fate::Forgotten) {
                lost.push(lost_note(offered, kind, (&person, self.machine)));
            }
        }
        Ok(lost)
    }

    /// Everything that is shared is looked at once more. What changes meanwhile is looked at after that.
    pub fn begin_scan(&self) -> Result<(), StoreError> {
        self.as_one(|| {
            self.note_read_up_to(READER, self.last_change()?)?;
            self.set_fact(SCAN, "0 0")
        })
    }

    /// The last memory and the last conversation that were looked at; `None` where no look at everything is under way.
    pub fn scan(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let read = |place: String| {
            let (memory, conversation) = place.split_once(' ')?;
            Some((memory.parse().ok()?, conversation.parse().ok()?))
        };
        Ok(self.fact(SCAN)?.map(|place| read(place).unwrap_or((0, 0))))
    }

    pub fn set_scan(&self, (memory, conversation): (i64, i64)) -> Result<(), StoreError> {
        self.set_fact(SCAN, &format!("{memory} {conversation}"))
    }

    pub fn end_scan(&self) -> Result<(), StoreError> {
        self.db.prepare_cached(NO_SCAN)?.execute([])?;
        Ok(())
    }

    /// How far the list of changes was read for the hub; where what is missing is not found any more, or nobody ever
    /// looked, a look at everything begins.
    pub fn hub_place(&self) -> Result<i64, StoreError> {
        match self.read_up_to(READER)? {
            Some(place) if self.scan()?.is_some() || self.holds_changes_after(place)? => Ok(place),
            Some(_) | None => {
                self.begin_scan()?;
                self.last_change()
            }
        }
    }

    pub fn set_hub_place(&self, seq: i64) -> Result<(), StoreError> {
        self.note_read_up_to(READER, seq)
    }
}

/// The count of what is withdrawn once does not grow with every look.
const LOST: u64 = 1 << 40;

fn lost_note(
    (uid, project, count): (Uid, Uid, u64),
    kind: RowKind,
    (person, machine): (&str, Uid),
) -> Carried<String> {
    let stamp = Stamp { count: if count >= LOST { count } else { count + LOST }, machine };
    let mut registers = Registers::of_words(String::new(), stamp);
    registers.presence = Register { stamp, value: Presence::Withdrawn };
    let (session, turn) = (None, None);
    let from = Provenance { person: person.to_owned(), machine, session, turn, made_at: uid.at() };
    let row = SharedRow { uid, kind, project, from, life: Life::Lives(Box::new(registers)) };
    Carried { row, words: None }
}

/// What a row says has become of it.
fn fate_of(row: &SharedRow) -> Option<Fate> {
    match &row.life {
        Life::Forgotten { .. } => Some(Fate::Forgotten),
        Life::Lives(registers) => {
            (registers.presence.value == Presence::Withdrawn).then_some(Fate::Withdrawn)
        }
    }
}

/// How often the words of a row were written.
fn count_of(row: &SharedRow) -> u64 {
    match &row.life {
        Life::Lives(registers) => registers.words.stamp.count,
        Life::Forgotten { .. } => 0,
    }
}

/// All that may change of a row, in a number.
fn digest(row: &SharedRow) -> Mark {
    Mark::of(&format!("{:?}", row.life))
}

impl<Text> Carried<Text> {
    /// Whether this machine has anything to say about it: it made it, or wrote one of its registers.
    pub fn is_by(&self, machine: Uid) -> bool {
        match &self.row.life {
            Life::Forgotten { .. } => true,
            Life::Lives(registers) => {
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
