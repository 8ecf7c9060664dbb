//! The composer: makes the one string that a session is given, out of what is known.
//!
//! It never gives more than the budget, whatever it is handed; it reads no store and no clock, and the same material
//! always makes the same text. Nothing of the material can close the fence around it.

mod anchor;
mod budget;
mod compaction;
mod cut;
pub mod fence;
mod frame;
mod handoff;
mod lines;
mod remembered;
pub mod tokens;
mod turns;

pub use crate::capture::Speaker;
pub use budget::Budget;
pub use compaction::Compaction;
pub use fence::CUT_TO_MAKE_ROOM;
pub use remembered::{Remembered, RememberedKind};

use crate::event::Origin;
use crate::id::SessionKey;
use crate::memory::SummaryDraft;
use crate::piece::Stop;

/// All that a session might be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    /// The session whose work goes on.
    pub past: Option<Past>,
    /// What the session itself has just lost. Its own past comes before another's: then `past` is not given.
    pub compaction: Option<Compaction>,
    /// What is known beside that session: finished parts, best first within each.
    pub remembered: Vec<Remembered>,
    /// How our command is called where the session runs.
    pub program: String,
}

/// An earlier session, as far as it is worth carrying over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    pub session: SessionKey,
    /// How the work came from there to here, for the header: `/clear in the same pane`.
    pub way: String,
    pub project: Option<String>,
    pub branch: Option<String>,
    pub model: Option<String>,
    /// When it was last at work, as a person reads clocks.
    pub last_active: String,
    /// Its turns that are worth giving: neither bookmarks nor notifications.
    pub turns_in_all: u32,
    /// The newest turns with their words, oldest first.
    pub turns: Vec<PastTurn>,
    /// Those before them, oldest first.
    pub older: Vec<OlderTurn>,
    /// The last answer as a hook told it: the transcript may lag behind.
    pub answer_heard: Option<String>,
    pub handoff: Option<Handoff>,
    /// Where it ran, if on another machine.
    pub away: Option<Away>,
    /// What it did in the words of its summary: given where its own are not at hand.
    pub summary: Option<SummaryDraft>,
}

/// Another machine that a session ran on, and what of it stayed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Away {
    pub machine: String,
    /// In words, for the header; empty if all is here.
    pub missing: Vec<&'static str>,
}

/// A turn with its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastTurn {
    /// `1a2b3c4d#12`.
    pub id: String,
    pub clock: String,
    pub origin: Origin,
    pub line: String,
    pub words: Vec<Words>,
    /// Tools and kinds of details, and how many there are of each.
    pub details: Vec<(String, u32)>,
    /// How it ended, if it did so without an answer.
    pub stopped: Option<Stop>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    pub speaker: Speaker,
    pub text: String,
}

/// A turn of which only its line is at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OlderTurn {
    pub id: String,
    pub clock: String,
    pub origin: Origin,
    pub line: String,
}

/// The state that a session passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    pub task: String,
    pub completed: String,
    pub remaining: String,
    pub key_context: String,
}

/// What a session is given, and what became of each part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Composed {
    /// Empty if there is nothing to give, or not even room for the header.
    pub text: String,
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub what: PartKind,
    pub why: String,
    /// In the unit of the budget.
    pub size: usize,
    pub state: PartState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    Header,
    Handoff,
    Anchor,
    Summary,
    Turn,
    OlderLines,
    LostLines,
    Remembered(RememberedKind),
}

impl PartKind {
    pub fn name(self) -> &'static str {
        match self {
            PartKind::Header => "header",
            PartKind::Handoff => "handoff",
            PartKind::Anchor => "anchor",
            PartKind::Summary => "summary",
            PartKind::Turn => "turn",
            PartKind::OlderLines => "older lines",
            PartKind::LostLines => "lost lines",
            PartKind::Remembered(RememberedKind::Pinned) => "pinned",
            PartKind::Remembered(RememberedKind::NextSteps) => "next steps",
            PartKind::Remembered(RememberedKind::Memories) => "memories",
            PartKind::Remembered(RememberedKind::Index) => "index",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartState {
    Whole,
    Cut,
    LeftOut,
}

/// The path of a program is rarely longer.
const LONGEST_PROGRAM: usize = 200;

/// Returns what a session is to be given, never larger than `budget`.
pub fn compose(material: &Material, budget: Budget) -> Composed {
    let program = cut::one_line(&material.program, LONGEST_PROGRAM);
    match (&material.compaction, &material.past) {
        (Some(compaction), _) => compaction::offered_back(compaction, &program, budget),
        (None, Some(past)) => frame::carried_over(past, &material.remembered, &program, budget),
        (None, None) => frame::remembered_alone(&material.remembered, budget),
    }
}

/// Whether a turn says anything about the work.
fn is_worth_giving(origin: Origin) -> bool {
    match origin {
        Origin::Human | Origin::Command | Origin::Continuation => true,
        Origin::Notification | Origin::Bookmark => false,
    }
}

#[cfg(test)]
mod tests;
