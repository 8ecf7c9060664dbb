//! The desk: every route is answered by a verb, as `--json` prints it.
//!
//! Finds out nothing by itself. What somebody sent stands behind `=` or `--`: it is no option.

use crate::cli;
use crate::edge::Edge;
use crate::failure::{Failure, Kind};
use serde_json::json;
use towline_core::time::Timestamp;
use towline_web::{Answer, Asked, Desk, Operation, Refusal, Status, Writing};

/// Answers by the verbs of the command line.
pub struct Verbs {
    pub began_at: Timestamp,
    pub writing: Writing,
}

impl Desk for Verbs {
    fn answer(&self, asked: &Asked) -> Result<Answer, Refusal> {
        match asked.operation {
            Operation::Health => Ok(self.health()),
            Operation::Seats => said(&["status", "--json"]),
        }
    }
}

impl Verbs {
    fn health(&self) -> Answer {
        let machine =
            Edge::new().and_then(|edge| std::fs::read_to_string(edge.home.folder().join("machine")).ok());
        let health = json!({
            "name": "towline", "version": env!("CARGO_PKG_VERSION"), "started_at": self.began_at.to_utc(),
            "write": self.writing == Writing::Allowed, "machine": machine.map(|name| name.trim().to_owned()),
        });
        Answer::Json(health.to_string())
    }
}

/// What a command prints.
fn said(words: &[&str]) -> Result<Answer, Refusal> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    cli::answer(&words).map(Answer::Json).map_err(refusal)
}

fn refusal(failure: Failure) -> Refusal {
    let status = match failure.kind {
        Kind::Input => Status::BadRequest,
        Kind::Failed => Status::Unavailable,
    };
    let refusal = Refusal::new(status, failure.what);
    let (because, next) = (failure.causes.join(": "), failure.hints.join(" "));
    let refusal = if because.is_empty() { refusal } else { refusal.because(because) };
    if next.is_empty() { refusal } else { refusal.next(next) }
}
