//! Applies events to batons and inheritances: collects the situation, lets `core` decide, stores the decision.
//!
//! Makes no decisions and reads only rows that were applied before, so that every apply decides alike.

use super::ProjectionBatch;
use crate::Result;
use crate::tables::batons::SessionRow;
use towline_core::event::{Event, EventKind};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::{
    Baton, DEEPEST_CHAIN, HOUR_MS, InheritDecision, InheritInput, InheritState, OpenState, Predecessor,
    RemoteBaton, considers_other_sessions, decide, has_work, is_skipped, is_time, settle, take_remote_baton,
    taken,
};
use towline_core::seat::SeatKind;
use towline_core::session::{Session, SessionState};

impl ProjectionBatch<'_> {
    /// Stores a baton of another machine: its session has no row here and does not change.
    pub(super) fn baton_came(&self, event: &Event, came: &RemoteBaton) -> Result<()> {
        self.store.baton_came(&event.session, came, event.at)
    }

    /// Applies the event to batons and inheritances, after it was applied to its session. `before` is the session's
    /// inheriting state before the event.
    pub(super) fn apply_to_heirs(&mut self, event: &Event, before: InheritState) -> Result<()> {
        if event.happening == EventKind::BatonPassed {
            self.pass_baton(event)?;
        }
        if event.happening == EventKind::BatonDropped {
            self.drop_baton(event)?;
        }
        if let EventKind::InheritanceTaken { from } = &event.happening {
            self.take_over(event, from)?;
        }
        if let EventKind::InheritanceGiven { decision } = &event.happening {
            self.mark_given(event, *decision)?;
        }
        let session = self.sessions.get(&event.session).map(|stored| &stored.session);
        if session.is_some_and(|session| is_time(before, session)) { self.decide(event) } else { Ok(()) }
    }

    /// Passes a baton unless the session has no prompt yet or is headless: such a session has no work to pass on.
    fn pass_baton(&mut self, event: &Event) -> Result<()> {
        match self.session_row(&event.session).filter(|row| has_work(row.session)) {
            Some(row) => self.store.pass_baton(event.uid, row, event.at),
            None => Ok(()),
        }
    }

    fn drop_baton(&mut self, event: &Event) -> Result<()> {
        match self.session_row(&event.session) {
            Some(row) => self.store.drop_batons(row.id, event.at),
            None => Ok(()),
        }
    }

    /// The user's choice replaces the automatic decision, past or future.
    fn take_over(&mut self, event: &Event, from: &SessionKey) -> Result<()> {
        self.load_session(from)?;
        let Some(heir) = self.sessions.get(&event.session) else { return Ok(()) };
        let Some(before) = self.sessions.get(from) else { return self.take_from_afar(event, from) };
        let Some(decision) = taken(&heir.session, &before.session) else { return Ok(()) };
        self.store.take_batons_of(before.id, heir.id, event.at)?;
        self.keep_decision(event, &decision)
    }

    fn take_from_afar(&mut self, event: &Event, from: &SessionKey) -> Result<()> {
        let (Some(heir), Some(baton)) =
            (self.sessions.get(&event.session), self.store.remote_baton_of(from)?)
        else {
            return Ok(());
        };
        let Some(decision) = take_remote_baton(&heir.session, &baton) else { return Ok(()) };
        self.store.take_baton(baton.uid, heir.id, event.at)?;
        self.keep_decision(event, &decision)
    }

    /// Settles the session unless another decision was made since.
    fn mark_given(&mut self, event: &Event, decision: Uid) -> Result<()> {
        self.store.mark_decision_given(decision, event.at)?;
        if self.store.inheritance_to_give(&event.session)?.is_none() {
            self.update_session(&event.session, |session| {
                if session.inheriting == InheritState::Due {
                    session.inheriting = InheritState::Settled;
                }
            });
        }
        Ok(())
    }

    fn decide(&mut self, event: &Event) -> Result<()> {
        let chain = self.chain(&event.session)?;
        let batons = self.batons(&event.session)?;
        let nearby = self.nearby(&event.session, &chain)?;
        let Some(heir) = self.sessions.get(&event.session) else { return Ok(()) };
        let decision = decide(&InheritInput { heir: &heir.session, chain, batons, nearby });
        if let Some(baton) = decision.baton {
            self.store.take_baton(baton, heir.id, event.at)?;
        }
        self.keep_decision(event, &decision)
    }

    fn keep_decision(&mut self, event: &Event, decision: &InheritDecision) -> Result<()> {
        self.update_session(&event.session, |session| settle(session, decision));
        let row = |key: &SessionKey| self.sessions.get(key).map(|stored| stored.id);
        let Some(heir) = row(&event.session).filter(|_| decision.is_worth_keeping()) else { return Ok(()) };
        let from = decision.from.as_ref().filter(|_| decision.machine.is_none()).and_then(row);
        self.store.add_inheritance(event.uid, heir, from, decision, event.at)
    }

    /// The previous sessions in its seat, up to and including the first that counts.
    fn chain(&mut self, heir: &SessionKey) -> Result<Vec<Predecessor>> {
        let mut chain = vec![];
        let heir = self.sessions.get(heir).map(|stored| &stored.session);
        let (mut next, seat) =
            heir.map(|heir| (heir.previous.clone(), heir.seat.clone())).unwrap_or_default();
        while let Some(key) = next.take().filter(|_| chain.len() < DEEPEST_CHAIN) {
            let Some(mut candidate) = self.candidate(&key)? else { break };
            if let Some((successor, _)) = candidate.heir.clone()
                && self.seat_of(&successor)? != seat
            {
                // It was open in two panes, and cleared in the other.
                candidate.heir = None;
            }
            if is_skipped(&candidate.session) {
                next.clone_from(&candidate.session.previous);
            }
            chain.push(candidate);
        }
        Ok(chain)
    }

    /// Whether a baton is withdrawn depends on its session, which this batch may have changed.
    fn batons(&mut self, heir: &SessionKey) -> Result<Vec<Baton>> {
        let Some(heir) = self.session_row(heir) else { return Ok(vec![]) };
        let mut batons = self.store.batons_around(heir)?;
        for baton in batons.iter_mut().filter(|baton| baton.afar.is_none()) {
            self.load_session(&baton.session)?;
            if let Some(stored) = self.sessions.get(&baton.session) {
                baton.is_withdrawn = stored.session.fresh_at.is_some();
            }
        }
        Ok(batons)
    }

    /// The project's sessions that may have been cleared in the hour before the heir started, if they matter.
    fn nearby(&mut self, heir: &SessionKey, chain: &[Predecessor]) -> Result<Vec<Predecessor>> {
        let Some(row) = self.session_row(heir).filter(|heir| considers_other_sessions(heir.session, chain))
        else {
            return Ok(vec![]);
        };
        let (project, birth) = (row.project, row.session.started_at);
        let hour = birth.plus_ms(-HOUR_MS)..=birth;
        // Writes this batch's changes first: the query below reads rows.
        self.save_sessions()?;
        let keys = self.store.clearable_sessions(heir.agent.as_str(), project, hour)?;
        let mut nearby = vec![];
        for key in keys.iter().filter(|key| *key != heir) {
            nearby.extend(self.candidate(key)?);
        }
        Ok(nearby)
    }

    fn seat_of(&mut self, session: &SessionKey) -> Result<Option<String>> {
        self.load_session(session)?;
        Ok(self.sessions.get(session).and_then(|stored| stored.session.seat.clone()))
    }

    fn candidate(&mut self, key: &SessionKey) -> Result<Option<Predecessor>> {
        self.load_session(key)?;
        let Some(stored) = self.sessions.get(key) else { return Ok(None) };
        let (id, session) = (stored.id, stored.session.clone());
        let sitting = self.sitting(&session)?;
        Ok(Some(Predecessor { heir: self.store.last_successor(id)?, session, sitting }))
    }

    fn sitting(&mut self, session: &Session) -> Result<OpenState> {
        let Some(key) = session.seat.as_deref().filter(|_| session.state != SessionState::Ended) else {
            return Ok(OpenState::Unknown);
        };
        let sits = self.seat(key)?.is_some_and(|seat| {
            seat.place.kind != SeatKind::Ide && seat.current.as_ref() == Some(&session.key)
        });
        Ok(if sits { OpenState::InTerminal } else { OpenState::Unknown })
    }

    fn session_row(&self, key: &SessionKey) -> Option<SessionRow<'_>> {
        let stored = self.sessions.get(key)?;
        Some(SessionRow { id: stored.id, project: stored.project, session: &stored.session })
    }

    fn update_session(&mut self, key: &SessionKey, change: impl FnOnce(&mut Session)) {
        if let Some(stored) = self.sessions.get_mut(key) {
            self.changed_sessions.entry(key.clone()).or_insert_with(|| stored.clone());
            change(&mut stored.session);
        }
    }
}
