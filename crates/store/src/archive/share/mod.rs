//! What the archive shares with other machines: which projects, what becomes of their rows here and elsewhere, what the
//! hub has of them.
//!
//! Speaks to no hub, and does not know how words travel: rows come and go with their words as the archive has them.

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
pub(super) use stamps::Part;
pub use take::{Arrival, TakenIn};
pub use taken::Elsewhere;
pub(super) use tombs::{Burial, Fate};

use super::keep::{KeptBody, KeptDetail, KeptTurn};
use super::summaries::KeptSummary;
use towline_core::id::{Mark, SessionKey, Uid};
use towline_core::memory::{Confidence, Content, Maker, Trust};
use towline_core::time::Timestamp;

/// What a row says, by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Words<Text> {
    Memory(Box<MemoryWords>),
    Summary(Box<KeptSummary>),
    Line(Box<LineWords>),
    Body(Box<PieceWords<KeptBody<Text>>>),
    Detail(Box<PieceWords<KeptDetail<Text>>>),
    /// A bookmark or a baton, as it travels.
    Noted(String),
}

/// All of a memory that is written at once.
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

/// A turn, and what is known of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct LineWords {
    pub turn: KeptTurn,
    pub branch: Option<String>,
    /// The session it was forked from, and the place up to which it shares that one's turns.
    pub base: Option<(String, u64)>,
}

/// A body or a detail, and the turn that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct PieceWords<Piece> {
    pub piece: Piece,
    pub turn_mark: Option<Mark>,
}

/// The global id of something that was said or done.
pub(super) fn piece_uid(kind: &str, session: &SessionKey, (mark, at): (Mark, Timestamp)) -> Uid {
    Uid::derived(at, &[kind, &session.to_string(), &format!("{:016x}", mark.0)])
}
