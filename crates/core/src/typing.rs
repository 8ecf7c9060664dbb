//! Typing into an agent's pane: the observations right before, and the guarantees a terminal can give.
//!
//! Plain data and pure decisions. Types nothing; everything uncertain is a reason not to type.

mod confirm;
mod intent;
mod permit;

pub use confirm::answers;
pub use intent::{BadIntent, Intent, IntentPurpose, IntentRequest, IntentStage, LONGEST_BYTES, shows};
pub use permit::{
    SessionStartReport, TypingContext, TypingObstacle, TypingPause, TypingRules, TypingVerdict, may_press,
    may_type,
};

use crate::time::Timestamp;

/// The facts that a terminal program can report about a pane. A fact it cannot report is never assumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerminalAbilities {
    /// Whether the pane is the one that the session was found in, and not another under the same name.
    pub identity: bool,
    /// Which process would receive the keys.
    pub foreground: bool,
    /// The content of the agent's input line.
    pub screen: bool,
    /// Whether keys would go to the multiplexer itself: copy mode, a menu, its own prompt.
    pub mode: bool,
    /// When a person last typed there.
    pub activity: bool,
}

named_enum! {
    /// One such fact: named in messages if missing, and in the setting that accepts its absence.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum TerminalAbility as named {
        Identity = "identity",
        Foreground = "foreground",
        Screen = "screen",
        Mode = "mode",
        Activity = "activity",
    }
}

impl TerminalAbility {
    /// Completes a sentence that begins with "cannot tell".
    pub fn description(self) -> &'static str {
        match self {
            TerminalAbility::Identity => "whether the pane is the one that is meant",
            TerminalAbility::Foreground => "which program would get the keys",
            TerminalAbility::Screen => "what stands in the input line",
            TerminalAbility::Mode => "whether the keys would go to the terminal program itself",
            TerminalAbility::Activity => "when somebody last typed there",
        }
    }
}

impl TerminalAbilities {
    pub fn has(self, ability: TerminalAbility) -> bool {
        match ability {
            TerminalAbility::Identity => self.identity,
            TerminalAbility::Foreground => self.foreground,
            TerminalAbility::Screen => self.screen,
            TerminalAbility::Mode => self.mode,
            TerminalAbility::Activity => self.activity,
        }
    }
}

/// One observation of a pane. `None` means not observed, which permits nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaneObservation {
    /// The pane exists and is the intended one.
    pub is_there: Option<bool>,
    /// The process that would receive the keys, or its process group leader.
    pub foreground: Option<u32>,
    /// Keys would go to the multiplexer.
    pub in_mode: Option<bool>,
    /// When a person last typed into it.
    pub last_key_at: Option<Timestamp>,
    /// The screen, line by line, with colour sequences: faint text is a hint, not input.
    pub screen: Option<String>,
    /// The terminal's cursor: column and line, from 0.
    pub cursor: Option<(usize, usize)>,
}

/// The session that the agent's screen shows. A user can switch to another one, and some agents report that only with
/// the next prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShownSession {
    /// Not visible, or the agent reports a switch at once.
    Unknown,
    /// A session without any prompt yet.
    New,
    /// A session with this last prompt.
    Said(String),
    /// A session whose last prompt begins like this.
    Begins(String),
}

/// The state of the agent's input line, as its screen shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputLine {
    /// It accepts input and is empty.
    Empty,
    /// It contains text: typed, pasted, or restored by the agent.
    Holds { text: String },
    /// The agent works; input would be queued, steer it, or be lost.
    Busy,
    /// A dialog or a menu would receive the keys.
    Covered,
    /// The screen was not recognised.
    Unknown,
}
