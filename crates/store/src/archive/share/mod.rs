//! The archive's side of sharing: shared projects, tombs and stamps of their rows, and what the hub has received.
//!
//! Does no network IO and does not know the wire format: rows come and go with their content in the archive's types.

mod carry;
mod leaving;
mod machines;
mod pieces;
mod projects;
mod proposals;
mod sent;
mod stamps;
mod take;
mod taken;
#[cfg(test)]
mod tests;
mod tombs;
mod withdrawn;

pub use carry::SyncRow;
pub use leaving::WithdrawingProject;
pub use projects::{ShareLevel, SharedProject, project_id};
pub use proposals::{MOST_OPEN_PROPOSALS, NewProposal, TeamProposal};
pub use sent::SendState;
pub(super) use stamps::RegisterId;
pub use take::{PullCounts, PulledRows};
pub use taken::RemoteNote;
pub(super) use tombs::{Burial, TombFate};

use super::keep::{ExportedDetail, ExportedMessage, ExportedTurn};
use super::summaries::KeptSummary;
use towline_core::id::{IdHash, SessionKey, Uid};
use towline_core::memory::{ConfidencePercent, MemoryAuthor, MemoryContent, MemoryTrust, ProposalFate};
use towline_core::share::RowKind;
use towline_core::time::Timestamp;

/// The content of a row, by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum RowContent<Text> {
    Memory(Box<SharedMemory>),
    Summary(Box<KeptSummary>),
    Line(Box<LineContent>),
    Body(Box<SharedPiece<ExportedMessage<Text>>>),
    Detail(Box<SharedPiece<ExportedDetail<Text>>>),
    /// A bookmark or a baton, in its wire format.
    Noted(String),
    Proposal(Box<SharedProposal>),
    Answer(SharedAnswer),
}

/// A change that somebody proposes to the owner of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedProposal {
    pub memory: Uid,
    /// In its wire format.
    pub change: String,
}

/// The owner's answer to a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedAnswer {
    pub proposal: Uid,
    pub fate: ProposalFate,
}

/// The part of a memory that is written as a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedMemory {
    pub content: MemoryContent,
    pub branch: Option<String>,
    pub commit: Option<String>,
    pub maker: MemoryAuthor,
    pub trust: MemoryTrust,
    pub confidence: ConfidencePercent,
    pub cost: u64,
    pub valid_from: Timestamp,
}

/// A turn, and metadata of its session.
#[derive(Clone, Debug, PartialEq)]
pub struct LineContent {
    pub turn: ExportedTurn,
    pub branch: Option<String>,
    /// The session it was forked from, and the position up to which the two share turns.
    pub base: Option<(String, u64)>,
}

/// A body or a detail, and the mark of its turn.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedPiece<Piece> {
    pub piece: Piece,
    pub turn_mark: Option<IdHash>,
}

/// The table of bodies or of details.
pub(super) fn piece_table(kind: RowKind) -> &'static str {
    if kind == RowKind::Body { "bodies" } else { "details" }
}

/// The global id of a body or a detail.
pub(super) fn piece_uid(kind: &str, session: &SessionKey, mark: IdHash, at: Timestamp) -> Uid {
    Uid::derived(at, &[kind, &session.to_string(), &format!("{:016x}", mark.0)])
}
