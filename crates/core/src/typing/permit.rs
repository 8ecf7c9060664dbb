//! Whether an intent may be typed now: a pure function of everything that is known and seen at this moment.
//!
//! What is not surely so is a reason not to. Nothing here waits, looks or types; whoever does asks again right before.

use super::{Abilities, Ability, InputLine, Intent, Look, Purpose, Shown, Stage};
use crate::arbiter::ProcessSight;
use crate::id::SessionKey;
use crate::seat::Seat;
use crate::session::{Session, State};
use crate::text::Kept;
use crate::time::Timestamp;
use std::fmt;

/// What the user wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    pub enabled: bool,
    pub pause: Option<Pause>,
    /// How long nobody must have typed in the seat.
    pub quiet_ms: i64,
    /// What the user accepts not to know, where a terminal cannot tell it. Nothing, unless they say so.
    pub without: Vec<Ability>,
}

/// That nothing is typed for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// When it ends by itself.
    pub until: Option<Timestamp>,
}

/// When an agent tells that a session has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starts {
    AtOnce,
    /// Only with the first prompt: a clear cannot be confirmed before something was typed behind it.
    WithFirstPrompt,
}

/// Everything that is known and seen when the question is asked.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    pub now: Timestamp,
    /// The intent's seat, and the session that is meant; none if they are not known any more.
    pub seat: Option<&'a Seat>,
    pub session: Option<&'a Session>,
    /// The prompt of the session's last turn, whoever gave it.
    pub asked: Option<&'a Kept>,
    /// The intent that this one comes after.
    pub before: Option<&'a Intent>,
    pub starts: Starts,
    /// The agent's process.
    pub process: ProcessSight,
    pub abilities: Abilities,
    pub look: &'a Look,
    pub line: &'a InputLine,
    pub shown: &'a Shown,
}

impl Intent {
    /// The session that is to be typed into.
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
    /// What it comes after is not confirmed yet,
    Before,
    /// and never will be.
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
    /// The terminal has no means to tell it.
    CannotTell(Ability),
    /// It has, and did not tell it now.
    NotTold(Ability),
    PaneGone,
    OtherProgram,
    InMode,
    LineHolds,
    Busy,
    Covered,
    NotUnderstood,
    SomebodyTypes,
    /// The agent shows another session than the one that is meant.
    OtherSession,
    /// What stands in the line is not what was typed.
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

/// Whether the intent may be typed at this moment.
pub fn may_type(intent: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    let checks = [wanted, in_turn, sits, is_suited, is_there, listens, is_empty, is_shown, is_quiet];
    verdict(&checks, intent, moment, rules)
}

/// Whether Enter may be pressed: all of it still holds, the line holds the text, and nobody typed since `typed_on`, the
/// look right before typing.
pub fn may_press(intent: &Intent, moment: &Moment<'_>, rules: &Rules, typed_on: &Look) -> Verdict {
    let still =
        verdict(&[wanted, in_turn, sits, is_suited, is_there, listens, is_shown], intent, moment, rules);
    if still != Verdict::Ready {
        return still;
    }
    if moment.look.last_key_at != typed_on.last_key_at {
        return Verdict::Refused(Why::TypedMeanwhile);
    }
    holds(intent, moment)
}

type Check = fn(&Intent, &Moment<'_>, &Rules) -> Verdict;

/// The first that objects is heard; one that refuses, before all that would wait.
fn verdict(checks: &[Check], intent: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    let all = || checks.iter().map(|check| check(intent, moment, rules));
    let refused = all().find(|verdict| matches!(verdict, Verdict::Refused(_)));
    let waits = || all().find(|verdict| matches!(verdict, Verdict::NotYet(_)));
    refused.or_else(waits).unwrap_or(Verdict::Ready)
}

fn wanted(intent: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    let pause = rules.pause.filter(|pause| pause.until.is_none_or(|until| moment.now < until));
    match pause {
        _ if !rules.enabled => Verdict::Refused(Why::Off),
        Some(pause) => Verdict::Refused(Why::Paused(pause)),
        None if intent.wish.text.is_blank() => Verdict::Refused(Why::Forgotten),
        None if moment.now >= intent.wish.expires_at => Verdict::Refused(Why::TooLate),
        None => Verdict::Ready,
    }
}

/// A clear that only the next prompt can confirm need not be confirmed before that.
fn in_turn(intent: &Intent, moment: &Moment<'_>, _: &Rules) -> Verdict {
    let Some(_) = intent.wish.after else { return Verdict::Ready };
    let Some(before) = moment.before else { return Verdict::Refused(Why::BeforeFailed) };
    match before.stage {
        Stage::Confirmed => Verdict::Ready,
        Stage::Typed if is_told_late(before, moment) => Verdict::Ready,
        Stage::Waiting | Stage::Typing | Stage::Typed => Verdict::NotYet(Why::Before),
        Stage::Refused | Stage::Expired | Stage::Dropped => Verdict::Refused(Why::BeforeFailed),
    }
}

fn is_told_late(before: &Intent, moment: &Moment<'_>) -> bool {
    moment.starts == Starts::WithFirstPrompt && before.wish.purpose == Purpose::Clear
}

fn sits(intent: &Intent, moment: &Moment<'_>, _: &Rules) -> Verdict {
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

/// A person who has gone on since is not to be interrupted by what was meant before.
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
        (ProcessSight::Alive | ProcessSight::Unknown, None) => unknown(Ability::Identity, moment, rules),
    }
}

/// The keys would go to the agent, and to nobody else.
fn listens(_: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    let agent = moment.seat.map(|seat| seat.place.pid);
    let foreground = match moment.look.foreground {
        Some(pid) if Some(pid) == agent => Verdict::Ready,
        Some(_) => Verdict::NotYet(Why::OtherProgram),
        None => unknown(Ability::Foreground, moment, rules),
    };
    let mode = match moment.look.in_mode {
        Some(false) => Verdict::Ready,
        Some(true) => Verdict::NotYet(Why::InMode),
        None => unknown(Ability::Mode, moment, rules),
    };
    if matches!(mode, Verdict::Refused(_)) || foreground == Verdict::Ready { mode } else { foreground }
}

fn is_empty(_: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    if moment.look.screen.is_none() {
        return unknown(Ability::Screen, moment, rules);
    }
    match moment.line {
        InputLine::Empty => Verdict::Ready,
        InputLine::Holds { .. } => Verdict::NotYet(Why::LineHolds),
        InputLine::Busy => Verdict::NotYet(Why::Busy),
        InputLine::Covered => Verdict::NotYet(Why::Covered),
        InputLine::Unknown => Verdict::NotYet(Why::NotUnderstood),
    }
}

/// The agent shows the session that is meant, as far as it says; behind a clear of which nothing was told yet, a new one.
fn is_shown(_: &Intent, moment: &Moment<'_>, _: &Rules) -> Verdict {
    let is_cleared = |before: &&Intent| before.stage == Stage::Typed && is_told_late(before, moment);
    let asked = [moment.asked, moment.session.and_then(|session| session.prompt.as_ref())];
    match (moment.shown, moment.before.filter(is_cleared)) {
        (Shown::Unknown, _) | (Shown::New, Some(_)) => Verdict::Ready,
        (Shown::Said(_) | Shown::Begins(_), Some(_)) => Verdict::NotYet(Why::Before),
        (Shown::Said(said), None) if asked.into_iter().flatten().any(|asked| is_prompt(said, asked)) => {
            Verdict::Ready
        }
        (Shown::Begins(start), None) if asked.into_iter().flatten().any(|asked| begins(start, asked)) => {
            Verdict::Ready
        }
        (Shown::New | Shown::Said(_) | Shown::Begins(_), None) => Verdict::NotYet(Why::OtherSession),
    }
}

/// Whether this is how a screen shows the prompt, of which only the beginning may be kept. What is shown ends with the
/// first blank line at the latest.
fn is_prompt(said: &str, asked: &Kept) -> bool {
    let asked = asked.as_str().trim();
    let paragraph = asked.split("\n\n").next().unwrap_or_default();
    let is_cut = |start: &str| !start.is_empty() && is_begun(start, said);
    is_same(said, asked) || is_same(said, paragraph) || asked.strip_suffix('…').is_some_and(is_cut)
}

/// Whether the prompt begins with what a screen shows of it, of both of which only the beginning may be there.
fn begins(start: &str, asked: &Kept) -> bool {
    let asked = asked.as_str().trim();
    let is_longer = |kept: &str| !kept.is_empty() && is_begun(kept, start);
    let is_shown = letters(start).next().is_some() && is_begun(start, asked);
    is_shown || asked.strip_suffix('…').is_some_and(is_longer)
}

/// A terminal tells the last key no finer than by a second or so, and gives the end of it: until that is over, a key that
/// comes after the look could not be told from the one before it, however short the user wants to wait.
fn is_quiet(_: &Intent, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    match moment.look.last_key_at {
        None => unknown(Ability::Activity, moment, rules),
        Some(typed) if moment.now <= typed || moment.now.since_ms(typed) < rules.quiet_ms => {
            Verdict::NotYet(Why::SomebodyTypes)
        }
        Some(_) => Verdict::Ready,
    }
}

/// A line that is still empty may not be drawn yet; one that holds anything else never will be ours.
fn holds(intent: &Intent, moment: &Moment<'_>) -> Verdict {
    if moment.look.screen.is_none() && !moment.abilities.screen {
        return Verdict::Ready;
    }
    match moment.line {
        InputLine::Holds { text } if is_same(text, intent.wish.text.as_str()) => Verdict::Ready,
        InputLine::Holds { text } if is_begun(text, intent.wish.text.as_str()) => {
            Verdict::NotYet(Why::LineDiffers)
        }
        InputLine::Holds { .. } => Verdict::Refused(Why::LineDiffers),
        InputLine::Empty => Verdict::NotYet(Why::LineDiffers),
        InputLine::Busy => Verdict::NotYet(Why::Busy),
        InputLine::Covered => Verdict::NotYet(Why::Covered),
        InputLine::Unknown => Verdict::NotYet(Why::NotUnderstood),
    }
}

/// A screen breaks lines where it must, and pads them: blanks do not count, unless they were there before it.
fn is_same(shown: &str, text: &str) -> bool {
    letters(shown).eq(letters(text)) && !shown.starts_with(char::is_whitespace)
}

fn is_begun(shown: &str, text: &str) -> bool {
    let mut text = letters(text);
    letters(shown).all(|letter| text.next() == Some(letter)) && !shown.starts_with(char::is_whitespace)
}

fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| !c.is_whitespace())
}

/// What a terminal cannot tell is a reason to refuse, unless the user has said that they accept it. What it could tell and
/// did not is no permission either.
fn unknown(ability: Ability, moment: &Moment<'_>, rules: &Rules) -> Verdict {
    match moment.abilities.has(ability) {
        true => Verdict::NotYet(Why::NotTold(ability)),
        false if rules.without.contains(&ability) => Verdict::Ready,
        false => Verdict::Refused(Why::CannotTell(ability)),
    }
}

#[cfg(test)]
mod tests;
