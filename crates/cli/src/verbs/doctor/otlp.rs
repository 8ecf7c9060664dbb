//! Doctor check of the receiver of telemetry: whether it took what was sent last, and why not.
//!
//! Sends nothing: it reads the recorded result of the last export. No row if no receiver is named.

use super::check::Check;
use crate::scope::Scope;
use std::time::Duration;
use towline_core::time::Timestamp;
use towline_engine::runtime::{chain, settings};
use towline_engine::sync::otlp::{OtlpStatus, Tally};
use towline_store::Archive;

const PATIENCE: Duration = Duration::from_millis(500);

pub fn check(scope: &Scope) -> Option<Check> {
    let config = settings(&scope.env).otlp;
    if !config.is_on() {
        return None;
    }
    let status = Archive::read(&scope.env.home, PATIENCE).and_then(|archive| {
        archive.map_or_else(|| Ok(OtlpStatus::default()), |archive| OtlpStatus::of(&archive))
    });
    Some(match status {
        Err(error) => Check::warning("otlp", chain(&error), "run `tow data work`"),
        Ok(status) => judged(&config.endpoint, &status),
    })
}

fn judged(endpoint: &str, OtlpStatus { trouble, tally }: &OtlpStatus) -> Check {
    if let Some(trouble) = trouble {
        let what = format!(
            "nothing was sent since {}: {}; tried again at {}",
            trouble.since().to_utc(),
            trouble.what,
            trouble.again().to_utc()
        );
        let mend = Some(trouble.mend.as_str()).filter(|mend| !mend.is_empty());
        return Check::warning("otlp", what, mend.unwrap_or("start the receiver, then run `tow data work`"));
    }
    let Tally { spans, points, rejected, why, sent_at_ms } = tally;
    let Some(at) = sent_at_ms.map(Timestamp) else {
        return Check::good("otlp", format!("{endpoint}, nothing sent yet"));
    };
    let what = format!("{endpoint}, {spans} spans and {points} sums sent, last at {}", at.to_utc());
    match rejected {
        0 => Check::good("otlp", what),
        _ => Check::warning(
            "otlp",
            format!("{what}; it rejected {rejected} of them, the last with: {why}"),
            "look at the receiver's log; what it rejected is not sent again",
        ),
    }
}
