//! Background work: how far each job is, and the queue of the distilling model.
//!
//! Lists what waits and what failed; a worker runs the jobs.

use crate::{Style, Tone};
use serde_json::{Value, json};
use towline_core::time::Timestamp;
use towline_engine::memory::enrich::{JobList, JobRow, JobState, Standing};
use towline_engine::query::{BackgroundJob, BackgroundWork};
use towline_engine::runtime::calendar::clock;
use towline_engine::runtime::text::plain_text;

pub fn jobs_json(list: &JobList, work: &BackgroundWork) -> Value {
    let rows: Vec<Value> = list.jobs.iter().map(job_json).collect();
    let work = work_json(work);
    let Some(standing) = &list.standing else { return json!({"jobs": rows, "work": work}) };
    let (counts, budget) = (&standing.counts, &standing.budget);
    let trouble = standing.health.trouble.as_ref().map(|trouble| {
        json!({
            "since": trouble.since.to_utc(), "failures": trouble.failures, "cause": trouble.cause,
            "detail": trouble.detail, "again_at": standing.health.again_at.to_utc(),
        })
    });
    json!({
        "provider": standing.wanted.provider.name(), "trouble": trouble, "jobs": rows, "work": work,
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

fn work_json(work: &BackgroundWork) -> Value {
    let job = |job: &BackgroundJob| {
        json!({
            "name": job.name, "pending": job.pending, "at_least": job.is_at_least, "total": job.total, "unit": job.unit,
        })
    };
    json!({
        "running": work.is_running, "line": background_line(work), "jobs": work.jobs.iter().map(job).collect::<Vec<_>>(),
        "cpu": {
            "used_ms": work.cpu.used_ms, "limit_ms": work.cpu.limit_ms,
            "paused_until": work.cpu.paused_until.map(Timestamp::to_utc),
        },
    })
}

fn job_json(job: &JobRow) -> Value {
    json!({
        "number": job.number, "kind": job.kind.map(|kind| kind.name()), "state": job.state.name(),
        "session": job.session, "turn": job.turn, "made_at": job.made_at.to_utc(), "due_at": job.due_at.to_utc(),
        "attempts": job.attempts, "leased_until": job.leased_until.map(Timestamp::to_utc), "error": job.error,
    })
}

pub fn jobs_text(list: &JobList, work: &BackgroundWork, now: Timestamp, style: Style) -> String {
    let Some(standing) = &list.standing else { return "nothing captured yet\n".to_owned() };
    let jobs: String = list.jobs.iter().map(|job| job_text(job, now, style)).collect();
    let model = format!("  {:<9} {}\n", "model", headline(standing));
    work_text(work, now) + &model + &jobs
}

fn work_text(work: &BackgroundWork, now: Timestamp) -> String {
    let state = match work.cpu.paused_until {
        _ if work.is_running => "at work".to_owned(),
        Some(until) => format!("paused until {}", clock(until, now)),
        None => "idle".to_owned(),
    };
    let limit = match work.cpu.limit_ms {
        0 => String::new(),
        limit => format!(" of {}", limit / 60_000),
    };
    let used = (work.cpu.used_ms + 30_000) / 60_000;
    let head = format!("background work: {state}; {used}{limit} minutes of processor time used this hour\n");
    let line = |job: &BackgroundJob| format!("  {:<9} {}\n", job.name, pending_text(job));
    head + &work.jobs.iter().map(line).collect::<String>()
}

/// `123 of 4567 turns to do`.
fn pending_text(job: &BackgroundJob) -> String {
    if job.pending == 0 {
        return "up to date".to_owned();
    }
    let least = if job.is_at_least { "at least " } else { "" };
    let total = job.total.map_or(String::new(), |total| format!(" of {total}"));
    format!("{least}{}{total} {} to do", job.pending, job.unit)
}

/// One line about work that takes longer than a moment; `None` if there is none.
pub fn background_line(work: &BackgroundWork) -> Option<String> {
    let jobs: Vec<String> =
        work.long_jobs().map(|job| format!("{} {}", job.name, pending_text(job))).collect();
    let state = match work.cpu.paused_until {
        Some(_) if !work.is_running => "paused: ",
        _ => "",
    };
    (!jobs.is_empty()).then(|| format!("{state}{}", jobs.join(", ")))
}

fn headline(standing: &Standing) -> String {
    let counts = &standing.counts;
    let model = match &standing.health.trouble {
        _ if !standing.wanted.is_on() => "no model is named (distil.provider)".to_owned(),
        Some(trouble) => {
            format!("`{}` fails: {}", standing.wanted.provider.name(), plain_text(&trouble.detail))
        }
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

fn job_text(job: &JobRow, now: Timestamp, style: Style) -> String {
    let is_dead = job.state == JobState::Dead;
    let turn = match (&job.session, job.turn) {
        (Some(session), Some(turn)) => format!("{}#{turn}", session.short()),
        _ => "gone".to_owned(),
    };
    let made = clock(job.made_at, now);
    let tone = if is_dead { Tone::Bad } else { Tone::Faint };
    let state = style.tint(tone, &format!("{:7}", job.state.name()));
    let attempts = if job.attempts > 0 { format!("  {} attempts", job.attempts) } else { String::new() };
    let mut text = format!("{:>6}  {made:>16}  {state}  {turn}{attempts}\n", job.number);
    if let Some(error) = &job.error {
        let when = if is_dead { String::new() } else { format!("; again at {}", clock(job.due_at, now)) };
        let cause = style.tint(Tone::Faint, &format!("{}{when}", plain_text(error)));
        text += &format!("{:26}{cause}\n", "");
    }
    text
}
