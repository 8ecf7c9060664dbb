//! Applies events to hops: inserts their rows, stores their handoffs, and advances their stages.
//!
//! Makes no decisions: `core` chooses the next stage. Reads only rows that were applied before, so that every apply of
//! the same journal gives the same result.

use super::ProjectionBatch;
use crate::Result;
use towline_core::continuing::{Hop, HopContext, HopStage, HopTransition, follow};
use towline_core::effect::Effect;
use towline_core::event::{Event, EventKind};

impl ProjectionBatch<'_> {
    /// Applies the event to hops, after it was applied to its session and to intents.
    pub(super) fn apply_to_hops(&mut self, event: &Event) -> Result<()> {
        self.record_hop_event(event)?;
        self.is_without_hops = may_move(&event.happening) && !self.store.has_active_hops()?;
        if self.is_without_hops || !may_move(&event.happening) {
            return Ok(());
        }
        for hop in self.store.open_hops()? {
            self.follow(hop, event)?;
        }
        Ok(())
    }

    fn record_hop_event(&mut self, event: &Event) -> Result<()> {
        let Some(stored) = self.sessions.get(&event.session) else { return Ok(()) };
        if let EventKind::HandoffAsked { asking } = &event.happening {
            self.store.add_hop(event.uid, stored.id, asking, event.at)?;
        }
        if let EventKind::HandoffWritten { hop, text, by } = &event.happening {
            self.store.write_handoff(*hop, text, *by, event.at)?;
        }
        if let EventKind::HandoffGiven { hop } = &event.happening {
            self.store.give_handoff(*hop, stored.id, event.at)?;
        }
        if let EventKind::HopTold { hop } = &event.happening {
            self.store.mark_hop_reported(*hop, event.at)?;
        }
        if let EventKind::HopMoved { hop, to, why, typed } = &event.happening
            && let Some(hop) = self.store.hop(*hop)?.filter(|hop| hop.stage.can_advance_to(*to))
        {
            if let Some(typed) = typed {
                self.store.type_for_hop(hop.uid, *typed)?;
            }
            self.move_hop(&hop, &HopTransition { to: *to, why: why.clone(), successor: None }, event)?;
        }
        Ok(())
    }

    /// Advances the hop as far as possible: one event may be the last of several that it waited for.
    fn follow(&mut self, mut hop: Hop, event: &Event) -> Result<()> {
        loop {
            let intent = |uid| self.store.intent(uid);
            let clear = hop.typed.map(|typed| intent(typed.clear)).transpose()?.flatten();
            let go_on = hop.typed.map(|typed| intent(typed.go_on)).transpose()?.flatten();
            let around = HopContext { event, clear: clear.as_ref(), go_on: go_on.as_ref() };
            let Some(next) = follow(&hop, &around).filter(|next| hop.stage.can_advance_to(next.to)) else {
                return Ok(());
            };
            self.move_hop(&hop, &next, event)?;
            match self.store.hop(hop.uid)? {
                Some(moved) => hop = moved,
                None => return Ok(()),
            }
        }
    }

    fn move_hop(&mut self, hop: &Hop, next: &HopTransition, event: &Event) -> Result<()> {
        self.store.move_hop(hop, next, event.at)?;
        if matches!(next.to, HopStage::Failed | HopStage::Stopped) {
            self.effects.push(Effect::HopEnded {
                session: hop.session.clone(),
                seat: hop.asking.seat.clone(),
                why: next.why.clone().unwrap_or_default(),
                at: event.at,
            });
        }
        Ok(())
    }
}

/// Whether the event can advance a hop; most events save the query.
fn may_move(happening: &EventKind) -> bool {
    matches!(
        happening,
        EventKind::PromptSubmitted { .. }
            | EventKind::SessionStarted { .. }
            | EventKind::SessionEnded { .. }
            | EventKind::SeatFound
            | EventKind::TurnEnded { .. }
            | EventKind::TurnFailed { .. }
            | EventKind::Interrupted
            | EventKind::Observed { .. }
            | EventKind::IntentMoved { .. }
            | EventKind::HandoffGiven { .. }
            | EventKind::HopMoved { .. }
    )
}
