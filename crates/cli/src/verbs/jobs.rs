//! `tow data jobs`: how far background work is, and the queue of turns for the distilling model.
//!
//! Lists, retries and drops jobs. Does no work itself and calls no model.

use crate::scope::Scope;
use clap::{Args, ValueEnum};
use serde_json::json;
use towline_engine::memory::enrich::{JobSelection, drop_jobs, jobs, retry_jobs};
use towline_engine::query::background_work;
use towline_engine::runtime::Failure;
use towline_render::{jobs_json, jobs_text};

const EXAMPLES: &str = "\
Examples:
  tow data jobs                   how far each background job is; what the model failed at, and today's tokens
  tow data jobs --dead            only what failed too often
  tow data jobs retry             try everything again at once, after mending what was wrong
  tow data jobs retry --dead      only what failed too often
  tow data jobs drop 12 13        leave these two for good
  tow data jobs --json | jq '.work.jobs, .counts'

capture reads transcripts, distil makes memories by rules, index makes them searchable, erase and expire delete, exchange
syncs with a hub, otlp sends telemetry. Distilling and indexing pause when the hour's processor time is used up (work.cpu_minutes_per_hour);
`tow data work` runs them at once.

A numbered job is one turn for the model that distil.provider names. What fails is tried again by itself, at growing intervals;
one that fails by itself while others are answered is dead after distil.attempts, and stays until it is retried or dropped.";

/// Show how far background work is; retry or drop the jobs of a model.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[arg(value_enum, default_value_t = JobsAction::List)]
    action: JobsAction,
    /// Job numbers; without any, all matching jobs.
    #[arg(value_name = "NUMBER")]
    numbers: Vec<i64>,
    /// Only jobs that failed too often.
    #[arg(long)]
    dead: bool,
    /// List at most N jobs.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum JobsAction {
    List,
    Retry,
    Drop,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let Scope { env, out } = scope;
    let selection = JobSelection { numbers: arguments.numbers.clone(), is_dead_only: arguments.dead };
    let count = |what: &str, number: usize| {
        out.print(arguments.json, || json!({what: number}), || format!("{what} {number}\n"));
    };
    match arguments.action {
        JobsAction::List => {
            let list = jobs(env, &selection, arguments.limit)?;
            let work = background_work(env)?;
            let text = || jobs_text(&list, &work, env.now, out.style());
            out.print(arguments.json, || jobs_json(&list, &work), text);
        }
        JobsAction::Retry => count("retried", retry_jobs(env, &selection)?),
        JobsAction::Drop => count("dropped", drop_jobs(env, &selection)?),
    }
    Ok(())
}
