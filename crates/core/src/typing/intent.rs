//! An intent: text to be typed into a seat, from its creation to its outcome.
//!
//! Its stage only moves forward. Only an event of the agent confirms it, never elapsed time; no intent is typed twice.

use crate::event::PromptOrigin;
use crate::id::{SessionKey, Uid};
use crate::text::{SafeText, SecretPolicy, TextPolicy};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The longest text that all agents are known to accept whole.
pub const LONGEST_BYTES: usize = 20_000;

/// A prompt must not begin with one of these: the agent would execute the rest.
const COMMAND_MARKS: [char; 3] = ['/', '!', '&'];

stored_enum! {
    /// Why text is typed. Decides when it may be typed, and which event confirms it.
    #[derive(PartialOrd, Ord)]
    pub enum IntentPurpose as named {
        /// A marker that becomes a point to return to.
        Bookmark = "bookmark",
        /// Make the agent compact its context.
        Compact = "compact",
        /// Make the agent start a new session in the same seat.
        Clear = "clear",
        /// Continue the work in the new session.
        Continue = "continue",
        /// Continue the work after a usage limit.
        Resume = "resume",
    }
}

impl IntentPurpose {
    /// Whether it is a command of the agent itself: during a turn such a command is lost, or worse.
    pub fn is_command(self) -> bool {
        matches!(self, IntentPurpose::Compact | IntentPurpose::Clear)
    }

    /// The origin of the resulting prompt; `None` if it is a command.
    pub fn origin(self) -> Option<PromptOrigin> {
        match self {
            IntentPurpose::Bookmark => Some(PromptOrigin::Bookmark),
            IntentPurpose::Continue | IntentPurpose::Resume => Some(PromptOrigin::Continuation),
            IntentPurpose::Compact | IntentPurpose::Clear => None,
        }
    }

    /// The awaited confirmation, for display.
    pub fn confirmation(self) -> &'static str {
        match self {
            IntentPurpose::Bookmark | IntentPurpose::Continue | IntentPurpose::Resume => {
                "the prompt was submitted"
            }
            IntentPurpose::Compact => "compaction began",
            IntentPurpose::Clear => "a new session began in the seat",
        }
    }
}

stored_enum! {
    /// The progress of an intent.
    #[derive(PartialOrd, Ord)]
    pub enum IntentStage as named {
        Waiting = "waiting",
        /// From here on it is never typed again, regardless of the outcome.
        Typing = "typing",
        /// Enter was pressed.
        Typed = "typed",
        /// The agent reported the expected event.
        Confirmed = "confirmed",
        Refused = "refused",
        Expired = "expired",
        /// A user withdrew it.
        Dropped = "dropped",
    }
}

impl IntentStage {
    /// Whether the stage is final.
    pub fn is_over(self) -> bool {
        !matches!(self, IntentStage::Waiting | IntentStage::Typing | IntentStage::Typed)
    }

    /// Whether keys may have been pressed without confirmation by the agent yet.
    pub fn is_in_flight(self) -> bool {
        matches!(self, IntentStage::Typing | IntentStage::Typed)
    }

    /// Only forward, and never out of a final stage. Pressed keys cannot be withdrawn.
    pub fn can_advance_to(self, to: IntentStage) -> bool {
        match self {
            IntentStage::Waiting => matches!(
                to,
                IntentStage::Typing | IntentStage::Refused | IntentStage::Expired | IntentStage::Dropped
            ),
            IntentStage::Typing => matches!(
                to,
                IntentStage::Typed | IntentStage::Confirmed | IntentStage::Refused | IntentStage::Expired
            ),
            IntentStage::Typed => matches!(to, IntentStage::Confirmed | IntentStage::Expired),
            IntentStage::Confirmed | IntentStage::Refused | IntentStage::Expired | IntentStage::Dropped => {
                false
            }
        }
    }
}

/// The request that creates an intent, as stored in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntentRequest {
    /// The key of the seat.
    pub seat: String,
    pub purpose: IntentPurpose,
    pub text: SafeText,
    pub expires_at: Timestamp,
    /// An intent that must be confirmed first. The session it led to is then the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Uid>,
}

/// Why a text is not typed at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadIntent {
    #[error("there is nothing to type")]
    Blank,
    #[error("{bytes} bytes are more than the {} that can be typed", LONGEST_BYTES)]
    TooLong { bytes: usize },
    #[error("the text holds control characters")]
    Control,
    #[error("agents take a text that begins so for a command")]
    Command,
}

impl IntentRequest {
    /// Redacts secrets regardless of the user's settings: typed text is stored, displayed, and read by the agent.
    pub fn new(
        seat: &str,
        purpose: IntentPurpose,
        raw: &str,
        expires_at: Timestamp,
    ) -> Result<IntentRequest, BadIntent> {
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
        let whole = TextPolicy { longest_bytes: LONGEST_BYTES * 4, secrets: SecretPolicy::Redacted };
        let text = SafeText::new(text, whole);
        match text.as_str().len() {
            bytes if bytes > LONGEST_BYTES => Err(BadIntent::TooLong { bytes }),
            _ => Ok(IntentRequest { seat: seat.to_owned(), purpose, text, expires_at, after: None }),
        }
    }

    /// Delays the request until `before` is confirmed.
    pub fn after(self, before: Uid) -> IntentRequest {
        IntentRequest { after: Some(before), ..self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    pub uid: Uid,
    /// The session that it was made for.
    pub session: SessionKey,
    pub wish: IntentRequest,
    pub made_at: Timestamp,
    pub stage: IntentStage,
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

/// Whether a prompt is this text, as far as it was stored: prompts are bounded when they are recorded.
pub fn shows(prompt: &SafeText, text: &SafeText) -> bool {
    let (prompt, text) = (prompt.as_str().trim(), text.as_str());
    let is_truncated = |kept: &str| !kept.is_empty() && text.len() > kept.len() && text.starts_with(kept);
    prompt == text || prompt.strip_suffix('…').is_some_and(is_truncated)
}

#[cfg(test)]
mod tests;
