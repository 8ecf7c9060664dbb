//! Rows that travel between machines: their content, their provenance, and how two versions of a row merge.
//!
//! Merging is commutative, associative and idempotent; a forgotten row has nothing left to merge. Knows neither
//! databases nor networks; the content of a row is opaque JSON that depends on its kind.

mod register;

pub use register::{Register, WriteStamp};

use crate::id::{SessionKey, Uid};
use crate::time::Timestamp;

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum RowKind as named {
        Memory = "memory",
        Summary = "summary",
        /// The line of a turn, with its digest.
        Line = "line",
        Body = "body",
        Detail = "detail",
        Bookmark = "bookmark",
        Baton = "baton",
        /// A change of somebody else's memory, on which its owner decides.
        Proposal = "proposal",
        /// The owner's answer to a proposal.
        Answer = "answer",
    }
}

/// The origin of a row. Never changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowProvenance {
    /// The team's name for the person.
    pub person: String,
    pub machine: Uid,
    pub session: Option<SessionKey>,
    pub turn: Option<u32>,
    pub made_at: Timestamp,
}

/// The replacement of a memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowReplacement {
    /// `None` if the memory no longer holds and has no replacement.
    pub by: Option<Uid>,
    pub at: Timestamp,
    pub why: String,
}

/// Whether other machines may have the row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    #[default]
    Shared,
    /// Withdrawn by its owner: every other machine drops it. It may be shared again.
    Withdrawn,
}

/// A row as one machine, or the hub, has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedRow {
    pub uid: Uid,
    pub kind: RowKind,
    /// The project's id, the same for everyone who shares it.
    pub project: Uid,
    pub from: RowProvenance,
    pub life: RowLife,
}

/// Whether a row exists or was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowLife {
    Lives(Box<Registers>),
    /// Permanent: no merge brings it back.
    Forgotten {
        at: Timestamp,
        by: String,
    },
}

/// The mutable parts of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// JSON, depending on the row's kind. Empty only if the row was withdrawn.
    pub words: Register<String>,
    /// Since when it is pinned.
    pub pin: Register<Option<Timestamp>>,
    pub standing: Register<Option<RowReplacement>>,
    /// Why it is kept from every model until a user releases it.
    pub hold: Register<Option<String>>,
    pub presence: Register<Visibility>,
    /// How often the same memory was found. Only grows.
    pub found: u32,
}

impl Registers {
    /// The registers of a row that has only text.
    pub fn of_words(words: String, stamp: WriteStamp) -> Registers {
        Registers {
            words: Register { stamp, value: words },
            pin: Register::unwritten(),
            standing: Register::unwritten(),
            hold: Register::unwritten(),
            presence: Register::unwritten(),
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

impl RowLife {
    /// Forgetting wins over every other change; of two, the earlier is kept.
    #[must_use]
    pub fn merged(self, other: RowLife) -> RowLife {
        match (self, other) {
            (RowLife::Lives(one), RowLife::Lives(other)) => RowLife::Lives(Box::new(one.merged(*other))),
            (RowLife::Forgotten { at, by }, RowLife::Forgotten { at: also_at, by: also_by }) => {
                let (at, by) = (at, by).min((also_at, also_by));
                RowLife::Forgotten { at, by }
            }
            (gone @ RowLife::Forgotten { .. }, RowLife::Lives(_))
            | (RowLife::Lives(_), gone @ RowLife::Forgotten { .. }) => gone,
        }
    }
}

impl SharedRow {
    /// Merges two versions of the same row. If two machines made it, the lower provenance wins.
    #[must_use]
    pub fn merged(self, other: SharedRow) -> SharedRow {
        let (from, project) = (self.from, self.project).min((other.from, other.project));
        SharedRow { uid: self.uid, kind: self.kind, project, from, life: self.life.merged(other.life) }
    }

    /// Withdraws the row together with its project. Text written before the other machines learn of this does not come
    /// back. The presence is stamped with the machine that made the row: there it stays.
    #[must_use]
    pub fn taken_back(self, here: Uid) -> SharedRow {
        let RowLife::Lives(registers) = self.life else { return self };
        let made = self.from.machine;
        let Registers { words, pin, standing, hold, presence, found } = *registers;
        let life = RowLife::Lives(Box::new(Registers {
            words: Register {
                stamp: WriteStamp {
                    count: words.stamp.count.saturating_add(WriteStamp::AHEAD),
                    machine: here,
                },
                value: String::new(),
            },
            pin,
            standing: standing.cleared(here),
            hold: hold.cleared(here),
            presence: Register { stamp: presence.stamp.next(made), value: Visibility::Withdrawn },
            found,
        }));
        SharedRow { life, ..self }
    }

    /// Whether others may see it.
    pub fn is_shared(&self) -> bool {
        matches!(&self.life, RowLife::Lives(row) if row.presence.value == Visibility::Shared)
    }
}

#[cfg(test)]
mod tests;
