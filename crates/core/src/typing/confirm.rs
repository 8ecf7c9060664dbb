//! Intents and sessions: when an intent suits a session, and which event confirms it.
//!
//! Pure. Only an event of the agent confirms, never elapsed time.

use super::intent::{Intent, IntentPurpose, shows};
use crate::event::{CompactionTrigger, Event, EventKind, StartedBy};
use crate::session::{Session, SessionState};
use crate::time::Timestamp;

impl IntentPurpose {
    /// Whether it may be typed into a session in this state.
    pub fn is_allowed_in(self, state: SessionState) -> bool {
        let is_at_rest = matches!(state, SessionState::Idle | SessionState::Completed);
        if self == IntentPurpose::Resume { state == SessionState::Limited } else { is_at_rest }
    }
}

/// Whether this event confirms the intent in flight. `session` already includes the event.
pub fn answers(intent: &Intent, event: &Event, session: &Session) -> bool {
    let (Some(into), Some(since)) = (&intent.into, intent.typing_at) else { return false };
    if !intent.stage.is_in_flight() || event.subagent.is_some() || event.at < since {
        return false;
    }
    let is_cleared = session.key != *into
        && session.seat.as_deref() == Some(&intent.wish.seat)
        && session.started_by == StartedBy::Clear
        && session.started_at >= since;
    match (intent.wish.purpose, &event.happening) {
        (IntentPurpose::Clear, EventKind::SessionStarted { .. } | EventKind::SeatFound) => is_cleared,
        (IntentPurpose::Compact, EventKind::CompactionStarted { trigger: CompactionTrigger::Manual }) => {
            session.key == *into
        }
        (IntentPurpose::Bookmark | IntentPurpose::Continue | IntentPurpose::Resume, happening) => {
            (session.key == *into || is_cleared) && is_prompted(intent, happening, session, since)
        }
        (IntentPurpose::Clear | IntentPurpose::Compact, _) => false,
    }
}

/// Matches the prompt itself or, if the seat is found later than that, the turn that it began.
fn is_prompted(intent: &Intent, happening: &EventKind, session: &Session, since: Timestamp) -> bool {
    if let EventKind::PromptSubmitted { prompt, .. } = happening {
        return shows(prompt, &intent.wish.text);
    }
    let turn = session.open_turn.as_ref().filter(|turn| turn.started_at >= since);
    *happening == EventKind::SeatFound && turn.is_some_and(|turn| shows(&turn.prompt, &intent.wish.text))
}
