//! What a fold does about batons and inheritances: gathers what is known, lets `core` decide, keeps the decision.
//!
//! Decides nothing itself, and looks at nothing but what was folded before: so every fold of one journal decides alike.

use super::Batch;
use crate::StoreError;
use crate::tables::batons::Passer;
use towline_core::event::{Event, Happening};
use towline_core::id::{SessionKey, Uid};
use towline_core::inherit::{
    Baton, Candidate, DEEPEST_CHAIN, Decision, FarBaton, HOUR_MS, Inheriting, Sitting, Situation, decide,
    has_work, is_looked_behind, is_time, looks_nearby, settle, taken, taken_from_afar,
};
use towline_core::seat::SeatKind;
use towline_core::session::{Session, State};

impl Batch<'_> {
    /// A baton of another machine: its session has no row here, and nothing happens to it.
    pub(super) fn baton_came(&self, event: &Event, came: &FarBaton) -> Result<(), StoreError> {
        self.store.baton_came(&event.session, came, event.at)
    }

    /// What the event means for those who come after, once its session has taken it in. `before` is how far the session
    /// was with what it inherits.
    pub(super) fn inherit(&mut self, event: &Event, before: Inheriting) -> Result<(), StoreError> {
        if event.happening == Happening::BatonPassed {
            self.pass_baton(event)?;
        }
        if event.happening == Happening::BatonDropped {
            self.drop_baton(event)?;
        }
        if let Happening::InheritanceTaken { from } = &event.happening {
            self.take(event, from)?;
        }
        if let Happening::InheritanceGiven { decision } = &event.happening {
            self.given(event, *decision)?;
        }
        let session = self.sessions.get(&event.session).map(|stored| &stored.session);
        if session.is_some_and(|session| is_time(before, session)) { self.decide(event) } else { Ok(()) }
    }

    /// A session of which nothing was asked yet, and one that nobody sits before, have nothing to pass on.
    fn pass_baton(&mut self, event: &Event) -> Result<(), StoreError> {
        match self.passer(&event.session).filter(|passer| has_work(passer.session)) {
            Some(passer) => self.store.pass_baton(event.uid, passer, event.at),
            None => Ok(()),
        }
    }

    fn drop_baton(&mut self, event: &Event) -> Result<(), StoreError> {
        match self.passer(&event.session) {
            Some(passer) => self.store.drop_batons(passer.id, event.at),
            None => Ok(()),
        }
    }

    /// A person's choice stands in the place of whatever would be decided, or was.
    fn take(&mut self, event: &Event, from: &SessionKey) -> Result<(), StoreError> {
        self.load_session(from)?;
        let Some(heir) = self.sessions.get(&event.session) else { return Ok(()) };
        let Some(before) = self.sessions.get(from) else { return self.take_from_afar(event, from) };
        let Some(decision) = taken(&heir.session, &before.session) else { return Ok(()) };
        self.store.take_batons_of(before.id, heir.id, event.at)?;
        self.keep_decision(event, &decision)
    }

    fn take_from_afar(&mut self, event: &Event, from: &SessionKey) -> Result<(), StoreError> {
        let (Some(heir), Some(baton)) = (self.sessions.get(&event.session), self.store.far_baton_of(from)?)
        else {
            return Ok(());
        };
        let Some(decision) = taken_from_afar(&heir.session, &baton) else { return Ok(()) };
        self.store.take_baton(baton.uid, heir.id, event.at)?;
        self.keep_decision(event, &decision)
    }

    /// Nothing is due any more, unless something was decided since.
    fn given(&mut self, event: &Event, decision: Uid) -> Result<(), StoreError> {
        self.store.give(decision, event.at)?;
        if self.store.inheritance_to_give(&event.session)?.is_none() {
            self.change(&event.session, |session| {
                if session.inheriting == Inheriting::Due {
                    session.inheriting = Inheriting::Settled;
                }
            });
        }
        Ok(())
    }

    fn decide(&mut self, event: &Event) -> Result<(), StoreError> {
        let chain = self.chain(&event.session)?;
        let batons = self.batons(&event.session)?;
        let nearby = self.nearby(&event.session, &chain)?;
        let Some(heir) = self.sessions.get(&event.session) else { return Ok(()) };
        let decision = decide(&Situation { heir: &heir.session, chain, batons, nearby });
        if let Some(baton) = decision.baton {
            self.store.take_baton(baton, heir.id, event.at)?;
        }
        self.keep_decision(event, &decision)
    }

    fn keep_decision(&mut self, event: &Event, decision: &Decision) -> Result<(), StoreError> {
        self.change(&event.session, |session| settle(session, decision));
        let row = |key: &SessionKey| self.sessions.get(key).map(|stored| stored.id);
        let Some(heir) = row(&event.session).filter(|_| decision.is_worth_keeping()) else { return Ok(()) };
        let from = decision.from.as_ref().filter(|_| decision.machine.is_none()).and_then(row);
        self.store.add_inheritance(event.uid, (heir, from), decision, event.at)
    }

    /// Those before it in its seat, up to and with the first that counts.
    fn chain(&mut self, heir: &SessionKey) -> Result<Vec<Candidate>, StoreError> {
        let mut chain = vec![];
        let mut next = self.sessions.get(heir).and_then(|stored| stored.session.previous.clone());
        while let Some(key) = next.take().filter(|_| chain.len() < DEEPEST_CHAIN) {
            let Some(candidate) = self.candidate(&key)? else { break };
            if is_looked_behind(&candidate.session) {
                next.clone_from(&candidate.session.previous);
            }
            chain.push(candidate);
        }
        Ok(chain)
    }

    /// Whether a baton is withdrawn is known from its session, which this very fold may have changed.
    fn batons(&mut self, heir: &SessionKey) -> Result<Vec<Baton>, StoreError> {
        let Some(heir) = self.passer(heir) else { return Ok(vec![]) };
        let mut batons = self.store.batons_around(heir)?;
        for baton in batons.iter_mut().filter(|baton| baton.afar.is_none()) {
            self.load_session(&baton.session)?;
            if let Some(stored) = self.sessions.get(&baton.session) {
                baton.is_withdrawn = stored.session.fresh_at.is_some();
            }
        }
        Ok(batons)
    }

    /// The sessions of the project that were heard of in the hour before, where they matter.
    fn nearby(&mut self, heir: &SessionKey, chain: &[Candidate]) -> Result<Vec<Candidate>, StoreError> {
        let Some(passer) = self.passer(heir).filter(|heir| looks_nearby(heir.session, chain)) else {
            return Ok(vec![]);
        };
        let (project, birth) = (passer.project, passer.session.started_at);
        // What this fold has changed is not in the rows yet that are about to be looked through.
        self.save_sessions()?;
        let keys = self.store.sessions_heard(project, (birth.plus_ms(-HOUR_MS), birth))?;
        let mut nearby = vec![];
        for key in keys.iter().filter(|key| *key != heir) {
            nearby.extend(self.candidate(key)?);
        }
        Ok(nearby)
    }

    fn candidate(&mut self, key: &SessionKey) -> Result<Option<Candidate>, StoreError> {
        self.load_session(key)?;
        let Some(stored) = self.sessions.get(key) else { return Ok(None) };
        let (id, session) = (stored.id, stored.session.clone());
        let sitting = self.sitting(&session)?;
        Ok(Some(Candidate { heir: self.store.last_heir(id)?, session, sitting }))
    }

    fn sitting(&mut self, session: &Session) -> Result<Sitting, StoreError> {
        let Some(key) = session.seat.as_deref().filter(|_| session.state != State::Ended) else {
            return Ok(Sitting::Unknown);
        };
        let sits = self.seat(key)?.is_some_and(|seat| {
            seat.place.kind != SeatKind::Ide && seat.current.as_ref() == Some(&session.key)
        });
        Ok(if sits { Sitting::InTerminal } else { Sitting::Unknown })
    }

    fn passer(&self, key: &SessionKey) -> Option<Passer<'_>> {
        let stored = self.sessions.get(key)?;
        Some(Passer { id: stored.id, project: stored.project, session: &stored.session })
    }

    fn change(&mut self, key: &SessionKey, change: impl FnOnce(&mut Session)) {
        if let Some(stored) = self.sessions.get_mut(key) {
            self.changed_sessions.entry(key.clone()).or_insert_with(|| stored.clone());
            change(&mut stored.session);
        }
    }
}
