//! Read marks: the user jumped to a seat, focused its pane, or had it on screen when it finished.
//!
//! A look turns off the light and stops notifications; it does not change the agent's state. A client that is
//! attached but idle is not a user.

use crate::runtime::record::{accept, event};
use crate::runtime::{Env, Failure};
use crate::status::push::server_of;
use crate::status::tmux::conf::current_server;
use crate::status::tmux::options::Options;
use towline_core::event::EventKind;
use towline_core::id::SessionKey;
use towline_core::shown::{SeatLight, SeatView};

/// The pane that tmux reports as looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look<'a> {
    /// No pane.
    Nowhere,
    /// A client shows this pane.
    At(&'a str),
    /// The user has just focused this pane.
    Focused(&'a str),
}

/// A client without input for this long may have no user in front of it.
const AWAY_MS: i64 = 120_000;

/// Records a look if it is news; returns whether it was.
pub fn record_look(env: &Env, seats: &[SeatView], look: Look<'_>) -> Result<bool, Failure> {
    let found = match look {
        Look::Nowhere => None,
        Look::Focused(pane) => unseen_at(seats, pane),
        Look::At(pane) => unseen_at(seats, pane).filter(|seat| is_before_a_person(env, seat)),
    };
    found.map_or(Ok(false), |seat| see(env, seat).map(|()| true))
}

/// Appends the look to the journal as an event.
pub fn see(env: &Env, seat: &SeatView) -> Result<(), Failure> {
    let Some(session) = &seat.session else { return Ok(()) };
    let session = SessionKey::parse(session).map_err(|error| Failure::new(&error))?;
    accept(env, [event(env, &session, EventKind::Seen)])
}

/// Whether a look at this seat would change anything.
pub fn is_unseen(seat: &SeatView) -> bool {
    !seat.seen && matches!(seat.light(), SeatLight::Blocked | SeatLight::Stopped | SeatLight::Completed)
}

/// The unseen seat in this pane of the current tmux server.
fn unseen_at<'a>(seats: &'a [SeatView], pane: &str) -> Option<&'a SeatView> {
    let server = current_server()?;
    let is_it = |seat: &&SeatView| {
        seat.pane.as_deref() == Some(pane) && server_of(&seat.seat) == Some(server.clone())
    };
    seats.iter().filter(|seat| is_unseen(seat)).find(is_it)
}

/// A pane that stays on screen gets no focus event: it counts as seen after the delay if a client had input
/// recently. A delay of 0 turns this off.
fn is_before_a_person(env: &Env, seat: &SeatView) -> bool {
    let (Some(server), Some(pane)) = (server_of(&seat.seat), &seat.pane) else { return false };
    let delay = Options::remembered(&env.home, &server).completed_delay_ms;
    let waited = env.now.since_ms(seat.since);
    let typed_lately = |at: i64| env.now.0.saturating_sub(at.saturating_mul(1000)) < AWAY_MS;
    delay > 0 && waited >= delay && server.lookers(pane).into_iter().any(typed_lately)
}
