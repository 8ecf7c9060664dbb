//! The interface between the server and the code that answers: JSON or text answers, and refusals with the
//! thing, the cause and the next command.
//!
//! Contains no implementation: it must not depend on how an answer is found.

use crate::http::asked::Asked;
use serde_json::{Value, json};
use std::time::Duration;
use towline_core::time::Timestamp;

/// Answers requests. Called on threads that may block.
pub trait HttpBackend: Send + Sync + 'static {
    fn answer(&self, asked: &Asked) -> Result<Answer, Refusal>;

    /// The current time; `None` without a home.
    fn now(&self) -> Option<Timestamp>;

    /// The current position of the change feed; `None` while the store cannot be read.
    fn place(&self) -> Option<String>;

    /// The changes after a position; `None` if that position is no longer known.
    fn news(&self, after: &str) -> Option<Batch>;

    /// Returns a waiter: it blocks until something may have changed, at most for the given time, and returns
    /// whether it did. Changes between two waits are noticed, too.
    fn watch(&self) -> Box<dyn FnMut(Duration) -> bool + Send>;
}

/// Changes up to a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub news: Vec<News>,
    pub place: String,
}

/// One change: its kind and the ids concerned. Clients fetch the details themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    pub kind: NewsKind,
    pub data: Value,
}

towline_core::named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NewsKind {
        Seat = "seat",
        Turn = "turn",
        Memory = "memory",
        Job = "job",
        Fault = "fault",
        /// The changes are unknown: the client must reload everything.
        Reset = "reset",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// One serialised JSON value.
    Json(String),
    Text(String),
    /// The request is queued; another process does the work.
    Accepted(String),
}

/// The reason of a refusal, with its HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    BadRequest = 400,
    Unauthorised = 401,
    Forbidden = 403,
    NotFound = 404,
    MethodNotAllowed = 405,
    Timeout = 408,
    Conflict = 409,
    TooLarge = 413,
    UnsupportedType = 415,
    Unprocessable = 422,
    TooMany = 429,
    Unavailable = 503,
}

impl Status {
    pub fn code(self) -> u16 {
        self as u16
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: Status,
    pub what: String,
    pub because: Option<String>,
    pub next: Option<String>,
}

impl Refusal {
    pub fn new(status: Status, what: impl Into<String>) -> Refusal {
        Refusal { status, what: what.into(), because: None, next: None }
    }

    pub fn because(mut self, cause: impl Into<String>) -> Refusal {
        self.because = Some(cause.into());
        self
    }

    pub fn next(mut self, command: impl Into<String>) -> Refusal {
        self.next = Some(command.into());
        self
    }

    pub fn as_json(&self) -> Value {
        json!({"error": {"what": self.what, "because": self.because, "next": self.next}})
    }
}
