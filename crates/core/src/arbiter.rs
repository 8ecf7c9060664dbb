//! What a session is doing when hooks may not have told all: hooks are weighed against what can be seen.
//!
//! Some things that a person does run no hook. `judge` only says what was missed, with every piece of evidence and the
//! rule that decided. It looks at nothing itself and changes nothing: that an observation holds is `step`'s decision.

use crate::event::{Observed, Reason};
use crate::session::{Session, State};
use crate::time::Timestamp;

/// Stamps of hooks and transcript differ by this much at most: a hook is stamped when it has started, an entry of the
/// transcript when it is made.
pub const SKEW_MS: i64 = 2000;

/// A dialog is drawn a moment after its hook has run: until then the screen still shows what was before.
pub const DRAWN_MS: i64 = 3000;

/// An agent that works gives a sign of it within this time, or its screen is worth a look.
pub const SILENT_MS: i64 = 10_000;

/// A person who has not answered for this long may have done so where no hook tells.
const WAITED_MS: i64 = 20_000;

/// What a look at the session's surroundings found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sights {
    pub now: Timestamp,
    pub process: ProcessSight,
    pub children: ChildrenSight,
    /// How the transcript ends, where that could be read.
    pub tail: Option<Tail>,
    /// When the transcript was last written.
    pub last_written: Option<Timestamp>,
    /// What its screen shows, where somebody looked.
    pub screen: Option<ScreenSight>,
}

/// What is known of the agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessSight {
    Alive,
    Gone,
    /// There is none to look for, or it cannot be looked at.
    Unknown,
}

/// What runs below the agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildrenSight {
    /// Nothing.
    None,
    /// The youngest child started then. It may be a tool, a hook, or a server that the agent keeps.
    Youngest(Timestamp),
    /// They cannot be looked at.
    Unknown,
}

impl ChildrenSight {
    /// Whether a child was certainly started after this time.
    pub fn is_younger_than(self, time: Timestamp) -> bool {
        match self {
            ChildrenSight::Youngest(started) => started > time,
            ChildrenSight::None | ChildrenSight::Unknown => false,
        }
    }
}

/// What the bottom of an agent's screen shows: the region in which it draws its input box or its dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenSight {
    /// A dialog waits for an answer.
    Dialog,
    /// The agent shows that it works, and no dialog.
    Busy,
    /// The input box waits and nothing works.
    Prompt,
    /// Anything that is not surely one of these.
    Unknown,
}

/// The newest entry of a transcript that belongs to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    pub end: TailEnd,
    pub at: Timestamp,
    /// When a usage limit ends, where the transcript says so for certain.
    pub until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailEnd {
    /// A person stopped the turn.
    Interrupted,
    /// An error ended the turn.
    Failed,
    /// The usage limit ended the turn.
    Limited,
    /// Anything else: the turn goes on, or hooks tell of its end.
    Other,
}

/// What was missed, if anything, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Verdict {
    /// Nothing, where hooks stand.
    pub observed: Option<Observed>,
    /// When an observed usage limit ends, where that is known.
    pub until: Option<Timestamp>,
    pub confidence: Confidence,
    /// The rule that decided, as a short sentence.
    pub rule: &'static str,
    pub evidence: Vec<Evidence>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Nothing that was seen supports it.
    Guess,
    /// Some of what was seen supports it.
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

/// What one source says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub source: &'static str,
    pub says: String,
    pub at: Option<Timestamp>,
}

/// How much a look at a screen promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Something has changed that only the screen can tell, or nothing else would tell of a change.
    Change,
    /// It has been the same for long: look now and then.
    Perhaps,
    Nothing,
}

/// Whether the screen may tell what hooks did not, by what was seen without it.
pub fn promise(session: &Session, sights: &Sights) -> Promise {
    let waited_ms = sights.now.since_ms(asked_at(session));
    match session.state {
        State::Blocked(Reason::Permission) if waited_ms < DRAWN_MS => Promise::Nothing,
        State::Blocked(Reason::Permission) if may_run_a_tool(session, sights) => Promise::Change,
        State::Blocked(Reason::Permission) if waited_ms > WAITED_MS => Promise::Perhaps,
        State::Working if works_alone(session) && is_silent(session, sights) => Promise::Perhaps,
        State::Idle
        | State::Working
        | State::Blocked(_)
        | State::Completed
        | State::Interrupted
        | State::Limited
        | State::Ended => Promise::Nothing,
    }
}

fn may_run_a_tool(session: &Session, sights: &Sights) -> bool {
    sights.children == ChildrenSight::Unknown || sights.children.is_younger_than(asked_at(session))
}

/// Weighs what hooks said against what can be seen. The first rule that applies decides.
pub fn judge(session: &Session, sights: &Sights) -> Verdict {
    let (observed, confidence, rule) = ended(session)
        .or_else(|| gone(sights))
        .or_else(|| stopped(session, sights.tail?))
        .or_else(|| dated(session, sights.tail?))
        .or_else(|| answered(session, sights))
        .or_else(|| taken_back(session, sights))
        .unwrap_or_else(|| (None, trust_in_hooks(session, sights), "nothing seen contradicts the hooks"));
    let until = sights.tail.and_then(|tail| tail.until).filter(|_| observed == Some(Observed::Limited));
    Verdict { observed, until, confidence, rule, evidence: evidence(session, sights) }
}

type Ruling = (Option<Observed>, Confidence, &'static str);

fn ended(session: &Session) -> Option<Ruling> {
    (session.state == State::Ended).then_some((None, Confidence::Certain, "an ended session stays ended"))
}

fn gone(sights: &Sights) -> Option<Ruling> {
    let rule = "without its process there is no session";
    (sights.process == ProcessSight::Gone).then_some((Some(Observed::Gone), Confidence::Certain, rule))
}

fn stopped(session: &Session, tail: Tail) -> Option<Ruling> {
    if !awaits_end(session) || !is_news(session, tail) {
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

/// The hook that tells of a limit does not tell when it ends.
fn dated(session: &Session, tail: Tail) -> Option<Ruling> {
    let is_open = session.state == State::Limited && session.limited_until.is_none();
    let rule = "the transcript says when the usage limit ends";
    let is_limit = tail.end == TailEnd::Limited && tail.until.is_some();
    (is_open && is_limit && is_news(session, tail)).then_some((
        Some(Observed::Limited),
        Confidence::Certain,
        rule,
    ))
}

/// Granting a permission runs no hook before the tool has finished. Questions are answered by a hook of their own.
fn answered(session: &Session, sights: &Sights) -> Option<Ruling> {
    let is_drawn = sights.now.since_ms(asked_at(session)) >= DRAWN_MS;
    let waits = session.state == State::Blocked(Reason::Permission);
    if !waits || !is_drawn || sights.screen != Some(ScreenSight::Busy) {
        return None;
    }
    let runs = sights.children.is_younger_than(asked_at(session));
    let confidence = if runs { Confidence::Certain } else { Confidence::Likely };
    Some((Some(Observed::Answered), confidence, "the screen shows work and no dialog"))
}

/// Since when the dialog has been open: other tools may have finished since.
fn asked_at(session: &Session) -> Timestamp {
    session.asked.as_ref().map_or(session.since, |asked| asked.at.max(session.since))
}

/// A prompt that is taken back before the first word of an answer leaves no trace but the screen.
fn taken_back(session: &Session, sights: &Sights) -> Option<Ruling> {
    let turn = session.open_turn.as_ref()?;
    let is_silent = is_silent(session, sights);
    let runs = sights.children.is_younger_than(turn.started_at);
    let shows_prompt = sights.screen == Some(ScreenSight::Prompt);
    if !works_alone(session) || !is_silent || runs || !shows_prompt {
        return None;
    }
    Some((Some(Observed::Interrupted), Confidence::Likely, "the screen shows an input box and no work"))
}

/// Whether a turn is open and nobody but the session itself could be at work on it: helpers go on behind an input box
/// that waits.
fn works_alone(session: &Session) -> bool {
    let has_helpers = session.background > 0 || !session.subagents.is_empty();
    session.state == State::Working && session.open_turn.is_some() && !has_helpers
}

/// Whether nothing was heard of it and nothing written by it for a while.
fn is_silent(session: &Session, sights: &Sights) -> bool {
    let last =
        sights.last_written.map_or(session.last_event_at, |written| written.max(session.last_event_at));
    sights.now.since_ms(last) > SILENT_MS
}

/// Whether something is to come that no hook may tell of.
fn awaits_end(session: &Session) -> bool {
    match session.state {
        State::Working | State::Blocked(_) => true,
        State::Idle | State::Completed | State::Interrupted | State::Limited | State::Ended => false,
    }
}

/// Whether the transcript ends with something that hooks had no chance to tell. A turn cannot have ended before its
/// prompt: that was the turn before, however small the difference, since the agent waits for a prompt's hook.
fn is_news(session: &Session, tail: Tail) -> bool {
    let in_this_turn = session.open_turn.as_ref().is_none_or(|turn| tail.at >= turn.started_at);
    in_this_turn && tail.at.plus_ms(SKEW_MS) >= session.last_event_at
}

/// How far hooks are to be believed where nothing contradicts them: by what else shows life. An agent at work shows it
/// by what it writes after the last hook and by its screen: a prompt that was taken back leaves no other trace.
fn trust_in_hooks(session: &Session, sights: &Sights) -> Confidence {
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
