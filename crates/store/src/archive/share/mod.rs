//! The archive's side of sharing: shared projects, tombs and stamps of their rows, and what the hub has received.
//!
//! Does no network IO and does not know the wire format: rows come and go with their content in the archive's types.

mod carry;
mod leaving;
mod machines;
mod pieces;
mod projects;
mod sent;
mod stamps;
mod take;
mod taken;
#[cfg(test)]
mod tests;
mod tombs;
mod withdrawn;

pub use carry::Carried;
pub use leaving::LeavingProject;
pub use projects::{SharedExtent, SharedProject, project_id};
pub use sent::Outcome;
pub(super) use stamps::RegisterId;
pub use take::{Arrival, TakenIn};
pub use taken::Elsewhere;
pub(super) use tombs::{Burial, TombFate};

use super::keep::{KeptBody, KeptDetail, KeptTurn};
use super::summaries::KeptSummary;
use towline_core::id::{Mark, SessionKey, Uid};
use towline_core::memory::{Confidence, Content, Maker, Trust};
use towline_core::time::Timestamp;

/// The content of a row, by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Words<Text> {
    Memory(Box<MemoryWords>),
    Summary(Box<KeptSummary>),
    Line(Box<LineWords>),
    Body(Box<PieceWords<KeptBody<Text>>>),
    Detail(Box<PieceWords<KeptDetail<Text>>>),
    /// A bookmark or a baton, in its wire format.
    Noted(String),
}

/// The part of a memory that is written as a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryWords {
    pub content: Content,
    pub branch: Option<String>,
    pub commit: Option<String>,
    pub maker: Maker,
    pub trust: Trust,
    pub confidence: Confidence,
    pub cost: u64,
    pub valid_from: Timestamp,
}

/// A turn, and metadata of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct LineWords {
    pub turn: KeptTurn,
    pub branch: Option<String>,
    /// The session it was forked from, and the position up to which the two share turns.
    pub base: Option<(String, u64)>,
}

/// A body or a detail, and the mark of its turn.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceWords<Piece> {
    pub piece: Piece,
    pub turn_mark: Option<Mark>,
}

/// The global id of a body or a detail.
pub(super) fn piece_uid(kind: &str, session: &SessionKey, mark: Mark, at: Timestamp) -> Uid {
    Uid::derived(at, &[kind, &session.to_string(), &format!("{:016x}", mark.0)])
}
