//! The facts that events and sessions record about inheritance: settings, progress, the rule that decided, batons from elsewhere.
//!
//! Plain data: decides nothing.

use crate::id::{SessionKey, Uid};
use crate::project::ProjectIdentity;
use crate::text::SafeText;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The user's inheritance settings as they were when the session started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InheritSettings {
    pub on_clear: OnClear,
    pub fallback: Fallback,
}

stored_enum! {
    /// Whether a session started by `/clear` continues the session that was cleared.
    #[derive(Default)]
    pub enum OnClear as named {
        #[default]
        Always = "always",
        /// Only when the user confirms it.
        Ask = "ask",
        Never = "never",
    }
}

stored_enum! {
    /// Whether a session started by `/clear` without a predecessor in its seat may look for one in its project.
    #[derive(Default)]
    pub enum Fallback as named {
        #[default]
        On = "on",
        Off = "off",
    }
}

named_enum! {
    /// A session's progress towards its inheritance decision.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum InheritState as named {
        /// The session did not start afresh: there is nothing to decide.
        Nothing = "nothing",
        /// The session started afresh and had no prompt yet.
        Undecided = "undecided",
        /// The session was prompted before its seat was known.
        Prompted = "prompted",
        /// Decided; the result is delivered at the next prompt.
        Due = "due",
        Settled = "settled",
    }
}

named_enum! {
    /// The rule that made the decision.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum InheritRule as named {
        /// The predecessor passed a baton.
        Baton = "baton",
        /// The predecessor was cleared in the same seat.
        Clear = "clear",
        /// The predecessor is the only session that can have been cleared.
        Fallback = "fallback",
        /// The user chose the predecessor.
        Taken = "taken",
        /// The user asked for a fresh start.
        Fresh = "fresh",
        /// The user is asked first.
        Asked = "asked",
        /// Several sessions qualify.
        Ambiguous = "ambiguous",
        /// The user disabled inheritance.
        Off = "off",
        None = "none",
    }
}

impl InheritRule {
    /// Whether the decision is announced: to the model what it inherits, to the user what they may choose.
    pub fn is_to_be_given(self) -> bool {
        !matches!(self, InheritRule::Fresh | InheritRule::Off | InheritRule::None)
    }
}

/// A baton of another machine of this user, as it is written to this machine's journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteBaton {
    pub baton: Uid,
    pub machine: Uid,
    /// That machine's name.
    pub called: SafeText,
    /// The project as it exists on this machine.
    pub project: ProjectIdentity,
    /// By the clock of that machine.
    pub passed_at: Timestamp,
    /// The version of its row on that machine: how often it was written there.
    pub count: u64,
    pub fate: BatonFate,
}

/// The state of a baton of another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BatonFate {
    Waits,
    /// Its session asked for a fresh start since; the user may revoke that.
    Withdrawn,
    /// A session elsewhere continues with it.
    Taken {
        by: Option<SessionKey>,
    },
    Dropped,
}

impl BatonFate {
    /// Whether no session can take it any more.
    pub fn is_over(&self) -> bool {
        matches!(self, BatonFate::Taken { .. } | BatonFate::Dropped)
    }
}
