//! The state of a session as a pure function of its events.
//!
//! `step` is the only place that decides. It does no I/O and reads no clock: reactions to a change are returned as
//! effects, and the caller carries them out once the change is saved.

mod effects;

use crate::bookmark::{Bookmark, How, Rest, Setting, SinceBookmark};
use crate::continuing::{Asking, Author};
use crate::effect::Effect;
use crate::event::{
    EndedBy, Event, Failure, Happening, Observed, Origin, Presence, Reason, Scene, StartedBy, ToolOutcome,
};
use crate::inherit::{Inheriting, Wishes};
use crate::meter::{Audience, Fill, Meter};
use crate::seat::{Place, Seat};
use crate::session::{Asked, Session, State, Turn, TurnOutcome, Wait};
use crate::text::Kept;
use crate::time::Timestamp;
use effects::{announce, announce_bookmark, announce_seat};
use std::collections::BTreeSet;

/// The stored state when an event arrives: its session, the seat of its scene, and the seat it occupied so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Before {
    pub session: Option<Session>,
    pub seat: Option<Seat>,
    pub former_seat: Option<Seat>,
}

/// The state to store afterwards. Absent means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct After {
    pub session: Option<Session>,
    /// The seat it took, and the one it left for it.
    pub seat: Option<Seat>,
    pub left_seat: Option<Seat>,
    /// A turn that this event ended; the open one is part of the session.
    pub ended_turn: Option<Turn>,
    /// A wait for the user that this event ended.
    pub ended_wait: Option<Wait>,
    /// A bookmark that this event set.
    pub bookmark: Option<Bookmark>,
    pub effects: Vec<Effect>,
}

/// Applies one event. The events of a session must come in the order they were accepted.
pub fn step(before: Before, event: &Event) -> After {
    let previous = before.session.as_ref().map(|session| (session.state, session.since));
    let previous_seat = before.session.as_ref().and_then(|session| session.seat.clone());
    let Some(mut session) = before.session.or_else(|| new_session(event)) else { return After::default() };
    if event.happening.is_the_agents() {
        session.last_event_at = session.last_event_at.max(event.at);
    }
    if let Some(scene) = &event.scene {
        apply_scene(&mut session, scene);
    }
    let seat = take_seat(&mut session, before.seat, event);
    let left_seat =
        before.former_seat.filter(|_| seat.is_some()).and_then(|former| leave_seat(&session, former));
    let since_bookmark = session.since_bookmark;
    session.since_bookmark.take_in(event, session.context_tokens);
    let ended_turn = apply(&mut session, event);
    let bookmark = bookmark_set(&session, event, &since_bookmark);
    let ended_wait = previous.and_then(|(state, since)| ended_wait(state, since, &session, event));
    let mut effects = announce(previous.map(|(state, _)| state), &session, event);
    effects.extend(announce_seat(previous_seat.as_deref(), &session));
    effects.extend(announce_bookmark(&session, event));
    After { session: Some(session), seat, left_seat, ended_turn, ended_wait, bookmark, effects }
}

/// Any event of the agent creates its session, except its end: a session only seen ending is not recorded.
fn new_session(event: &Event) -> Option<Session> {
    if matches!(event.happening, Happening::SessionEnded { .. }) || !event.happening.is_the_agents() {
        return None;
    }
    let started_by =
        if let Happening::SessionStarted { by, .. } = event.happening { by } else { StartedBy::Unknown };
    Some(Session {
        // Taken from the event, so that a database rebuilt from the journal has the same ids.
        uid: event.uid,
        key: event.session.clone(),
        state: State::Idle,
        since: event.at,
        seen: true,
        started_at: event.at,
        started_by,
        last_event_at: event.at,
        ended: None,
        presence: Presence::Headless,
        folder: None,
        transcript: None,
        model: None,
        project: None,
        seat: None,
        previous: None,
        prompt: None,
        prompted_at: None,
        answer: None,
        inheriting: Inheriting::Nothing,
        wishes: Wishes::default(),
        fresh_at: None,
        asked: None,
        limited_until: None,
        recalled_at: None,
        tasks: 0,
        subagents: BTreeSet::new(),
        background: 0,
        context_tokens: None,
        meter: Meter::default(),
        compactions: 0,
        turns: 0,
        since_bookmark: SinceBookmark::default(),
        open_turn: None,
    })
}

/// Copies the scene's values; absent ones leave the session unchanged.
fn apply_scene(session: &mut Session, scene: &Scene) {
    session.presence = scene.presence;
    let update = |field: &mut Option<String>, value: &Option<String>| {
        if value.is_some() {
            field.clone_from(value);
        }
    };
    update(&mut session.folder, &scene.folder);
    update(&mut session.transcript, &scene.transcript);
    update(&mut session.model, &scene.model);
    if scene.project.is_some() {
        session.project.clone_from(&scene.project);
    }
}

/// Seats the session where it starts, where it was found, or where it is first seen. Headless sessions take no seat: a
/// script run by an agent would otherwise displace that agent from its own pane.
fn take_seat(session: &mut Session, stored: Option<Seat>, event: &Event) -> Option<Seat> {
    let place = event.scene.as_ref()?.place.as_ref()?;
    let names_seat = matches!(event.happening, Happening::SessionStarted { .. } | Happening::SeatFound);
    if session.presence == Presence::Headless
        || event.subagent.is_some()
        || !(names_seat || session.seat.is_none())
    {
        return None;
    }
    let mut seat = stored.unwrap_or_else(|| new_seat(place, event));
    if session.seat.is_none() && session.previous.is_none() {
        session.previous = seat.current.take().filter(|sitting| *sitting != session.key);
    }
    session.seat = Some(place.key.clone());
    let proof = seat.place.proof.max(place.proof);
    seat.place = Place { proof, ..place.clone() };
    seat.last_seen = event.at;
    seat.current = Some(session.key.clone());
    Some(seat)
}

/// Frees the former seat of a session that moved, unless another session has taken it.
fn leave_seat(session: &Session, mut former: Seat) -> Option<Seat> {
    let moved = session.seat.as_ref() != Some(&former.place.key);
    if !moved || former.current.as_ref() != Some(&session.key) {
        return None;
    }
    former.current = None;
    Some(former)
}

fn new_seat(place: &Place, event: &Event) -> Seat {
    Seat { place: place.clone(), current: None, first_seen: event.at, last_seen: event.at }
}

/// Dispatches to one small function per event kind; returns the turn that the event ended.
fn apply(session: &mut Session, event: &Event) -> Option<Turn> {
    let inside_subagent = event.subagent.is_some();
    match &event.happening {
        Happening::SessionStarted { by, wishes } => session_started(session, event, *by, *wishes),
        Happening::SessionEnded { by } => session_ended(session, event, *by),
        Happening::PromptSubmitted { .. } if inside_subagent => None,
        Happening::PromptSubmitted { prompt, origin, .. } => prompted(session, event, prompt, *origin),
        Happening::ToolFinished { outcome, .. } => tool_finished(session, event, *outcome),
        Happening::ToolsFinished => tools_finished(session, event),
        Happening::PermissionAsked { reason, tool } => permission_asked(session, event, *reason, tool),
        Happening::PermissionRefused { .. } => tool_finished(session, event, ToolOutcome::Failed),
        Happening::AttentionAsked { reason } => attention_asked(session, event, *reason),
        Happening::AttentionGiven => unblock(session, event),
        Happening::TurnEnded { .. } | Happening::TurnFailed { .. } | Happening::Interrupted
            if inside_subagent =>
        {
            None
        }
        Happening::TurnEnded { background, answer } => {
            keep_answer(session, answer.as_ref());
            turn_ended(session, event, *background)
        }
        Happening::TurnFailed { failure, until } => turn_failed(session, event, *failure, *until),
        Happening::Interrupted => interrupted(session, event),
        Happening::SubagentStarted => subagent_started(session, event),
        Happening::SubagentStopped => subagent_stopped(session, event),
        Happening::CompactionStarted { .. }
        | Happening::HelperWanted { .. }
        | Happening::FolderChanged
        | Happening::SeatFound
        | Happening::BatonDropped
        | Happening::BatonCame(_)
        | Happening::InheritanceTaken { .. }
        | Happening::InheritanceGiven { .. }
        | Happening::IntentMade { .. }
        | Happening::IntentMoved { .. }
        | Happening::BookmarkSet(_)
        | Happening::BookmarkPlaced { .. }
        | Happening::BookmarkDeleted { .. }
        | Happening::BookmarkRestored { .. }
        | Happening::MarkerWanted { .. }
        | Happening::HandoffWritten { .. }
        | Happening::HopMoved { .. }
        | Happening::HandoffGiven { .. }
        | Happening::HopTold { .. } => None,
        Happening::HandoffAsked { asking } => handoff_asked(session, event, asking),
        // The later wish wins.
        Happening::BatonPassed | Happening::FreshTakenBack => set_fresh(session, None),
        Happening::FreshAsked => set_fresh(session, Some(event.at)),
        Happening::TaskCompleted => task_completed(session),
        Happening::Seen => seen(session),
        Happening::Observed { as_of, .. } if session.last_event_at > *as_of => None,
        Happening::Observed { what, until, .. } => observed(session, event, *what, *until),
        Happening::CompactionEnded { .. } => compaction_ended(session, event),
        Happening::ModelAnswered { context_tokens } => model_answered(session, event, *context_tokens),
        Happening::ContextMeasured { fill } => context_measured(session, event, *fill),
        Happening::ContextAnnounced { percent, to } => context_announced(session, *to, *percent),
        Happening::MemoryGiven { .. } => memory_given(session, event),
    }
}

fn session_started(session: &mut Session, event: &Event, by: StartedBy, wishes: Wishes) -> Option<Turn> {
    // Compaction announces a start in the middle of the same session's work.
    if by == StartedBy::Compact {
        return None;
    }
    if matches!(by, StartedBy::Startup | StartedBy::Clear) && session.prompted_at.is_none() {
        session.inheriting = Inheriting::Undecided;
        session.wishes = wishes;
    }
    session.ended = None;
    enter(session, event, State::Idle);
    close_turn(session, event, TurnOutcome::Abandoned)
}

fn session_ended(session: &mut Session, event: &Event, by: EndedBy) -> Option<Turn> {
    session.ended = Some((event.at, by));
    session.subagents.clear();
    session.background = 0;
    enter(session, event, State::Ended);
    close_turn(session, event, TurnOutcome::Abandoned)
}

fn prompted(session: &mut Session, event: &Event, prompt: &Kept, origin: Origin) -> Option<Turn> {
    session.ended = None;
    let is_at_rest = origin == Origin::Bookmark && session.state == State::Completed;
    session.since_bookmark.rested = is_at_rest.then_some(Rest { since: session.since, seen: session.seen });
    enter(session, event, State::Working);
    if event.happening.is_real_prompt() {
        record_prompt(session, event);
    }
    match origin {
        Origin::Human | Origin::Command if is_own_prompt(&event.happening) => {}
        Origin::Human | Origin::Command => {
            session.prompt = Some(prompt.clone());
            session.tasks = 0;
        }
        Origin::Notification | Origin::Bookmark | Origin::Continuation => {}
    }
    if let Some(open) = session.open_turn.as_mut().filter(|open| open.id.is_some() && open.id == event.turn) {
        open.steered += 1;
        return None;
    }
    let ended = close_turn(session, event, TurnOutcome::Abandoned);
    session.turns += 1;
    session.open_turn = Some(Turn {
        uid: event.uid,
        ordinal: session.turns,
        id: event.turn.clone(),
        origin,
        prompt: prompt.clone(),
        started_at: event.at,
        ended: None,
        tool_calls: 0,
        tool_failures: 0,
        steered: 0,
    });
    ended
}

/// The inheritance is decided at the first prompt, not at the start: some sessions start and are never used.
fn record_prompt(session: &mut Session, event: &Event) {
    session.prompted_at = Some(event.at);
    match session.inheriting {
        Inheriting::Undecided => session.inheriting = Inheriting::Prompted,
        // Continuing the work cancels the wish for a fresh start.
        Inheriting::Nothing | Inheriting::Prompted | Inheriting::Due | Inheriting::Settled => {
            session.fresh_at = None;
        }
    }
}

fn is_own_prompt(happening: &Happening) -> bool {
    matches!(happening, Happening::PromptSubmitted { own: Some(_), .. })
}

/// A finished tool resumes a waiting session. It resumes neither an ended session nor one whose turn is over: results
/// arrive late, and only a subagent works on between turns.
fn tool_finished(session: &mut Session, event: &Event, outcome: ToolOutcome) -> Option<Turn> {
    if let Some(turn) = &mut session.open_turn {
        turn.tool_calls += 1;
        turn.tool_failures += u32::from(outcome != ToolOutcome::Done);
    }
    if outcome == ToolOutcome::Interrupted && event.subagent.is_none() {
        return interrupted(session, event);
    }
    let is_late = session.open_turn.is_none() && event.subagent.is_none();
    match session.state {
        State::Ended => {}
        State::Blocked(_) if is_about_another(session, event) => {}
        State::Completed | State::Interrupted | State::Limited if is_late => {}
        State::Idle
        | State::Working
        | State::Blocked(_)
        | State::Completed
        | State::Interrupted
        | State::Limited => enter(session, event, State::Working),
    }
    None
}

/// A refusal runs no hook of its own: only the end of its round of tools reveals it.
fn tools_finished(session: &mut Session, event: &Event) -> Option<Turn> {
    let is_its_own = session.asked.as_ref().is_none_or(|asked| asked.subagent == event.subagent);
    if is_its_own { unblock(session, event) } else { None }
}

/// A dialog stays open while other tools requested with it finish.
fn is_about_another(session: &Session, event: &Event) -> bool {
    let Some(asked) = &session.asked else { return false };
    asked.subagent != event.subagent || event.happening.tool() != Some(&asked.tool)
}

fn permission_asked(session: &mut Session, event: &Event, reason: Reason, tool: &Kept) -> Option<Turn> {
    if session.state != State::Ended {
        session.asked = Some(Asked { tool: tool.clone(), subagent: event.subagent.clone(), at: event.at });
    }
    block(session, event, reason)
}

fn block(session: &mut Session, event: &Event, reason: Reason) -> Option<Turn> {
    if session.state != State::Ended {
        enter(session, event, State::Blocked(reason));
    }
    None
}

/// The agent's own notice comes seconds late: it is ignored once the session has resumed or stopped.
fn attention_asked(session: &mut Session, event: &Event, reason: Reason) -> Option<Turn> {
    match session.state {
        State::Working => block(session, event, reason),
        State::Idle
        | State::Blocked(_)
        | State::Completed
        | State::Interrupted
        | State::Limited
        | State::Ended => None,
    }
}

fn unblock(session: &mut Session, event: &Event) -> Option<Turn> {
    if matches!(session.state, State::Blocked(_)) {
        enter(session, event, State::Working);
    }
    None
}

fn turn_ended(session: &mut Session, event: &Event, background: Option<u32>) -> Option<Turn> {
    session.background = background.unwrap_or(0);
    if background == Some(0) {
        session.subagents.clear();
    }
    let subagents_at_work = session.background > 0 || !session.subagents.is_empty();
    match session.state {
        State::Working | State::Blocked(_) if subagents_at_work => enter(session, event, State::Working),
        State::Working | State::Blocked(_) => complete(session, event),
        State::Idle | State::Completed | State::Interrupted | State::Limited | State::Ended => {}
    }
    close_turn(session, event, TurnOutcome::Completed)
}

/// The answer to a marker needs no attention: restores the state from before the marker.
fn complete(session: &mut Session, event: &Event) {
    let is_seen = session.seen;
    enter(session, event, State::Completed);
    if let Some(rest) = session.since_bookmark.rested.take() {
        session.since = rest.since;
        session.seen = rest.seen || is_seen;
    }
}

/// The answer to a marker says nothing about the work.
fn keep_answer(session: &mut Session, answer: Option<&Kept>) {
    let is_marker = |turn: &Turn| turn.origin == Origin::Bookmark && turn.steered == 0;
    if !session.open_turn.as_ref().is_some_and(is_marker) {
        session.answer = answer.cloned().or(session.answer.take());
    }
}

fn turn_failed(
    session: &mut Session,
    event: &Event,
    failure: Failure,
    until: Option<Timestamp>,
) -> Option<Turn> {
    match (session.state, failure) {
        (State::Ended, _) => {}
        (_, Failure::UsageLimit) => {
            enter(session, event, State::Limited);
            session.limited_until = until.or(session.limited_until);
        }
        (_, Failure::Other) => enter(session, event, State::Interrupted),
    }
    close_turn(session, event, TurnOutcome::Failed)
}

fn interrupted(session: &mut Session, event: &Event) -> Option<Turn> {
    if session.state != State::Ended {
        enter(session, event, State::Interrupted);
    }
    close_turn(session, event, TurnOutcome::Interrupted)
}

fn subagent_started(session: &mut Session, event: &Event) -> Option<Turn> {
    session.subagents.extend(event.subagent.clone());
    None
}

/// A subagent that stops no longer waits for an answer.
fn subagent_stopped(session: &mut Session, event: &Event) -> Option<Turn> {
    let was_running = event.subagent.as_ref().is_some_and(|id| session.subagents.remove(id));
    if was_running { unblock(session, event) } else { None }
}

fn compaction_ended(session: &mut Session, event: &Event) -> Option<Turn> {
    session.compactions += 1;
    session.context_tokens = None;
    session.meter.compacted(event.at);
    // The compaction removed the memories from the context.
    session.recalled_at = None;
    None
}

fn memory_given(session: &mut Session, event: &Event) -> Option<Turn> {
    session.recalled_at = Some(event.at);
    None
}

fn model_answered(session: &mut Session, event: &Event, context_tokens: u64) -> Option<Turn> {
    if event.subagent.is_none() {
        session.context_tokens = Some(context_tokens);
        session.meter.answered(context_tokens, event.at);
    }
    None
}

fn context_measured(session: &mut Session, event: &Event, fill: Fill) -> Option<Turn> {
    session.context_tokens = Some(fill.tokens);
    session.meter.measured(fill, event.at);
    None
}

fn context_announced(session: &mut Session, to: Audience, percent: u8) -> Option<Turn> {
    session.meter.told = session.meter.told.and(to, percent);
    None
}

/// An agent that is asked for its handoff keeps working.
fn handoff_asked(session: &mut Session, event: &Event, asking: &Asking) -> Option<Turn> {
    if asking.author == Author::Agent && session.state == State::Completed {
        enter(session, event, State::Working);
    }
    None
}

fn task_completed(session: &mut Session) -> Option<Turn> {
    session.tasks += 1;
    None
}

fn set_fresh(session: &mut Session, since: Option<Timestamp>) -> Option<Turn> {
    session.fresh_at = since;
    None
}

fn seen(session: &mut Session) -> Option<Turn> {
    session.seen = true;
    None
}

/// An observation was made before it was accepted: an agent event in between takes precedence.
fn observed(session: &mut Session, event: &Event, what: Observed, until: Option<Timestamp>) -> Option<Turn> {
    match what {
        Observed::Gone => session_ended(session, event, EndedBy::Other),
        Observed::Interrupted => interrupted(session, event),
        Observed::Failed => turn_failed(session, event, Failure::Other, None),
        Observed::Limited => turn_failed(session, event, Failure::UsageLimit, until),
        Observed::Answered => unblock(session, event),
    }
}

/// Changes the state; `since` moves only with the state, and a new state is unseen.
fn enter(session: &mut Session, event: &Event, state: State) {
    if session.state != state {
        session.state = state;
        session.since = event.at;
        session.seen = false;
        session.limited_until = None;
        if !matches!(state, State::Blocked(_)) {
            session.asked = None;
        }
    }
}

fn close_turn(session: &mut Session, event: &Event, outcome: TurnOutcome) -> Option<Turn> {
    let mut turn = session.open_turn.take()?;
    turn.ended = Some((event.at, outcome));
    Some(turn)
}

/// Leaving a block ends a wait, regardless of the next state.
fn ended_wait(state: State, since: Timestamp, session: &Session, event: &Event) -> Option<Wait> {
    let State::Blocked(reason) = state else { return None };
    // The real end of an agent that is gone is unknown: it may have been days ago.
    let is_gone = matches!(event.happening, Happening::Observed { what: Observed::Gone, .. });
    let ended_at = if is_gone { session.last_event_at } else { event.at };
    let wait = Wait { uid: event.uid, reason, began_at: since, ended_at: ended_at.max(since) };
    (session.state != state).then_some(wait)
}

/// A bookmark that was set explicitly, or that a marker stands for. `since` is the progress before this event.
fn bookmark_set(session: &Session, event: &Event, since: &SinceBookmark) -> Option<Bookmark> {
    let set = if let Happening::BookmarkSet(set) = &event.happening {
        set.clone()
    } else if is_marker(session, event) {
        let reason = since.wanted.map(|(_, reason)| reason);
        Setting { how: How::Typed, after_turn: session.turns, reason, label: None }
    } else {
        return None;
    };
    let (turn, context_tokens) = (event.turn.clone(), session.context_tokens);
    Some(Bookmark { uid: event.uid, at: event.at, turn, set, context_tokens })
}

fn is_marker(session: &Session, event: &Event) -> bool {
    event.happening.is_marker() && event.subagent.is_none() && session.presence != Presence::Headless
}

#[cfg(test)]
mod tests;
