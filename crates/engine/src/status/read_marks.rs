//! That a person looked at a seat: by going there, by focusing its pane, or by having it before them when it finished.
//!
//! Looking puts out a light and stops what would call the person; it changes nothing of what the agent is doing. A client
//! that is attached but idle is no person.

use crate::runtime::env::Env;
use crate::runtime::env::variable;
use crate::runtime::failure::Failure;
use crate::runtime::record::{accept, event};
use crate::status::push::server_of;
use crate::status::tmux::options::Options;
use towline_core::event::Happening;
use towline_core::id::SessionKey;
use towline_core::shown::{Light, Shown};
use towline_store::journal::Record;
use towline_terminal::tmux::Server;

/// What tmux says about a pane and a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look<'a> {
    /// Nothing.
    Nowhere,
    /// A client shows this pane.
    At(&'a str),
    /// A person has just turned to this pane.
    Focused(&'a str),
}

/// A client in which nothing was typed for this long may have nobody before it.
const AWAY_MS: i64 = 120_000;

/// Remembers that a person looked, if that is news. Whether it was.
pub fn by_look(env: &Env, seats: &[Shown], look: Look<'_>) -> Result<bool, Failure> {
    let found = match look {
        Look::Nowhere => None,
        Look::Focused(pane) => unseen_at(seats, pane),
        Look::At(pane) => unseen_at(seats, pane).filter(|seat| is_before_a_person(env, seat)),
    };
    found.map_or(Ok(false), |seat| see(env, seat).map(|()| true))
}

/// That somebody looked goes through the journal like everything else.
pub fn see(env: &Env, seat: &Shown) -> Result<(), Failure> {
    let Some(session) = &seat.session else { return Ok(()) };
    let session = SessionKey::parse(session).map_err(|error| Failure::new(&error))?;
    accept(env, &[Record::Event(event(env, session, Happening::Seen))])
}

/// Whether a look at this seat would be news.
pub fn calls_for_a_look(seat: &Shown) -> bool {
    !seat.seen && matches!(seat.light(), Light::Blocked | Light::Stopped | Light::Completed)
}

/// The seat in this pane of the server that asks.
fn unseen_at<'a>(seats: &'a [Shown], pane: &str) -> Option<&'a Shown> {
    let server = variable("TMUX").as_deref().and_then(Server::parse)?;
    let is_it =
        |seat: &&Shown| seat.pane.as_deref() == Some(pane) && server_of(&seat.seat) == Some(server.clone());
    seats.iter().filter(|seat| calls_for_a_look(seat)).find(is_it)
}

/// Who has a pane before them all the time turns to nothing: it counts after a while, if they are there at all and
/// have not turned this off.
fn is_before_a_person(env: &Env, seat: &Shown) -> bool {
    let (Some(server), Some(pane)) = (server_of(&seat.seat), &seat.pane) else { return false };
    let delay = Options::remembered(&env.home, &server).completed_delay_ms;
    let waited = env.now.since_ms(seat.since);
    let typed_lately = |at: i64| env.now.0.saturating_sub(at.saturating_mul(1000)) < AWAY_MS;
    delay > 0 && waited >= delay && server.lookers(pane).into_iter().any(typed_lately)
}
