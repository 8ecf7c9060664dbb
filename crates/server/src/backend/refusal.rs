//! Makes a fresh environment for each operation, and turns failures into HTTP refusals.
//!
//! It must not answer a request.

use crate::http::{Answer, Refusal, Status};
use serde_json::Value;
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::{Failure, Kind};

/// Every request has its own clock.
pub fn env() -> Result<Env, Refusal> {
    Env::new().ok_or_else(|| Refusal::new(Status::Unavailable, "there is no home folder any more"))
}

/// An input error means that the request was bad.
pub fn bad_request(failure: Failure) -> Refusal {
    refusal(failure, Status::BadRequest)
}

/// An input error means that the named thing does not exist.
pub fn not_found(failure: Failure) -> Refusal {
    refusal(failure, Status::NotFound)
}

pub fn json_answer(value: &Value) -> Answer {
    Answer::Json(value.to_string())
}

/// `of_input` is the status of an input error.
fn refusal(failure: Failure, of_input: Status) -> Refusal {
    let status = match failure.kind {
        Kind::Input => of_input,
        Kind::Failed => Status::Unavailable,
    };
    let refusal = Refusal::new(status, failure.what.trim());
    let (because, next) = (failure.causes.join(": "), failure.hints.join(" "));
    let refusal = if because.is_empty() { refusal } else { refusal.because(because) };
    if next.is_empty() { refusal } else { refusal.next(next) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_fault_it_was_decides_the_status() {
        let input = || Failure::input("no such thing").hint("Run `tow status`.");
        assert_eq!(not_found(input()).status, Status::NotFound);
        let busy = not_found(Failure::busy("another process writes"));
        assert_eq!(busy.status, Status::Unavailable, "it is there, and may be had a moment later");
        let failed = not_found(Failure { kind: Kind::Failed, ..input() });
        assert_eq!((failed.status, failed.next.as_deref()), (Status::Unavailable, Some("Run `tow status`.")));
    }
}
