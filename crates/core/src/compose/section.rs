//! Sections of the composed text, and what became of each part.
//!
//! Knows fences and sizes, and nothing of what a section says.

use super::budget::ContextBudget;
use super::fence;
use super::material::MemorySectionKind;

/// The text for a session, and the outcome for each part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComposedContext {
    /// Empty if there is no content, or not even room for the header.
    pub text: String,
    pub parts: Vec<ContextPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextPart {
    pub what: ContextPartKind,
    pub why: String,
    /// In the unit of the budget.
    pub size: usize,
    pub state: ContextPartState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextPartKind {
    Header,
    Handoff,
    Opening,
    Anchor,
    ToDo,
    Failing,
    Summary,
    Turn,
    OlderLines,
    Chain,
    LostLines,
    Remembered(MemorySectionKind),
}

impl ContextPartKind {
    pub fn name(self) -> &'static str {
        match self {
            ContextPartKind::Header => "header",
            ContextPartKind::Handoff => "handoff",
            ContextPartKind::Opening => "opening",
            ContextPartKind::Anchor => "anchor",
            ContextPartKind::ToDo => "to-do list",
            ContextPartKind::Failing => "failing",
            ContextPartKind::Summary => "summary",
            ContextPartKind::Turn => "turn",
            ContextPartKind::OlderLines => "older lines",
            ContextPartKind::Chain => "chain",
            ContextPartKind::LostLines => "lost lines",
            ContextPartKind::Remembered(MemorySectionKind::Pinned) => "pinned",
            ContextPartKind::Remembered(MemorySectionKind::NextSteps) => "next steps",
            ContextPartKind::Remembered(MemorySectionKind::Memories) => "memories",
            ContextPartKind::Remembered(MemorySectionKind::Index) => "index",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextPartState {
    Whole,
    Cut,
    LeftOut,
}

/// Finished lines, and what was done with each part that belongs there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextSection {
    pub text: String,
    pub size: usize,
    pub parts: Vec<ContextPart>,
}

impl ContextSection {
    /// Adds another section behind this one.
    pub fn append(&mut self, other: ContextSection) {
        self.text.push_str(&other.text);
        self.size += other.size;
        self.parts.extend(other.parts);
    }

    /// A section of one part.
    pub fn of(
        what: ContextPartKind,
        why: impl Into<String>,
        text: String,
        size: usize,
        state: ContextPartState,
    ) -> ContextSection {
        ContextSection { text, size, parts: vec![ContextPart { what, why: why.into(), size, state }] }
    }

    /// No text, because there is no room for this part.
    pub fn left_out(what: ContextPartKind, why: impl Into<String>) -> ContextSection {
        ContextSection::of(what, why, String::new(), 0, ContextPartState::LeftOut)
    }
}

/// Names of projects, branches and models are rarely longer.
pub const MAX_NAME_CHARS: usize = 60;
/// A date with a time.
pub const MAX_CLOCK_CHARS: usize = 20;

/// Sections between two fences, and the room that is left.
pub struct ContextDraft {
    budget: ContextBudget,
    room: usize,
    text: String,
    parts: Vec<ContextPart>,
}

impl ContextDraft {
    /// `None` if not even the header fits.
    pub fn open(budget: ContextBudget, header: &str) -> Option<ContextDraft> {
        let opening = format!("{}{header}", fence::FIRST_LINE);
        let size = budget.size_of(&opening);
        let room = budget.limit().checked_sub(size + budget.size_of(fence::LAST_LINE))?;
        let part = ContextPart {
            what: ContextPartKind::Header,
            why: "says what this is and how to get more".into(),
            size,
            state: ContextPartState::Whole,
        };
        Some(ContextDraft { budget, room, text: opening, parts: vec![part] })
    }

    pub fn room(&self) -> ContextBudget {
        self.budget.of(self.room)
    }

    pub fn push(&mut self, section: ContextSection) {
        self.room = self.room.saturating_sub(section.size);
        self.text.push_str(&section.text);
        self.parts.extend(section.parts);
    }

    pub fn close(self) -> ComposedContext {
        ComposedContext { text: self.text + fence::LAST_LINE, parts: self.parts }
    }
}
