//! The seats of a user's own machines.
//!
//! A policy hides them from other users, and a machine replaces only its own.

use crate::error::Result;
use crate::team::Membership;
use crate::value::{SqlUid, SqlValue, values};
use crate::{HubClient, Need};
use tokio_postgres::Row;
use towline_core::id::Uid;
use towline_core::time::Timestamp;

/// A seat, as its machine last reported it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetSeat {
    pub seat: String,
    pub state: String,
    pub since: Timestamp,
    pub agent: String,
    pub session: Option<String>,
    pub project: Option<String>,
    pub prompt: Option<String>,
    pub context_percent: Option<u8>,
    pub model: Option<String>,
}

/// A machine of this user, with its seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetMachine {
    pub id: Uid,
    pub name: String,
    /// The last contact, by the hub's clock.
    pub seen_at: Timestamp,
    pub seats: Vec<FleetSeat>,
}

const PUT: &str = "select towline.put_seats($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

const FLEET: &str = "
    select m.id, m.name, m.seen_at, s.seat, s.state, s.since, s.agent, s.session, s.project, s.prompt,
        s.context_percent, s.model
    from towline.machines m left join towline.seats s on s.team = m.team and s.machine = m.id
    where m.team = $1 and m.member = $2
    order by m.name, m.id, s.seat";

impl HubClient {
    /// Replaces all seats of this machine.
    pub fn replace_seats(&mut self, membership: &Membership, seats: &[FleetSeat]) -> Result<()> {
        let texts =
            |of: fn(&FleetSeat) -> Option<&str>| SqlValue::texts(seats.iter().map(of).collect::<Vec<_>>());
        let values = values![
            membership.team,
            membership.machine,
            texts(|seat| Some(&seat.seat)),
            texts(|seat| Some(&seat.state)),
            SqlValue::numbers(seats.iter().map(|seat| Some(seat.since.0))),
            texts(|seat| Some(&seat.agent)),
            texts(|seat| seat.session.as_deref()),
            texts(|seat| seat.project.as_deref()),
            texts(|seat| seat.prompt.as_deref()),
            SqlValue::numbers(seats.iter().map(|seat| seat.context_percent.map(i64::from))),
            texts(|seat| seat.model.as_deref()),
        ];
        self.call(PUT, values)
    }

    /// All machines of this user, with their seats.
    pub fn fleet(&mut self, membership: &Membership) -> Result<Vec<FleetMachine>> {
        self.ready(Need::Read)?;
        let rows = self.link.query(FLEET, values![membership.team, membership.member])?;
        let mut machines: Vec<FleetMachine> = Vec::new();
        for row in &rows {
            let id = self.link.read::<SqlUid>(row, "id")?.0;
            if machines.last().is_none_or(|last| last.id != id) {
                let seen_at = Timestamp(self.link.read(row, "seen_at")?);
                let name = self.link.read(row, "name")?;
                machines.push(FleetMachine { id, name, seen_at, seats: Vec::new() });
            }
            let seat = self.seat(row)?;
            if let Some(machine) = machines.last_mut() {
                machine.seats.extend(seat);
            }
        }
        Ok(machines)
    }

    fn seat(&self, row: &Row) -> Result<Option<FleetSeat>> {
        let Some(seat) = self.link.read(row, "seat")? else { return Ok(None) };
        let percent: Option<i64> = self.link.read(row, "context_percent")?;
        Ok(Some(FleetSeat {
            seat,
            state: self.link.read(row, "state")?,
            since: Timestamp(self.link.read(row, "since")?),
            agent: self.link.read(row, "agent")?,
            session: self.link.read(row, "session")?,
            project: self.link.read(row, "project")?,
            prompt: self.link.read(row, "prompt")?,
            context_percent: percent.and_then(|percent| u8::try_from(percent).ok()),
            model: self.link.read(row, "model")?,
        }))
    }
}
