//! An intent: something that we mean to type into a seat, from being made to how it ended.
//!
//! Its stage only ever goes forward. What confirms it is an event of the agent, never that time has passed; nothing is
//! typed twice.

use crate::event::{Event, Happening, Origin, StartedBy, Trigger};
use crate::id::{SessionKey, Uid};
use crate::session::{Session, State};
use crate::text::{Keeping, Kept, Secrets};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest text that all agents are known to take whole.
pub const LONGEST_BYTES: usize = 20_000;

/// What a prompt must not begin with: what follows would be run.
const COMMAND_MARKS: [char; 3] = ['/', '!', '&'];

/// Why something is typed. Decides when it may be, and what confirms it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A marker that becomes a point to come back to.
    Bookmark,
    /// The agent is to compact its context.
    Compact,
    /// The agent is to begin anew in the same seat.
    Clear,
    /// Work goes on in the session that has begun anew.
    Continue,
    /// Work goes on after a usage limit.
    Resume,
}

impl Purpose {
    pub const ALL: [Purpose; 5] =
        [Purpose::Bookmark, Purpose::Compact, Purpose::Clear, Purpose::Continue, Purpose::Resume];

    pub fn name(self) -> &'static str {
        match self {
            Purpose::Bookmark => "bookmark",
            Purpose::Compact => "compact",
            Purpose::Clear => "clear",
            Purpose::Continue => "continue",
            Purpose::Resume => "resume",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Purpose> {
        Purpose::ALL.into_iter().find(|purpose| purpose.name() == name)
    }

    /// Whether it is a command of the agent itself: one that comes while a turn runs is lost, or worse.
    pub fn is_command(self) -> bool {
        match self {
            Purpose::Compact | Purpose::Clear => true,
            Purpose::Bookmark | Purpose::Continue | Purpose::Resume => false,
        }
    }

    /// Whether a session in this state is one that it is meant for.
    pub fn suits(self, state: State) -> bool {
        match self {
            Purpose::Bookmark | Purpose::Compact | Purpose::Clear | Purpose::Continue => {
                matches!(state, State::Idle | State::Completed)
            }
            Purpose::Resume => state == State::Limited,
        }
    }

    /// Who the prompt is said to come from; none where it is no prompt.
    pub fn origin(self) -> Option<Origin> {
        match self {
            Purpose::Bookmark => Some(Origin::Bookmark),
            Purpose::Continue | Purpose::Resume => Some(Origin::Continuation),
            Purpose::Compact | Purpose::Clear => None,
        }
    }

    /// What is waited for once it was typed, for people.
    pub fn confirmation(self) -> &'static str {
        match self {
            Purpose::Bookmark | Purpose::Continue | Purpose::Resume => "the prompt was submitted",
            Purpose::Compact => "compaction began",
            Purpose::Clear => "a new session began in the seat",
        }
    }
}

/// How far an intent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Waiting,
    /// From here on it is never typed again, whatever happens.
    Typing,
    /// Enter was pressed.
    Typed,
    /// The agent told of what was meant.
    Confirmed,
    Refused,
    Expired,
    /// A person took it back.
    Dropped,
}

impl Stage {
    pub const ALL: [Stage; 7] = [
        Stage::Waiting,
        Stage::Typing,
        Stage::Typed,
        Stage::Confirmed,
        Stage::Refused,
        Stage::Expired,
        Stage::Dropped,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Stage::Waiting => "waiting",
            Stage::Typing => "typing",
            Stage::Typed => "typed",
            Stage::Confirmed => "confirmed",
            Stage::Refused => "refused",
            Stage::Expired => "expired",
            Stage::Dropped => "dropped",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// Whether nothing more will become of it.
    pub fn is_over(self) -> bool {
        match self {
            Stage::Waiting | Stage::Typing | Stage::Typed => false,
            Stage::Confirmed | Stage::Refused | Stage::Expired | Stage::Dropped => true,
        }
    }

    /// Whether keys may have been pressed and the agent has not told of it.
    pub fn is_in_flight(self) -> bool {
        matches!(self, Stage::Typing | Stage::Typed)
    }

    /// Only forward, and never from an end. What was pressed can be taken back by nobody.
    pub fn may_become(self, to: Stage) -> bool {
        match self {
            Stage::Waiting => matches!(to, Stage::Typing | Stage::Refused | Stage::Expired | Stage::Dropped),
            Stage::Typing => matches!(to, Stage::Typed | Stage::Confirmed | Stage::Refused | Stage::Expired),
            Stage::Typed => matches!(to, Stage::Confirmed | Stage::Expired),
            Stage::Confirmed | Stage::Refused | Stage::Expired | Stage::Dropped => false,
        }
    }
}

/// What is asked for when an intent is made: as it stands in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// The key of the seat.
    pub seat: String,
    pub purpose: Purpose,
    pub text: Kept,
    pub expires_at: Timestamp,
    /// Another intent that must be confirmed before. The session that it led to is then the one that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Uid>,
}

/// Why a text is not typed at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadWish {
    Blank,
    TooLong {
        bytes: usize,
    },
    /// Keys that are no letters would be pressed by it.
    Control,
    /// Agents would take it for a command of theirs, or for one to be run by a shell.
    Command,
}

impl fmt::Display for BadWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadWish::Blank => write!(f, "there is nothing to type"),
            BadWish::TooLong { bytes } => {
                write!(f, "{bytes} bytes are more than the {LONGEST_BYTES} that can be typed")
            }
            BadWish::Control => write!(f, "the text holds control characters"),
            BadWish::Command => write!(f, "agents take a text that begins so for a command"),
        }
    }
}

impl std::error::Error for BadWish {}

impl Wish {
    /// Secrets are taken out whatever the user's settings say: what is typed is kept, shown, and read by the agent.
    pub fn new(seat: &str, purpose: Purpose, raw: &str, expires_at: Timestamp) -> Result<Wish, BadWish> {
        let text = raw.trim();
        if text.is_empty() {
            return Err(BadWish::Blank);
        }
        if text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(BadWish::Control);
        }
        if purpose.origin().is_some() && text.starts_with(COMMAND_MARKS) {
            return Err(BadWish::Command);
        }
        let whole = Keeping { longest_bytes: LONGEST_BYTES * 4, secrets: Secrets::Redacted };
        let text = Kept::new(text, whole);
        match text.as_str().len() {
            bytes if bytes > LONGEST_BYTES => Err(BadWish::TooLong { bytes }),
            _ => Ok(Wish { seat: seat.to_owned(), purpose, text, expires_at, after: None }),
        }
    }

    /// The same, to be typed once `before` is confirmed.
    pub fn after(self, before: Uid) -> Wish {
        Wish { after: Some(before), ..self }
    }
}

/// An intent as it is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    pub uid: Uid,
    /// The session that it was made for.
    pub session: SessionKey,
    pub wish: Wish,
    pub made_at: Timestamp,
    pub stage: Stage,
    /// When it reached its stage.
    pub moved_at: Timestamp,
    /// When typing began.
    pub typing_at: Option<Timestamp>,
    /// Why it is where it is, in words; never a word of what a person had typed.
    pub why: Option<String>,
    /// The session that it was typed into.
    pub into: Option<SessionKey>,
    /// The session whose event confirmed it: of a clear, the one that has begun.
    pub led_to: Option<SessionKey>,
}

/// Whether this event tells that what is in flight was done. `session` has taken the event in already.
pub fn answers(intent: &Intent, event: &Event, session: &Session) -> bool {
    let (Some(into), Some(since)) = (&intent.into, intent.typing_at) else { return false };
    if !intent.stage.is_in_flight() || event.subagent.is_some() || event.at < since {
        return false;
    }
    let is_cleared = session.key != *into
        && session.seat.as_deref() == Some(&intent.wish.seat)
        && session.started_by == StartedBy::Clear
        && session.started_at >= since;
    match (intent.wish.purpose, &event.happening) {
        (Purpose::Clear, Happening::SessionStarted { .. } | Happening::SeatFound) => is_cleared,
        (Purpose::Compact, Happening::CompactionStarted { trigger: Trigger::Manual }) => session.key == *into,
        (Purpose::Bookmark | Purpose::Continue | Purpose::Resume, happening) => {
            (session.key == *into || is_cleared) && is_prompted(intent, happening, session, since)
        }
        (Purpose::Clear | Purpose::Compact, _) => false,
    }
}

/// By the prompt itself or, where the seat is found later than that, by the turn that it began.
fn is_prompted(intent: &Intent, happening: &Happening, session: &Session, since: Timestamp) -> bool {
    if let Happening::PromptSubmitted { prompt, .. } = happening {
        return shows(prompt, &intent.wish.text);
    }
    let turn = session.open_turn.as_ref().filter(|turn| turn.started_at >= since);
    *happening == Happening::SeatFound && turn.is_some_and(|turn| shows(&turn.prompt, &intent.wish.text))
}

/// Whether a prompt is this text, as far as it was kept: prompts are bounded when they are heard.
pub fn shows(prompt: &Kept, text: &Kept) -> bool {
    let (prompt, text) = (prompt.as_str().trim(), text.as_str());
    let is_begun = |kept: &str| !kept.is_empty() && text.len() > kept.len() && text.starts_with(kept);
    prompt == text || prompt.strip_suffix('…').is_some_and(is_begun)
}

#[cfg(test)]
mod tests;
