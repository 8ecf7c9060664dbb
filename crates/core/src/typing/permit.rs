//! Decides whether an intent may be typed now: a pure function of all facts and observations.
//!
//! Every uncertainty is a reason not to type. Does not wait, observe or type; callers ask again right before they type.

use super::{
    InputLine, Intent, IntentPurpose, IntentStage, PaneObservation, ShownSession, TerminalAbilities,
    TerminalAbility,
};
use crate::arbiter::ProcessProbe;
use crate::id::SessionKey;
use crate::seat::Seat;
use crate::session::{Session, SessionState};
use crate::text::SafeText;
use crate::time::Timestamp;
use std::fmt;

/// The user's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypingRules {
    pub enabled: bool,
    pub pause: Option<TypingPause>,
    /// How long the user must not have typed in the seat.
    pub quiet_ms: i64,
    /// Abilities the user accepts to go without if a terminal lacks them. Empty by default.
    pub without: Vec<TerminalAbility>,
}

/// A pause of all typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypingPause {
    /// When it ends by itself.
    pub until: Option<Timestamp>,
}

/// When an agent reports that a session has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStartReport {
    AtOnce,
    /// Only with the first prompt: a clear cannot be confirmed before text is typed after it.
    WithFirstPrompt,
}

/// All facts and observations at the time of the decision.
#[derive(Clone, Copy)]
pub struct TypingContext<'a> {
    pub now: Timestamp,
    /// The intent's seat and its target session; `None` if they are no longer known.
    pub seat: Option<&'a Seat>,
    pub session: Option<&'a Session>,
    /// The prompt of the session's last turn, from any origin.
    pub asked: Option<&'a SafeText>,
    /// The intent that this one follows.
    pub before: Option<&'a Intent>,
    pub starts: SessionStartReport,
    pub process: ProcessProbe,
    pub abilities: TerminalAbilities,
    pub look: &'a PaneObservation,
    pub line: &'a InputLine,
    pub shown: &'a ShownSession,
}

impl Intent {
    /// The target session.
    pub fn target_session<'a>(&'a self, before: Option<&'a Intent>) -> &'a SessionKey {
        before.and_then(|before| before.led_to.as_ref()).unwrap_or(&self.session)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum TypingVerdict {
    Ready,
    /// It may become possible.
    NotYet(TypingObstacle),
    /// It never will.
    Refused(TypingObstacle),
}

/// One reason not to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypingObstacle {
    Off,
    Paused(TypingPause),
    Forgotten,
    TooLate,
    /// The intent it follows is not confirmed yet.
    Before,
    /// It was not confirmed, and never will be.
    BeforeFailed,
    SeatUnknown,
    SeatTaken,
    SeatLeft,
    SessionEnded,
    TurnRuns,
    DialogOpen,
    Unsuited(SessionState),
    LimitLasts,
    PromptedSince,
    AgentGone,
    /// The terminal has no means to report it.
    CannotTell(TerminalAbility),
    /// It has, but did not report it now.
    NotTold(TerminalAbility),
    PaneGone,
    OtherProgram,
    InMode,
    LineHolds,
    Busy,
    Covered,
    NotUnderstood,
    SomebodyTypes,
    /// The agent shows a session other than the target.
    OtherSession,
    /// The input line does not hold the typed text.
    LineDiffers,
    TypedMeanwhile,
}

impl fmt::Display for TypingObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            TypingObstacle::Off => "typing is off (`tow config set typing.enabled true`)",
            TypingObstacle::Paused(TypingPause { until: Some(until) }) => {
                return write!(f, "typing is paused until {} (`tow resume`)", until.to_utc());
            }
            TypingObstacle::Paused(TypingPause { until: None }) => "typing is paused (`tow resume`)",
            TypingObstacle::Forgotten => "its text was forgotten",
            TypingObstacle::TooLate => "its time is over",
            TypingObstacle::Before => "what it comes after is not confirmed yet",
            TypingObstacle::BeforeFailed => "what it comes after was not confirmed",
            TypingObstacle::SeatUnknown => "its seat or its session is not known any more",
            TypingObstacle::SeatTaken => "another session sits in the seat",
            TypingObstacle::SeatLeft => "the session does not sit there any more",
            TypingObstacle::SessionEnded => "the session has ended",
            TypingObstacle::TurnRuns => "a turn runs",
            TypingObstacle::DialogOpen => "the agent waits for an answer",
            TypingObstacle::Unsuited(state) => return write!(f, "the session is {}", state.name()),
            TypingObstacle::LimitLasts => "the usage limit still lasts",
            TypingObstacle::PromptedSince => "somebody has gone on since: the session was prompted",
            TypingObstacle::AgentGone => "the agent's process has ended",
            TypingObstacle::CannotTell(ability) => {
                let (tells, name) = (ability.description(), ability.name());
                return write!(f, "this terminal cannot tell {tells} (`typing.without` accepts \"{name}\")");
            }
            TypingObstacle::NotTold(ability) => {
                return write!(f, "the terminal did not tell {}", ability.description());
            }
            TypingObstacle::PaneGone => "the pane is gone, or is another one by now",
            TypingObstacle::OtherProgram => "another program would get the keys",
            TypingObstacle::InMode => "the pane is in a mode of the terminal program, such as copy mode",
            TypingObstacle::LineHolds => "something stands in the input line",
            TypingObstacle::Busy => "the agent's screen shows that it works",
            TypingObstacle::Covered => "a dialog or a menu is open",
            TypingObstacle::NotUnderstood => "the agent's screen was not understood",
            TypingObstacle::SomebodyTypes => "somebody typed there a moment ago",
            TypingObstacle::OtherSession => "the agent shows another session there",
            TypingObstacle::LineDiffers => "the input line does not hold exactly what was typed",
            TypingObstacle::TypedMeanwhile => "somebody typed there in the meantime",
        };
        f.write_str(text)
    }
}

/// Whether the intent may be typed now.
pub fn may_type(intent: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    let checks = [is_enabled, in_order, in_seat, is_suited, is_there, gets_keys, is_empty, is_shown, is_idle];
    first_objection(&checks, intent, moment, rules)
}

/// Whether Enter may be pressed: all conditions still hold, the line holds the text, and no key was pressed since
/// `typed_on`, the observation right before typing.
pub fn may_press(
    intent: &Intent,
    moment: &TypingContext<'_>,
    rules: &TypingRules,
    typed_on: &PaneObservation,
) -> TypingVerdict {
    let checks = [is_enabled, in_order, in_seat, is_suited, is_there, gets_keys, is_shown];
    let current = first_objection(&checks, intent, moment, rules);
    if current != TypingVerdict::Ready {
        return current;
    }
    if moment.look.last_key_at != typed_on.last_key_at {
        return TypingVerdict::Refused(TypingObstacle::TypedMeanwhile);
    }
    line_holds_text(intent, moment)
}

type PermitCheck = fn(&Intent, &TypingContext<'_>, &TypingRules) -> TypingVerdict;

/// The first refusal, or else the first reason to wait.
fn first_objection(
    checks: &[PermitCheck],
    intent: &Intent,
    moment: &TypingContext<'_>,
    rules: &TypingRules,
) -> TypingVerdict {
    let all = || checks.iter().map(|check| check(intent, moment, rules));
    let refused = all().find(|verdict| matches!(verdict, TypingVerdict::Refused(_)));
    let waits = || all().find(|verdict| matches!(verdict, TypingVerdict::NotYet(_)));
    refused.or_else(waits).unwrap_or(TypingVerdict::Ready)
}

fn is_enabled(intent: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    let pause = rules.pause.filter(|pause| pause.until.is_none_or(|until| moment.now < until));
    match pause {
        _ if !rules.enabled => TypingVerdict::Refused(TypingObstacle::Off),
        Some(pause) => TypingVerdict::Refused(TypingObstacle::Paused(pause)),
        None if intent.wish.text.is_blank() => TypingVerdict::Refused(TypingObstacle::Forgotten),
        None if moment.now >= intent.wish.expires_at => TypingVerdict::Refused(TypingObstacle::TooLate),
        None => TypingVerdict::Ready,
    }
}

/// A clear that only the next prompt can confirm need not be confirmed before that prompt.
fn in_order(intent: &Intent, moment: &TypingContext<'_>, _: &TypingRules) -> TypingVerdict {
    let Some(_) = intent.wish.after else { return TypingVerdict::Ready };
    let Some(before) = moment.before else { return TypingVerdict::Refused(TypingObstacle::BeforeFailed) };
    match before.stage {
        IntentStage::Confirmed => TypingVerdict::Ready,
        IntentStage::Typed if is_confirmed_late(before, moment) => TypingVerdict::Ready,
        IntentStage::Waiting | IntentStage::Typing | IntentStage::Typed => {
            TypingVerdict::NotYet(TypingObstacle::Before)
        }
        IntentStage::Refused | IntentStage::Expired | IntentStage::Dropped => {
            TypingVerdict::Refused(TypingObstacle::BeforeFailed)
        }
    }
}

fn is_confirmed_late(before: &Intent, moment: &TypingContext<'_>) -> bool {
    moment.starts == SessionStartReport::WithFirstPrompt && before.wish.purpose == IntentPurpose::Clear
}

fn in_seat(intent: &Intent, moment: &TypingContext<'_>, _: &TypingRules) -> TypingVerdict {
    let (Some(seat), Some(session)) = (moment.seat, moment.session) else {
        return TypingVerdict::Refused(TypingObstacle::SeatUnknown);
    };
    let is_meant = session.key == *intent.target_session(moment.before) && seat.place.key == intent.wish.seat;
    match seat.current.as_ref() {
        _ if session.state == SessionState::Ended => TypingVerdict::Refused(TypingObstacle::SessionEnded),
        Some(current) if is_meant && *current == session.key => TypingVerdict::Ready,
        Some(_) => TypingVerdict::Refused(TypingObstacle::SeatTaken),
        None => TypingVerdict::Refused(TypingObstacle::SeatLeft),
    }
}

/// A user who has continued since must not be interrupted by an older intent.
fn is_suited(intent: &Intent, moment: &TypingContext<'_>, _: &TypingRules) -> TypingVerdict {
    let Some(session) = moment.session else { return TypingVerdict::Refused(TypingObstacle::SeatUnknown) };
    let purpose = intent.wish.purpose;
    if session.prompted_at.is_some_and(|prompted| prompted > intent.made_at) {
        return TypingVerdict::Refused(TypingObstacle::PromptedSince);
    }
    match session.state {
        SessionState::Working if purpose.is_command() => TypingVerdict::Refused(TypingObstacle::TurnRuns),
        SessionState::Working => TypingVerdict::NotYet(TypingObstacle::TurnRuns),
        SessionState::Blocked(_) => TypingVerdict::NotYet(TypingObstacle::DialogOpen),
        SessionState::Limited
            if purpose.is_allowed_in(SessionState::Limited) && limit_lasts(session, moment.now) =>
        {
            TypingVerdict::NotYet(TypingObstacle::LimitLasts)
        }
        state @ (SessionState::Idle
        | SessionState::Completed
        | SessionState::Interrupted
        | SessionState::Limited
        | SessionState::Ended) => {
            if purpose.is_allowed_in(state) {
                TypingVerdict::Ready
            } else {
                TypingVerdict::Refused(TypingObstacle::Unsuited(state))
            }
        }
    }
}

fn limit_lasts(session: &Session, now: Timestamp) -> bool {
    session.limited_until.is_some_and(|until| now < until)
}

fn is_there(_: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    match (moment.process, moment.look.is_there) {
        (ProcessProbe::Gone, _) => TypingVerdict::Refused(TypingObstacle::AgentGone),
        (ProcessProbe::Alive | ProcessProbe::Unknown, Some(true)) => TypingVerdict::Ready,
        (ProcessProbe::Alive | ProcessProbe::Unknown, Some(false)) => {
            TypingVerdict::Refused(TypingObstacle::PaneGone)
        }
        (ProcessProbe::Alive | ProcessProbe::Unknown, None) => {
            unseen(TerminalAbility::Identity, moment, rules)
        }
    }
}

/// The keys would go to the agent only.
fn gets_keys(_: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    let agent = moment.seat.map(|seat| seat.place.pid);
    let foreground = match moment.look.foreground {
        Some(pid) if Some(pid) == agent => TypingVerdict::Ready,
        Some(_) => TypingVerdict::NotYet(TypingObstacle::OtherProgram),
        None => unseen(TerminalAbility::Foreground, moment, rules),
    };
    let mode = match moment.look.in_mode {
        Some(false) => TypingVerdict::Ready,
        Some(true) => TypingVerdict::NotYet(TypingObstacle::InMode),
        None => unseen(TerminalAbility::Mode, moment, rules),
    };
    if matches!(mode, TypingVerdict::Refused(_)) || foreground == TypingVerdict::Ready {
        mode
    } else {
        foreground
    }
}

fn is_empty(_: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    if moment.look.screen.is_none() {
        return unseen(TerminalAbility::Screen, moment, rules);
    }
    match moment.line {
        InputLine::Empty => TypingVerdict::Ready,
        InputLine::Holds { .. } => TypingVerdict::NotYet(TypingObstacle::LineHolds),
        InputLine::Busy => TypingVerdict::NotYet(TypingObstacle::Busy),
        InputLine::Covered => TypingVerdict::NotYet(TypingObstacle::Covered),
        InputLine::Unknown => TypingVerdict::NotYet(TypingObstacle::NotUnderstood),
    }
}

/// The agent shows the target session, as far as it is visible; after an unconfirmed clear, a new one.
fn is_shown(_: &Intent, moment: &TypingContext<'_>, _: &TypingRules) -> TypingVerdict {
    let is_cleared =
        |before: &&Intent| before.stage == IntentStage::Typed && is_confirmed_late(before, moment);
    let prompts = [moment.asked, moment.session.and_then(|session| session.prompt.as_ref())];
    match (moment.shown, moment.before.filter(is_cleared)) {
        (ShownSession::Unknown, _) | (ShownSession::New, Some(_)) => TypingVerdict::Ready,
        (ShownSession::Said(_) | ShownSession::Begins(_), Some(_)) => {
            TypingVerdict::NotYet(TypingObstacle::Before)
        }
        (ShownSession::Said(text), None)
            if prompts.into_iter().flatten().any(|prompt| is_prompt(text, prompt)) =>
        {
            TypingVerdict::Ready
        }
        (ShownSession::Begins(start), None)
            if prompts.into_iter().flatten().any(|prompt| begins(start, prompt)) =>
        {
            TypingVerdict::Ready
        }
        (ShownSession::New | ShownSession::Said(_) | ShownSession::Begins(_), None) => {
            TypingVerdict::NotYet(TypingObstacle::OtherSession)
        }
    }
}

/// Whether the screen shows this prompt, of which only the beginning may be stored. The shown text ends at the first
/// blank line at the latest.
fn is_prompt(shown: &str, prompt: &SafeText) -> bool {
    let prompt = prompt.as_str().trim();
    let paragraph = prompt.split("\n\n").next().unwrap_or_default();
    let is_cut = |start: &str| !start.is_empty() && is_prefix(start, shown);
    is_same(shown, prompt) || is_same(shown, paragraph) || prompt.strip_suffix('…').is_some_and(is_cut)
}

/// Whether the prompt begins with the shown text; both may be truncated.
fn begins(start: &str, prompt: &SafeText) -> bool {
    let prompt = prompt.as_str().trim();
    let is_longer = |kept: &str| !kept.is_empty() && is_prefix(kept, start);
    let is_shown = non_blanks(start).next().is_some() && is_prefix(start, prompt);
    is_shown || prompt.strip_suffix('…').is_some_and(is_longer)
}

/// Terminals report the last key with a resolution of about a second, rounded up: until then a key pressed after the
/// observation could not be told from the one before it, however short the configured wait.
fn is_idle(_: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    match moment.look.last_key_at {
        None => unseen(TerminalAbility::Activity, moment, rules),
        Some(typed) if moment.now <= typed || moment.now.since_ms(typed) < rules.quiet_ms => {
            TypingVerdict::NotYet(TypingObstacle::SomebodyTypes)
        }
        Some(_) => TypingVerdict::Ready,
    }
}

/// A line that is still empty may not be drawn yet; a line with other text will never match.
fn line_holds_text(intent: &Intent, moment: &TypingContext<'_>) -> TypingVerdict {
    if moment.look.screen.is_none() && !moment.abilities.screen {
        return TypingVerdict::Ready;
    }
    match moment.line {
        InputLine::Holds { text } if is_same(text, intent.wish.text.as_str()) => TypingVerdict::Ready,
        InputLine::Holds { text } if is_prefix(text, intent.wish.text.as_str()) => {
            TypingVerdict::NotYet(TypingObstacle::LineDiffers)
        }
        InputLine::Holds { .. } => TypingVerdict::Refused(TypingObstacle::LineDiffers),
        InputLine::Empty => TypingVerdict::NotYet(TypingObstacle::LineDiffers),
        InputLine::Busy => TypingVerdict::NotYet(TypingObstacle::Busy),
        InputLine::Covered => TypingVerdict::NotYet(TypingObstacle::Covered),
        InputLine::Unknown => TypingVerdict::NotYet(TypingObstacle::NotUnderstood),
    }
}

/// A screen wraps and pads lines, so whitespace is ignored; leading whitespace means the user had already typed
/// something.
fn is_same(shown: &str, text: &str) -> bool {
    non_blanks(shown).eq(non_blanks(text)) && !shown.starts_with(char::is_whitespace)
}

fn is_prefix(shown: &str, text: &str) -> bool {
    let mut text = non_blanks(text);
    non_blanks(shown).all(|letter| text.next() == Some(letter)) && !shown.starts_with(char::is_whitespace)
}

fn non_blanks(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| !c.is_whitespace())
}

/// A fact that the terminal cannot report is a reason to refuse, unless the user accepts its absence. A fact that it
/// could report but did not is no permission either.
fn unseen(ability: TerminalAbility, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    match moment.abilities.has(ability) {
        true => TypingVerdict::NotYet(TypingObstacle::NotTold(ability)),
        false if rules.without.contains(&ability) => TypingVerdict::Ready,
        false => TypingVerdict::Refused(TypingObstacle::CannotTell(ability)),
    }
}

#[cfg(test)]
mod tests;
