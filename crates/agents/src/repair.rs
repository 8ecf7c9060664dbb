//! The options and the result of repairing a transcript.
//!
//! Types only: each agent whose transcripts can be repaired does it in its own module.

use towline_core::time::Timestamp;

/// Marker placement and text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairOptions<'a> {
    /// Insert a marker after at most this many answers.
    pub every: usize,
    pub marker: &'a str,
}

/// The state of a transcript and its repaired text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The whole file with its markers; unchanged if there are none to add.
    pub text: Vec<u8>,
    pub marks: Vec<InsertedMarker>,
    /// Number of markers already present.
    pub present: usize,
    pub death: Option<Death>,
    /// Existing defects that do not prevent the repair.
    pub warnings: Vec<String>,
    /// The session's working directory.
    pub folder: Option<String>,
}

/// The point from which the model no longer answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    pub at: Option<Timestamp>,
    pub cause: DeathCause,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeathCause {
    Full,
    /// Any other reason: the service, the account, an interruption.
    Other,
}

/// A marker to insert before an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsertedMarker {
    pub uuid: String,
    /// The id of the answer after it.
    pub before: String,
    pub at: Option<Timestamp>,
    pub why: MarkerReason,
    /// The beginning of that answer.
    pub words: String,
}

/// Why a marker goes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkerReason {
    /// Enough answers since the last rewind point.
    Answers,
    TurnEnd,
    Pause,
}

/// Why a transcript is left unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrepairable {
    #[error("the transcript is empty")]
    Empty,
    #[error("nobody asked for anything in it")]
    NoPrompt,
    #[error("its entries are not linked with each other")]
    NoChain,
    #[error("its entries go round in a circle at {uuid}")]
    Circle { uuid: String },
    #[error("two entries of the conversation have the same id, {uuid}")]
    Twice { uuid: String },
    #[error("what would come of it is not sound: {what}")]
    Unsound { what: String },
}
