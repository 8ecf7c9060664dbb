//! Typing into an agent's seat: what is seen there right before, and what can be made sure of.
//!
//! Plain data and pure decisions. Nothing is typed from here, and whatever is not surely known counts as a reason not to.

mod intent;
mod permit;

pub use intent::{BadWish, Intent, LONGEST_BYTES, Purpose, Stage, Wish, answers, shows};
pub use permit::{Moment, Pause, Rules, Starts, Verdict, Why, may_press, may_type};

use crate::time::Timestamp;

/// What can be made sure of in a seat, by the program that shows it. What it cannot tell is never taken for granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Whether the pane is the one that the session was found in, and not another under the same name.
    pub identity: bool,
    /// Which process would get the keys.
    pub foreground: bool,
    /// What stands in the agent's input line.
    pub screen: bool,
    /// Whether keys would go to the multiplexer itself: copy mode, a choice, a prompt of its own.
    pub mode: bool,
    /// When a person last typed there.
    pub activity: bool,
}

/// One of them, by its name: what is told when it is missing, and what a person can choose to go without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ability {
    Identity,
    Foreground,
    Screen,
    Mode,
    Activity,
}

impl Ability {
    pub const ALL: [Ability; 5] =
        [Ability::Identity, Ability::Foreground, Ability::Screen, Ability::Mode, Ability::Activity];

    pub fn name(self) -> &'static str {
        match self {
            Ability::Identity => "identity",
            Ability::Foreground => "foreground",
            Ability::Screen => "screen",
            Ability::Mode => "mode",
            Ability::Activity => "activity",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<Ability> {
        Ability::ALL.into_iter().find(|ability| ability.name() == name)
    }

    /// What it tells, in words that follow "cannot tell".
    pub fn tells(self) -> &'static str {
        match self {
            Ability::Identity => "whether the pane is the one that is meant",
            Ability::Foreground => "which program would get the keys",
            Ability::Screen => "what stands in the input line",
            Ability::Mode => "whether the keys would go to the terminal program itself",
            Ability::Activity => "when somebody last typed there",
        }
    }
}

impl Abilities {
    pub fn has(self, ability: Ability) -> bool {
        match ability {
            Ability::Identity => self.identity,
            Ability::Foreground => self.foreground,
            Ability::Screen => self.screen,
            Ability::Mode => self.mode,
            Ability::Activity => self.activity,
        }
    }
}

/// One look at a seat. `None`: it could not be seen, which is no permission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The pane is there and is the one that is meant.
    pub is_there: Option<bool>,
    /// The process that would get the keys, or the leader of its group.
    pub foreground: Option<u32>,
    /// Keys would go to the multiplexer.
    pub in_mode: Option<bool>,
    /// When a person last typed into it.
    pub last_key_at: Option<Timestamp>,
    /// What it shows, line by line, with the sequences for colours: what is faint is a hint and not typed.
    pub screen: Option<String>,
    /// Where the terminal's cursor stands: column and line, from 0.
    pub cursor: Option<(usize, usize)>,
}

/// What an agent's screen says about the session that it shows. A person can turn to another one, and some agents tell of
/// that only with the next prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It does not say, or the agent tells of it at once.
    Unknown,
    /// One in which nothing was said yet.
    New,
    /// One to which this was said last.
    Said(String),
    /// One to which something was said last that begins so.
    Begins(String),
}

/// What an agent's screen says about its input line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputLine {
    /// It waits for input, and nothing is in it.
    Empty,
    /// Something is in it: typed, pasted, or put back by the agent.
    Holds { text: String },
    /// The agent works; what is typed now would be queued, steer it, or be lost.
    Busy,
    /// A dialog or a menu would take the keys.
    Covered,
    /// Not understood.
    Unknown,
}
