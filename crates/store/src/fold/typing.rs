//! What a fold does about intents: makes their rows, moves them on, and confirms what an event tells was done.
//!
//! Decides nothing itself: which way a stage may go and what confirms what is `core`'s. Looks at nothing but what was folded
//! before, so every fold of one journal ends alike.

use super::Batch;
use crate::StoreError;
use crate::tables::intents::Move;
use std::borrow::Cow;
use towline_core::event::{Event, Happening, Origin};
use towline_core::id::Uid;
use towline_core::typing::{Intent, Stage, answers, shows};

impl Batch<'_> {
    /// The event with a prompt's true origin: what we have typed was not asked by a person.
    pub(super) fn by_its_origin<'e>(&self, event: &'e Event) -> Result<Cow<'e, Event>, StoreError> {
        let Happening::PromptSubmitted { prompt, origin: Origin::Human | Origin::Command, own } =
            &event.happening
        else {
            return Ok(Cow::Borrowed(event));
        };
        let is_it = |intent: &Intent| intent.stage.is_in_flight() && shows(prompt, &intent.wish.text);
        let typed = self.open_at_seat_of(event)?.into_iter().find(is_it);
        let Some(origin) = typed.and_then(|intent| intent.wish.purpose.origin()) else {
            return Ok(Cow::Borrowed(event));
        };
        let happening = Happening::PromptSubmitted { prompt: prompt.clone(), origin, own: *own };
        Ok(Cow::Owned(Event { happening, ..event.clone() }))
    }

    /// What the event means for what is to be typed, once its session has taken it in.
    pub(super) fn type_in(&self, event: &Event) -> Result<(), StoreError> {
        if let Happening::IntentMade { wish } = &event.happening
            && let Some(stored) = self.sessions.get(&event.session)
        {
            self.store.add_intent(event.uid, stored.id, wish, event.at)?;
        }
        if let Happening::IntentMoved { intent, to, why } = &event.happening {
            self.go_on(event, *intent, (*to, why.as_deref()))?;
        }
        if may_confirm(&event.happening) { self.confirm(event) } else { Ok(()) }
    }

    fn go_on(&self, event: &Event, uid: Uid, (to, why): (Stage, Option<&str>)) -> Result<(), StoreError> {
        let (Some(intent), Some(stored)) = (self.store.intent(uid)?, self.sessions.get(&event.session))
        else {
            return Ok(());
        };
        if !intent.stage.may_become(to) {
            return Ok(());
        }
        self.store.move_intent(&Move { intent: &intent, to, why, at: event.at, session: stored.id })
    }

    fn confirm(&self, event: &Event) -> Result<(), StoreError> {
        let Some(stored) = self.sessions.get(&event.session) else { return Ok(()) };
        for intent in self.open_at_seat_of(event)? {
            if answers(&intent, event, &stored.session) {
                let (to, why, session) = (Stage::Confirmed, None, stored.id);
                self.store.move_intent(&Move { intent: &intent, to, why, at: event.at, session })?;
            }
        }
        Ok(())
    }

    /// One look at one index, which mostly is empty.
    fn open_at_seat_of(&self, event: &Event) -> Result<Vec<Intent>, StoreError> {
        let stored = self.sessions.get(&event.session);
        let seat = stored.and_then(|stored| stored.session.seat.as_deref());
        seat.map_or(Ok(vec![]), |seat| self.store.open_intents(seat))
    }
}

/// Nothing else is waited for by anything that is typed: most events pay for no look.
fn may_confirm(happening: &Happening) -> bool {
    matches!(
        happening,
        Happening::PromptSubmitted { .. }
            | Happening::SessionStarted { .. }
            | Happening::SeatFound
            | Happening::CompactionStarted { .. }
    )
}
