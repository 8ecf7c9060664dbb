//! Doctor check of the receiver of telemetry: whether it took what was sent last, and why not.
//!
//! Sends nothing: it reads the recorded result of the last export. No row if no receiver is named.

use super::check::Check;
use crate::scope::Scope;
use std::time::Duration;
use towline_core::time::Timestamp;
use towline_engine::runtime::config::OtlpSignal;
use towline_engine::runtime::{chain, settings};
use towline_engine::sync::otlp::{OtlpStatus, Tally, Trouble};
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
        Ok(mut status) => {
            status.troubles.retain(|(signal, _)| config.sends(*signal));
            judged(&config.endpoint, &status)
        }
    })
}

fn judged(endpoint: &str, OtlpStatus { troubles, tally }: &OtlpStatus) -> Check {
    if let Some((_, first)) = troubles.first() {
        let what: Vec<String> = troubles.iter().map(|(signal, trouble)| told(*signal, trouble)).collect();
        let mend = Some(first.mend.as_str()).filter(|mend| !mend.is_empty());
        let mend = mend.unwrap_or("start the receiver, then run `tow data work`");
        return Check::warning("otlp", what.join("; "), mend);
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

fn told(signal: OtlpSignal, trouble: &Trouble) -> String {
    format!(
        "no {} were sent since {}: {}; tried again at {}",
        signal.name(),
        trouble.since().to_utc(),
        trouble.what,
        trouble.again().to_utc()
    )
}
