//! Publishes this machine's seats to the user's other machines through the hub.
//!
//! Sends only what `tow status` shows; the hub returns seats to the same user only.

use super::link::{Link, NoLink};
use crate::ingest::live;
use crate::runtime::Env;
use towline_core::shown::SeatView;
use towline_hub::FleetSeat;

/// Sends the current seats to the hub. If they cannot be listed, nothing is sent.
pub fn tell(env: &Env, link: &mut Link) -> Result<(), NoLink> {
    let env = env.later();
    let Ok(seats) = live::seats(&env, live::Glance::Cheap) else { return Ok(()) };
    let told: Vec<FleetSeat> = seats.iter().map(told).collect();
    Ok(link.hub.replace_seats(&link.membership, &told)?)
}

fn told(seat: &SeatView) -> FleetSeat {
    FleetSeat {
        seat: seat.seat.clone(),
        state: seat.state.name().to_owned(),
        since: seat.since,
        agent: seat.agent.clone(),
        session: seat.session.clone(),
        project: seat.project.clone(),
        prompt: seat.prompt.clone(),
        context_percent: seat.context_percent,
        model: seat.model.clone(),
    }
}
