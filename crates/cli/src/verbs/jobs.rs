//! `tow jobs`: the queue of turns for the distilling model: waiting, failed, and their cost.
//!
//! Lists, retries and drops jobs. Calls no model itself.

use crate::output::Tone;
use crate::scope::Scope;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;
use towline_core::time::Timestamp;
use towline_engine::memory::enrich;
use towline_engine::memory::enrich::Standing;
use towline_engine::runtime::calendar::clock;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;
use towline_engine::runtime::{archive, spawn};
use towline_store::archive::{JobRow, JobState};
use towline_store::{Archive, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow jobs                   what waits and what failed, and today's tokens
  tow jobs --dead            only what failed too often
  tow jobs retry             try everything again at once, after mending what was wrong
  tow jobs retry --dead      only what failed too often
  tow jobs drop 12 13        leave these two for good
  tow jobs --json | jq '.counts'

A job is one turn for the model that distil.provider names. What fails is tried again by itself, at growing intervals;
one that fails by itself while others are answered is dead after distil.attempts, and stays until it is retried or dropped.";

/// Show, retry or drop the jobs that wait for a model.
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

const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    match arguments.action {
        JobsAction::List => list(scope, arguments),
        JobsAction::Retry => retry(scope, arguments),
        JobsAction::Drop => leave(scope, arguments),
    }
}

fn list(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let standing = enrich::standing(&scope.env).map_err(failed)?;
    let jobs = jobs(scope, arguments, arguments.limit).map_err(failed)?;
    if arguments.json {
        scope.out.line(&as_json(standing.as_ref(), &jobs).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    let Some(standing) = standing else {
        scope.out.line("nothing captured yet");
        return Ok(ExitCode::SUCCESS);
    };
    scope.out.line(&headline(&standing));
    for job in &jobs {
        print(scope, job);
    }
    Ok(ExitCode::SUCCESS)
}

fn states(arguments: &Arguments) -> &'static [JobState] {
    if arguments.dead { &[JobState::Dead] } else { &[JobState::Waiting, JobState::Dead] }
}

fn jobs(scope: &Scope, arguments: &Arguments, most: u32) -> Result<Vec<JobRow>, StoreError> {
    let Some(archive) = Archive::read(&scope.env.home, PATIENCE)? else { return Ok(vec![]) };
    archive.jobs(states(arguments), most)
}

fn headline(standing: &Standing) -> String {
    let counts = &standing.counts;
    let model = match &standing.health.trouble {
        _ if !standing.wanted.is_on() => "no model is named (distil.provider)".to_owned(),
        Some(trouble) => format!("`{}` fails: {}", standing.wanted.provider.name(), plain(&trouble.detail)),
        None => format!("`{}`", standing.wanted.provider.name()),
    };
    format!(
        "{} waiting, {} dead, {} done; today {} of {} tokens for {} memories; {model}",
        counts.waiting,
        counts.dead,
        counts.done,
        standing.budget.spent,
        standing.wanted.daily_tokens,
        standing.kept_today
    )
}

fn print(scope: &Scope, job: &JobRow) {
    let tone = if job.state == JobState::Dead { Tone::Bad } else { Tone::Faint };
    let turn = match (&job.session, job.turn) {
        (Some(session), Some(turn)) => format!("{}#{turn}", session.short()),
        _ => "gone".to_owned(),
    };
    let made = clock(job.made_at, scope.env.now);
    let state = scope.out.tint(tone, &format!("{:7}", job.state.name()));
    let attempts = if job.attempts > 0 { format!("  {} attempts", job.attempts) } else { String::new() };
    scope.out.line(&format!("{:>6}  {made:>16}  {state}  {turn}{attempts}", job.number));
    if let Some(error) = &job.error {
        let again = clock(job.due_at, scope.env.now);
        let when = if job.state == JobState::Dead { String::new() } else { format!("; again at {again}") };
        scope.out.line(&format!(
            "{:26}{}",
            "",
            scope.out.tint(Tone::Faint, &format!("{}{when}", plain(error)))
        ));
    }
}

fn as_json(standing: Option<&Standing>, jobs: &[JobRow]) -> Value {
    let utc = |at: Option<Timestamp>| at.map(Timestamp::to_utc);
    let rows = jobs.iter().map(|job| {
        json!({
            "number": job.number, "kind": job.kind.map(|kind| kind.name()), "state": job.state.name(),
            "session": job.session, "turn": job.turn, "made_at": job.made_at.to_utc(), "due_at": job.due_at.to_utc(),
            "attempts": job.attempts, "leased_until": utc(job.leased_until), "error": job.error,
        })
    });
    let rows: Vec<Value> = rows.collect();
    let Some(standing) = standing else { return json!({"jobs": rows}) };
    let (counts, budget) = (&standing.counts, &standing.budget);
    let trouble = standing.health.trouble.as_ref().map(|trouble| {
        json!({
            "since": trouble.since.to_utc(), "failures": trouble.failures, "cause": trouble.cause,
            "detail": trouble.detail, "again_at": standing.health.again_at.to_utc(),
        })
    });
    json!({
        "provider": standing.wanted.provider.name(), "trouble": trouble, "jobs": rows,
        "counts": {
            "waiting": counts.waiting, "running": counts.running, "done": counts.done, "dead": counts.dead,
            "dropped": counts.dropped,
        },
        "today": {
            "spent": budget.spent, "reserved": budget.reserved, "limit": standing.wanted.daily_tokens,
            "kept": standing.kept_today,
        },
    })
}

fn retry(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let tried = change(scope, arguments, |archive, numbers| {
        archive.ask_providers_again()?;
        archive.retry_jobs(numbers, scope.env.now)
    })?;
    spawn::start_detached();
    say(scope, arguments, "retried", tried);
    Ok(ExitCode::SUCCESS)
}

fn leave(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.numbers.is_empty() && !arguments.dead {
        return Err(Failure::input("which jobs are to be dropped?").hint("Give their numbers, or --dead."));
    }
    let dropped = change(scope, arguments, |archive, numbers| archive.drop_jobs(numbers, scope.env.now))?;
    say(scope, arguments, "dropped", dropped);
    Ok(ExitCode::SUCCESS)
}

fn change(
    scope: &Scope,
    arguments: &Arguments,
    act: impl FnOnce(&Archive, &[i64]) -> Result<usize, StoreError>,
) -> Result<usize, Failure> {
    let busy = || Failure::busy("the archive is in use").hint("Try again in a moment.");
    let writable = archive::open(&scope.env, PATIENCE).map_err(failed)?.ok_or_else(busy)?;
    let archive = &writable.archive;
    let meant = match arguments.numbers.as_slice() {
        [] => {
            archive.jobs(states(arguments), u32::MAX).map_err(failed)?.iter().map(|job| job.number).collect()
        }
        numbers => numbers.to_vec(),
    };
    for number in &meant {
        if archive.job(*number).map_err(failed)?.is_none() {
            return Err(Failure::input(format!("there is no job {number}")).hint("Run `tow jobs`."));
        }
    }
    act(archive, &meant).map_err(failed)
}

fn say(scope: &Scope, arguments: &Arguments, what: &str, number: usize) {
    if arguments.json {
        scope.out.line(&json!({what: number}).to_string());
    } else {
        scope.out.line(&format!("{what} {number}"));
    }
}

fn failed(error: StoreError) -> Failure {
    Failure::new(&error).hint("Run `tow doctor`.")
}
