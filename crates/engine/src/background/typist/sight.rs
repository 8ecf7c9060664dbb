//! Everything known and seen of an intent's seat at one moment, gathered afresh each time.
//!
//! Applies the journal and probes; `core` judges the result. Rows that are not up to date are not used.

use super::hands::{Hands, ReachHands};
use crate::handoff::typing::rules;
use crate::ingest::live;
use crate::runtime::{Env, Failure};
use crate::status::probe;
use towline_agents::Agent;
use towline_core::arbiter::ProcessProbe;
use towline_core::id::Uid;
use towline_core::seat::Seat;
use towline_core::session::Session;
use towline_core::text::SafeText;
use towline_core::typing::{
    InputLine, Intent, PaneObservation, SessionStartReport, ShownSession, TerminalAbilities, TypingContext,
    TypingRules, TypingVerdict, may_press, may_type,
};
use towline_store::{Store, StoreError, journal};

/// The data folder as a long-running process sees it.
pub(super) struct World<'a> {
    begun: &'a Env,
    reach: ReachHands<'a>,
    /// The store as last applied, and the journal's length at that time.
    applied: Option<(u64, Store)>,
}

/// One intent, and everything that decides whether it may be typed.
pub(super) struct Sight {
    pub env: Env,
    pub intent: Intent,
    pub hands: Option<Box<dyn Hands>>,
    /// The permanent reason why the seat cannot be probed.
    pub blind: Option<String>,
    rules: TypingRules,
    seat: Option<Seat>,
    session: Option<Session>,
    before: Option<Intent>,
    starts: SessionStartReport,
    process: ProcessProbe,
    abilities: TerminalAbilities,
    pub look: PaneObservation,
    line: InputLine,
    is_cursor_at_end: Option<bool>,
    shown: ShownSession,
    asked: Option<SafeText>,
}

impl<'a> World<'a> {
    pub fn new(begun: &'a Env, reach: ReachHands<'a>) -> Self {
        World { begun, reach, applied: None }
    }

    /// The environment with the current time.
    pub fn env(&self) -> Env {
        self.begun.later()
    }

    /// The store with the whole journal applied; `None` while that is not possible.
    pub fn store(&mut self) -> Result<Option<&Store>, Failure> {
        let home = &self.begun.home;
        let written = journal::unsealed_bytes(home);
        if self.applied.as_ref().is_none_or(|(seen, _)| *seen != written) {
            let env = self.begun.later();
            self.applied = live::apply(&env)?.map(|store| (written, store));
        }
        let Some((_, store)) = &self.applied else { return Ok(None) };
        if store.backlog_bytes()? == 0 {
            return Ok(self.applied.as_ref().map(|(_, store)| store));
        }
        self.applied = None;
        Ok(None)
    }

    pub fn intent(&mut self, uid: Uid) -> Result<Option<Intent>, Failure> {
        Ok(self.store()?.map(|store| store.intent(uid)).transpose()?.flatten())
    }

    /// Probes the seat; `None` while the rows are not up to date, or if the intent is gone.
    pub fn probe_seat(&mut self, uid: Uid) -> Result<Option<Sight>, Failure> {
        let env = self.env();
        let reach = self.reach;
        let Some(store) = self.store()? else { return Ok(None) };
        let Some(mut sight) = known(store, uid, env)? else { return Ok(None) };
        sight.look_around(reach);
        Ok(Some(sight))
    }
}

fn known(store: &Store, uid: Uid, env: Env) -> Result<Option<Sight>, StoreError> {
    let Some(intent) = store.intent(uid)? else { return Ok(None) };
    let before = intent.wish.after.map(|before| store.intent(before)).transpose()?.flatten();
    let key = intent.target_session(before.as_ref()).clone();
    Ok(Some(Sight {
        rules: rules(&env),
        env,
        seat: store.seat(&intent.wish.seat)?,
        asked: store.last_prompt(&key)?,
        session: store.session(&key)?,
        intent,
        hands: None,
        blind: None,
        before,
        starts: SessionStartReport::AtOnce,
        process: ProcessProbe::Unknown,
        abilities: TerminalAbilities::default(),
        look: PaneObservation::default(),
        line: InputLine::Unknown,
        is_cursor_at_end: None,
        shown: ShownSession::Unknown,
    }))
}

impl Sight {
    /// The session to type into.
    pub fn session(&self) -> towline_core::id::SessionKey {
        self.intent.target_session(self.before.as_ref()).clone()
    }

    pub fn may_type(&self) -> TypingVerdict {
        may_type(&self.intent, &self.moment(), &self.rules)
    }

    pub fn may_press(&self, typed_on: &PaneObservation) -> TypingVerdict {
        may_press(&self.intent, &self.moment(), &self.rules, typed_on)
    }

    fn look_around(&mut self, reach: ReachHands<'_>) {
        let Some(place) = self.seat.as_ref().map(|seat| seat.place.clone()) else { return };
        let Some(agent) = Agent::from_name(self.session().agent.as_str()) else { return };
        self.starts = agent.starts();
        self.process = probe::process(&place);
        match reach(&place, agent) {
            Err(why) => self.blind = Some(why),
            Ok(hands) => {
                self.abilities = hands.abilities();
                self.look = hands.look();
                self.line = self.read(&*hands);
                self.is_cursor_at_end = hands.is_cursor_at_end(&self.look);
                self.shown = hands.shown(&self.look);
                self.hands = Some(hands);
            }
        }
    }

    /// A placeholder that the agent shows for our text, such as for a long paste, counts as our text.
    fn read(&self, hands: &dyn Hands) -> InputLine {
        let text = self.intent.wish.text.as_str();
        let line = hands.input_line(&self.look);
        let is_ours = matches!(&line, InputLine::Holds { text: held } if hands.is_typed(held, text));
        if is_ours { InputLine::Holds { text: text.to_owned() } } else { line }
    }

    fn moment(&self) -> TypingContext<'_> {
        TypingContext {
            now: self.env.now,
            seat: self.seat.as_ref(),
            session: self.session.as_ref(),
            before: self.before.as_ref(),
            starts: self.starts,
            process: self.process,
            abilities: self.abilities,
            look: &self.look,
            line: &self.line,
            is_cursor_at_end: self.is_cursor_at_end,
            shown: &self.shown,
            asked: self.asked.as_ref(),
        }
    }
}
