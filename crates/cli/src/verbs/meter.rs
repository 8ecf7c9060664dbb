//! `tow session meter`: the context fill of every agent, and how exact it is.
//!
//! Shows figures from the store and the transcripts. Decides nothing and notifies no one.

use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use towline_core::escape::{escape_for_terminal, pad};
use towline_core::meter::{ContextUsage, Exactness};
use towline_core::session::Session;
use towline_core::time::Timestamp;
use towline_engine::ingest::live;
use towline_engine::runtime::Failure;
use towline_engine::status::probe;

const EXAMPLES: &str = "\
Examples:
  tow session meter             how full each context is; ~ stands before what is only estimated
  tow session meter --json | jq '.sessions[] | select(.percent >= 60)'

Numbers are exact if the agent says them itself: by its status line (`tow install --statusline`), its transcript or its
hooks. See also `tow config get guard.thresholds`.";

/// Show how full the context of every agent is.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let sessions: Vec<Session> =
        live::seated_sessions(&scope.env)?.into_iter().map(|(session, _)| session).collect();
    let metered: Vec<(&Session, Option<(ContextUsage, Timestamp)>)> =
        sessions.iter().map(|session| (session, probe::fill(session))).collect();
    if arguments.json {
        let rows: Vec<Value> = metered.iter().map(|(session, fill)| row(scope, session, *fill)).collect();
        scope.out.json(&json!({"sessions": rows}));
    } else if metered.is_empty() {
        scope.out.line("no agent is running");
    } else {
        metered.iter().for_each(|(session, fill)| scope.out.line(&line(scope, session, *fill)));
    }
    Ok(())
}

fn row(scope: &Scope, session: &Session, metered: Option<(ContextUsage, Timestamp)>) -> Value {
    let fill = metered.map(|(fill, _)| fill);
    json!({
        "session": session.key.to_string(),
        "agent": session.key.agent.to_string(),
        "seat": session.seat,
        "project": session.project.as_ref().map(|traces| traces.display_name()),
        "percent": fill.map(ContextUsage::percent),
        "tokens": fill.map(|fill| fill.tokens),
        "window": fill.map(|fill| fill.window),
        "remaining": fill.map(ContextUsage::remaining),
        "exact": fill.map(|fill| fill.exact == Exactness::Exact),
        "source": fill.map(|fill| fill.source.name()),
        "age_s": metered.map(|(_, at)| scope.env.now.since_ms(at).max(0) / 1000),
        "announced": session.meter.told.model.max(session.meter.told.person),
        "compactions": session.compactions,
        "compacted_at_percent": session.meter.compacted_percent,
    })
}

fn line(scope: &Scope, session: &Session, metered: Option<(ContextUsage, Timestamp)>) -> String {
    let name = session.project.as_ref().map_or("", |traces| traces.display_name());
    let who = format!(
        "{} {} {}",
        pad(session.key.agent.as_str(), 7),
        session.key.short(),
        escape_for_terminal(name)
    );
    let Some((fill, at)) = metered else { return format!("{} {who}", pad("-", 5)) };
    let mark = if fill.exact == Exactness::Exact { "" } else { "~" };
    let percent = pad(&format!("{mark}{}%", fill.percent()), 5);
    let tone = match fill.percent() {
        0..50 => Tone::Good,
        50..70 => Tone::Warning,
        _ => Tone::Bad,
    };
    let seconds = scope.env.now.since_ms(at).max(0) / 1000;
    let sure = format!("{}, {}, {seconds} s ago", fill.exact.name(), fill.source.name());
    let before =
        session.meter.compacted_percent.map_or(String::new(), |at| format!("; last compacted at {at} %"));
    let numbers = pad(&format!("{} of {}", fill.tokens, fill.window), 18);
    format!("{} {numbers} {who} ({sure}{before})", scope.out.tint(tone, &percent))
}
