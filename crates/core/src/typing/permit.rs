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
use TypingObstacle as Obstacle;
use TypingVerdict::{NotYet, Ready, Refused};

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
    /// Whether the cursor is where the text in the input line ends; `None` in terminals that do not tell.
    pub is_cursor_at_end: Option<bool>,
    pub shown: &'a ShownSession,
}

impl Intent {
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypingObstacle {
    #[error("typing is off (`tow config set typing.enabled true`)")]
    Off,
    #[error("typing is paused{} (`tow typing resume`)", .0.end())]
    Paused(TypingPause),
    #[error("its text was forgotten")]
    Forgotten,
    #[error("its time is over")]
    TooLate,
    #[error("what it comes after is not confirmed yet")]
    Before,
    #[error("what it comes after was not confirmed")]
    BeforeFailed,
    #[error("its seat or its session is not known any more")]
    SeatUnknown,
    #[error("another session sits in the seat")]
    SeatTaken,
    #[error("the session does not sit there any more")]
    SeatLeft,
    #[error("the session has ended")]
    SessionEnded,
    #[error("a turn runs")]
    TurnRuns,
    #[error("the agent waits for an answer")]
    DialogOpen,
    #[error("the session is {}", .0.name())]
    Unsuited(SessionState),
    #[error("the usage limit still lasts")]
    LimitLasts,
    #[error("somebody has gone on since: the session was prompted")]
    PromptedSince,
    #[error("a bookmark was set since")]
    BookmarkedSince,
    #[error("the agent's process has ended")]
    AgentGone,
    #[error("this terminal cannot tell {} (`typing.without` accepts \"{}\")", .0.description(), .0.name())]
    CannotTell(TerminalAbility),
    /// It can tell, but did not tell it now.
    #[error("the terminal did not tell {}", .0.description())]
    NotTold(TerminalAbility),
    #[error("the pane is gone, or is another one by now")]
    PaneGone,
    #[error("another program would get the keys")]
    OtherProgram,
    #[error("the pane is in a mode of the terminal program, such as copy mode")]
    InMode,
    #[error("something stands in the input line")]
    LineHolds,
    #[error("the agent's screen shows that it works")]
    Busy,
    #[error("a dialog or a menu is open")]
    Covered,
    #[error("the agent's screen was not understood")]
    NotUnderstood,
    #[error("somebody typed there a moment ago")]
    SomebodyTypes,
    #[error("the agent shows another session there")]
    OtherSession,
    #[error("the input line does not hold exactly what was typed")]
    LineDiffers,
    #[error("the cursor is not where the typed text ends")]
    CursorElsewhere,
    #[error("somebody typed there in the meantime")]
    TypedMeanwhile,
}

impl TypingPause {
    fn end(self) -> String {
        self.until.map_or(String::new(), |until| format!(" until {}", until.to_utc()))
    }
}

/// Whether the intent may be typed now.
pub fn may_type(intent: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    let checks = [is_enabled, in_order, in_seat, is_suited, is_there, gets_keys, is_empty, is_shown, is_idle];
    first_objection(&checks, intent, moment, rules)
}

/// Whether Enter may be pressed: all conditions still hold, the line holds the text, the cursor is at its end, and no key
/// was pressed since `typed_on`, the observation right before typing.
pub fn may_press(
    intent: &Intent,
    moment: &TypingContext<'_>,
    rules: &TypingRules,
    typed_on: &PaneObservation,
) -> TypingVerdict {
    let checks = [is_enabled, in_order, in_seat, is_suited, is_there, gets_keys, is_shown];
    let current = first_objection(&checks, intent, moment, rules);
    if current != Ready {
        return current;
    }
    if moment.look.last_key_at != typed_on.last_key_at {
        return Refused(Obstacle::TypedMeanwhile);
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
    let refused = all().find(|verdict| matches!(verdict, Refused(_)));
    let waits = || all().find(|verdict| matches!(verdict, NotYet(_)));
    refused.or_else(waits).unwrap_or(Ready)
}

fn is_enabled(intent: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    let pause = rules.pause.filter(|pause| pause.until.is_none_or(|until| moment.now < until));
    match pause {
        _ if !rules.enabled => Refused(Obstacle::Off),
        Some(pause) => Refused(Obstacle::Paused(pause)),
        None if intent.wish.text.is_blank() => Refused(Obstacle::Forgotten),
        None if moment.now >= intent.wish.expires_at => Refused(Obstacle::TooLate),
        None => Ready,
    }
}

/// A clear that only the next prompt can confirm need not be confirmed before that prompt.
fn in_order(intent: &Intent, moment: &TypingContext<'_>, _: &TypingRules) -> TypingVerdict {
    let Some(_) = intent.wish.after else { return Ready };
    let Some(before) = moment.before else { return Refused(Obstacle::BeforeFailed) };
    match before.stage {
        IntentStage::Confirmed => Ready,
        IntentStage::Typed if is_confirmed_late(before, moment) => Ready,
        IntentStage::Waiting | IntentStage::Typing | IntentStage::Typed => NotYet(Obstacle::Before),
        IntentStage::Refused | IntentStage::Expired | IntentStage::Dropped => Refused(Obstacle::BeforeFailed),
    }
}

fn is_confirmed_late(before: &Intent, moment: &TypingContext<'_>) -> bool {
    moment.starts == SessionStartReport::WithFirstPrompt && before.wish.purpose == IntentPurpose::Clear
}

/// Whether a clear was typed that only the next prompt confirms. Some agents report the end of the session that it cleared.
fn is_cleared(moment: &TypingContext<'_>) -> bool {
    moment
        .before
        .is_some_and(|before| before.stage == IntentStage::Typed && is_confirmed_late(before, moment))
}

fn in_seat(intent: &Intent, moment: &TypingContext<'_>, _: &TypingRules) -> TypingVerdict {
    let (Some(seat), Some(session)) = (moment.seat, moment.session) else {
        return Refused(Obstacle::SeatUnknown);
    };
    let is_meant = session.key == *intent.target_session(moment.before) && seat.place.key == intent.wish.seat;
    match seat.current.as_ref() {
        _ if session.state == SessionState::Ended && !is_cleared(moment) => Refused(Obstacle::SessionEnded),
        Some(current) if is_meant && *current == session.key => Ready,
        Some(_) => Refused(Obstacle::SeatTaken),
        None => Refused(Obstacle::SeatLeft),
    }
}

/// A user who has continued since must not be interrupted by an older intent.
fn is_suited(intent: &Intent, moment: &TypingContext<'_>, _: &TypingRules) -> TypingVerdict {
    let Some(session) = moment.session else { return Refused(Obstacle::SeatUnknown) };
    let purpose = intent.wish.purpose;
    if session.prompted_at.is_some_and(|prompted| prompted > intent.made_at) {
        return Refused(Obstacle::PromptedSince);
    }
    if purpose == IntentPurpose::Bookmark && session.since_bookmark.set_at > Some(intent.made_at) {
        return Refused(Obstacle::BookmarkedSince);
    }
    match session.state {
        SessionState::Ended if is_cleared(moment) => Ready,
        SessionState::Working if purpose.is_command() => Refused(Obstacle::TurnRuns),
        SessionState::Working => NotYet(Obstacle::TurnRuns),
        SessionState::Blocked(_) => NotYet(Obstacle::DialogOpen),
        state if !purpose.is_allowed_in(state) => Refused(Obstacle::Unsuited(state)),
        SessionState::Limited if session.limited_until.is_some_and(|until| moment.now < until) => {
            NotYet(Obstacle::LimitLasts)
        }
        SessionState::Idle
        | SessionState::Completed
        | SessionState::Interrupted
        | SessionState::Limited
        | SessionState::Ended => Ready,
    }
}

fn is_there(_: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    match (moment.process, moment.look.is_there) {
        (ProcessProbe::Gone, _) => Refused(Obstacle::AgentGone),
        (ProcessProbe::Alive | ProcessProbe::Unknown, Some(true)) => Ready,
        (ProcessProbe::Alive | ProcessProbe::Unknown, Some(false)) => Refused(Obstacle::PaneGone),
        (ProcessProbe::Alive | ProcessProbe::Unknown, None) => {
            unseen(TerminalAbility::Identity, moment, rules)
        }
    }
}

/// The keys would go to the agent only.
fn gets_keys(_: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    let agent = moment.seat.map(|seat| seat.place.pid);
    let foreground = match moment.look.foreground {
        Some(pid) if Some(pid) == agent => Ready,
        Some(_) => NotYet(Obstacle::OtherProgram),
        None => unseen(TerminalAbility::Foreground, moment, rules),
    };
    let mode = match moment.look.in_mode {
        Some(false) => Ready,
        Some(true) => NotYet(Obstacle::InMode),
        None => unseen(TerminalAbility::Mode, moment, rules),
    };
    if matches!(mode, Refused(_)) || foreground == Ready { mode } else { foreground }
}

fn is_empty(_: &Intent, moment: &TypingContext<'_>, rules: &TypingRules) -> TypingVerdict {
    if moment.look.screen.is_none() {
        return unseen(TerminalAbility::Screen, moment, rules);
    }
    match moment.line {
        InputLine::Empty => Ready,
        InputLine::Holds { .. } => NotYet(Obstacle::LineHolds),
        InputLine::Busy => NotYet(Obstacle::Busy),
        InputLine::Covered => NotYet(Obstacle::Covered),
        InputLine::Unknown => NotYet(Obstacle::NotUnderstood),
    }
}

/// The agent shows the target session, as far as it is visible; after an unconfirmed clear, a new one.
fn is_shown(_: &Intent, moment: &TypingContext<'_>, _: &TypingRules) -> TypingVerdict {
    let prompts = [moment.asked, moment.session.and_then(|session| session.prompt.as_ref())];
    match (moment.shown, is_cleared(moment)) {
        (ShownSession::Unknown, _) | (ShownSession::New, true) => Ready,
        (ShownSession::Said(_) | ShownSession::Begins(_), true) => NotYet(Obstacle::Before),
        (ShownSession::Said(text), false)
            if prompts.into_iter().flatten().any(|prompt| is_prompt(text, prompt)) =>
        {
            Ready
        }
        (ShownSession::Begins(start), false)
            if prompts.into_iter().flatten().any(|prompt| begins(start, prompt)) =>
        {
            Ready
        }
        (ShownSession::New | ShownSession::Said(_) | ShownSession::Begins(_), false) => {
            NotYet(Obstacle::OtherSession)
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
            NotYet(Obstacle::SomebodyTypes)
        }
        Some(_) => Ready,
    }
}

/// A line that is still empty may not be drawn yet; a line with other text will never match.
fn line_holds_text(intent: &Intent, moment: &TypingContext<'_>) -> TypingVerdict {
    if moment.look.screen.is_none() && !moment.abilities.screen {
        return Ready;
    }
    match moment.line {
        // The cursor passes through other places while the screen is drawn.
        InputLine::Holds { text } if is_same(text, intent.wish.text.as_str()) => {
            match moment.is_cursor_at_end {
                Some(false) => NotYet(Obstacle::CursorElsewhere),
                Some(true) | None => Ready,
            }
        }
        InputLine::Holds { text } if is_prefix(text, intent.wish.text.as_str()) => {
            NotYet(Obstacle::LineDiffers)
        }
        InputLine::Holds { .. } => Refused(Obstacle::LineDiffers),
        InputLine::Empty => NotYet(Obstacle::LineDiffers),
        InputLine::Busy => NotYet(Obstacle::Busy),
        InputLine::Covered => NotYet(Obstacle::Covered),
        InputLine::Unknown => NotYet(Obstacle::NotUnderstood),
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
        true => NotYet(Obstacle::NotTold(ability)),
        false if rules.without.contains(&ability) => Ready,
        false => Refused(Obstacle::CannotTell(ability)),
    }
}

#[cfg(test)]
mod tests;
