//! Decides whether an intent may be typed now: a pure function of all facts and observations.
//!
//! Every uncertainty is a reason not to type. Does not wait, observe or type; callers ask again right before they type.

use super::{Abilities, Ability, InputLine, Intent, Look, Purpose, Shown, Stage};
use crate::arbiter::ProcessSight;
use crate::id::SessionKey;
use crate::seat::Seat;
use crate::session::{Session, State};
use crate::text::Kept;
use crate::time::Timestamp;
use std::fmt;

/// The user's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    pub enabled: bool,
    pub pause: Option<Pause>,
    /// How long the user must not have typed in the seat.
    pub quiet_ms: i64,
    /// Abilities the user accepts to go without if a terminal lacks them. Empty by default.
    pub without: Vec<Ability>,
}

/// A pause of all typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it ends by itself.
    pub until: Option<Timestamp>,
}

/// When an agent reports that a session has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    AtOnce,
    /// Only with the first prompt: a clear cannot be confirmed before text is typed after it.
    WithFirstPrompt,
}

/// All facts and observations at the time of the decision.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub now: Timestamp,
    /// The intent's seat and its target session; `None` if they are no longer known.
    pub seat: Option<&'a Seat>,
    pub session: Option<&'a Session>,
    /// The prompt of the session's last turn, from any origin.
    pub asked: Option<&'a Kept>,
    /// The intent that this one follows.
    pub before: Option<&'a Intent>,
    pub starts: Starts,
    pub process: ProcessSight,
    pub abilities: Abilities,
    pub look: &'a Look,
    pub line: &'a InputLine,
    pub shown: &'a Shown,
}

impl Intent {
    /// The target session.
    pub fn meant<'a>(&'a self, before: Option<&'a Intent>) -> &'a SessionKey {
        before.and_then(|before| before.led_to.as_ref()).unwrap_or(&self.session)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    Ready,
    /// It may become possible.
    NotYet(Why),
    /// It never will.
    Refused(Why),
}

/// One reason not to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Off,
    Paused(Pause),
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
    Unsuited(State),
    LimitLasts,
    PromptedSince,
    AgentGone,
    /// The terminal has no means to report it.
    CannotTell(Ability),
    /// It has, but did not report it now.
    NotTold(Ability),
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

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Why::Off => "typing is off (`tow config set typing.enabled true`)",
            Why::Paused(Pause { until: Some(until) }) => {
                return write!(f, "typing is paused until {} (`tow resume`)", until.to_utc());
            }
            Why::Paused(Pause { until: None }) => "typing is paused (`tow resume`)",
            Why::Forgotten => "its text was forgotten",
            Why::TooLate => "its time is over",
            Why::Before => "what it comes after is not confirmed yet",
            Why::BeforeFailed => "what it comes after was not confirmed",
            Why::SeatUnknown => "its seat or its session is not known any more",
            Why::SeatTaken => "another session sits in the seat",
            Why::SeatLeft => "the session does not sit there any more",
            Why::SessionEnded => "the session has ended",
            Why::TurnRuns => "a turn runs",
            Why::DialogOpen => "the agent waits for an answer",
            Why::Unsuited(state) => return write!(f, "the session is {}", state.name()),
            Why::LimitLasts => "the usage limit still lasts",
            Why::PromptedSince => "somebody has gone on since: the session was prompted",
            Why::AgentGone => "the agent's process has ended",
            Why::CannotTell(ability) => {
                let (tells, name) = (ability.tells(), ability.name());
                return write!(f, "this terminal cannot tell {tells} (`typing.without` accepts \"{name}\")");
            }
            Why::NotTold(ability) => return write!(f, "the terminal did not tell {}", ability.tells()),
            Why::PaneGone => "the pane is gone, or is another one by now",
            Why::OtherProgram => "another program would get the keys",
            Why::InMode => "the pane is in a mode of the terminal program, such as copy mode",
            Why::LineHolds => "something stands in the input line",
            Why::Busy => "the agent's screen shows that it works",
            Why::Covered => "a dialog or a menu is open",
            Why::NotUnderstood => "the agent's screen was not understood",
            Why::SomebodyTypes => "somebody typed there a moment ago",
            Why::OtherSession => "the agent shows another session there",
            Why::LineDiffers => "the input line does not hold exactly what was typed",
            Why::TypedMeanwhile => "somebody typed there in the meantime",
        };
        f.write_str(text)
    }
}

/// Whether the intent may be typed now.
pub fn may_type(intent: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    let checks = [is_enabled, in_order, in_seat, is_suited, is_there, gets_keys, is_empty, is_shown, is_idle];
    first_objection(&checks, intent, moment, rules)
}

/// Whether Enter may be pressed: all conditions still hold, the line holds the text, and no key was pressed since
/// `typed_on`, the observation right before typing.
pub fn may_press(intent: &Intent, moment: &Moment<'_>, rules: &Rules, typed_on: &Look) -> Verdict {
    let checks = [is_enabled, in_order, in_seat, is_suited, is_there, gets_keys, is_shown];
    let current = first_objection(&checks, intent, moment, rules);
    if current != Verdict::Ready {
        return current;
    }
    if moment.look.last_key_at != typed_on.last_key_at {
        return Verdict::Refused(Why::TypedMeanwhile);
    }
    line_holds_text(intent, moment)
}

type PermitCheck = fn(&Intent, &Moment<'_>, &Rules) -> Verdict;

/// The first refusal, or else the first reason to wait.
fn first_objection(checks: &[PermitCheck], intent: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    let all = || checks.iter().map(|check| check(intent, moment, rules));
    let refused = all().find(|verdict| matches!(verdict, Verdict::Refused(_)));
    let waits = || all().find(|verdict| matches!(verdict, Verdict::NotYet(_)));
    refused.or_else(waits).unwrap_or(Verdict::Ready)
}

fn is_enabled(intent: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    let pause = rules.pause.filter(|pause| pause.until.is_none_or(|until| moment.now < until));
    match pause {
        _ if !rules.enabled => Verdict::Refused(Why::Off),
        Some(pause) => Verdict::Refused(Why::Paused(pause)),
        None if intent.wish.text.is_blank() => Verdict::Refused(Why::Forgotten),
        None if moment.now >= intent.wish.expires_at => Verdict::Refused(Why::TooLate),
        None => Verdict::Ready,
    }
}

/// A clear that only the next prompt can confirm need not be confirmed before that prompt.
fn in_order(intent: &Intent, moment: &Moment<'_>, _: &Rules) -> Verdict {
    let Some(_) = intent.wish.after else { return Verdict::Ready };
    let Some(before) = moment.before else { return Verdict::Refused(Why::BeforeFailed) };
    match before.stage {
        Stage::Confirmed => Verdict::Ready,
        Stage::Typed if is_confirmed_late(before, moment) => Verdict::Ready,
        Stage::Waiting | Stage::Typing | Stage::Typed => Verdict::NotYet(Why::Before),
        Stage::Refused | Stage::Expired | Stage::Dropped => Verdict::Refused(Why::BeforeFailed),
    }
}

fn is_confirmed_late(before: &Intent, moment: &Moment<'_>) -> bool {
    moment.starts == Starts::WithFirstPrompt && before.wish.purpose == Purpose::Clear
}

fn in_seat(intent: &Intent, moment: &Moment<'_>, _: &Rules) -> Verdict {
    let (Some(seat), Some(session)) = (moment.seat, moment.session) else {
        return Verdict::Refused(Why::SeatUnknown);
    };
    let is_meant = session.key == *intent.meant(moment.before) && seat.place.key == intent.wish.seat;
    match seat.current.as_ref() {
        _ if session.state == State::Ended => Verdict::Refused(Why::SessionEnded),
        Some(current) if is_meant && *current == session.key => Verdict::Ready,
        Some(_) => Verdict::Refused(Why::SeatTaken),
        None => Verdict::Refused(Why::SeatLeft),
    }
}

/// A user who has continued since must not be interrupted by an older intent.
fn is_suited(intent: &Intent, moment: &Moment<'_>, _: &Rules) -> Verdict {
    let Some(session) = moment.session else { return Verdict::Refused(Why::SeatUnknown) };
    let purpose = intent.wish.purpose;
    if session.prompted_at.is_some_and(|prompted| prompted > intent.made_at) {
        return Verdict::Refused(Why::PromptedSince);
    }
    match session.state {
        State::Working if purpose.is_command() => Verdict::Refused(Why::TurnRuns),
        State::Working => Verdict::NotYet(Why::TurnRuns),
        State::Blocked(_) => Verdict::NotYet(Why::DialogOpen),
        State::Limited if purpose.suits(State::Limited) && limit_lasts(session, moment.now) => {
            Verdict::NotYet(Why::LimitLasts)
        }
        state @ (State::Idle | State::Completed | State::Interrupted | State::Limited | State::Ended) => {
            if purpose.suits(state) {
                Verdict::Ready
            } else {
                Verdict::Refused(Why::Unsuited(state))
            }
        }
    }
}

fn limit_lasts(session: &Session, now: Timestamp) -> bool {
    session.limited_until.is_some_and(|until| now < until)
}

fn is_there(_: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    match (moment.process, moment.look.is_there) {
        (ProcessSight::Gone, _) => Verdict::Refused(Why::AgentGone),
        (ProcessSight::Alive | ProcessSight::Unknown, Some(true)) => Verdict::Ready,
        (ProcessSight::Alive | ProcessSight::Unknown, Some(false)) => Verdict::Refused(Why::PaneGone),
        (ProcessSight::Alive | ProcessSight::Unknown, None) => unseen(Ability::Identity, moment, rules),
    }
}

/// The keys would go to the agent only.
fn gets_keys(_: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    let agent = moment.seat.map(|seat| seat.place.pid);
    let foreground = match moment.look.foreground {
        Some(pid) if Some(pid) == agent => Verdict::Ready,
        Some(_) => Verdict::NotYet(Why::OtherProgram),
        None => unseen(Ability::Foreground, moment, rules),
    };
    let mode = match moment.look.in_mode {
        Some(false) => Verdict::Ready,
        Some(true) => Verdict::NotYet(Why::InMode),
        None => unseen(Ability::Mode, moment, rules),
    };
    if matches!(mode, Verdict::Refused(_)) || foreground == Verdict::Ready { mode } else { foreground }
}

fn is_empty(_: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    if moment.look.screen.is_none() {
        return unseen(Ability::Screen, moment, rules);
    }
    match moment.line {
        InputLine::Empty => Verdict::Ready,
        InputLine::Holds { .. } => Verdict::NotYet(Why::LineHolds),
        InputLine::Busy => Verdict::NotYet(Why::Busy),
        InputLine::Covered => Verdict::NotYet(Why::Covered),
        InputLine::Unknown => Verdict::NotYet(Why::NotUnderstood),
    }
}

/// The agent shows the target session, as far as it is visible; after an unconfirmed clear, a new one.
fn is_shown(_: &Intent, moment: &Moment<'_>, _: &Rules) -> Verdict {
    let is_cleared = |before: &&Intent| before.stage == Stage::Typed && is_confirmed_late(before, moment);
    let prompts = [moment.asked, moment.session.and_then(|session| session.prompt.as_ref())];
    match (moment.shown, moment.before.filter(is_cleared)) {
        (Shown::Unknown, _) | (Shown::New, Some(_)) => Verdict::Ready,
        (Shown::Said(_) | Shown::Begins(_), Some(_)) => Verdict::NotYet(Why::Before),
        (Shown::Said(text), None) if prompts.into_iter().flatten().any(|prompt| is_prompt(text, prompt)) => {
            Verdict::Ready
        }
        (Shown::Begins(start), None) if prompts.into_iter().flatten().any(|prompt| begins(start, prompt)) => {
            Verdict::Ready
        }
        (Shown::New | Shown::Said(_) | Shown::Begins(_), None) => Verdict::NotYet(Why::OtherSession),
    }
}

/// Whether the screen shows this prompt, of which only the beginning may be stored. The shown text ends at the first
/// blank line at the latest.
fn is_prompt(shown: &str, prompt: &Kept) -> bool {
    let prompt = prompt.as_str().trim();
    let paragraph = prompt.split("\n\n").next().unwrap_or_default();
    let is_cut = |start: &str| !start.is_empty() && is_prefix(start, shown);
    is_same(shown, prompt) || is_same(shown, paragraph) || prompt.strip_suffix('…').is_some_and(is_cut)
}

/// Whether the prompt begins with the shown text; both may be truncated.
fn begins(start: &str, prompt: &Kept) -> bool {
    let prompt = prompt.as_str().trim();
    let is_longer = |kept: &str| !kept.is_empty() && is_prefix(kept, start);
    let is_shown = non_blanks(start).next().is_some() && is_prefix(start, prompt);
    is_shown || prompt.strip_suffix('…').is_some_and(is_longer)
}

/// Terminals report the last key with a resolution of about a second, rounded up: until then a key pressed after the
/// observation could not be told from the one before it, however short the configured wait.
fn is_idle(_: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    match moment.look.last_key_at {
        None => unseen(Ability::Activity, moment, rules),
        Some(typed) if moment.now <= typed || moment.now.since_ms(typed) < rules.quiet_ms => {
            Verdict::NotYet(Why::SomebodyTypes)
        }
        Some(_) => Verdict::Ready,
    }
}

/// A line that is still empty may not be drawn yet; a line with other text will never match.
fn line_holds_text(intent: &Intent, moment: &Moment<'_>) -> Verdict {
    if moment.look.screen.is_none() && !moment.abilities.screen {
        return Verdict::Ready;
    }
    match moment.line {
        InputLine::Holds { text } if is_same(text, intent.wish.text.as_str()) => Verdict::Ready,
        InputLine::Holds { text } if is_prefix(text, intent.wish.text.as_str()) => {
            Verdict::NotYet(Why::LineDiffers)
        }
        InputLine::Holds { .. } => Verdict::Refused(Why::LineDiffers),
        InputLine::Empty => Verdict::NotYet(Why::LineDiffers),
        InputLine::Busy => Verdict::NotYet(Why::Busy),
        InputLine::Covered => Verdict::NotYet(Why::Covered),
        InputLine::Unknown => Verdict::NotYet(Why::NotUnderstood),
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
fn unseen(ability: Ability, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    match moment.abilities.has(ability) {
        true => Verdict::NotYet(Why::NotTold(ability)),
        false if rules.without.contains(&ability) => Verdict::Ready,
        false => Verdict::Refused(Why::CannotTell(ability)),
    }
}

#[cfg(test)]
mod tests;
