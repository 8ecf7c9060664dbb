//! The context guard: measures how full a context is, notifies model and user, and refuses subagents.
//!
//! Decides nothing: `core::meter` does, from the journal. Blocks only subagents, never the end of a turn. The
//! hot path reads one small file and the end of the transcript.

use crate::runtime::{Config, Env, record};
use crate::status::probe;
use towline_agents::{Agent, HookEvent};
use towline_core::event::{Event, EventKind, ToolOutcome};
use towline_core::id::SessionKey;
use towline_core::meter::{
    ContextStrategy, ContextUsage, NoticeAudience, NotifiedThresholds, UsageSource, due, refusal,
};
use towline_core::reply::{Reply, ReplyVerdict};
use towline_core::session::Session;
use towline_core::time::Timestamp;
use towline_store::meters::{self, CachedUsage};
use towline_store::{Store, StoreError, marks};

/// How long the agent's own status display is assumed to run and to report every change.
const DISPLAY_LASTS_MS: i64 = 600_000;

/// Whether an event that would otherwise only be journaled warrants a context check. The end of a single tool
/// does not: the end of the round follows, or the answer before it has lifted the mark.
pub fn triggers_context_check(happening: &EventKind) -> bool {
    matches!(happening, EventKind::ToolsFinished | EventKind::ModelAnswered { .. })
}

/// Whether the model is to be notified about its context, as far as known without the database.
pub fn is_due(env: &Env, config: &Config, agent: Agent, heard: &HookEvent) -> bool {
    let is_off = config.guard.strategy_in(heard.folder.as_deref()) == ContextStrategy::Off;
    if is_off || heard.subagent.is_some() {
        return false;
    }
    let noted = meters::last(&env.home, &heard.session);
    let fill = glimpse(agent, heard, noted, env.now);
    fill.is_some_and(|fill| is_news(config, fill, noted))
}

/// More than one answer adds to a context, in percent: only a large paste adds more.
const REACH: u8 = 10;

/// Whether the answer that ended a turn may have reached a threshold, by the last noted number.
pub fn is_near(env: &Env, config: &Config, heard: &HookEvent) -> bool {
    let is_off = config.guard.strategy_in(heard.folder.as_deref()) == ContextStrategy::Off;
    let Some(noted) = meters::last(&env.home, &heard.session) else { return !is_off };
    let within_reach = noted.fill.percent().saturating_add(REACH);
    !is_off && due(&config.guard.thresholds, within_reach, still_told(noted.fill, Some(noted))).is_some()
}

/// Whether the model was not yet notified at this level, according to the noted meter.
fn is_news(config: &Config, fill: ContextUsage, noted: Option<CachedUsage>) -> bool {
    due(&config.guard.thresholds, fill.percent(), still_told(fill, noted)).is_some()
}

fn still_told(fill: ContextUsage, noted: Option<CachedUsage>) -> u8 {
    let told = NotifiedThresholds { model: noted.map_or(0, |noted| noted.told), person: 0 };
    told.after_change_to(fill.percent()).model
}

/// How full the context is, as far as known without the database.
fn glimpse(
    agent: Agent,
    heard: &HookEvent,
    noted: Option<CachedUsage>,
    now: Timestamp,
) -> Option<ContextUsage> {
    let known = noted.map(|noted| noted.fill);
    let is_shown = |noted: &CachedUsage| {
        noted.fill.source == UsageSource::Client && now.since_ms(noted.at) < DISPLAY_LASTS_MS
    };
    if let EventKind::ModelAnswered { context_tokens } = heard.happening {
        return known.or_else(|| read(agent, heard)).map(|fill| fill.answered(context_tokens));
    }
    if noted.as_ref().is_some_and(is_shown) {
        return known;
    }
    read(agent, heard).map(|fill| known.map_or(fill, |known| known.answered(fill.tokens)))
}

fn read(agent: Agent, heard: &HookEvent) -> Option<ContextUsage> {
    probe::context_near(agent, heard.transcript.as_deref()?).map(ContextUsage::read)
}

/// A session at an event where the guard acts, and the context measured there. Memory giving needs it too (`apply::heir`).
pub struct Gauge {
    pub session: Session,
    news: Vec<Event>,
    is_read: bool,
}

impl Gauge {
    /// `None` for events at which the guard neither replies nor measures. `applied` is the session if it was just applied.
    pub fn at(store: &Store, event: &Event, applied: Option<&Session>) -> Result<Option<Gauge>, StoreError> {
        if event.subagent.is_some() || !is_occasion(&event.happening) {
            return Ok(None);
        }
        let session = match applied {
            Some(session) => Some(session.clone()),
            None => store.session(&event.session)?,
        };
        Ok(session.map(|session| Gauge { session, news: vec![], is_read: false }))
    }

    /// Measures the context from the transcript; a change of a whole percent is worth an event. Call only
    /// once everything up to the last event is applied: otherwise the model may have been notified already.
    pub fn read(&mut self, env: &Env) {
        self.is_read = true;
        let before = self.session.meter.fill().map_or(0, ContextUsage::percent);
        let Some(fill) = probe::reported_context(&self.session) else { return };
        if fill.percent() != before {
            self.session.meter.measured(fill, env.now);
            self.news = vec![record::event(env, &self.session.key, EventKind::ContextMeasured { fill })];
        }
    }

    /// The measured fill in whole percent; `None` before a measurement, since no hop begins on a guess.
    pub fn percent(&self) -> Option<u8> {
        self.session.meter.fill().filter(|_| self.is_read).map(ContextUsage::percent)
    }
}

/// The guard's reply to this event. Called with the apply lock held, so that each notice appears once.
pub fn reply(env: &Env, config: &Config, gauge: Gauge, event: &Event) -> Reply {
    let Gauge { mut session, news: mut events, is_read: true } = gauge else { return Reply::default() };
    let (reply, announced) = said(config, &session, event);
    for (percent, to) in announced {
        session.meter.told = session.meter.told.and(to, percent);
        let (happening, event) = (EventKind::ContextAnnounced { percent, to }, event.clone());
        events.push(Event { uid: env.uid(), at: env.now, turn: None, happening, scene: None, ..event });
    }
    if !record::append_or_fault(env, events) {
        // Without a record, the same notice would be repeated at every event from now on.
        return Reply { notices: vec![], context: vec![], ..reply };
    }
    remember(env, &session);
    reply
}

/// Events at which the guard can reply, or should measure.
fn is_occasion(happening: &EventKind) -> bool {
    matches!(
        happening,
        EventKind::PromptSubmitted { .. }
            | EventKind::ToolFinished { outcome: ToolOutcome::Done | ToolOutcome::Failed, .. }
            | EventKind::ToolsFinished
            | EventKind::TurnEnded { .. }
            | EventKind::CompactionStarted { .. }
            | EventKind::CompactionEnded { .. }
            | EventKind::SubagentWanted { .. }
    )
}

/// The notices due at this event, and the thresholds that they use up.
fn said(config: &Config, session: &Session, event: &Event) -> (Reply, Vec<(u8, NoticeAudience)>) {
    let mut reply = Reply::default();
    let mut announced = vec![];
    let is_off = config.guard.strategy_in(session.folder.as_deref()) == ContextStrategy::Off;
    let Some(fill) = session.meter.fill().filter(|_| !is_off) else { return (reply, announced) };
    if let EventKind::SubagentWanted { .. } = event.happening {
        if let Some(reason) = refusal(fill, config.guard.refuse_helpers_at) {
            reply.verdict = ReplyVerdict::Block { reason };
        }
        return (reply, announced);
    }
    for audience in NoticeAudience::at(&event.happening) {
        let told = session.meter.told.of(*audience);
        let Some(notice) = due(&config.guard.thresholds, fill.percent(), told) else { continue };
        let words = notice.message(fill, &session.key.to_string());
        match audience {
            NoticeAudience::Model => reply.context.push(words),
            NoticeAudience::Person => reply.notices.push(words),
        }
        announced.push((notice.percent, *audience));
    }
    (reply, announced)
}

/// Caches the meter for hooks that cannot open the database; losing it costs one extra apply. After a
/// compaction the old number stays, so that a display which still shows it is not news.
fn remember(env: &Env, session: &Session) {
    let known = meters::last(&env.home, &session.key);
    let last = session.meter.last.or_else(|| known.map(|known| (known.fill, known.at)));
    let Some((fill, at)) = last else { return };
    let noted = CachedUsage { fill, at, told: session.meter.told.model };
    if known.is_none_or(|known| CachedUsage { at, ..known } != noted) {
        let _ = meters::note(&env.home, &session.key, noted);
    }
}

/// Records the fill that an agent reports with an event or to its status display, if it changed: one event, and the
/// session's mark is lifted if its model is to be notified.
pub fn shown(env: &Env, config: &Config, session: &SessionKey, folder: Option<&str>, fill: ContextUsage) {
    let noted = meters::last(&env.home, session);
    if noted.is_some_and(|noted| noted.fill == fill && env.now.since_ms(noted.at) < DISPLAY_LASTS_MS / 2) {
        return;
    }
    let event = record::event(env, session, EventKind::ContextMeasured { fill });
    let is_same = noted.is_some_and(|noted| noted.fill == fill);
    if !is_same && !record::append_or_fault(env, [event]) {
        return;
    }
    let is_off = config.guard.strategy_in(folder) == ContextStrategy::Off;
    if !is_off && is_news(config, fill, noted) {
        marks::unmark(&env.home, session);
    }
    let told = still_told(fill, noted);
    let _ = meters::note(&env.home, session, CachedUsage { fill, at: env.now, told });
}
