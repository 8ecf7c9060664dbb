//! What an event means for a hop that has not ended.
//!
//! Decides by events alone, so that every fold of one journal ends alike. Anything that is not as it was meant to be ends the
//! hop: what goes wrong is told, never tried again.

use super::hop::{Author, Hop, Stage};
use crate::event::{Event, Happening, Observed};
use crate::id::SessionKey;
use crate::time::Timestamp;
use crate::typing::{self, Intent};

/// How long nothing may be heard of a hop: longer than anything waits that is typed.
const OVERDUE_MS: i64 = 15 * 60_000;

/// The event, and what was to be typed for the hop, as far as it has come.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    pub event: &'a Event,
    pub clear: Option<&'a Intent>,
    pub go_on: Option<&'a Intent>,
}

/// Where a hop goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    pub to: Stage,
    pub why: Option<String>,
    pub successor: Option<SessionKey>,
}

/// Where the hop goes by this event; `None` if it stays.
pub fn follow(hop: &Hop, around: &Around<'_>) -> Option<Next> {
    match hop.stage {
        Stage::Asked | Stage::Written => left_alone(hop, around.event),
        Stage::Clearing => cleared(around),
        Stage::Continuing => prompted(hop, around),
        Stage::Done | Stage::Failed | Stage::Stopped => None,
    }
}

/// Whether nothing was heard of it for so long that nothing will be.
pub fn is_overdue(hop: &Hop, now: Timestamp) -> bool {
    !hop.stage.is_over() && now.since_ms(hop.moved_at) > OVERDUE_MS
}

/// Until something is typed, whatever else happens in the session means that it goes another way.
fn left_alone(hop: &Hop, event: &Event) -> Option<Next> {
    if event.session != hop.session || event.subagent.is_some() {
        return None;
    }
    let is_waited_for = hop.stage == Stage::Asked && hop.asking.author == Author::Agent;
    let why = if event.happening.is_real_prompt() {
        "somebody went on in the session"
    } else if is_end(&event.happening) {
        "its session ended before anything was typed"
    } else if is_waited_for && is_stop(&event.happening) {
        "the turn was stopped before the handoff was written"
    } else {
        return None;
    };
    Some(failed(why.to_owned()))
}

fn is_end(happening: &Happening) -> bool {
    matches!(happening, Happening::SessionEnded { .. } | Happening::Observed { what: Observed::Gone, .. })
}

fn is_stop(happening: &Happening) -> bool {
    let seen = [Observed::Interrupted, Observed::Failed, Observed::Limited];
    matches!(happening, Happening::Interrupted | Happening::TurnFailed { .. })
        || matches!(happening, Happening::Observed { what, .. } if seen.contains(what))
}

fn cleared(around: &Around<'_>) -> Option<Next> {
    if let Some(why) = [around.clear, around.go_on].into_iter().find_map(ended) {
        return Some(failed(why));
    }
    let clear = around.clear.filter(|clear| clear.stage == typing::Stage::Confirmed)?;
    Some(Next { to: Stage::Continuing, why: None, successor: clear.led_to.clone() })
}

/// Done only if the prompt came from the successor, and the successor had the handoff with it.
fn prompted(hop: &Hop, around: &Around<'_>) -> Option<Next> {
    if let Some(why) = ended(around.go_on) {
        return Some(failed(why));
    }
    let go_on = around.go_on.filter(|go_on| go_on.stage == typing::Stage::Confirmed)?;
    if go_on.led_to != hop.successor {
        return Some(failed("another session was prompted".to_owned()));
    }
    let is_given = hop.given.as_ref().is_some_and(|(to, _)| Some(to) == hop.successor.as_ref());
    let is_over = hop.successor.as_ref() == Some(&around.event.session)
        && matches!(around.event.happening, Happening::TurnEnded { .. });
    match (is_given, is_over) {
        (true, _) => Some(Next { to: Stage::Done, why: None, successor: None }),
        (false, true) => Some(failed("the successor went on without the handoff".to_owned())),
        (false, false) => None,
    }
}

/// Why what was to be typed never will be.
fn ended(intent: Option<&Intent>) -> Option<String> {
    let Some(intent) = intent else { return Some("what was to be typed is not known any more".to_owned()) };
    let is_lost = intent.stage.is_over() && intent.stage != typing::Stage::Confirmed;
    let why = intent.why.as_deref().unwrap_or(intent.stage.name());
    is_lost.then(|| format!("{}: {why}", intent.wish.purpose.name()))
}

fn failed(why: String) -> Next {
    Next { to: Stage::Failed, why: Some(why), successor: None }
}

#[cfg(test)]
mod tests;
