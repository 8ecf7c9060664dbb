//! The queue of jobs for the distilling model.
//!
//! Lists what waits and what failed; a worker runs the jobs.

use crate::{Style, Tone};
use serde_json::{Value, json};
use towline_core::time::Timestamp;
use towline_engine::memory::enrich::{JobList, JobRow, JobState, Standing};
use towline_engine::runtime::calendar::clock;
use towline_engine::runtime::text::plain_text;

pub fn jobs_json(list: &JobList) -> Value {
    let rows: Vec<Value> = list.jobs.iter().map(job_json).collect();
    let Some(standing) = &list.standing else { return json!({"jobs": rows}) };
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

fn job_json(job: &JobRow) -> Value {
    json!({
        "number": job.number, "kind": job.kind.map(|kind| kind.name()), "state": job.state.name(),
        "session": job.session, "turn": job.turn, "made_at": job.made_at.to_utc(), "due_at": job.due_at.to_utc(),
        "attempts": job.attempts, "leased_until": job.leased_until.map(Timestamp::to_utc), "error": job.error,
    })
}

pub fn jobs_text(list: &JobList, now: Timestamp, style: Style) -> String {
    let Some(standing) = &list.standing else { return "nothing captured yet\n".to_owned() };
    let jobs: String = list.jobs.iter().map(|job| job_text(job, now, style)).collect();
    headline(standing) + "\n" + &jobs
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
