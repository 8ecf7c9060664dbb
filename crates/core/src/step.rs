//! The state of a session as a pure function of its events.
//!
//! Only `step` changes a session's state. `arbiter` proposes observations, `inherit` decides inheritance. It does no I/O
//! and reads no clock: reactions to a change are returned as effects, and the caller carries them out once the change is
//! saved.

mod effects;

use crate::bookmark::{Bookmark, BookmarkCounters, BookmarkOrigin, NewBookmark, RestState};
use crate::continuing::{HandoffAuthor, HopRequest};
use crate::effect::Effect;
use crate::event::{
    BlockReason, EndedBy, Event, EventKind, EventScene, ObservedChange, PromptOrigin, SessionPresence,
    StartedBy, ToolOutcome, TurnFailure,
};
use crate::inherit::{InheritSettings, InheritState};
use crate::meter::UsageMeter;
use crate::seat::{Seat, SeatLocation};
use crate::session::{OpenDialog, Session, SessionState, SessionTurn, TurnOutcome, UserWait};
use crate::text::SafeText;
use crate::time::Timestamp;
use effects::{announce, announce_bookmark, announce_look, announce_seat};
use std::collections::BTreeSet;

/// The stored state when an event arrives: its session, the seat of its scene, and the seat it occupied so far. At the end
/// of a session that is open in two panes, the latter is the pane that goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepInput {
    pub session: Option<Session>,
    pub seat: Option<Seat>,
    pub former_seat: Option<Seat>,
    /// Whether the session was ever resumed while it was open.
    pub is_shared: bool,
}

/// The state to store afterwards. Absent means unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct StepOutput {
    pub session: Option<Session>,
    /// The seat it took, and the one it left for it.
    pub seat: Option<Seat>,
    pub left_seat: Option<Seat>,
    /// It was resumed while it was open.
    pub is_shared: bool,
    /// A turn that this event ended; the open one is part of the session.
    pub ended_turn: Option<SessionTurn>,
    /// A wait for the user that this event ended.
    pub ended_wait: Option<UserWait>,
    /// A bookmark that this event set.
    pub bookmark: Option<Bookmark>,
    pub effects: Vec<Effect>,
}

/// Applies one event. The events of a session must come in the order they were accepted.
pub fn step(before: StepInput, event: &Event) -> StepOutput {
    let previous = before.session.as_ref().map(|session| (session.state, session.since));
    let previous_seat = before.session.as_ref().and_then(|session| session.seat.clone());
    let Some(mut session) = before.session.or_else(|| new_session(event)) else {
        return StepOutput::default();
    };
    if event.happening.is_agent_activity() {
        session.last_event_at = session.last_event_at.max(event.at);
    }
    if let Some(scene) = &event.scene {
        apply_scene(&mut session, scene);
    }
    if let Some(other) = pane_that_goes_on(&session, &before.former_seat, event) {
        session.seat = Some(other);
        return StepOutput { session: Some(session), ..StepOutput::default() };
    }
    let is_shared = is_resumed_beside_itself(&session, event);
    let seat = take_seat(&mut session, before.seat, event);
    let stays = |former: &Seat| before.is_shared && is_in_both(&session, former, event);
    let left_seat = before
        .former_seat
        .filter(|former| seat.is_some() && !stays(former))
        .and_then(|former| leave_seat(&session, former));
    let (since_bookmark, was_seen) = (session.since_bookmark, session.seen);
    session.since_bookmark.count_event(event, session.context_tokens);
    let ended_turn = apply(&mut session, event);
    let bookmark = bookmark_set(&session, event, &since_bookmark);
    let ended_wait = previous.and_then(|(state, since)| ended_wait(state, since, &session, event));
    let mut effects = announce(previous.map(|(state, _)| state), &session, event);
    effects.extend(announce_seat(previous_seat.as_deref(), &session));
    effects.extend(announce_look(was_seen, &session, event));
    effects.extend(announce_bookmark(&session, event));
    StepOutput {
        session: Some(session),
        seat,
        left_seat,
        is_shared,
        ended_turn,
        ended_wait,
        bookmark,
        effects,
    }
}

/// The key of the seat in which the session is still open after it ended in the one that the event names.
fn pane_that_goes_on(session: &Session, other: &Option<Seat>, event: &Event) -> Option<String> {
    let EventKind::SessionEnded { .. } = event.happening else { return None };
    let (other, ended_in) = (other.as_ref()?, event.scene.as_ref()?.place.as_ref()?);
    let goes_on = other.place.key != ended_in.key && other.current.as_ref() == Some(&session.key);
    goes_on.then(|| other.place.key.clone())
}

/// Whether the session was resumed while, as far as known, another process has it open: its seat is found later.
fn is_resumed_beside_itself(session: &Session, event: &Event) -> bool {
    let is_resumed = matches!(event.happening, EventKind::SessionStarted { by: StartedBy::Resume, .. });
    is_resumed && session.seat.is_some() && session.ended.is_none()
}

/// Whether a session that may be open in two panes was found in the other one.
fn is_in_both(session: &Session, former: &Seat, event: &Event) -> bool {
    let place = event.scene.as_ref().and_then(|scene| scene.place.as_ref());
    former.current.as_ref() == Some(&session.key) && place.is_some_and(|place| place.pid != former.place.pid)
}

/// Any event of the agent creates its session, except its end and those of subagents: a session only seen ending is not
/// recorded, and a subagent's own subagent may name it as its session. So does what the user wrote about a session whose own
/// events have left the journal.
fn new_session(event: &Event) -> Option<Session> {
    let is_ending = matches!(event.happening, EventKind::SessionEnded { .. });
    if is_ending || event.subagent.is_some() || !(event.happening.is_agent_activity() || is_rewritten(event))
    {
        return None;
    }
    let started_by =
        if let EventKind::SessionStarted { by, .. } = event.happening { by } else { StartedBy::Unknown };
    Some(Session {
        // Taken from the event, so that a database rebuilt from the journal has the same ids.
        uid: event.uid,
        key: event.session.clone(),
        state: SessionState::Idle,
        since: event.at,
        seen: true,
        started_at: event.at,
        started_by,
        last_event_at: event.at,
        ended: None,
        presence: SessionPresence::Headless,
        folder: None,
        transcript: None,
        model: None,
        project: None,
        seat: None,
        previous: None,
        prompt: None,
        prompted_at: None,
        answer: None,
        inheriting: InheritState::Nothing,
        wishes: InheritSettings::default(),
        fresh_at: None,
        asked: None,
        limited_until: None,
        memories_given_at: None,
        tasks: 0,
        subagents: BTreeSet::new(),
        background: 0,
        context_tokens: None,
        meter: UsageMeter::default(),
        compactions: 0,
        turns: 0,
        since_bookmark: BookmarkCounters::default(),
        open_turn: None,
    })
}

/// Whether the event is a label, or a baton that was journalled again with its scene.
fn is_rewritten(event: &Event) -> bool {
    let is_label = matches!(event.happening, EventKind::BookmarkSet(_)) && event.happening.is_kept();
    is_label || (event.happening == EventKind::BatonPassed && event.scene.is_some())
}

/// Copies the scene's values; absent ones leave the session unchanged.
fn apply_scene(session: &mut Session, scene: &EventScene) {
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
    let names_seat = matches!(event.happening, EventKind::SessionStarted { .. } | EventKind::SeatFound);
    if session.presence == SessionPresence::Headless
        || event.subagent.is_some()
        || !(names_seat || session.seat.is_none())
    {
        return None;
    }
    let new = || Seat { place: place.clone(), current: None, first_seen: event.at, last_seen: event.at };
    let mut seat = stored.unwrap_or_else(new);
    if session.seat.is_none() && session.previous.is_none() {
        session.previous = seat.current.take().filter(|sitting| *sitting != session.key);
        if session.started_by == StartedBy::Unknown && session.inheriting != InheritState::Nothing {
            session.started_by = start_seen(session, &seat.place, place);
        }
    }
    session.seat = Some(place.key.clone());
    let proof = seat.place.proof.max(place.proof);
    seat.place = SeatLocation { proof, ..place.clone() };
    seat.last_seen = event.at;
    seat.current = Some(session.key.clone());
    Some(seat)
}

/// Why a session started whose agent does not tell a new process from a clear: the process of the session before it in the
/// seat has begun another one.
fn start_seen(session: &Session, before: &SeatLocation, now: &SeatLocation) -> StartedBy {
    let is_same_agent = session.previous.as_ref().is_some_and(|previous| previous.agent == session.key.agent);
    let is_same_process = (before.pid, before.started) == (now.pid, now.started);
    if is_same_agent && is_same_process { StartedBy::Clear } else { StartedBy::Startup }
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

/// Applies each event kind; returns the turn that the event ended.
fn apply(session: &mut Session, event: &Event) -> Option<SessionTurn> {
    let inside_subagent = event.subagent.is_some();
    let mut ended = None;
    match &event.happening {
        EventKind::SessionStarted { by, wishes } => ended = session_started(session, event, *by, *wishes),
        EventKind::SessionEnded { by } => ended = session_ended(session, event, *by),
        EventKind::PromptSubmitted { .. } if inside_subagent => {}
        EventKind::PromptSubmitted { prompt, origin, .. } => {
            ended = prompted(session, event, prompt, *origin)
        }
        EventKind::ToolFinished { outcome, .. } => ended = tool_finished(session, event, *outcome),
        EventKind::ToolsFinished => tools_finished(session, event),
        EventKind::PermissionAsked { reason, tool } => permission_asked(session, event, *reason, tool),
        EventKind::PermissionRefused { .. } => ended = tool_finished(session, event, ToolOutcome::Failed),
        EventKind::AttentionAsked { reason } => attention_asked(session, event, *reason),
        EventKind::AttentionGiven => unblock(session, event),
        EventKind::TurnEnded { .. } | EventKind::TurnFailed { .. } | EventKind::Interrupted
            if inside_subagent => {}
        EventKind::TurnEnded { background, answer } => {
            keep_answer(session, answer.as_ref());
            ended = turn_ended(session, event, *background);
        }
        EventKind::TurnFailed { failure, until } => ended = turn_failed(session, event, *failure, *until),
        // Without a turn nothing is interrupted: one agent reports the same whenever it waits for input.
        EventKind::Interrupted
            if matches!(session.state, SessionState::Working | SessionState::Blocked(_)) =>
        {
            ended = interrupted(session, event);
        }
        EventKind::Interrupted => {}
        EventKind::SubagentStarted => session.subagents.extend(event.subagent.clone()),
        EventKind::SubagentStopped => subagent_stopped(session, event),
        EventKind::CompactionStarted { .. }
        | EventKind::SubagentWanted { .. }
        | EventKind::FolderChanged
        | EventKind::SeatFound
        | EventKind::BatonDropped
        | EventKind::BatonCame(_)
        | EventKind::InheritanceTaken { .. }
        | EventKind::InheritanceGiven { .. }
        | EventKind::IntentMade { .. }
        | EventKind::IntentMoved { .. }
        | EventKind::BookmarkSet(_)
        | EventKind::BookmarkPlaced { .. }
        | EventKind::BookmarkDeleted { .. }
        | EventKind::BookmarkRestored { .. }
        | EventKind::MarkerWanted { .. }
        | EventKind::HandoffWritten { .. }
        | EventKind::HopMoved { .. }
        | EventKind::HandoffGiven { .. }
        | EventKind::HopTold { .. } => {}
        EventKind::HandoffAsked { asking } => handoff_asked(session, event, asking),
        // The later wish wins.
        EventKind::BatonPassed | EventKind::FreshTakenBack => session.fresh_at = None,
        EventKind::FreshAsked => session.fresh_at = Some(event.at),
        EventKind::TaskCompleted => session.tasks += 1,
        EventKind::Seen => session.seen = true,
        // An observation was made before it was accepted: an agent event in between takes precedence.
        EventKind::Observed { as_of, .. } if session.last_event_at > *as_of => {}
        EventKind::Observed { what, until, .. } => ended = observed(session, event, *what, *until),
        EventKind::CompactionEnded { .. } => compaction_ended(session, event),
        EventKind::ModelAnswered { context_tokens } => model_answered(session, event, *context_tokens),
        EventKind::ContextMeasured { fill } => {
            session.context_tokens = Some(fill.tokens);
            session.meter.measured(*fill, event.at);
        }
        EventKind::ContextAnnounced { percent, to } => {
            session.meter.told = session.meter.told.and(*to, *percent);
        }
        EventKind::MemoryGiven { .. } => session.memories_given_at = Some(event.at),
    }
    ended
}

fn session_started(
    session: &mut Session,
    event: &Event,
    by: StartedBy,
    wishes: InheritSettings,
) -> Option<SessionTurn> {
    // Compaction announces a start in the middle of the same session's work.
    if by == StartedBy::Compact {
        return None;
    }
    let is_new = matches!(by, StartedBy::Startup | StartedBy::Clear | StartedBy::Unknown);
    if is_new && session.prompted_at.is_none() {
        session.inheriting = InheritState::Undecided;
        session.wishes = wishes;
    }
    session.ended = None;
    enter(session, event, SessionState::Idle);
    close_turn(session, event, TurnOutcome::Abandoned)
}

fn session_ended(session: &mut Session, event: &Event, by: EndedBy) -> Option<SessionTurn> {
    session.ended = Some((event.at, by));
    session.subagents.clear();
    session.background = 0;
    enter(session, event, SessionState::Ended);
    close_turn(session, event, TurnOutcome::Abandoned)
}

fn prompted(
    session: &mut Session,
    event: &Event,
    prompt: &SafeText,
    origin: PromptOrigin,
) -> Option<SessionTurn> {
    session.ended = None;
    let is_at_rest = origin == PromptOrigin::Bookmark && session.state == SessionState::Completed;
    session.since_bookmark.rested =
        is_at_rest.then_some(RestState { since: session.since, seen: session.seen });
    enter(session, event, SessionState::Working);
    if event.happening.is_real_prompt() {
        record_prompt(session, event);
    }
    match origin {
        PromptOrigin::Human | PromptOrigin::Command
            if matches!(event.happening, EventKind::PromptSubmitted { own: Some(_), .. }) => {}
        PromptOrigin::Human | PromptOrigin::Command => {
            session.prompt = Some(prompt.clone());
            session.tasks = 0;
        }
        PromptOrigin::Notification | PromptOrigin::Bookmark | PromptOrigin::Continuation => {}
    }
    if let Some(open) = session.open_turn.as_mut().filter(|open| open.id.is_some() && open.id == event.turn) {
        open.steered += 1;
        return None;
    }
    let ended = close_turn(session, event, TurnOutcome::Abandoned);
    session.turns += 1;
    session.open_turn = Some(SessionTurn {
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
    if session.inheriting == InheritState::Undecided {
        session.inheriting = InheritState::Prompted;
    } else {
        // Continuing the work cancels the wish for a fresh start.
        session.fresh_at = None;
    }
}

/// A finished tool resumes a waiting session. It resumes neither an ended session nor one whose turn is over: results
/// arrive late, and only a subagent works on between turns.
fn tool_finished(session: &mut Session, event: &Event, outcome: ToolOutcome) -> Option<SessionTurn> {
    if let Some(turn) = &mut session.open_turn {
        turn.tool_calls += 1;
        turn.tool_failures += u32::from(outcome != ToolOutcome::Done);
    }
    if outcome == ToolOutcome::Interrupted && event.subagent.is_none() {
        return interrupted(session, event);
    }
    let is_late = session.open_turn.is_none() && event.subagent.is_none();
    let stays = match session.state {
        SessionState::Ended => true,
        SessionState::Blocked(_) => is_about_another(session, event),
        SessionState::Completed | SessionState::Interrupted | SessionState::Limited => is_late,
        SessionState::Idle | SessionState::Working => false,
    };
    if !stays {
        enter(session, event, SessionState::Working);
    }
    None
}

/// A refusal runs no hook of its own: only the end of its round of tools reveals it.
fn tools_finished(session: &mut Session, event: &Event) {
    if session.asked.as_ref().is_none_or(|asked| asked.subagent == event.subagent) {
        unblock(session, event);
    }
}

/// A dialog stays open while other tools requested with it finish.
fn is_about_another(session: &Session, event: &Event) -> bool {
    let Some(asked) = &session.asked else { return false };
    asked.subagent != event.subagent || event.happening.tool() != Some(&asked.tool)
}

fn permission_asked(session: &mut Session, event: &Event, reason: BlockReason, tool: &SafeText) {
    if session.state != SessionState::Ended {
        session.asked =
            Some(OpenDialog { tool: tool.clone(), subagent: event.subagent.clone(), at: event.at });
    }
    block(session, event, reason);
}

fn block(session: &mut Session, event: &Event, reason: BlockReason) {
    if session.state != SessionState::Ended {
        enter(session, event, SessionState::Blocked(reason));
    }
}

/// The agent's own notice comes seconds late: it is ignored once the session has resumed or stopped.
fn attention_asked(session: &mut Session, event: &Event, reason: BlockReason) {
    if session.state == SessionState::Working {
        block(session, event, reason);
    }
}

fn unblock(session: &mut Session, event: &Event) {
    if matches!(session.state, SessionState::Blocked(_)) {
        enter(session, event, SessionState::Working);
    }
}

fn turn_ended(session: &mut Session, event: &Event, background: Option<u32>) -> Option<SessionTurn> {
    session.background = background.unwrap_or(0);
    if background == Some(0) {
        session.subagents.clear();
    }
    let subagents_at_work = session.background > 0 || !session.subagents.is_empty();
    if matches!(session.state, SessionState::Working | SessionState::Blocked(_)) {
        if subagents_at_work {
            enter(session, event, SessionState::Working)
        } else {
            complete(session, event)
        }
    }
    close_turn(session, event, TurnOutcome::Completed)
}

/// The answer to a marker needs no attention: restores the state from before the marker.
fn complete(session: &mut Session, event: &Event) {
    let is_seen = session.seen;
    enter(session, event, SessionState::Completed);
    if let Some(rest) = session.since_bookmark.rested.take() {
        session.since = rest.since;
        session.seen = rest.seen || is_seen;
    }
}

/// The answer to a marker says nothing about the work.
fn keep_answer(session: &mut Session, answer: Option<&SafeText>) {
    let is_marker = |turn: &SessionTurn| turn.origin == PromptOrigin::Bookmark && turn.steered == 0;
    if !session.open_turn.as_ref().is_some_and(is_marker) {
        session.answer = answer.cloned().or(session.answer.take());
    }
}

fn turn_failed(
    session: &mut Session,
    event: &Event,
    failure: TurnFailure,
    until: Option<Timestamp>,
) -> Option<SessionTurn> {
    match (session.state, failure) {
        (SessionState::Ended, _) => {}
        (_, TurnFailure::UsageLimit) => {
            enter(session, event, SessionState::Limited);
            session.limited_until = until.or(session.limited_until);
        }
        (_, TurnFailure::Other) => enter(session, event, SessionState::Interrupted),
    }
    close_turn(session, event, TurnOutcome::Failed)
}

fn interrupted(session: &mut Session, event: &Event) -> Option<SessionTurn> {
    if session.state != SessionState::Ended {
        enter(session, event, SessionState::Interrupted);
    }
    close_turn(session, event, TurnOutcome::Interrupted)
}

/// A subagent that stops no longer waits for an answer.
fn subagent_stopped(session: &mut Session, event: &Event) {
    if event.subagent.as_ref().is_some_and(|id| session.subagents.remove(id)) {
        unblock(session, event);
    }
}

fn compaction_ended(session: &mut Session, event: &Event) {
    session.compactions += 1;
    session.context_tokens = None;
    session.meter.compacted(event.at);
    // The compaction removed the memories from the context.
    session.memories_given_at = None;
}

fn model_answered(session: &mut Session, event: &Event, context_tokens: u64) {
    if event.subagent.is_none() {
        session.context_tokens = Some(context_tokens);
        session.meter.answered(context_tokens, event.at);
    }
}

/// An agent that is asked for its handoff keeps working.
fn handoff_asked(session: &mut Session, event: &Event, asking: &HopRequest) {
    if asking.author == HandoffAuthor::Agent && session.state == SessionState::Completed {
        enter(session, event, SessionState::Working);
    }
}

fn observed(
    session: &mut Session,
    event: &Event,
    what: ObservedChange,
    until: Option<Timestamp>,
) -> Option<SessionTurn> {
    match what {
        ObservedChange::Gone => session_ended(session, event, EndedBy::Other),
        ObservedChange::Interrupted => interrupted(session, event),
        ObservedChange::Failed => turn_failed(session, event, TurnFailure::Other, None),
        ObservedChange::Limited => turn_failed(session, event, TurnFailure::UsageLimit, until),
        ObservedChange::Answered => {
            unblock(session, event);
            None
        }
    }
}

/// Changes the state; `since` moves only with the state, and a new state is unseen.
fn enter(session: &mut Session, event: &Event, state: SessionState) {
    if session.state != state {
        session.state = state;
        session.since = event.at;
        session.seen = false;
        session.limited_until = None;
        if !matches!(state, SessionState::Blocked(_)) {
            session.asked = None;
        }
    }
}

fn close_turn(session: &mut Session, event: &Event, outcome: TurnOutcome) -> Option<SessionTurn> {
    let mut turn = session.open_turn.take()?;
    turn.ended = Some((event.at, outcome));
    Some(turn)
}

/// Leaving a block ends a wait, regardless of the next state.
fn ended_wait(state: SessionState, since: Timestamp, session: &Session, event: &Event) -> Option<UserWait> {
    let SessionState::Blocked(reason) = state else { return None };
    // The real end of an agent that is gone is unknown: it may have been days ago.
    let is_gone = matches!(event.happening, EventKind::Observed { what: ObservedChange::Gone, .. });
    let ended_at = if is_gone { session.last_event_at } else { event.at };
    let wait = UserWait { uid: event.uid, reason, began_at: since, ended_at: ended_at.max(since) };
    (session.state != state).then_some(wait)
}

/// A bookmark that was set explicitly, or that a marker stands for. `since` is the progress before this event.
fn bookmark_set(session: &Session, event: &Event, since: &BookmarkCounters) -> Option<Bookmark> {
    let set = if let EventKind::BookmarkSet(set) = &event.happening {
        set.clone()
    } else if is_marker(session, event) {
        let reason = since.wanted.map(|(_, reason)| reason);
        NewBookmark { how: BookmarkOrigin::Typed, after_turn: session.turns, reason, label: None }
    } else {
        return None;
    };
    let (turn, context_tokens) = (event.turn.clone(), session.context_tokens);
    Some(Bookmark { uid: event.uid, at: event.at, turn, set, context_tokens })
}

fn is_marker(session: &Session, event: &Event) -> bool {
    event.happening.is_marker() && event.subagent.is_none() && session.presence != SessionPresence::Headless
}

#[cfg(test)]
mod tests;
