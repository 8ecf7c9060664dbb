//! Doctor check of the hub: whether the last sync succeeded, and why not.
//!
//! Never connects to the hub: it reads the recorded result of the last sync. No row if no hub was joined.

use super::check::Check;
use crate::scope::Scope;
use std::time::Duration;
use towline_engine::runtime::{chain, settings};
use towline_engine::sync::Known;
use towline_store::Archive;

const PATIENCE: Duration = Duration::from_millis(500);

pub fn check(scope: &Scope) -> Option<Check> {
    let wanted = settings(&scope.env).hub;
    if !wanted.is_joined() {
        return None;
    }
    let known = Archive::read(&scope.env.home, PATIENCE)
        .and_then(|archive| archive.map_or_else(|| Ok(Known::default()), |archive| Known::of(&archive)));
    Some(match known {
        Err(error) => Check::warning("hub", chain(&error), "run `tow data work`"),
        Ok(known) => judged(&wanted.team, &known),
    })
}

fn judged(team: &str, known: &Known) -> Check {
    match (&known.trouble, known.synced_at) {
        (Some(trouble), _) => {
            let what = format!(
                "no exchange with the team {team} since {}: {}; tried again at {}",
                trouble.since().to_utc(),
                trouble.what,
                trouble.again().to_utc()
            );
            let mend = Some(trouble.mend.as_str()).filter(|mend| !mend.is_empty());
            Check::warning("hub", what, mend.unwrap_or("run `tow hub status`"))
        }
        (None, Some(at)) => Check::good("hub", format!("the team {team}, last exchange at {}", at.to_utc())),
        (None, None) => Check::good("hub", format!("the team {team}, nothing exchanged yet")),
    }
}
