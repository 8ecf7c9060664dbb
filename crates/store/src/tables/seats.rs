//! Seats and their current sessions.
//!
//! A seat is not removed when its session ends: the next session inherits through it.

use crate::query::{Query, parse_column, session_key};
use crate::{Store, StoreError};
use rusqlite::Row;
use towline_core::id::Uid;
use towline_core::seat::{Seat, SeatKind, SeatLocation, SeatProof};
use towline_core::time::Timestamp;

const COLUMNS: &str =
    "key, kind, pane, server, tty, pid, program, proof, current, first_seen, last_seen, started, uid";

const SAVE: &str = "
    insert into seats (uid, machine, revision, key, kind, pane, server, tty, pid, program, proof, current,
                       first_seen, last_seen, started)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
    on conflict (key) do update set revision = revision + 1, kind = excluded.kind, pane = excluded.pane,
        server = excluded.server, tty = excluded.tty, pid = excluded.pid, started = excluded.started, program = excluded.program,
        proof = excluded.proof, current = excluded.current, last_seen = excluded.last_seen";

impl Store {
    pub fn seat(&self, key: &str) -> Result<Option<Seat>, StoreError> {
        self.db.first(&format!("select {COLUMNS} from seats where key = ?1"), [key], seat)
    }

    /// A seat and its row's uid.
    pub(crate) fn stored_seat(&self, key: &str) -> Result<Option<(Uid, Seat)>, StoreError> {
        self.db.first(&format!("select {COLUMNS} from seats where key = ?1"), [key], |row| {
            Ok((Uid(row.get(12)?), seat(row)?))
        })
    }

    /// All seats ever seen, oldest first.
    pub fn seats(&self) -> Result<Vec<Seat>, StoreError> {
        self.db.all(&format!("select {COLUMNS} from seats order by id"), [], seat)
    }

    pub(crate) fn save_seat(&self, uid: Uid, seat: &Seat) -> Result<(), StoreError> {
        let place = &seat.place;
        let current = seat.current.as_ref().map(ToString::to_string);
        self.db.change(
            SAVE,
            rusqlite::params![
                uid.0,
                self.machine.0,
                place.key,
                place.kind.name(),
                place.pane,
                place.server,
                place.tty,
                place.pid,
                place.program,
                place.proof.name(),
                current,
                seat.first_seen.0,
                seat.last_seen.0,
                place.started.cast_signed(),
            ],
        )?;
        Ok(())
    }
}

fn seat(row: &Row<'_>) -> rusqlite::Result<Seat> {
    let place = SeatLocation {
        key: row.get(0)?,
        kind: parse_column(row, 1, SeatKind::named)?,
        pane: row.get(2)?,
        server: row.get(3)?,
        tty: row.get(4)?,
        pid: row.get(5)?,
        started: row.get::<_, i64>(11)?.cast_unsigned(),
        program: row.get(6)?,
        proof: parse_column(row, 7, SeatProof::named)?,
    };
    Ok(Seat {
        place,
        current: session_key(row, 8)?,
        first_seen: Timestamp(row.get(9)?),
        last_seen: Timestamp(row.get(10)?),
    })
}
