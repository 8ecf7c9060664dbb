//! A memory: one thing worth knowing later, in few words, and where it came from. And the summary of what a session did.
//!
//! Pure: what was said and done becomes a memory in `distil`, near duplicates and contradictions are found in `likeness`.
//! No text becomes a `Content` but by redacting and bounding it here.

pub mod choose;
mod content;
pub mod distil;
mod likeness;
pub mod suspicion;
mod told;
mod trust;

pub use content::{Content, Draft, MemoryType, Summary, SummaryDraft};
pub use likeness::{Likeness, likeness, new_facts};
pub use told::{LONGEST, Untellable, told};
pub use trust::{Confidence, Trust};

use crate::id::{SessionKey, Uid};
use crate::time::Timestamp;

/// A memory as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub uid: Uid,
    /// What people and models call it by: `m12`.
    pub number: i64,
    pub content: Content,
    pub project: Option<String>,
    pub source: Option<Citation>,
    /// Whose it is; `None` for this person's own.
    pub person: Option<String>,
    /// What the machine is called that it came from, where that is another.
    pub machine: Option<String>,
    /// Its person keeps it from all others.
    pub is_private: bool,
    pub maker: Maker,
    pub trust: Trust,
    pub confidence: Confidence,
    /// What the work cost that it came from, in tokens.
    pub cost: u64,
    pub made_at: Timestamp,
    pub changed_at: Timestamp,
    /// Since when it holds.
    pub valid_from: Timestamp,
    pub superseded: Option<Superseded>,
    pub pinned_at: Option<Timestamp>,
    /// Why it is kept from every model until a person releases it.
    pub quarantine: Option<String>,
    /// How often the same was found.
    pub found: u32,
}

impl Memory {
    /// What people and models call it by.
    pub fn name(&self) -> String {
        name(self.number)
    }

    /// Whose it is, and where it came from, where it is a teammate's.
    pub fn whose(&self) -> Option<String> {
        whose(self.person.as_deref(), self.machine.as_deref())
    }

    /// Whether it is given to models: what was replaced or is held back is not.
    pub fn stands(&self) -> bool {
        self.superseded.is_none() && self.quarantine.is_none()
    }
}

/// Whose something is, with the machine it came from where that is known: `ann on desk`.
pub fn whose(person: Option<&str>, machine: Option<&str>) -> Option<String> {
    let machine = machine.map(|machine| format!(" on {machine}"));
    Some(format!("{}{}", person?, machine.unwrap_or_default()))
}

/// What people and models call the memory with this number by.
pub fn name(number: i64) -> String {
    format!("m{number}")
}

/// Reads back what `name` wrote; the letter may be left out.
pub fn number(name: &str) -> Option<i64> {
    let digits = name.strip_prefix(['m', 'M']).unwrap_or(name);
    let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|number| is_plain && *number > 0)
}

/// Where a memory came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    pub session: SessionKey,
    /// What people call the session by.
    pub short: String,
    /// The turn's number, where it came from a single one.
    pub turn: Option<u32>,
    pub branch: Option<String>,
    pub commit: Option<String>,
}

/// Who put it into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maker {
    Person,
    /// Our own rules, without a model.
    Rules,
    Model(String),
}

impl Maker {
    pub fn name(&self) -> &str {
        match self {
            Maker::Person => "person",
            Maker::Rules => "rules",
            Maker::Model(model) => model,
        }
    }

    /// Reads back what `name` wrote.
    pub fn named(name: &str) -> Maker {
        match name {
            "person" => Maker::Person,
            "rules" => Maker::Rules,
            model => Maker::Model(model.to_owned()),
        }
    }
}

/// What took a memory's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superseded {
    /// None where a person said that it no longer holds, and nothing else does instead.
    pub by: Option<i64>,
    pub at: Timestamp,
    pub why: String,
}

#[cfg(test)]
mod tests;
