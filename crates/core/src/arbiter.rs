//! What a session is doing when hooks may not have told all: hooks are weighed against what can be seen.
//!
//! Some things that a person does run no hook. `judge` only says what was missed, with every piece of evidence and the
//! rule that decided. It looks at nothing itself and changes nothing: that an observation holds is `step`'s decision.

use crate::event::Observed;
use crate::session::{Session, State};
use crate::time::Timestamp;

/// Stamps of hooks and transcript differ by this much at most: a hook is stamped when it has started, an entry of the
/// transcript when it is made.
pub const SKEW_MS: i64 = 2000;

/// What a look at the session's surroundings found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sights {
    pub now: Timestamp,
    pub process: ProcessSight,
    /// How the transcript ends, where that could be read.
    pub tail: Option<Tail>,
    /// When the transcript was last written.
    pub last_written: Option<Timestamp>,
}

/// What is known of the agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessSight {
    Alive,
    Gone,
    /// There is none to look for, or it cannot be looked at.
    Unknown,
}

/// The newest entry of a transcript that belongs to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    pub end: TailEnd,
    pub at: Timestamp,
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

/// Weighs what hooks said against what can be seen. The first rule that applies decides.
pub fn judge(session: &Session, sights: &Sights) -> Verdict {
    let (observed, confidence, rule) = ended(session)
        .or_else(|| gone(sights))
        .or_else(|| stopped(session, sights.tail?))
        .unwrap_or_else(|| (None, trust_in_hooks(session, sights), "nothing seen contradicts the hooks"));
    Verdict { observed, confidence, rule, evidence: evidence(session, sights) }
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
/// only by what it writes after the last hook: a prompt that was taken back before the first word leaves no trace.
fn trust_in_hooks(session: &Session, sights: &Sights) -> Confidence {
    let went_on = sights.tail.is_some_and(|tail| tail.at > session.last_event_at);
    match (sights.process, went_on || !awaits_end(session)) {
        (ProcessSight::Alive, true) => Confidence::Certain,
        (ProcessSight::Alive, false) | (ProcessSight::Unknown, true) => Confidence::Likely,
        (ProcessSight::Unknown | ProcessSight::Gone, _) => Confidence::Guess,
    }
}

fn evidence(session: &Session, sights: &Sights) -> Vec<Evidence> {
    let reason = session.state.reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let state = format!("{}{reason}", session.state.name());
    vec![
        Evidence { source: "state", says: state, at: Some(session.since) },
        Evidence { source: "hooks", says: "last heard of it".into(), at: Some(session.last_event_at) },
        Evidence { source: "process", says: process_says(sights.process).into(), at: Some(sights.now) },
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
    ]
}

fn process_says(sight: ProcessSight) -> &'static str {
    match sight {
        ProcessSight::Alive => "alive",
        ProcessSight::Gone => "gone",
        ProcessSight::Unknown => "unknown",
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
