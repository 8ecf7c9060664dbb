//! Memories (one durable fact each, with its source) and session summaries.
//!
//! Pure. `distil` extracts memories from turns; `likeness` finds near duplicates and contradictions. Text becomes a
//! `Content` only by being redacted and bounded here.

pub mod choose;
mod content;
pub mod distil;
mod draft;
mod likeness;
mod proposal;
pub mod suspicion;
mod trust;

pub use content::{MemoryContent, MemoryDraft, MemoryType, Summary, SummaryDraft};
pub use draft::{LONGEST, RejectedText, draft_memory};
pub use likeness::{Gist, Likeness, Tokenized, hash_word, likeness, new_facts};
pub use proposal::{ProposalFate, ProposedChange, proposal_name, proposal_number};
pub use trust::{ConfidencePercent, MemoryTrust, TrustLevel};

use crate::id::{SessionKey, Uid};
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub uid: Uid,
    /// The number in its name, `m12`.
    pub number: i64,
    pub content: MemoryContent,
    pub project: Option<String>,
    pub source: Option<Citation>,
    /// The owner; `None` for this user's own.
    pub person: Option<String>,
    /// The name of the machine it came from, if another one.
    pub machine: Option<String>,
    /// Whether its owner does not share it.
    pub is_private: bool,
    pub maker: MemoryAuthor,
    pub trust: MemoryTrust,
    pub confidence: ConfidencePercent,
    /// Tokens used by the turn it came from.
    pub cost: u64,
    pub made_at: Timestamp,
    pub changed_at: Timestamp,
    /// The time from which it holds.
    pub valid_from: Timestamp,
    pub superseded: Option<Supersession>,
    pub pinned_at: Option<Timestamp>,
    /// When an agent proposed to pin it; the user decides.
    pub proposed_at: Option<Timestamp>,
    /// The reason it is withheld from models until the user releases it.
    pub quarantine: Option<String>,
    /// How often the same memory was extracted.
    pub found: u32,
}

impl Memory {
    pub fn name(&self) -> String {
        name(self.number)
    }

    /// The owner and machine of a teammate's memory; `None` for the user's own.
    pub fn owner(&self) -> Option<String> {
        format_owner(self.person.as_deref(), self.machine.as_deref())
    }

    /// Whether it may be given to models: it is neither superseded nor quarantined. The store's queries `NEWEST`, `NUMBERED`
    /// and `PINNED` (`archive/memories.rs`) repeat this condition; change all.
    pub fn is_current(&self) -> bool {
        self.superseded.is_none() && self.quarantine.is_none()
    }
}

/// Formats an owner with the machine, if known: `ann on desk`.
pub fn format_owner(person: Option<&str>, machine: Option<&str>) -> Option<String> {
    let machine = machine.map(|machine| format!(" on {machine}"));
    Some(format!("{}{}", person?, machine.unwrap_or_default()))
}

/// The name of a memory for users and models: `m12`.
pub fn name(number: i64) -> String {
    format!("m{number}")
}

/// Parses the output of `name`; the letter is optional.
pub fn number(name: &str) -> Option<i64> {
    let digits = name.strip_prefix(['m', 'M']).unwrap_or(name);
    let is_plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|number| is_plain && *number > 0)
}

/// The source of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citation {
    pub session: SessionKey,
    /// The short name of the session.
    pub short: String,
    /// The turn's number, if it came from a single turn.
    pub turn: Option<u32>,
    pub branch: Option<String>,
    pub commit: Option<String>,
}

/// The author of a memory's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryAuthor {
    Person,
    /// The built-in rules, without a model.
    Rules,
    Model(String),
}

impl MemoryAuthor {
    pub fn name(&self) -> &str {
        match self {
            MemoryAuthor::Person => "person",
            MemoryAuthor::Rules => "rules",
            MemoryAuthor::Model(model) => model,
        }
    }

    /// Parses the output of `name`.
    pub fn named(name: &str) -> MemoryAuthor {
        match name {
            "person" => MemoryAuthor::Person,
            "rules" => MemoryAuthor::Rules,
            model => MemoryAuthor::Model(model.to_owned()),
        }
    }
}

/// How a memory was superseded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supersession {
    /// The replacing memory; `None` if the user said that it no longer holds without a replacement.
    pub by: Option<i64>,
    pub at: Timestamp,
    pub why: String,
}

#[cfg(test)]
mod tests;
