//! Doctor check of the model that distils turns: its health, its queue and its cost.
//!
//! Never calls the model: it reads the recorded results of the last jobs.

use super::check::Check;
use crate::scope::Scope;
use towline_engine::memory::enrich::{self, Standing};
use towline_engine::runtime::{chain, settings};

pub fn check(scope: &Scope) -> Check {
    if !settings(&scope.env).enrich.is_on() {
        return Check::good("model", "none: turns are put into words by rules alone");
    }
    match enrich::standing(&scope.env) {
        Err(error) => Check::warning("model", chain(&error), "run `tow data work`"),
        Ok(None) => Check::good("model", "nothing captured yet"),
        Ok(Some(standing)) => judged(scope, &standing),
    }
}

fn judged(scope: &Scope, standing: &Standing) -> Check {
    let (name, counts) = (standing.wanted.provider.name(), &standing.counts);
    let (spent, limit) = (standing.budget.spent, standing.wanted.daily_tokens);
    let today = format!("{spent} of {limit} tokens today, {} memories", standing.kept_today);
    if let Some(trouble) = &standing.health.trouble {
        let what = format!(
            "`{name}` fails since {}: {}; {} turns wait",
            trouble.since.to_utc(),
            trouble.detail,
            counts.waiting
        );
        let mend = enrich::provider(&scope.env, &standing.wanted).mend(&trouble.cause);
        return Check::warning("model", what, mend);
    }
    if counts.dead > 0 {
        let what = format!("`{name}`: {today}; {} turns failed too often", counts.dead);
        return Check::warning(
            "model",
            what,
            "run `tow data jobs --dead`, then `tow data jobs retry --dead` or `tow data jobs drop --dead`",
        );
    }
    if spent + standing.wanted.per_memory_tokens > limit {
        let what = format!("`{name}`: {today}; {} turns wait for tomorrow (UTC)", counts.waiting);
        return Check::warning(
            "model",
            what,
            "run `tow config set distil.daily_tokens N` if that is too little",
        );
    }
    Check::good("model", format!("`{name}`: {today}, {} turns wait", counts.waiting))
}
