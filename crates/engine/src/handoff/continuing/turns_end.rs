//! The end of a turn: begins a hop if the context is nearly full, or takes the handoff that was requested.
//!
//! Reacts only to its own hops: a turn kept alive by another hook means nothing. At most one block per hop.

use super::file::present_file;
use super::hop::{Journey, asked, is_allowed, kept, restart, restarts_in_new_session, start_hop};
use super::untold::{Afoot, failure_line};
use crate::handoff::guard::Gauge;
use crate::handoff::typing;
use crate::runtime::record::{append_or_fault, event};
use crate::runtime::{Config, Env, chain, faults, spawn};
use towline_agents::{Agent, StopDetails};
use towline_core::continuing::{
    HandoffAuthor, Hop, HopBarrier, HopDecision, HopRequest, HopStage, SeatHistory, TurnEndInput,
    TurnEnding as EndedBy, at_turns_end as decide, form,
};
use towline_core::event::{Event, EventKind, PromptOrigin};
use towline_core::fault::FaultKind;
use towline_core::id::{SessionKey, Uid};
use towline_core::reply::{Reply, ReplyVerdict};
use towline_core::session::Session;
use towline_core::text::SafeText;
use towline_core::time::Timestamp;
use towline_core::typing::{IntentPurpose, IntentRequest};
use towline_store::{Store, StoreError};

/// The event a hook applies, with the details of a turn's end if it is one.
#[derive(Clone, Copy)]
pub struct AppliedEvent<'a> {
    pub event: &'a Event,
    pub ending: &'a StopDetails,
    /// No handoff may come of a private turn.
    pub is_private: bool,
}

/// The reply to it.
#[derive(Default)]
pub struct Outcome {
    pub reply: Reply,
    /// The work continues, so the end of the turn is not announced.
    pub goes_on: bool,
}

/// Called by the hook with the apply lock held, so that no decision is made twice.
pub fn at_turns_end(
    env: &Env,
    config: &Config,
    store: &Store,
    applied: &AppliedEvent<'_>,
    known: &Known,
) -> Result<Outcome, StoreError> {
    let is_end = matches!(applied.event.happening, EventKind::TurnEnded { .. });
    let Some(gauge) = known.gauge.as_ref().filter(|_| is_end) else { return Ok(Outcome::default()) };
    let is_ours = |hop: &&Hop| hop.session == applied.event.session && hop.stage == HopStage::Asked;
    let handler = TurnEndHandler { env, config, store, session: &gauge.session };
    match known.afoot.open.iter().find(is_ours) {
        Some(hop) if applied.is_private => {
            let why = Some("the turn is private".to_owned());
            Ok(handler.end(&Hop { stage: HopStage::Failed, why, ..hop.clone() }))
        }
        Some(hop) => Ok(handler.take(hop, applied)),
        None if applied.is_private => Ok(Outcome::default()),
        None if config.guard.types() => handler.consider(applied, &known.afoot.open, gauge.percent()),
        None => Ok(Outcome::default()),
    }
}

/// State that is loaded once per answered event.
pub struct Known {
    pub afoot: Afoot,
    pub gauge: Option<Gauge>,
}

struct TurnEndHandler<'a> {
    env: &'a Env,
    config: &'a Config,
    store: &'a Store,
    session: &'a Session,
}

impl TurnEndHandler<'_> {
    /// Decides whether a hop begins.
    fn consider(
        &self,
        applied: &AppliedEvent<'_>,
        open: &[Hop],
        percent: Option<u8>,
    ) -> Result<Outcome, StoreError> {
        let wishes = &self.config.continuing;
        let strategy = self.config.guard.strategy_in(self.session.folder.as_deref());
        let Some(seat) = self.session.seat.as_deref() else { return Ok(Outcome::default()) };
        if !strategy.types() || !is_allowed(self.env, self.config) {
            return Ok(Outcome::default());
        }
        let past = self.past(seat, open)?;
        let ending = if applied.ending.was_blocked { EndedBy::AfterABlock } else { EndedBy::ByItself };
        let moment = TurnEndInput {
            now: self.env.now,
            strategy,
            written: wishes.written,
            at_percent: wishes.at_percent,
            percent,
            session: self.session,
            ending,
            past: &past,
            limits: wishes.limits,
        };
        match decide(&moment) {
            HopDecision::Nothing => Ok(Outcome::default()),
            HopDecision::Barred(barrier) => Ok(barred(barrier, percent)),
            HopDecision::Compact => Ok(self.compact(seat, percent)),
            HopDecision::Hop(author) => {
                let asking = HopRequest { seat: seat.to_owned(), author, ordinal: past.ordinal, percent };
                self.begin(asking)
            }
        }
    }

    fn past(&self, seat: &str, open: &[Hop]) -> Result<SeatHistory, StoreError> {
        let (store, session) = (self.store, self.session);
        let doings = store.own_actions(seat, self.env.now.plus_ms(-DAY_MS))?;
        let here = store.last_hop_of(&session.key)?.map(|hop| hop.began_at);
        // A prompt by the user since then starts a new chain.
        let last_turn = store.last_origin(session)?;
        let goes_on = |hop: &Hop| match hop.session == session.key {
            true => last_turn == Some(PromptOrigin::Continuation),
            false => session.prompt.is_none(),
        };
        let led_here = store.hop_to(&session.key)?.filter(goes_on);
        Ok(SeatHistory {
            last_moved: doings.iter().map(|(_, moved)| *moved).max(),
            begun: doings.into_iter().map(|(begun, _)| begun).collect(),
            last_here: here.max(store.last_compaction_asked(&session.key)?),
            is_open: open.iter().any(|hop| hop.asking.seat == seat || hop.session == session.key),
            ordinal: led_here.map_or(0, |hop| hop.asking.ordinal) + 1,
            last_turn,
        })
    }

    fn begin(&self, asking: HopRequest) -> Result<Outcome, StoreError> {
        let (author, percent) = (asking.author, asking.percent.unwrap_or(0));
        let seat = asking.seat.clone();
        let (hop, mut events, text) = asked(self.env, self.store, self.session, asking)?;
        let key = &self.session.key;
        let text = text.as_ref().map(SafeText::as_str);
        match text {
            Some(_) if restarts_in_place(key) => events.extend(restart(self.env, hop, key)),
            Some(_) => {
                let journey = Journey { hop, session: key, seat: &seat };
                events.extend(start_hop(self.env, self.config, journey));
            }
            None => {}
        }
        if !append_or_fault(self.env, events) {
            return Ok(Outcome::default());
        }
        if author == HandoffAuthor::Agent {
            let reason = form::request(&form::id(hop), percent);
            let notice = format!(
                "towline: the context is {percent} % full: a handoff is asked for, then the work goes on in a fresh session."
            );
            let reply =
                Reply { notices: vec![notice], verdict: ReplyVerdict::Block { reason }, ..Reply::default() };
            return Ok(Outcome { reply, goes_on: true });
        }
        if let Some(text) = text.filter(|_| restarts_in_place(key)) {
            return Ok(Outcome { reply: restarting(hop, key, text), goes_on: true });
        }
        spawn::type_detached(&seat);
        let notice = format!(
            "towline: the context is {percent} % full: the work goes on in a fresh session. `tow typing pause` stops it."
        );
        Ok(Outcome { reply: said(notice), goes_on: true })
    }

    fn compact(&self, seat: &str, percent: Option<u8>) -> Outcome {
        let Some(agent) = Agent::from_name(self.session.key.agent.as_str()) else {
            return Outcome::default();
        };
        let expires_at = self.env.now.plus_ms(self.config.typing.limit_ms);
        let Ok(wish) = IntentRequest::new(seat, IntentPurpose::Compact, agent.compact_command(), expires_at)
        else {
            return Outcome::default();
        };
        if let Err(error) = typing::make(self.env, &self.session.key, wish) {
            faults::record_here(self.env, FaultKind::Journal, chain(&error));
            return Outcome::default();
        }
        let percent = percent.unwrap_or(0);
        Outcome {
            reply: said(format!("towline: the context is {percent} % full: it is compacted.")),
            goes_on: false,
        }
    }

    /// Takes the requested handoff, or the reason why it is missing. The text is kept even if it is invalid.
    fn take(&self, hop: &Hop, applied: &AppliedEvent<'_>) -> Outcome {
        let (found, by) = self.found(hop, applied);
        let found = found.map(|read| self.with_original(hop, read));
        let text = match &found {
            Ok(read) => Some(form::render(&read.handoff)),
            Err(_) => applied.ending.handoff.clone(),
        };
        let handoff = text.map(|text| (kept(&text), by));
        match found {
            Ok(read) if read.goes_on => self.set_out(&Hop { handoff, ..hop.clone() }),
            Ok(_) => {
                let why = Some("the handoff says `continue: false`".to_owned());
                self.end(&Hop { stage: HopStage::Stopped, why, handoff, ..hop.clone() })
            }
            Err(flaw) => {
                let why = Some(flaw.to_string());
                self.end(&Hop { stage: HopStage::Failed, why, handoff, ..hop.clone() })
            }
        }
    }

    /// The handoff with the task that the session was itself handed: each session words it anew, and less of it stays.
    fn with_original(&self, hop: &Hop, mut read: form::ParsedHandoff) -> form::ParsedHandoff {
        let led_here = self.store.hop_to(&hop.session).ok().flatten();
        if let Some(task) = led_here.and_then(|hop| Some(form::parts(hop.text()?).task)) {
            read.handoff.task = form::task(form::original(&task), form::latest(&read.handoff.task));
        }
        read
    }

    fn set_out(&self, hop: &Hop) -> Outcome {
        let mut events = self.written(hop);
        if let (true, Some(text)) = (restarts_in_place(&hop.session), hop.text()) {
            events.extend(restart(self.env, hop.uid, &hop.session));
            let goes_on = append_or_fault(self.env, events);
            return Outcome { reply: restarting(hop.uid, &hop.session, text), goes_on };
        }
        let journey = Journey { hop: hop.uid, session: &hop.session, seat: &hop.asking.seat };
        events.extend(start_hop(self.env, self.config, journey));
        let goes_on = append_or_fault(self.env, events);
        if goes_on {
            spawn::type_detached(&hop.asking.seat);
        }
        Outcome { goes_on, ..Outcome::default() }
    }

    /// Records the end of the hop and notifies the user at once.
    fn end(&self, hop: &Hop) -> Outcome {
        let mut events = self.written(hop);
        let moved = EventKind::HopMoved { hop: hop.uid, to: hop.stage, why: hop.why.clone(), typed: None };
        let told = EventKind::HopTold { hop: hop.uid };
        events.extend([moved, told].map(|happening| event(self.env, &hop.session, happening)));
        append_or_fault(self.env, events);
        Outcome { reply: said(failure_line(hop)), goes_on: false }
    }

    fn written(&self, hop: &Hop) -> Vec<Event> {
        let written = hop.handoff.clone();
        let written = written.map(|(text, by)| EventKind::HandoffWritten { hop: hop.uid, text, by });
        written.map(|written| event(self.env, &hop.session, written)).into_iter().collect()
    }

    /// Looks in the answer, then in the agent's own handoff file if that was written since the request.
    fn found(
        &self,
        hop: &Hop,
        applied: &AppliedEvent<'_>,
    ) -> (Result<form::ParsedHandoff, form::HandoffFlaw>, HandoffAuthor) {
        let said = applied.ending.handoff.as_deref().map(|said| form::read(said, &hop.short()));
        match (said, self.file_since(hop.began_at)) {
            (Some(Ok(read)), _) => (Ok(read), HandoffAuthor::Agent),
            (_, Some(text)) if self.config.continuing.file_by_presence => {
                (form::read_present(&text), HandoffAuthor::File)
            }
            (_, Some(text)) => (form::read_file(&text), HandoffAuthor::File),
            (Some(Err(flaw)), None) => (Err(flaw), HandoffAuthor::Agent),
            (None, None) => (Err(form::HandoffFlaw::Missing), HandoffAuthor::Agent),
        }
    }

    fn file_since(&self, asked: Timestamp) -> Option<String> {
        let agent = Agent::from_name(self.session.key.agent.as_str())?;
        let (text, at) = present_file(self.session.folder.as_deref()?, agent.handoff_file()?)?;
        (at >= asked).then_some(text)
    }
}

const DAY_MS: i64 = 24 * 3_600_000;

fn barred(barrier: HopBarrier, percent: Option<u8>) -> Outcome {
    if !barrier.is_told() {
        return Outcome::default();
    }
    let percent = percent.unwrap_or(0);
    let notice = format!(
        "towline: the context is {percent} % full, but the work does not go on by itself: {barrier}."
    );
    Outcome { reply: said(notice), goes_on: false }
}

fn restarts_in_place(session: &SessionKey) -> bool {
    Agent::from_name(session.agent.as_str()).is_some_and(Agent::restarts_in_place)
}

/// In a session that has nothing else left, the prompt carries the handoff. Another session is given it as context.
fn restarting(hop: Uid, session: &SessionKey, handoff: &str) -> Reply {
    let mut prompt = form::prompt(hop);
    if !restarts_in_new_session(session) {
        prompt = format!("{prompt}\n\n{handoff}");
    }
    Reply { verdict: ReplyVerdict::Restart { prompt }, ..Reply::default() }
}

fn said(notice: String) -> Reply {
    Reply { notices: vec![notice], ..Reply::default() }
}
