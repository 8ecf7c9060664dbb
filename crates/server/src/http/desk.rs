//! What the server asks, and what it is told: answers as finished JSON or text, refusals as the thing, the cause and the
//! next command.
//!
//! Says nothing of how anything is found out.

use crate::http::asked::Asked;
use serde_json::{Value, json};
use std::time::Duration;

/// Whoever knows the answers. Called on threads that may block.
pub trait Desk: Send + Sync + 'static {
    fn answer(&self, asked: &Asked) -> Result<Answer, Refusal>;

    /// Where everything stands now; none while nothing can be read.
    fn place(&self) -> Option<String>;

    /// What is new behind a place; none if that is not known any more.
    fn news(&self, after: &str) -> Option<Batch>;

    /// Somebody who waits until something may be new, at most for so long, and says whether it is. What changes from now on
    /// is noticed, also between two waits.
    fn watch(&self) -> Box<dyn FnMut(Duration) -> bool + Send>;
}

/// What is new, up to a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    pub news: Vec<News>,
    pub place: String,
}

/// Something changed: what, and how it is called. Whoever wants to know more asks.
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
    /// Nobody knows what changed: everything is to be loaded anew.
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
    /// One JSON value, written out.
    Json(String),
    Text(String),
    /// Taken in; the work is done by somebody else.
    Accepted(String),
}

/// Why there is no answer, by whose fault.
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
