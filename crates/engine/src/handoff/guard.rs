//! The guard of a filling context: what hooks see of it, who is told, and which helper is refused.
//!
//! Decides nothing: `core::meter` does, by what the journal says. It blocks nothing but helpers; the end of a turn least of
//! all. What the hot path asks is answered by one small file and the end of the transcript.

use crate::runtime::config::Config;
use crate::runtime::env::Env;
use crate::runtime::failure::chain;
use crate::runtime::faults;
use crate::status::probe;
use towline_agents::{Agent, Heard};
use towline_core::event::{Event, Happening, ToolOutcome};
use towline_core::fault::{Fault, FaultKind};
use towline_core::meter::{Audience, Fill, Source, Strategy, Told, due, refusal};
use towline_core::reply::{Reply, Verdict};
use towline_core::session::Session;
use towline_core::time::Timestamp;
use towline_store::journal::{self, Record};
use towline_store::meters::{self, Noted};
use towline_store::{Store, StoreError, marks};

/// For so long the agent's own display is believed to be still there and to tell of every change.
const DISPLAY_LASTS_MS: i64 = 600_000;

/// Whether an event that would else only be accepted is worth a look at the context. A single tool's end is not: the end of
/// the whole round follows it, or the answer before it has lifted the session's mark.
pub fn asks_at(happening: &Happening) -> bool {
    matches!(happening, Happening::ToolsFinished | Happening::ModelAnswered { .. })
}

/// Whether the model is to hear of its context, as far as it can be told without the database.
pub fn is_due(env: &Env, config: &Config, (agent, heard): (Agent, &Heard)) -> bool {
    let is_off = config.guard.strategy_in(heard.folder.as_deref()) == Strategy::Off;
    if is_off || heard.subagent.is_some() {
        return false;
    }
    let noted = meters::last(&env.home, &heard.session);
    let fill = glimpse((agent, heard), noted, env.now);
    fill.is_some_and(|fill| is_news(config, fill, noted))
}

/// Whether the model has not heard of it yet, as far as was noted.
fn is_news(config: &Config, fill: Fill, noted: Option<Noted>) -> bool {
    due(&config.guard.thresholds, fill.percent(), still_told(fill, noted)).is_some()
}

fn still_told(fill: Fill, noted: Option<Noted>) -> u8 {
    let told = Told { model: noted.map_or(0, |noted| noted.told), person: 0 };
    told.fallen_to(fill.percent()).model
}

/// How full the context is, as far as it can be told without the database.
fn glimpse((agent, heard): (Agent, &Heard), noted: Option<Noted>, now: Timestamp) -> Option<Fill> {
    let known = noted.map(|noted| noted.fill);
    let is_shown =
        |noted: &Noted| noted.fill.source == Source::Client && now.since_ms(noted.at) < DISPLAY_LASTS_MS;
    if let Happening::ModelAnswered { context_tokens } = heard.happening {
        return known.or_else(|| read(agent, heard)).map(|fill| fill.answered(context_tokens));
    }
    if noted.as_ref().is_some_and(is_shown) {
        return known;
    }
    read(agent, heard).map(|fill| known.map_or(fill, |known| known.answered(fill.tokens)))
}

fn read(agent: Agent, heard: &Heard) -> Option<Fill> {
    probe::context_near(agent, heard.transcript.as_deref()?).map(Fill::read)
}

/// A session at an event that is an occasion, and what its context was found to be at it.
pub struct Gauge {
    pub session: Session,
    news: Vec<Record>,
    is_read: bool,
}

impl Gauge {
    /// None where nothing can be said and nothing is worth knowing.
    pub fn at(store: &Store, event: &Event) -> Result<Option<Gauge>, StoreError> {
        if event.subagent.is_some() || !is_occasion(&event.happening) {
            return Ok(None);
        }
        let session = store.session(&event.session)?;
        Ok(session.map(|session| Gauge { session, news: vec![], is_read: false }))
    }

    /// Takes in what the transcript says now; a whole percent more or less is worth an event. Only where everything up to
    /// the last event is known: what is behind may have been said already.
    pub fn read(&mut self, env: &Env) {
        self.is_read = true;
        let before = self.session.meter.fill().map_or(0, Fill::percent);
        let Some(fill) = probe::said(&self.session) else { return };
        if fill.percent() != before {
            self.session.meter.measured(fill, env.now);
            self.news =
                vec![Record::Event(own_event(env, &self.session, Happening::ContextMeasured { fill }))];
        }
    }

    /// How full it is, in whole percent; nothing is begun on a guess.
    pub fn percent(&self) -> Option<u8> {
        self.session.meter.fill().filter(|_| self.is_read).map(Fill::percent)
    }
}

/// What is to be said with the answer to this event. Called with the fold lock held, so that it is said once.
pub fn reply(env: &Env, config: &Config, gauge: Gauge, event: &Event) -> Reply {
    let Gauge { mut session, news: mut records, is_read: true } = gauge else { return Reply::default() };
    let (reply, announced) = said(config, &session, event);
    for (percent, to) in announced {
        session.meter.told = session.meter.told.and(to, percent);
        records.push(record(env, event, Happening::ContextAnnounced { percent, to }));
    }
    if let Err(error) = accept(env, &records) {
        // What cannot be remembered would be said at every occasion from now on.
        faults::record_here(env, Fault { at: env.now, kind: FaultKind::Journal, detail: error });
        return Reply { notices: vec![], context: vec![], ..reply };
    }
    remember(env, &session);
    reply
}

/// Where something can be said, or is worth knowing.
fn is_occasion(happening: &Happening) -> bool {
    matches!(
        happening,
        Happening::PromptSubmitted { .. }
            | Happening::ToolFinished { outcome: ToolOutcome::Done | ToolOutcome::Failed, .. }
            | Happening::ToolsFinished
            | Happening::TurnEnded { .. }
            | Happening::CompactionStarted { .. }
            | Happening::CompactionEnded { .. }
            | Happening::HelperWanted { .. }
    )
}

/// What each audience is due at this event, and the thresholds that were used up by it.
fn said(config: &Config, session: &Session, event: &Event) -> (Reply, Vec<(u8, Audience)>) {
    let mut reply = Reply::default();
    let mut announced = vec![];
    let is_off = config.guard.strategy_in(session.folder.as_deref()) == Strategy::Off;
    let Some(fill) = session.meter.fill().filter(|_| !is_off) else { return (reply, announced) };
    if let Happening::HelperWanted { .. } = event.happening {
        if let Some(reason) = refusal(fill, config.guard.refuse_helpers_at) {
            reply.verdict = Verdict::Block { reason };
        }
        return (reply, announced);
    }
    for audience in Audience::at(&event.happening) {
        let told = session.meter.told.of(*audience);
        let Some(notice) = due(&config.guard.thresholds, fill.percent(), told) else { continue };
        let words = notice.words(fill, &session.key.to_string());
        match audience {
            Audience::Model => reply.context.push(words),
            Audience::Person => reply.notices.push(words),
        }
        announced.push((notice.percent, *audience));
    }
    (reply, announced)
}

fn record(env: &Env, event: &Event, happening: Happening) -> Record {
    let event = Event { uid: env.uid(), at: env.now, turn: None, happening, scene: None, ..event.clone() };
    Record::Event(event)
}

fn own_event(env: &Env, session: &Session, happening: Happening) -> Event {
    let (uid, at, session) = (env.uid(), env.now, session.key.clone());
    Event { uid, at, session, subagent: None, turn: None, happening, scene: None }
}

fn accept(env: &Env, records: &[Record]) -> Result<(), String> {
    if records.is_empty() {
        return Ok(());
    }
    journal::append(&env.home, records).map_err(|error| chain(&error))
}

/// Leaves what is known to those who cannot afford to ask. Losing it costs a fold too many. After a compaction the old
/// number stays, so that a display which still shows it brings no news.
fn remember(env: &Env, session: &Session) {
    let known = meters::last(&env.home, &session.key);
    let last = session.meter.last.or_else(|| known.map(|known| (known.fill, known.at)));
    let Some((fill, at)) = last else { return };
    let noted = Noted { fill, at, told: session.meter.told.model };
    if known.is_none_or(|known| Noted { at, ..known } != noted) {
        let _ = meters::note(&env.home, &session.key, noted);
    }
}

/// Takes in what an agent's display says, if it is news: one event, and the mark of the session is lifted if its model is
/// to hear of it.
pub fn shown(env: &Env, config: &Config, status: &towline_agents::Status) {
    let Some(fill) = status.fill else { return };
    let noted = meters::last(&env.home, &status.session);
    if noted.is_some_and(|noted| noted.fill == fill && env.now.since_ms(noted.at) < DISPLAY_LASTS_MS / 2) {
        return;
    }
    let happening = Happening::ContextMeasured { fill };
    let (uid, at, session) = (env.uid(), env.now, status.session.clone());
    let event = Event { uid, at, session, subagent: None, turn: None, happening, scene: None };
    let is_same = noted.is_some_and(|noted| noted.fill == fill);
    if !is_same && let Err(error) = accept(env, &[Record::Event(event)]) {
        return faults::record_here(env, Fault { at: env.now, kind: FaultKind::Journal, detail: error });
    }
    let is_off = config.guard.strategy_in(status.folder.as_deref()) == Strategy::Off;
    if !is_off && is_news(config, fill, noted) {
        marks::lift(&env.home, &status.session);
    }
    let told = still_told(fill, noted);
    let _ = meters::note(&env.home, &status.session, Noted { fill, at: env.now, told });
}
