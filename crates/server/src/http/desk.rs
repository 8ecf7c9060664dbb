//! The interface between the server and the code that answers: JSON or text answers, and refusals with the
//! thing, the cause and the next command.
//!
//! Contains no implementation: it must not depend on how an answer is found.

use crate::http::asked::Asked;
use serde_json::{Value, json};
use std::time::Duration;

/// Answers requests. Called on threads that may block.
pub trait HttpBackend: Send + Sync + 'static {
    fn answer(&self, asked: &Asked) -> Result<Answer, Refusal>;

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewsKind {
    Seat,
    Turn,
    Memory,
    Job,
    Fault,
    /// The changes are unknown: the client must reload everything.
    Reset,
}

impl NewsKind {
    pub fn name(self) -> &'static str {
        match self {
            NewsKind::Seat => "seat",
            NewsKind::Turn => "turn",
            NewsKind::Memory => "memory",
            NewsKind::Job => "job",
            NewsKind::Fault => "fault",
            NewsKind::Reset => "reset",
        }
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

/// The reason of a refusal; it decides the HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    BadRequest,
    Unauthorised,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Timeout,
    Conflict,
    TooLarge,
    UnsupportedType,
    Unprocessable,
    TooMany,
    Unavailable,
}

impl Status {
    pub fn code(self) -> u16 {
        match self {
            Status::BadRequest => 400,
            Status::Unauthorised => 401,
            Status::Forbidden => 403,
            Status::NotFound => 404,
            Status::MethodNotAllowed => 405,
            Status::Timeout => 408,
            Status::Conflict => 409,
            Status::TooLarge => 413,
            Status::UnsupportedType => 415,
            Status::Unprocessable => 422,
            Status::TooMany => 429,
            Status::Unavailable => 503,
        }
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
