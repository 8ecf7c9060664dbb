//! Applies events to intents: inserts their rows, advances their stages, and confirms those that an event proves done.
//!
//! Makes no decisions: `core` defines the stage transitions and confirmations. Reads only rows that were applied before,
//! so that every apply of the same journal gives the same result.

use super::ProjectionBatch;
use crate::Result;
use crate::tables::intents::IntentMove;
use std::borrow::Cow;
use towline_core::event::{Event, EventKind, PromptOrigin};
use towline_core::id::Uid;
use towline_core::typing::{Intent, IntentStage, answers, shows};

impl ProjectionBatch<'_> {
    /// The event with the prompt's true origin: a prompt that we typed is not the user's.
    pub(super) fn with_true_origin<'e>(&self, event: &'e Event) -> Result<Cow<'e, Event>> {
        let EventKind::PromptSubmitted { prompt, origin: PromptOrigin::Human | PromptOrigin::Command, own } =
            &event.happening
        else {
            return Ok(Cow::Borrowed(event));
        };
        let is_match = |intent: &Intent| intent.stage.is_in_flight() && shows(prompt, &intent.wish.text);
        let typed = self.open_at_seat_of(event)?.into_iter().find(is_match);
        let Some(origin) = typed.and_then(|intent| intent.wish.purpose.origin()) else {
            return Ok(Cow::Borrowed(event));
        };
        let happening = EventKind::PromptSubmitted { prompt: prompt.clone(), origin, own: *own };
        Ok(Cow::Owned(Event { happening, ..event.clone() }))
    }

    /// Applies the event to intents, after it was applied to its session.
    pub(super) fn apply_to_intents(&self, event: &Event) -> Result<()> {
        if let EventKind::IntentMade { wish } = &event.happening
            && let Some(stored) = self.sessions.get(&event.session)
        {
            self.store.add_intent(event.uid, stored.id, wish, event.at)?;
        }
        if let EventKind::IntentMoved { intent, to, why } = &event.happening {
            self.move_intent(event, *intent, *to, why.as_deref())?;
        }
        if may_confirm(&event.happening) { self.confirm(event) } else { Ok(()) }
    }

    fn move_intent(&self, event: &Event, uid: Uid, to: IntentStage, why: Option<&str>) -> Result<()> {
        let (Some(intent), Some(stored)) = (self.store.intent(uid)?, self.sessions.get(&event.session))
        else {
            return Ok(());
        };
        if !intent.stage.can_advance_to(to) {
            return Ok(());
        }
        self.store.move_intent(&IntentMove { intent: &intent, to, why, at: event.at, session: stored.id })
    }

    fn confirm(&self, event: &Event) -> Result<()> {
        let Some(stored) = self.sessions.get(&event.session) else { return Ok(()) };
        for intent in self.open_at_seat_of(event)? {
            if answers(&intent, event, &stored.session) {
                let (to, why, session) = (IntentStage::Confirmed, None, stored.id);
                self.store.move_intent(&IntentMove { intent: &intent, to, why, at: event.at, session })?;
            }
        }
        Ok(())
    }

    /// One lookup in a partial index that is mostly empty.
    fn open_at_seat_of(&self, event: &Event) -> Result<Vec<Intent>> {
        let stored = self.sessions.get(&event.session);
        let seat = stored.and_then(|stored| stored.session.seat.as_deref());
        seat.map_or(Ok(vec![]), |seat| self.store.open_intents(seat))
    }
}

/// Whether the event can confirm an intent; most events save the query.
fn may_confirm(happening: &EventKind) -> bool {
    matches!(
        happening,
        EventKind::PromptSubmitted { .. }
            | EventKind::SessionStarted { .. }
            | EventKind::SeatFound
            | EventKind::CompactionStarted { .. }
    )
}
