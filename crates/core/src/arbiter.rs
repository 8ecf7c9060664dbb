//! Detects what hooks missed: compares a session's state with its process, transcript and screen.
//!
//! Some user actions run no hook. `resolve_state` returns the missed change with its evidence and the rule that decided. It
//! performs no probe and changes no state: `step` decides whether an observation applies.

use crate::event::{BlockReason, ObservedChange};
use crate::session::{Session, SessionState};
use crate::time::Timestamp;

/// Upper bound on the difference between hook and transcript timestamps: a hook is stamped when it has started, a
/// transcript entry when it is created.
pub const SKEW_MS: i64 = 2000;

/// A dialog is drawn shortly after its hook has run; until then the screen shows the previous content.
pub const DRAWN_MS: i64 = 3000;

/// A working agent fires a hook or writes its transcript within this time; after that its screen is worth reading.
const SILENT_MS: i64 = 10_000;

/// The same for a prompt that nothing has followed yet: an agent shows at once that it works on it.
const UNANSWERED_MS: i64 = 2000;

/// A prompt that waits longer than this for its first word is looked at as rarely as any other silent turn.
const SOON_MS: i64 = 60_000;

/// After this wait for a permission, the user may have answered without a hook running.
const WAITED_MS: i64 = 20_000;

/// The results of probing a session's process, transcript and screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observations {
    pub now: Timestamp,
    pub process: ProcessProbe,
    pub children: ChildrenProbe,
    /// The end of the transcript, if it could be read.
    pub tail: Option<TranscriptTail>,
    pub last_written: Option<Timestamp>,
    /// The screen content, if the screen was read.
    pub screen: Option<ScreenProbe>,
}

/// State of the agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessProbe {
    Alive,
    Gone,
    /// The process id is not known, or the process cannot be inspected.
    Unknown,
}

/// Children of the agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildrenProbe {
    None,
    /// Start time of the youngest child, which may be a tool, a hook, or a server that the agent keeps.
    Youngest(Timestamp),
    /// The children cannot be inspected.
    Unknown,
}

impl ChildrenProbe {
    /// Whether a child is known to have started after `time`.
    pub fn is_younger_than(self, time: Timestamp) -> bool {
        matches!(self, ChildrenProbe::Youngest(started) if started > time)
    }
}

/// The bottom of an agent's screen: the region in which it draws its input box or its dialogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenProbe {
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
pub struct TranscriptTail {
    pub end: TranscriptEnd,
    pub at: Timestamp,
    /// When a usage limit ends, if the transcript states it unambiguously.
    pub until: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptEnd {
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
pub struct StateVerdict {
    /// `None` if the hooks' state stands.
    pub observed: Option<ObservedChange>,
    /// When an observed usage limit ends, if known.
    pub until: Option<Timestamp>,
    pub confidence: StateConfidence,
    /// The rule that decided, as a short sentence.
    pub rule: &'static str,
    pub evidence: Vec<StateEvidence>,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum StateConfidence {
        /// No observation supports it.
        Guess = "guess",
        /// Some observations support it.
        Likely = "likely",
        Certain = "certain",
    }
}

/// One observation and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateEvidence {
    pub source: &'static str,
    pub says: String,
    pub at: Option<Timestamp>,
}

/// Whether reading a session's screen is worth its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenReadValue {
    /// Only the screen can show the change that is likely to have happened.
    Change,
    /// The state has been the same for long: read the screen now and then.
    Perhaps,
    Nothing,
}

/// Whether the screen may show what hooks missed, judged by the cheaper observations.
pub fn screen_read_value(session: &Session, sights: &Observations) -> ScreenReadValue {
    let waited_ms = sights.now.since_ms(dialog_opened_at(session));
    let waits = session.state == SessionState::Blocked(BlockReason::Permission) && waited_ms >= DRAWN_MS;
    let is_open = works_without_subagents(session) && is_silent(session, sights);
    let is_recent = sights.now.since_ms(session.last_event_at) < SOON_MS;
    if (waits && may_have_started_a_tool(session, sights)) || (is_open && is_recent && is_unanswered(session))
    {
        ScreenReadValue::Change
    } else if (waits && waited_ms > WAITED_MS) || is_open {
        ScreenReadValue::Perhaps
    } else {
        ScreenReadValue::Nothing
    }
}

fn may_have_started_a_tool(session: &Session, sights: &Observations) -> bool {
    sights.children == ChildrenProbe::Unknown || sights.children.is_younger_than(dialog_opened_at(session))
}

/// Compares the session's state with the observations. The first rule that applies decides.
pub fn resolve_state(session: &Session, sights: &Observations) -> StateVerdict {
    let (observed, confidence, rule) = already_ended(session)
        .or_else(|| process_gone(sights))
        .or_else(|| turn_stopped(session, sights.tail?))
        .or_else(|| limit_end(session, sights.tail?))
        .or_else(|| permission_answered(session, sights))
        .or_else(|| prompt_cancelled(session, sights))
        .unwrap_or_else(|| {
            (None, confidence_in_hooks(session, sights), "nothing seen contradicts the hooks")
        });
    let until = sights.tail.and_then(|tail| tail.until).filter(|_| observed == Some(ObservedChange::Limited));
    StateVerdict { observed, until, confidence, rule, evidence: evidence(session, sights) }
}

type Ruling = (Option<ObservedChange>, StateConfidence, &'static str);

fn already_ended(session: &Session) -> Option<Ruling> {
    let ruling = (None, StateConfidence::Certain, "an ended session stays ended");
    (session.state == SessionState::Ended).then_some(ruling)
}

fn process_gone(sights: &Observations) -> Option<Ruling> {
    let rule = "without its process there is no session";
    let ruling = (Some(ObservedChange::Gone), StateConfidence::Certain, rule);
    (sights.process == ProcessProbe::Gone).then_some(ruling)
}

fn turn_stopped(session: &Session, tail: TranscriptTail) -> Option<Ruling> {
    if !awaits_end(session) || !is_newer_than_hooks(session, tail) {
        return None;
    }
    let (observed, rule) = match tail.end {
        TranscriptEnd::Interrupted => {
            (ObservedChange::Interrupted, "the transcript ends with an interruption")
        }
        TranscriptEnd::Failed => (ObservedChange::Failed, "the transcript ends with an error"),
        TranscriptEnd::Limited => (ObservedChange::Limited, "the transcript ends with a usage limit"),
        TranscriptEnd::Other => return None,
    };
    let is_newest = tail.at >= session.last_event_at;
    Some((Some(observed), if is_newest { StateConfidence::Certain } else { StateConfidence::Likely }, rule))
}

/// The hook that reports a usage limit does not include its end.
fn limit_end(session: &Session, tail: TranscriptTail) -> Option<Ruling> {
    let is_open = session.state == SessionState::Limited && session.limited_until.is_none();
    let rule = "the transcript says when the usage limit ends";
    let is_limit = tail.end == TranscriptEnd::Limited && tail.until.is_some();
    let ruling = (Some(ObservedChange::Limited), StateConfidence::Certain, rule);
    (is_open && is_limit && is_newer_than_hooks(session, tail)).then_some(ruling)
}

/// Granting a permission runs no hook before the tool has finished. Answering a question runs a hook of its own.
fn permission_answered(session: &Session, sights: &Observations) -> Option<Ruling> {
    let is_drawn = sights.now.since_ms(dialog_opened_at(session)) >= DRAWN_MS;
    let waits = session.state == SessionState::Blocked(BlockReason::Permission);
    if !waits || !is_drawn || sights.screen != Some(ScreenProbe::Busy) {
        return None;
    }
    let runs = sights.children.is_younger_than(dialog_opened_at(session));
    let confidence = if runs { StateConfidence::Certain } else { StateConfidence::Likely };
    Some((Some(ObservedChange::Answered), confidence, "the screen shows work and no dialog"))
}

/// When the dialog opened: `since` may be older, because other tools may have finished in the meantime.
fn dialog_opened_at(session: &Session) -> Timestamp {
    session.asked.as_ref().map_or(session.since, |asked| asked.at.max(session.since))
}

/// A prompt that is cancelled before the first word of an answer leaves no trace but the screen.
fn prompt_cancelled(session: &Session, sights: &Observations) -> Option<Ruling> {
    let turn = session.open_turn.as_ref()?;
    let is_silent = is_silent(session, sights);
    let runs = sights.children.is_younger_than(turn.started_at);
    let shows_prompt = sights.screen == Some(ScreenProbe::Prompt);
    let rule = "the screen shows an input box and no work";
    let ruling = (Some(ObservedChange::Interrupted), StateConfidence::Likely, rule);
    (works_without_subagents(session) && is_silent && !runs && shows_prompt).then_some(ruling)
}

/// Whether a turn is open and no subagent works on it: subagents go on while the input box waits.
fn works_without_subagents(session: &Session) -> bool {
    let has_subagents = session.background > 0 || !session.subagents.is_empty();
    session.state == SessionState::Working && session.open_turn.is_some() && !has_subagents
}

/// Whether no event has followed the prompt of the open turn.
fn is_unanswered(session: &Session) -> bool {
    session.open_turn.as_ref().is_some_and(|turn| turn.started_at == session.last_event_at)
}

/// How long hooks and transcript must be silent before the screen of a working session is worth reading.
pub fn silent_after_ms(session: &Session) -> i64 {
    if is_unanswered(session) { UNANSWERED_MS } else { SILENT_MS }
}

/// When a prompt that may have been taken back is looked at again, if that is soon.
pub fn next_look_at(session: &Session, now: Timestamp) -> Option<Timestamp> {
    let is_recent = now.since_ms(session.last_event_at) < SOON_MS;
    (works_without_subagents(session) && is_unanswered(session) && is_recent)
        .then(|| now.plus_ms(UNANSWERED_MS))
}

/// Whether neither a hook nor the transcript showed activity for long enough.
fn is_silent(session: &Session, sights: &Observations) -> bool {
    let last =
        sights.last_written.map_or(session.last_event_at, |written| written.max(session.last_event_at));
    sights.now.since_ms(last) > silent_after_ms(session)
}

/// Whether the turn can still end without a hook.
fn awaits_end(session: &Session) -> bool {
    matches!(session.state, SessionState::Working | SessionState::Blocked(_))
}

/// Whether the transcript's end is newer than the hooks. An entry older than the prompt belongs to the previous turn,
/// however small the difference, because the agent waits for a prompt's hook.
fn is_newer_than_hooks(session: &Session, tail: TranscriptTail) -> bool {
    let in_this_turn = session.open_turn.as_ref().is_none_or(|turn| tail.at >= turn.started_at);
    in_this_turn && tail.at.plus_ms(SKEW_MS) >= session.last_event_at
}

/// How certain the hooks' state is if no observation contradicts it. A working agent writes to its transcript after the
/// last hook, or its screen shows work; a cancelled prompt leaves neither.
fn confidence_in_hooks(session: &Session, sights: &Observations) -> StateConfidence {
    let went_on = sights.tail.is_some_and(|tail| tail.at > session.last_event_at);
    match (sights.process, went_on || screen_agrees(session, sights) || !awaits_end(session)) {
        (ProcessProbe::Alive, true) => StateConfidence::Certain,
        (ProcessProbe::Alive, false) | (ProcessProbe::Unknown, true) => StateConfidence::Likely,
        (ProcessProbe::Unknown | ProcessProbe::Gone, _) => StateConfidence::Guess,
    }
}

fn screen_agrees(session: &Session, sights: &Observations) -> bool {
    match sights.screen {
        Some(ScreenProbe::Dialog) => matches!(session.state, SessionState::Blocked(_)),
        Some(ScreenProbe::Busy) => session.state == SessionState::Working,
        Some(ScreenProbe::Prompt | ScreenProbe::Unknown) | None => false,
    }
}

fn evidence(session: &Session, sights: &Observations) -> Vec<StateEvidence> {
    let evidence = |source, says: &str, at| StateEvidence { source, says: says.to_owned(), at };
    let reason = session.state.reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let state = format!("{}{reason}", session.state.name());
    let (children, children_at) = match sights.children {
        ChildrenProbe::None => ("none", Some(sights.now)),
        ChildrenProbe::Youngest(started) => ("the youngest started", Some(started)),
        ChildrenProbe::Unknown => ("unknown", None),
    };
    let file = if sights.last_written.is_some() { "last written" } else { "not found" };
    let tail = sights.tail;
    vec![
        evidence("state", &state, Some(session.since)),
        evidence("hooks", "last heard of it", Some(session.last_event_at)),
        evidence("process", process_says(sights.process), Some(sights.now)),
        evidence("children", children, children_at),
        evidence("transcript", tail_says(tail.map(|tail| tail.end)), tail.map(|tail| tail.at)),
        evidence("transcript file", file, sights.last_written),
        evidence("screen", screen_says(sights.screen), sights.screen.map(|_| sights.now)),
    ]
}

fn process_says(sight: ProcessProbe) -> &'static str {
    match sight {
        ProcessProbe::Alive => "alive",
        ProcessProbe::Gone => "gone",
        ProcessProbe::Unknown => "unknown",
    }
}

fn screen_says(screen: Option<ScreenProbe>) -> &'static str {
    match screen {
        Some(ScreenProbe::Dialog) => "shows a dialog",
        Some(ScreenProbe::Busy) => "shows work",
        Some(ScreenProbe::Prompt) => "shows an input box and no work",
        Some(ScreenProbe::Unknown) => "shows nothing that is known for sure",
        None => "not looked at",
    }
}

fn tail_says(end: Option<TranscriptEnd>) -> &'static str {
    match end {
        Some(TranscriptEnd::Interrupted) => "ends with an interruption",
        Some(TranscriptEnd::Failed) => "ends with an error",
        Some(TranscriptEnd::Limited) => "ends with a usage limit",
        Some(TranscriptEnd::Other) => "ends with neither interruption nor error",
        None => "tells nothing",
    }
}

#[cfg(test)]
mod tests;
