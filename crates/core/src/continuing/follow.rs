//! Applies an event to a hop that has not ended.
//!
//! Decides by events alone, so that every replay of a journal gives the same result. Anything unexpected ends the hop
//! with a reason; no step is retried.

use super::hop::{HandoffAuthor, Hop, HopStage};
use crate::event::{Event, EventKind, ObservedChange, PromptOrigin};
use crate::id::SessionKey;
use crate::time::Timestamp;
use crate::typing::{self, Intent};

/// A hop without progress for this long is overdue: longer than any intent waits.
const OVERDUE_MS: i64 = 15 * 60_000;

/// The event, and the hop's two intents in their current stage.
#[derive(Clone, Copy)]
pub struct HopContext<'a> {
    pub event: &'a Event,
    pub clear: Option<&'a Intent>,
    pub go_on: Option<&'a Intent>,
}

/// The next stage of a hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopTransition {
    pub to: HopStage,
    pub why: Option<String>,
    pub successor: Option<SessionKey>,
}

/// The hop's next stage after this event; `None` if it stays.
pub fn follow(hop: &Hop, around: &HopContext<'_>) -> Option<HopTransition> {
    match hop.stage {
        HopStage::Asked | HopStage::Written => interrupted(hop, around.event),
        HopStage::Clearing | HopStage::Continuing if hop.typed.is_none() => restarted(hop, around.event),
        HopStage::Clearing => cleared(around),
        HopStage::Continuing => prompted(hop, around),
        HopStage::Done | HopStage::Failed | HopStage::Stopped => None,
    }
}

/// Whether the hop made no progress for so long that it never will.
pub fn is_overdue(hop: &Hop, now: Timestamp) -> bool {
    !hop.stage.is_over() && now.since_ms(hop.moved_at) > OVERDUE_MS
}

/// Before anything is typed, any other activity in the session ends the hop.
fn interrupted(hop: &Hop, event: &Event) -> Option<HopTransition> {
    if event.session != hop.session || event.subagent.is_some() {
        return None;
    }
    let awaits_handoff = hop.stage == HopStage::Asked && hop.asking.author == HandoffAuthor::Agent;
    let why = if event.happening.is_real_prompt() {
        "somebody went on in the session"
    } else if is_session_end(&event.happening) {
        "its session ended before anything was typed"
    } else if awaits_handoff && is_turn_stop(&event.happening) {
        "the turn was stopped before the handoff was written"
    } else {
        return None;
    };
    Some(failed(why.to_owned()))
}

fn is_session_end(happening: &EventKind) -> bool {
    matches!(
        happening,
        EventKind::SessionEnded { .. } | EventKind::Observed { what: ObservedChange::Gone, .. }
    )
}

fn is_turn_stop(happening: &EventKind) -> bool {
    let stops = [ObservedChange::Interrupted, ObservedChange::Failed, ObservedChange::Limited];
    matches!(happening, EventKind::Interrupted | EventKind::TurnFailed { .. })
        || matches!(happening, EventKind::Observed { what, .. } if stops.contains(what))
}

fn cleared(around: &HopContext<'_>) -> Option<HopTransition> {
    if let Some(why) = [around.clear, around.go_on].into_iter().find_map(intent_failure) {
        return Some(failed(why));
    }
    let clear = around.clear.filter(|clear| clear.stage == typing::IntentStage::Confirmed)?;
    Some(HopTransition { to: HopStage::Continuing, why: None, successor: clear.led_to.clone() })
}

/// The agent goes on by itself with our prompt, without typing: in the same session, whose conversation it empties, or in
/// another one, whose prompt names the hop.
fn restarted(hop: &Hop, event: &Event) -> Option<HopTransition> {
    if event.subagent.is_some() {
        return None;
    }
    if event.session != hop.session {
        return restarted_elsewhere(hop, event);
    }
    match (&event.happening, hop.stage) {
        (EventKind::PromptSubmitted { origin: PromptOrigin::Continuation, .. }, HopStage::Clearing) => {
            let successor = Some(hop.session.clone());
            Some(HopTransition { to: HopStage::Continuing, why: None, successor })
        }
        (_, HopStage::Continuing) if hop.successor.as_ref() == Some(&hop.session) => {
            Some(HopTransition { to: HopStage::Done, why: None, successor: None })
        }
        // The work is in the successor's hands.
        (_, HopStage::Continuing) => None,
        (happening, _) if happening.is_real_prompt() || is_session_end(happening) => {
            Some(failed("the agent did not go on by itself".to_owned()))
        }
        (_, _) => None,
    }
}

/// In another session. As with typing, the hop is done only if that was given the handoff.
fn restarted_elsewhere(hop: &Hop, event: &Event) -> Option<HopTransition> {
    let is_successor = hop.successor.as_ref() == Some(&event.session);
    match (&event.happening, hop.stage) {
        (
            EventKind::PromptSubmitted { origin: PromptOrigin::Continuation, prompt, .. },
            HopStage::Clearing,
        ) if event.session.agent == hop.session.agent && names(hop, prompt.as_str()) => {
            let successor = Some(event.session.clone());
            Some(HopTransition { to: HopStage::Continuing, why: None, successor })
        }
        (_, HopStage::Continuing) if is_successor && is_given_to_successor(hop) => {
            Some(HopTransition { to: HopStage::Done, why: None, successor: None })
        }
        (EventKind::TurnEnded { .. }, HopStage::Continuing) if is_successor => {
            Some(failed("the successor went on without the handoff".to_owned()))
        }
        (_, _) => None,
    }
}

/// Prompts may be kept without their text: then no other hop can be told from this one.
fn names(hop: &Hop, prompt: &str) -> bool {
    prompt.is_empty() || prompt.contains(&hop.short())
}

fn is_given_to_successor(hop: &Hop) -> bool {
    hop.given.as_ref().is_some_and(|(to, _)| Some(to) == hop.successor.as_ref())
}

/// Done only if the successor was prompted and had been given the handoff.
fn prompted(hop: &Hop, around: &HopContext<'_>) -> Option<HopTransition> {
    if let Some(why) = intent_failure(around.go_on) {
        return Some(failed(why));
    }
    let go_on = around.go_on.filter(|go_on| go_on.stage == typing::IntentStage::Confirmed)?;
    if go_on.led_to != hop.successor {
        return Some(failed("another session was prompted".to_owned()));
    }
    let is_given = is_given_to_successor(hop);
    let is_over = hop.successor.as_ref() == Some(&around.event.session)
        && matches!(around.event.happening, EventKind::TurnEnded { .. });
    match (is_given, is_over) {
        (true, _) => Some(HopTransition { to: HopStage::Done, why: None, successor: None }),
        (false, true) => Some(failed("the successor went on without the handoff".to_owned())),
        (false, false) => None,
    }
}

/// Why an intent will never be confirmed.
fn intent_failure(intent: Option<&Intent>) -> Option<String> {
    let Some(intent) = intent else { return Some("what was to be typed is not known any more".to_owned()) };
    let is_failed = intent.stage.is_over() && intent.stage != typing::IntentStage::Confirmed;
    let why = intent.why.as_deref().unwrap_or(intent.stage.name());
    is_failed.then(|| format!("{}: {why}", intent.wish.purpose.name()))
}

fn failed(why: String) -> HopTransition {
    HopTransition { to: HopStage::Failed, why: Some(why), successor: None }
}

#[cfg(test)]
mod tests;
