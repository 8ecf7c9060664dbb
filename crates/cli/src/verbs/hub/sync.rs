//! `tow hub sync`: synchronises with the hub now, whether or not a sync is due.
//!
//! Waits until the sync is done; `tow data work` does the same in the background.

use super::withdraw::{RowCounts, exchange_shown};
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_engine::runtime::Failure;
use towline_engine::sync::{Amount, Exchanged, preview, waiting};

const EXAMPLES: &str = "\
Examples:
  tow hub sync              all that is new, both ways
  tow hub sync --once       at most half a minute of it
  tow hub sync --dry-run    what would go; nothing is sent and nothing taken
  tow hub sync --json

It can be stopped at any time and goes on from there.";

/// Send and receive what is new.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Stop after half a minute, as `tow data work` does.
    #[arg(long)]
    once: bool,
    /// Show what would be sent.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.dry_run {
        return dry_run(scope, arguments);
    }
    let amount = if arguments.once { Amount::AWhile } else { Amount::All };
    let shown = |done: &Exchanged| format!("{} sent, {} taken", done.sent, done.taken);
    let done = exchange_shown(scope, amount, arguments.json, &shown)?;
    let more = if done.is_more { "; there is more" } else { "" };
    let back = match done.withdrawn {
        0 => String::new(),
        rows => format!(", {rows} taken back"),
    };
    let left = if done.has_left { "; this machine has left the hub" } else { "" };
    let Exchanged { sent, taken, erased, .. } = done;
    let line = format!("{sent} rows sent, {taken} taken, {erased} erased{back}{more}{left}");
    scope.out.say(arguments.json, &done, &line);
    Ok(())
}

fn dry_run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let waiting = waiting(&scope.env)?;
    let counted = RowCounts(preview(&scope.env)?.into_iter().collect());
    let rows = counted.rows();
    let all = json!({"dry_run": true, "waiting": waiting, "rows": rows, "kinds": counted.json()});
    scope.out.say(arguments.json, &all, &format!("{rows} rows would go{}", counted.told()));
    Ok(())
}
