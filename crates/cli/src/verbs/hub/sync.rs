//! `tow hub sync`: synchronises with the hub now, whether or not a sync is due.
//!
//! Waits until the sync is done; `tow work` does the same in the background.

use super::counted::RowCounts;
use crate::output::complain;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::io::{self, IsTerminal};
use std::time::Duration;
use towline_engine::runtime::Failure;
use towline_engine::sync::{Amount, Exchanged, exchange, preview, waiting};

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
    /// Stop after half a minute, as `tow work` does.
    #[arg(long)]
    once: bool,
    /// Show what would be sent.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// How long to wait for another process's sync, rather than rely on it: it may miss the latest changes.
const FOR_ANOTHER: Duration = Duration::from_secs(45);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.dry_run {
        return dry_run(scope, arguments);
    }
    let amount = if arguments.once { Amount::AWhile } else { Amount::All };
    let is_watched = io::stderr().is_terminal() && !arguments.json;
    let mut show = |done: &Exchanged| {
        if is_watched {
            complain(&format!("\r{} sent, {} taken\x1b[K", done.sent, done.taken));
        }
    };
    let done = exchange(&scope.env, amount, FOR_ANOTHER, &mut show);
    if is_watched {
        complain("\r\x1b[K");
    }
    let done = done?;
    if done.taken > 0 || done.erased > 0 {
        towline_engine::runtime::spawn::start_detached();
    }
    if arguments.json {
        scope.out.line(&serde_json::to_string(&done).unwrap_or_default());
    } else {
        let more = if done.is_more { "; there is more" } else { "" };
        let back = match done.withdrawn {
            0 => String::new(),
            rows => format!(", {rows} taken back"),
        };
        let left = if done.has_left { "; this machine has left the hub" } else { "" };
        let Exchanged { sent, taken, erased, .. } = done;
        scope.out.line(&format!("{sent} rows sent, {taken} taken, {erased} erased{back}{more}{left}"));
    }
    Ok(())
}

fn dry_run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let waiting = waiting(&scope.env)?;
    let counted = RowCounts(preview(&scope.env)?.into_iter().collect());
    let rows = counted.rows();
    if arguments.json {
        let all = json!({"dry_run": true, "waiting": waiting, "rows": rows, "kinds": counted.json()});
        scope.out.line(&all.to_string());
    } else {
        scope.out.line(&format!("{rows} rows would go{}", counted.told()));
    }
    Ok(())
}
