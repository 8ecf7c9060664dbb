//! Probes a session's process and its children, the end of its transcript, and its screen.
//!
//! Only cheap reads: one small file of the process, and a bounded end of the transcript if it was written
//! after the last hook. Screens are the last resort, with one query per tmux server. `core` interprets the
//! results.

use crate::runtime::Env;
use crate::status::seats::Glance;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;
use towline_agents::Agent;
use towline_core::arbiter::{
    ChildrenProbe, Observations, ProcessProbe, SKEW_MS, ScreenProbe, ScreenReadValue, TranscriptTail,
    screen_read_value,
};
use towline_core::event::BlockReason;
use towline_core::meter::{ContextUsage, ReportedContext, UsageSource};
use towline_core::seat::{SeatKind, SeatLocation, SeatProof};
use towline_core::session::{Session, SessionState};
use towline_core::time::Timestamp;
use towline_store::home::{DataFolder, replace_file};
use towline_terminal::process::{Children, Process, children};
use towline_terminal::tail::last_bytes;
use towline_terminal::tmux::{PaneInfo, TmuxServer};

/// Bytes read from the end of a transcript of any length.
const END: u64 = 64 * 1024;

/// The second attempt: a single tool's output may be larger than `END`.
const LONG_END: u64 = 1024 * 1024;

/// Probes these sessions; the results are in the same order.
pub fn all(sitting: &[(Session, SeatLocation)], env: &Env, glance: Glance) -> Vec<Observations> {
    let mut sights: Vec<Observations> =
        sitting.iter().map(|(session, place)| without_screen(session, place, env.now)).collect();
    let promises: Vec<ScreenReadValue> =
        sitting.iter().zip(&sights).map(|((session, place), seen)| promised(session, place, seen)).collect();
    let now_and_then = match glance {
        Glance::Thorough => true,
        Glance::Cheap => promises.contains(&ScreenReadValue::Perhaps) && is_time_to_look(&env.home, env.now),
    };
    let is_chosen = |index: &usize| match promises[*index] {
        ScreenReadValue::Change => true,
        ScreenReadValue::Perhaps => now_and_then,
        ScreenReadValue::Nothing => glance == Glance::Thorough && shows_something(sitting, &sights, *index),
    };
    let chosen: Vec<usize> = (0..sitting.len()).filter(is_chosen).collect();
    if now_and_then && !chosen.is_empty() {
        remember_look(&env.home, env.now);
    }
    for (index, screen) in screens(sitting, &chosen) {
        let place = &sitting[index].1;
        sights[index].children = children_of(place, env.now);
        sights[index].screen = Some(screen);
    }
    sights
}

/// Probes one session thoroughly.
pub fn of(session: &Session, place: &SeatLocation, env: &Env) -> Observations {
    let seen = all(&[(session.clone(), place.clone())], env, Glance::Thorough);
    seen.into_iter().next().unwrap_or_else(|| without_screen(session, place, env.now))
}

/// How full the context is and since when, by the newest source; without one, estimated from the file size.
pub fn fill(session: &Session) -> Option<(ContextUsage, Timestamp)> {
    let agent = Agent::from_name(session.key.agent.as_str())?;
    let path = session.transcript.as_deref();
    let read = path.and_then(|path| context_in(agent, path, session.model.as_deref()));
    let read = read.filter(|(context, _)| session.meter.counts(*context));
    match (read, session.meter.last) {
        // A later report from a hook or the display is newer, and with equal tokens more precise.
        (Some((context, written)), Some((known, at))) if at > written || context.tokens == known.tokens => {
            Some((known, at))
        }
        (Some((context, written)), None) => {
            let fill = ContextUsage::read(context);
            Some((session.context_tokens.map_or(fill, |tokens| fill.answered(tokens)), written))
        }
        (Some((context, written)), Some((known, _))) => {
            Some((ContextUsage::read(context).after(Some(known)), written))
        }
        (None, Some(known)) => Some(known),
        (None, None) => guessed(session),
    }
}

/// Like [`fill`], but without the estimate.
pub fn reported_context(session: &Session) -> Option<ContextUsage> {
    fill(session).map(|(fill, _)| fill).filter(|fill| fill.source != UsageSource::Length)
}

/// The context that a transcript reports, and when it was written. `announced` is the model that the session
/// named at its start.
fn context_in(agent: Agent, path: &str, announced: Option<&str>) -> Option<(ReportedContext, Timestamp)> {
    let within = |limit| context_within(agent, path, limit, announced);
    within(END).or_else(|| within(LONG_END))
}

/// The same with a single bounded read, for hooks.
pub fn context_near(agent: Agent, path: &str) -> Option<ReportedContext> {
    Some(context_within(agent, path, END, None)?.0)
}

fn context_within(
    agent: Agent,
    path: &str,
    limit: u64,
    announced: Option<&str>,
) -> Option<(ReportedContext, Timestamp)> {
    let (end, written) = last_bytes(Path::new(path), limit).ok()?;
    Some((agent.context(&end, announced)?, written))
}

/// Only for a conversation that was never compacted: the file still holds the compacted part.
fn guessed(session: &Session) -> Option<(ContextUsage, Timestamp)> {
    let path = Path::new(session.transcript.as_deref()?);
    let bytes = fs::metadata(path).ok().filter(|_| session.compactions == 0 && session.turns > 0)?.len();
    Some((ContextUsage::guessed(bytes), written_at(path)?))
}

/// Compares the start time too, because process ids are reused. Some agents outlive their terminal: without it, nobody
/// is in front of them any more.
pub fn process(place: &SeatLocation) -> ProcessProbe {
    let can_look = place.started > 0 && Path::new("/proc/self/stat").exists();
    let is_shown = |process: &Process| place.kind == SeatKind::Ide || process.has_terminal();
    match Process::read(place.pid) {
        _ if !can_look => ProcessProbe::Unknown,
        Some(process) if process.started == place.started && is_shown(&process) => ProcessProbe::Alive,
        Some(_) | None => ProcessProbe::Gone,
    }
}

fn without_screen(session: &Session, place: &SeatLocation, now: Timestamp) -> Observations {
    let last_written = session.transcript.as_deref().and_then(|path| written_at(Path::new(path)));
    let is_newer = last_written.is_some_and(|written| written.plus_ms(SKEW_MS) >= session.last_event_at);
    let tail = if may_tell(session, now) && is_newer { tail(session) } else { None };
    let process = process(place);
    // Many system calls: only if a child process would be a reason to probe further.
    let asks =
        session.state == SessionState::Blocked(BlockReason::Permission) && process == ProcessProbe::Alive;
    let children = if asks { children_of(place, now) } else { ChildrenProbe::Unknown };
    Observations { now, process, children, tail, last_written, screen: None }
}

/// Between turns a transcript adds nothing to the hooks, except the end of a usage limit.
fn may_tell(session: &Session, now: Timestamp) -> bool {
    match session.state {
        SessionState::Working | SessionState::Blocked(_) => true,
        SessionState::Limited => {
            session.limited_until.is_none() && now.since_ms(session.since) < SAID_WITHIN_MS
        }
        SessionState::Idle | SessionState::Completed | SessionState::Interrupted | SessionState::Ended => {
            false
        }
    }
}

/// A limit's end that is not in the transcript by then will not appear.
pub const SAID_WITHIN_MS: i64 = 60_000;

fn tail(session: &Session) -> Option<TranscriptTail> {
    let agent = Agent::from_name(session.key.agent.as_str())?;
    let (end, _) = last_bytes(Path::new(session.transcript.as_deref()?), END).ok()?;
    agent.transcript_end(&end)
}

/// When the file was last written.
pub fn written_at(path: &Path) -> Option<Timestamp> {
    let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp)
}

fn children_of(place: &SeatLocation, now: Timestamp) -> ChildrenProbe {
    // If a server runs the session, its tools are children of the server, not of the process in the seat.
    if place.proof == SeatProof::Evidence {
        return ChildrenProbe::Unknown;
    }
    match children(place.pid) {
        Children::None => ChildrenProbe::None,
        Children::Youngest { age_ms } => ChildrenProbe::Youngest(now.plus_ms(-age_ms)),
        Children::Unknown => ChildrenProbe::Unknown,
    }
}

/// A screen that does not show the session promises nothing.
fn promised(session: &Session, place: &SeatLocation, seen: &Observations) -> ScreenReadValue {
    match screen_read_value(session, seen) {
        ScreenReadValue::Nothing => ScreenReadValue::Nothing,
        _ if !has_screen(place, seen) => ScreenReadValue::Nothing,
        found @ (ScreenReadValue::Change | ScreenReadValue::Perhaps) => found,
    }
}

/// Whether the screen of this seat may show something to the user.
fn shows_something(sitting: &[(Session, SeatLocation)], sights: &[Observations], index: usize) -> bool {
    let (session, place) = &sitting[index];
    matches!(session.state, SessionState::Working | SessionState::Blocked(_))
        && has_screen(place, &sights[index])
}

/// Whether the agent is in the foreground of its terminal.
fn has_screen(place: &SeatLocation, seen: &Observations) -> bool {
    let shows_it = |process: Process| process.is_in_front() && process.terminal() == place.tty;
    place.kind == SeatKind::Tmux
        && seen.process == ProcessProbe::Alive
        && Process::read(place.pid).is_some_and(shows_it)
}

/// The screens of the chosen sessions, by index. One query per server.
fn screens(sitting: &[(Session, SeatLocation)], chosen: &[usize]) -> Vec<(usize, ScreenProbe)> {
    let mut servers: BTreeMap<&str, Vec<PaneInfo>> = BTreeMap::new();
    for (_, place) in chosen.iter().map(|index| &sitting[*index]) {
        let (Some(socket), Some(id), Some(tty)) = (&place.server, &place.pane, &place.tty) else { continue };
        servers.entry(socket).or_default().push(PaneInfo::at(id, tty));
    }
    let mut shown: Vec<PaneInfo> = vec![];
    for (socket, panes) in servers {
        let server = TmuxServer { socket: socket.to_owned(), pid: String::new() };
        shown.extend(server.show_screens(&panes).unwrap_or_default());
    }
    let sight = |index: &usize| {
        let (session, place) = &sitting[*index];
        // Terminal names are unique on this machine, across tmux servers.
        let pane = shown.iter().find(|pane| Some(&pane.terminal) == place.tty.as_ref())?;
        Some((*index, Agent::from_name(session.key.agent.as_str())?.screen(&pane.screen)))
    };
    chosen.iter().filter_map(sight).collect()
}

/// How often screens are probed without a reason: a refresh every half minute finds it due.
const LOOK_EVERY_MS: i64 = 25_000;

fn is_time_to_look(home: &DataFolder, now: Timestamp) -> bool {
    let last = fs::read_to_string(home.bars().join(LOOKED)).ok().and_then(|text| text.parse::<i64>().ok());
    // A clock that was set back must not stop the probes for ever.
    last.is_none_or(|last| !(now.0 - LOOK_EVERY_MS < last && last <= now.0))
}

/// A failed write costs one extra probe.
fn remember_look(home: &DataFolder, now: Timestamp) {
    let _ = replace_file(&home.bars().join(LOOKED), now.0.to_string().as_bytes());
}

/// The file with the time of the last screen probe.
const LOOKED: &str = "looked";

#[cfg(test)]
mod tests;
