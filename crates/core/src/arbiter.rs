//! Detects what hooks missed: compares a session's state with its process, transcript and screen.
//!
//! Some user actions run no hook. `judge` returns the missed change with its evidence and the rule that decided. It
//! performs no probe and changes no state: `step` decides whether an observation applies.

use crate::event::{Observed, Reason};
use crate::session::{Session, State};
use crate::time::Timestamp;

/// Upper bound on the difference between hook and transcript timestamps: a hook is stamped when it has started, a
/// transcript entry when it is created.
pub const SKEW_MS: i64 = 2000;

/// A dialog is drawn shortly after its hook has run; until then the screen shows the previous content.
pub const DRAWN_MS: i64 = 3000;

/// A working agent fires a hook or writes its transcript within this time; after that its screen is worth reading.
pub const SILENT_MS: i64 = 10_000;

/// After this wait for a permission, the user may have answered without a hook running.
const WAITED_MS: i64 = 20_000;

/// The results of probing a session's process, transcript and screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sights {
    pub now: Timestamp,
    pub process: ProcessSight,
    pub children: ChildrenSight,
    /// The end of the transcript, if it could be read.
    pub tail: Option<Tail>,
    pub last_written: Option<Timestamp>,
    /// The screen content, if the screen was read.
    pub screen: Option<ScreenSight>,
}

/// State of the agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessSight {
    Alive,
    Gone,
    /// The process id is not known, or the process cannot be inspected.
    Unknown,
}

/// Children of the agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildrenSight {
    None,
    /// Start time of the youngest child, which may be a tool, a hook, or a server that the agent keeps.
    Youngest(Timestamp),
    /// The children cannot be inspected.
    Unknown,
}

impl ChildrenSight {
    /// Whether a child is known to have started after `time`.
    pub fn is_younger_than(self, time: Timestamp) -> bool {
        match self {
            ChildrenSight::Youngest(started) => started > time,
            ChildrenSight::None | ChildrenSight::Unknown => false,
        }
    }
}

/// The bottom of an agent's screen: the region in which it draws its input box or its dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenSight {
    Dialog,
    /// The agent shows that it works, and no dialog.
    Busy,
    /// The input box waits for input and the agent shows no work.
    Prompt,
    /// Not recognised with certainty.
    Unknown,
}

/// The newest entry of a transcript that belongs to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    pub end: TailEnd,
    pub at: Timestamp,
    /// When a usage limit ends, if the transcript states it unambiguously.
    pub until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailEnd {
    /// The user stopped the turn.
    Interrupted,
    /// An error ended the turn.
    Failed,
    /// The usage limit ended the turn.
    Limited,
    /// Anything else: the turn goes on, or a hook reports its end.
    Other,
}

/// The change that hooks missed, if any, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Verdict {
    /// `None` if the hooks' state stands.
    pub observed: Option<Observed>,
    /// When an observed usage limit ends, if known.
    pub until: Option<Timestamp>,
    pub confidence: Confidence,
    /// The rule that decided, as a short sentence.
    pub rule: &'static str,
    pub evidence: Vec<Evidence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// No observation supports it.
    Guess,
    /// Some observations support it.
    Likely,
    Certain,
}

impl Confidence {
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Guess => "guess",
            Confidence::Likely => "likely",
            Confidence::Certain => "certain",
        }
    }
}

/// One observation and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub source: &'static str,
    pub says: String,
    pub at: Option<Timestamp>,
}

/// Whether reading a session's screen is worth its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Only the screen can show the change that is likely to have happened.
    Change,
    /// The state has been the same for long: read the screen now and then.
    Perhaps,
    Nothing,
}

/// Whether the screen may show what hooks missed, judged by the cheaper observations.
pub fn promise(session: &Session, sights: &Sights) -> Promise {
    let waited_ms = sights.now.since_ms(dialog_opened_at(session));
    match session.state {
        State::Blocked(Reason::Permission) if waited_ms < DRAWN_MS => Promise::Nothing,
        State::Blocked(Reason::Permission) if may_have_started_a_tool(session, sights) => Promise::Change,
        State::Blocked(Reason::Permission) if waited_ms > WAITED_MS => Promise::Perhaps,
        State::Working if works_without_subagents(session) && is_silent(session, sights) => Promise::Perhaps,
        State::Idle
        | State::Working
        | State::Blocked(_)
        | State::Completed
        | State::Interrupted
        | State::Limited
        | State::Ended => Promise::Nothing,
    }
}

fn may_have_started_a_tool(session: &Session, sights: &Sights) -> bool {
    sights.children == ChildrenSight::Unknown || sights.children.is_younger_than(dialog_opened_at(session))
}

/// Compares the session's state with the observations. The first rule that applies decides.
pub fn judge(session: &Session, sights: &Sights) -> Verdict {
    let (observed, confidence, rule) = already_ended(session)
        .or_else(|| process_gone(sights))
        .or_else(|| turn_stopped(session, sights.tail?))
        .or_else(|| limit_end(session, sights.tail?))
        .or_else(|| permission_answered(session, sights))
        .or_else(|| prompt_cancelled(session, sights))
        .unwrap_or_else(|| {
            (None, confidence_in_hooks(session, sights), "nothing seen contradicts the hooks")
        });
    let until = sights.tail.and_then(|tail| tail.until).filter(|_| observed == Some(Observed::Limited));
    Verdict { observed, until, confidence, rule, evidence: evidence(session, sights) }
}

type Ruling = (Option<Observed>, Confidence, &'static str);

fn already_ended(session: &Session) -> Option<Ruling> {
    (session.state == State::Ended).then_some((None, Confidence::Certain, "an ended session stays ended"))
}

fn process_gone(sights: &Sights) -> Option<Ruling> {
    let rule = "without its process there is no session";
    (sights.process == ProcessSight::Gone).then_some((Some(Observed::Gone), Confidence::Certain, rule))
}

fn turn_stopped(session: &Session, tail: Tail) -> Option<Ruling> {
    if !awaits_end(session) || !is_newer_than_hooks(session, tail) {
        return None;
    }
    let (observed, rule) = match tail.end {
        TailEnd::Interrupted => (Observed::Interrupted, "the transcript ends with an interruption"),
        TailEnd::Failed => (Observed::Failed, "the transcript ends with an error"),
        TailEnd::Limited => (Observed::Limited, "the transcript ends with a usage limit"),
        TailEnd::Other => return None,
    };
    let is_newest = tail.at >= session.last_event_at;
    Some((Some(observed), if is_newest { Confidence::Certain } else { Confidence::Likely }, rule))
}

/// The hook that reports a usage limit does not include its end.
fn limit_end(session: &Session, tail: Tail) -> Option<Ruling> {
    let is_open = session.state == State::Limited && session.limited_until.is_none();
    let rule = "the transcript says when the usage limit ends";
    let is_limit = tail.end == TailEnd::Limited && tail.until.is_some();
    (is_open && is_limit && is_newer_than_hooks(session, tail)).then_some((
        Some(Observed::Limited),
        Confidence::Certain,
        rule,
    ))
}

/// Granting a permission runs no hook before the tool has finished. Answering a question runs a hook of its own.
fn permission_answered(session: &Session, sights: &Sights) -> Option<Ruling> {
    let is_drawn = sights.now.since_ms(dialog_opened_at(session)) >= DRAWN_MS;
    let waits = session.state == State::Blocked(Reason::Permission);
    if !waits || !is_drawn || sights.screen != Some(ScreenSight::Busy) {
        return None;
    }
    let runs = sights.children.is_younger_than(dialog_opened_at(session));
    let confidence = if runs { Confidence::Certain } else { Confidence::Likely };
    Some((Some(Observed::Answered), confidence, "the screen shows work and no dialog"))
}

/// When the dialog opened: `since` may be older, because other tools may have finished in the meantime.
fn dialog_opened_at(session: &Session) -> Timestamp {
    session.asked.as_ref().map_or(session.since, |asked| asked.at.max(session.since))
}

/// A prompt that is cancelled before the first word of an answer leaves no trace but the screen.
fn prompt_cancelled(session: &Session, sights: &Sights) -> Option<Ruling> {
    let turn = session.open_turn.as_ref()?;
    let is_silent = is_silent(session, sights);
    let runs = sights.children.is_younger_than(turn.started_at);
    let shows_prompt = sights.screen == Some(ScreenSight::Prompt);
    if !works_without_subagents(session) || !is_silent || runs || !shows_prompt {
        return None;
    }
    Some((Some(Observed::Interrupted), Confidence::Likely, "the screen shows an input box and no work"))
}

/// Whether a turn is open and no subagent works on it: subagents go on while the input box waits.
fn works_without_subagents(session: &Session) -> bool {
    let has_subagents = session.background > 0 || !session.subagents.is_empty();
    session.state == State::Working && session.open_turn.is_some() && !has_subagents
}

/// Whether neither a hook nor the transcript showed activity within `SILENT_MS`.
fn is_silent(session: &Session, sights: &Sights) -> bool {
    let last =
        sights.last_written.map_or(session.last_event_at, |written| written.max(session.last_event_at));
    sights.now.since_ms(last) > SILENT_MS
}

/// Whether the turn can still end without a hook.
fn awaits_end(session: &Session) -> bool {
    match session.state {
        State::Working | State::Blocked(_) => true,
        State::Idle | State::Completed | State::Interrupted | State::Limited | State::Ended => false,
    }
}

/// Whether the transcript's end is newer than the hooks. An entry older than the prompt belongs to the previous turn,
/// however small the difference, because the agent waits for a prompt's hook.
fn is_newer_than_hooks(session: &Session, tail: Tail) -> bool {
    let in_this_turn = session.open_turn.as_ref().is_none_or(|turn| tail.at >= turn.started_at);
    in_this_turn && tail.at.plus_ms(SKEW_MS) >= session.last_event_at
}

/// How certain the hooks' state is if no observation contradicts it. A working agent writes to its transcript after the
/// last hook, or its screen shows work; a cancelled prompt leaves neither.
fn confidence_in_hooks(session: &Session, sights: &Sights) -> Confidence {
    let went_on = sights.tail.is_some_and(|tail| tail.at > session.last_event_at);
    match (sights.process, went_on || screen_agrees(session, sights) || !awaits_end(session)) {
        (ProcessSight::Alive, true) => Confidence::Certain,
        (ProcessSight::Alive, false) | (ProcessSight::Unknown, true) => Confidence::Likely,
        (ProcessSight::Unknown | ProcessSight::Gone, _) => Confidence::Guess,
    }
}

fn screen_agrees(session: &Session, sights: &Sights) -> bool {
    match sights.screen {
        Some(ScreenSight::Dialog) => matches!(session.state, State::Blocked(_)),
        Some(ScreenSight::Busy) => session.state == State::Working,
        Some(ScreenSight::Prompt | ScreenSight::Unknown) | None => false,
    }
}

fn evidence(session: &Session, sights: &Sights) -> Vec<Evidence> {
    let reason = session.state.reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let state = format!("{}{reason}", session.state.name());
    vec![
        Evidence { source: "state", says: state, at: Some(session.since) },
        Evidence { source: "hooks", says: "last heard of it".into(), at: Some(session.last_event_at) },
        Evidence { source: "process", says: process_says(sights.process).into(), at: Some(sights.now) },
        children_say(sights),
        Evidence {
            source: "transcript",
            says: tail_says(sights.tail.map(|tail| tail.end)).into(),
            at: sights.tail.map(|tail| tail.at),
        },
        Evidence {
            source: "transcript file",
            says: if sights.last_written.is_some() { "last written" } else { "not found" }.into(),
            at: sights.last_written,
        },
        Evidence {
            source: "screen",
            says: screen_says(sights.screen).into(),
            at: sights.screen.map(|_| sights.now),
        },
    ]
}

fn process_says(sight: ProcessSight) -> &'static str {
    match sight {
        ProcessSight::Alive => "alive",
        ProcessSight::Gone => "gone",
        ProcessSight::Unknown => "unknown",
    }
}

fn children_say(sights: &Sights) -> Evidence {
    let (says, at) = match sights.children {
        ChildrenSight::None => ("none", sights.now),
        ChildrenSight::Youngest(started) => ("the youngest started", started),
        ChildrenSight::Unknown => return Evidence { source: "children", says: "unknown".into(), at: None },
    };
    Evidence { source: "children", says: says.into(), at: Some(at) }
}

fn screen_says(screen: Option<ScreenSight>) -> &'static str {
    match screen {
        Some(ScreenSight::Dialog) => "shows a dialog",
        Some(ScreenSight::Busy) => "shows work",
        Some(ScreenSight::Prompt) => "shows an input box and no work",
        Some(ScreenSight::Unknown) => "shows nothing that is known for sure",
        None => "not looked at",
    }
}

fn tail_says(end: Option<TailEnd>) -> &'static str {
    match end {
        Some(TailEnd::Interrupted) => "ends with an interruption",
        Some(TailEnd::Failed) => "ends with an error",
        Some(TailEnd::Limited) => "ends with a usage limit",
        Some(TailEnd::Other) => "ends with neither interruption nor error",
        None => "tells nothing",
    }
}

#[cfg(test)]
mod tests;
