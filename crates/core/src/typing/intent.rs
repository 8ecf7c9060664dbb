//! An intent: text to be typed into a seat, from its creation to its outcome.
//!
//! Its stage only moves forward. Only an event of the agent confirms it, never elapsed time; no intent is typed twice.

use crate::event::{Event, Happening, Origin, StartedBy, Trigger};
use crate::id::{SessionKey, Uid};
use crate::session::{Session, State};
use crate::text::{Keeping, Kept, Secrets};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest text that all agents are known to accept whole.
pub const LONGEST_BYTES: usize = 20_000;

/// A prompt must not begin with one of these: the agent would execute the rest.
const COMMAND_MARKS: [char; 3] = ['/', '!', '&'];

/// Why text is typed. Decides when it may be typed, and which event confirms it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A marker that becomes a point to return to.
    Bookmark,
    /// Make the agent compact its context.
    Compact,
    /// Make the agent start a new session in the same seat.
    Clear,
    /// Continue the work in the new session.
    Continue,
    /// Continue the work after a usage limit.
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

    /// The inverse of `name`.
    pub fn named(name: &str) -> Option<Purpose> {
        Purpose::ALL.into_iter().find(|purpose| purpose.name() == name)
    }

    /// Whether it is a command of the agent itself: during a turn such a command is lost, or worse.
    pub fn is_command(self) -> bool {
        match self {
            Purpose::Compact | Purpose::Clear => true,
            Purpose::Bookmark | Purpose::Continue | Purpose::Resume => false,
        }
    }

    /// Whether it may be typed into a session in this state.
    pub fn suits(self, state: State) -> bool {
        match self {
            Purpose::Bookmark | Purpose::Compact | Purpose::Clear | Purpose::Continue => {
                matches!(state, State::Idle | State::Completed)
            }
            Purpose::Resume => state == State::Limited,
        }
    }

    /// The origin of the resulting prompt; `None` if it is a command.
    pub fn origin(self) -> Option<Origin> {
        match self {
            Purpose::Bookmark => Some(Origin::Bookmark),
            Purpose::Continue | Purpose::Resume => Some(Origin::Continuation),
            Purpose::Compact | Purpose::Clear => None,
        }
    }

    /// The awaited confirmation, for display.
    pub fn confirmation(self) -> &'static str {
        match self {
            Purpose::Bookmark | Purpose::Continue | Purpose::Resume => "the prompt was submitted",
            Purpose::Compact => "compaction began",
            Purpose::Clear => "a new session began in the seat",
        }
    }
}

/// The progress of an intent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Waiting,
    /// From here on it is never typed again, regardless of the outcome.
    Typing,
    /// Enter was pressed.
    Typed,
    /// The agent reported the expected event.
    Confirmed,
    Refused,
    Expired,
    /// A user withdrew it.
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

    /// The inverse of `name`.
    pub fn named(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// Whether the stage is final.
    pub fn is_over(self) -> bool {
        match self {
            Stage::Waiting | Stage::Typing | Stage::Typed => false,
            Stage::Confirmed | Stage::Refused | Stage::Expired | Stage::Dropped => true,
        }
    }

    /// Whether keys may have been pressed without confirmation by the agent yet.
    pub fn is_in_flight(self) -> bool {
        matches!(self, Stage::Typing | Stage::Typed)
    }

    /// Only forward, and never out of a final stage. Pressed keys cannot be withdrawn.
    pub fn may_become(self, to: Stage) -> bool {
        match self {
            Stage::Waiting => matches!(to, Stage::Typing | Stage::Refused | Stage::Expired | Stage::Dropped),
            Stage::Typing => matches!(to, Stage::Typed | Stage::Confirmed | Stage::Refused | Stage::Expired),
            Stage::Typed => matches!(to, Stage::Confirmed | Stage::Expired),
            Stage::Confirmed | Stage::Refused | Stage::Expired | Stage::Dropped => false,
        }
    }
}

/// The request that creates an intent, as stored in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// The key of the seat.
    pub seat: String,
    pub purpose: Purpose,
    pub text: Kept,
    pub expires_at: Timestamp,
    /// An intent that must be confirmed first. The session it led to is then the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Uid>,
}

/// Why a text is not typed at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadIntent {
    Blank,
    TooLong {
        bytes: usize,
    },
    /// The text would press keys other than letters.
    Control,
    /// Agents would interpret it as one of their commands, or as a shell command.
    Command,
}

impl fmt::Display for BadIntent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadIntent::Blank => write!(f, "there is nothing to type"),
            BadIntent::TooLong { bytes } => {
                write!(f, "{bytes} bytes are more than the {LONGEST_BYTES} that can be typed")
            }
            BadIntent::Control => write!(f, "the text holds control characters"),
            BadIntent::Command => write!(f, "agents take a text that begins so for a command"),
        }
    }
}

impl std::error::Error for BadIntent {}

impl Wish {
    /// Redacts secrets regardless of the user's settings: typed text is stored, displayed, and read by the agent.
    pub fn new(seat: &str, purpose: Purpose, raw: &str, expires_at: Timestamp) -> Result<Wish, BadIntent> {
        let text = raw.trim();
        if text.is_empty() {
            return Err(BadIntent::Blank);
        }
        if text.chars().any(|c| c.is_control() && c != '\n') {
            return Err(BadIntent::Control);
        }
        if purpose.origin().is_some() && text.starts_with(COMMAND_MARKS) {
            return Err(BadIntent::Command);
        }
        let whole = Keeping { longest_bytes: LONGEST_BYTES * 4, secrets: Secrets::Redacted };
        let text = Kept::new(text, whole);
        match text.as_str().len() {
            bytes if bytes > LONGEST_BYTES => Err(BadIntent::TooLong { bytes }),
            _ => Ok(Wish { seat: seat.to_owned(), purpose, text, expires_at, after: None }),
        }
    }

    /// Delays the request until `before` is confirmed.
    pub fn after(self, before: Uid) -> Wish {
        Wish { after: Some(before), ..self }
    }
}

/// A stored intent.
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
    /// Why it is in this stage, as text; never includes text that the user had typed.
    pub why: Option<String>,
    /// The session that it was typed into.
    pub into: Option<SessionKey>,
    /// The session whose event confirmed it: for a clear, the new one.
    pub led_to: Option<SessionKey>,
}

/// Whether this event confirms the intent in flight. `session` already includes the event.
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

/// Matches the prompt itself or, if the seat is found later than that, the turn that it began.
fn is_prompted(intent: &Intent, happening: &Happening, session: &Session, since: Timestamp) -> bool {
    if let Happening::PromptSubmitted { prompt, .. } = happening {
        return shows(prompt, &intent.wish.text);
    }
    let turn = session.open_turn.as_ref().filter(|turn| turn.started_at >= since);
    *happening == Happening::SeatFound && turn.is_some_and(|turn| shows(&turn.prompt, &intent.wish.text))
}

/// Whether a prompt is this text, as far as it was stored: prompts are bounded when they are recorded.
pub fn shows(prompt: &Kept, text: &Kept) -> bool {
    let (prompt, text) = (prompt.as_str().trim(), text.as_str());
    let is_truncated = |kept: &str| !kept.is_empty() && text.len() > kept.len() && text.starts_with(kept);
    prompt == text || prompt.strip_suffix('…').is_some_and(is_truncated)
}

#[cfg(test)]
mod tests;
