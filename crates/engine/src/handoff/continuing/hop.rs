//! The events of a hop: how it begins, and the intents typed once its handoff exists.
//!
//! All events of one step are one write: no intent is made without the hop that it belongs to.

use crate::capture;
use crate::handoff::{past, typing};
use crate::runtime::{Config, Env, record};
use std::time::Duration;
use towline_agents::Agent;
use towline_core::compose::Handoff;
use towline_core::continuing::{HandoffAuthor, HopIntents, HopRequest, HopStage, form, mechanical};
use towline_core::event::{Event, EventKind};
use towline_core::id::{SessionKey, Uid};
use towline_core::session::Session;
use towline_core::text::{CleanText, SafeText, SecretPolicy, TextPolicy};
use towline_core::typing::{IntentPurpose, IntentRequest};
use towline_store::{Store, StoreError};

#[derive(Clone, Copy)]
pub struct Journey<'a> {
    pub hop: Uid,
    pub session: &'a SessionKey,
    pub seat: &'a str,
}

/// Whether typing is allowed now.
pub fn is_allowed(env: &Env, config: &Config) -> bool {
    config.typing.enabled && typing::paused(&env.home, env.now).is_none()
}

/// A handoff as it is stored. Secrets are always redacted, because a model will read it.
pub fn kept(text: &str) -> SafeText {
    let keeping = TextPolicy { longest_bytes: 2 * form::LONGEST_BYTES, secrets: SecretPolicy::Redacted };
    // The text may be typed into a terminal later: keep no control characters but line breaks.
    // Redacted before they are removed, too: they may stand inside a secret.
    let clean = CleanText::redacted(text);
    let plain: String =
        clean.as_str().chars().map(|c| if c == '\t' { ' ' } else { c }).filter(is_text).collect();
    SafeText::new(&plain, keeping)
}

fn is_text(c: &char) -> bool {
    !c.is_control() || *c == '\n'
}

/// The events that begin a hop. A mechanical one has its handoff at once and goes on to typing.
pub fn begin(
    env: &Env,
    config: &Config,
    store: &Store,
    session: &Session,
    asking: HopRequest,
) -> Result<(Uid, Vec<Event>), StoreError> {
    let seat = asking.seat.clone();
    let (hop, mut events, text) = asked(env, store, session, asking)?;
    if text.is_some() {
        events.extend(start_hop(env, config, Journey { hop, session: &session.key, seat: &seat }));
    }
    Ok((hop, events))
}

/// The events of the request, and of the handoff with its text if that is mechanical.
pub fn asked(
    env: &Env,
    store: &Store,
    session: &Session,
    asking: HopRequest,
) -> Result<(Uid, Vec<Event>, Option<SafeText>), StoreError> {
    let by = asking.author;
    let asked = record::event(env, &session.key, EventKind::HandoffAsked { asking });
    let hop = asked.uid;
    if by != HandoffAuthor::Mechanical {
        return Ok((hop, vec![asked], None));
    }
    let text = kept(&form::render(&from_what_is_known(env, store, session)?));
    let written = EventKind::HandoffWritten { hop, text: text.clone(), by };
    Ok((hop, vec![asked, record::event(env, &session.key, written)], Some(text)))
}

/// The events of a hop for which nothing is typed. The reply to the agent gives the handoff, unless another session goes
/// on: that is given it with its first prompt.
pub fn restart(env: &Env, hop: Uid, session: &SessionKey) -> Vec<Event> {
    let moved = EventKind::HopMoved { hop, to: HopStage::Clearing, why: None, typed: None };
    let given = Some(EventKind::HandoffGiven { hop }).filter(|_| !restarts_in_new_session(session));
    given.into_iter().chain([moved]).map(|happening| record::event(env, session, happening)).collect()
}

pub fn restarts_in_new_session(session: &SessionKey) -> bool {
    Agent::from_name(session.agent.as_str()).is_some_and(Agent::restarts_in_new_session)
}

/// The events that take a hop from its handoff to typing: clear the session, then prompt its successor.
pub fn start_hop(env: &Env, config: &Config, journey: Journey<'_>) -> Vec<Event> {
    let Journey { hop, session, seat } = journey;
    let Some(agent) = Agent::from_name(session.agent.as_str()) else { return vec![] };
    // Both intents have to be typed and confirmed, one after the other.
    let expires_at = env.now.plus_ms(2 * (config.typing.limit_ms + config.typing.confirm_ms));
    let wish = |purpose, text: &str| IntentRequest::new(seat, purpose, text, expires_at);
    let prompt = form::prompt(hop);
    let (Ok(clear), Ok(go_on)) =
        (wish(IntentPurpose::Clear, agent.clear_command()), wish(IntentPurpose::Continue, &prompt))
    else {
        return vec![];
    };
    let clear = record::event(env, session, EventKind::IntentMade { wish: clear });
    let go_on = record::event(env, session, EventKind::IntentMade { wish: go_on.after(clear.uid) });
    let typed = Some(HopIntents { clear: clear.uid, go_on: go_on.uid });
    let moved = EventKind::HopMoved { hop, to: HopStage::Clearing, why: None, typed };
    vec![clear, go_on, record::event(env, session, moved)]
}

fn from_what_is_known(env: &Env, store: &Store, session: &Session) -> Result<Handoff, StoreError> {
    let archive = capture::snapshot_with(env, Some(session), PATIENCE)?;
    let material = past::material(archive.as_ref(), Some(store), &session.key, String::new(), env.now)?;
    let handed = store.hop_to(&session.key)?.and_then(|hop| Some(form::parts(hop.text()?).task));
    let past = material.past.as_ref();
    Ok(past.map(|past| mechanical(past, &material.chain, handed.as_deref())).unwrap_or_default())
}

/// The agent is waiting: data that is not available at once is left out.
const PATIENCE: Duration = Duration::from_millis(100);
