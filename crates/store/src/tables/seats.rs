//! Seats and their current sessions.
//!
//! A seat is not removed when its session ends: the next session inherits through it.

use crate::columns::{from_row, values};
use crate::query::Query;
use crate::{Result, Store};
use towline_core::id::{SessionKey, Uid};
use towline_core::seat::{Seat, SeatLocation};

const COLUMNS: &str =
    "key, kind, pane, server, tty, pid, started, program, proof, current, first_seen, last_seen";

const SAVE: &str = "
    insert into seats (uid, machine, revision, key, kind, pane, server, tty, pid, program, proof, current,
                       first_seen, last_seen, started)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
    on conflict (key) do update set revision = revision + 1, kind = excluded.kind, pane = excluded.pane,
        server = excluded.server, tty = excluded.tty, pid = excluded.pid, started = excluded.started, program = excluded.program,
        proof = excluded.proof, current = excluded.current, last_seen = excluded.last_seen";

impl Store {
    pub fn seat(&self, key: &str) -> Result<Option<Seat>> {
        self.db.first(&format!("select {COLUMNS} from seats where key = ?1"), [key])
    }

    /// A seat and its row's uid.
    pub(crate) fn stored_seat(&self, key: &str) -> Result<Option<(Uid, Seat)>> {
        self.db.first(&format!("select uid, {COLUMNS} from seats where key = ?1"), [key])
    }

    /// All seats ever seen, oldest first.
    pub fn seats(&self) -> Result<Vec<Seat>> {
        self.db.all(&format!("select {COLUMNS} from seats order by id"), [])
    }

    /// The seats in which a session is open, the latest first.
    pub fn seats_of(&self, session: &SessionKey) -> Result<Vec<String>> {
        self.db.all("select key from seats where current = ?1 order by last_seen desc", [session.to_string()])
    }

    pub(crate) fn save_seat(&self, uid: Uid, seat: &Seat) -> Result<()> {
        let place = &seat.place;
        let current = seat.current.as_ref().map(ToString::to_string);
        self.db.run(
            SAVE,
            values! {
                uid, self.machine, place.key, place.kind, place.pane, place.server, place.tty, place.pid,
                place.program, place.proof, current, seat.first_seen, seat.last_seen, place.started
            },
        )
    }
}

from_row!(Seat { place, current, first_seen, last_seen });
from_row!(SeatLocation { key, kind, pane, server, tty, pid, started, program, proof });
