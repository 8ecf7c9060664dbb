//! What travels between machines: a row, where it came from, and how two accounts of it become one.
//!
//! Merging is the same in any order and however often it is done; where a row was forgotten, nothing of it is left to
//! merge. Knows neither databases nor networks, and what words of a row mean only by its kind.

mod register;

pub use register::{Register, Stamp};

use crate::id::{SessionKey, Uid};
use crate::time::Timestamp;

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKind {
    Memory,
    Summary,
    /// The line of a turn, with what is known of the turn.
    Line,
    Body,
    Detail,
    Bookmark,
    Baton,
}

impl RowKind {
    pub const ALL: [RowKind; 7] = [
        RowKind::Memory,
        RowKind::Summary,
        RowKind::Line,
        RowKind::Body,
        RowKind::Detail,
        RowKind::Bookmark,
        RowKind::Baton,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RowKind::Memory => "memory",
            RowKind::Summary => "summary",
            RowKind::Line => "line",
            RowKind::Body => "body",
            RowKind::Detail => "detail",
            RowKind::Bookmark => "bookmark",
            RowKind::Baton => "baton",
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Option<RowKind> {
        RowKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Where a row came from. Stays with it for ever.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Provenance {
    /// What the team calls the person.
    pub person: String,
    pub machine: Uid,
    pub session: Option<SessionKey>,
    pub turn: Option<u32>,
    pub made_at: Timestamp,
}

/// What took a memory's place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Replaced {
    /// None where it no longer holds and nothing else does instead.
    pub by: Option<Uid>,
    pub at: Timestamp,
    pub why: String,
}

/// Whether others are to have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    #[default]
    Shared,
    /// Its person wants it back: whoever else has it drops it. It may be shared again.
    Withdrawn,
}

/// A row as one machine, or the hub, knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRow {
    pub uid: Uid,
    pub kind: RowKind,
    /// The project's id, the same for all who share it.
    pub project: Uid,
    pub from: Provenance,
    pub life: Life,
}

/// What has become of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Life {
    Lives(Box<Registers>),
    /// For good: nothing brings it back.
    Forgotten {
        at: Timestamp,
        by: String,
    },
}

/// All of a row that may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// JSON, as the row's kind has it. Empty only where it was withdrawn.
    pub words: Register<String>,
    /// Since when it is pinned.
    pub pin: Register<Option<Timestamp>>,
    pub standing: Register<Option<Replaced>>,
    /// Why it is kept from every model until a person releases it.
    pub hold: Register<Option<String>>,
    pub presence: Register<Presence>,
    /// How often the same was found. Only grows.
    pub found: u32,
}

impl Registers {
    /// Of a row that has words and nothing else that ever changes.
    pub fn of_words(words: String, stamp: Stamp) -> Registers {
        Registers {
            words: Register { stamp, value: words },
            pin: Register::untouched(),
            standing: Register::untouched(),
            hold: Register::untouched(),
            presence: Register::untouched(),
            found: 0,
        }
    }

    #[must_use]
    pub fn merged(self, other: Registers) -> Registers {
        Registers {
            words: self.words.merged(other.words),
            pin: self.pin.merged(other.pin),
            standing: self.standing.merged(other.standing),
            hold: self.hold.merged(other.hold),
            presence: self.presence.merged(other.presence),
            found: self.found.max(other.found),
        }
    }
}

impl Life {
    /// Forgetting outlasts everything; of two, the earlier is told.
    #[must_use]
    pub fn merged(self, other: Life) -> Life {
        match (self, other) {
            (Life::Lives(one), Life::Lives(other)) => Life::Lives(Box::new(one.merged(*other))),
            (Life::Forgotten { at, by }, Life::Forgotten { at: also_at, by: also_by }) => {
                let (at, by) = (at, by).min((also_at, also_by));
                Life::Forgotten { at, by }
            }
            (gone @ Life::Forgotten { .. }, Life::Lives(_))
            | (Life::Lives(_), gone @ Life::Forgotten { .. }) => gone,
        }
    }
}

impl SharedRow {
    /// What both accounts of the same row come to. Where two machines made it, the lower one's account of where it came
    /// from holds.
    #[must_use]
    pub fn merged(self, other: SharedRow) -> SharedRow {
        let (from, project) = (self.from, self.project).min((other.from, other.project));
        SharedRow { uid: self.uid, kind: self.kind, project, from, life: self.life.merged(other.life) }
    }

    /// The same row, taken back by its person together with its project. Nothing that was written before that was known
    /// brings its words back. Its presence bears the name of the machine that made it: there it stays.
    #[must_use]
    pub fn taken_back(self, here: Uid) -> SharedRow {
        let Life::Lives(registers) = self.life else { return self };
        let made = self.from.machine;
        let Registers { words, pin, standing, hold, presence, found } = *registers;
        let life = Life::Lives(Box::new(Registers {
            words: Register {
                stamp: Stamp { count: words.stamp.count.saturating_add(Stamp::AHEAD), machine: here },
                value: String::new(),
            },
            pin,
            standing: standing.emptied(here),
            hold: hold.emptied(here),
            presence: Register { stamp: presence.stamp.next(made), value: Presence::Withdrawn },
            found,
        }));
        SharedRow { life, ..self }
    }

    /// Whether others are to see it.
    pub fn is_shared(&self) -> bool {
        match &self.life {
            Life::Lives(registers) => registers.presence.value == Presence::Shared,
            Life::Forgotten { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests;
