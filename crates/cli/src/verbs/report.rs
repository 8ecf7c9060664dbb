//! `tow session waits`: how long agents waited for you, by day, project and reason, with a small chart.
//!
//! Only draws the sums of `core::ledger`. Escapes names before printing.

use crate::output::Tone;
use crate::scope::Scope;
use crate::strokes::strokes;
use clap::Args;
use towline_core::escape::{escape_for_terminal, pad, width};
use towline_core::ledger::{Ledger, WaitSum, format_duration};
use towline_engine::query::{WaitsRequest, waits};
use towline_engine::runtime::Failure;
use towline_render::waits_json;

const EXAMPLES: &str = "\
Examples:
  tow session waits                        the last seven days
  tow session waits --days 30 --project app
  tow session waits --json | jq '.days[] | [.day, .waited_ms]'

An agent waits while a dialog is open that only you can answer. Agents that wait at the same time all count: this is
their time, not yours. Days are those of your own clock (TZ); a wait over midnight is split.";

/// Show how long agents have waited for you.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Number of days, today included.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=366))]
    days: u32,
    /// Only this project.
    #[arg(long)]
    project: Option<String>,
    /// Only this agent.
    #[arg(long)]
    agent: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let request = WaitsRequest {
        days: arguments.days,
        project: arguments.project.clone(),
        agent: arguments.agent.clone(),
    };
    let report = waits(&scope.env, &request)?;
    if arguments.json {
        scope.out.json(&waits_json(&report));
    } else if report.ledger.total.times == 0 {
        scope.out.line(&nothing(arguments, report.is_recorded));
    } else {
        print(scope, &report.ledger, report.open);
    }
    Ok(())
}

/// The hint for an empty report.
fn nothing(arguments: &Arguments, is_recorded: bool) -> String {
    if !is_recorded {
        return "nothing is recorded yet: run `tow install`, then work with your agents as usual".to_owned();
    }
    let days =
        if arguments.days == 1 { "today".to_owned() } else { format!("in the last {} days", arguments.days) };
    let of = |what: &str, name: &Option<String>| {
        name.as_deref().map_or_else(String::new, |name| format!(" {what} `{}`", escape_for_terminal(name)))
    };
    let (project, agent) = (of("in", &arguments.project), of("by the name of", &arguments.agent));
    format!(
        "no agent{agent} has waited for you{project} {days}; `tow session waits --days 30` looks further back"
    )
}

fn print(scope: &Scope, found: &Ledger, lasting: usize) {
    scope.out.line(&in_words(found));
    if lasting > 0 {
        let those = if lasting == 1 { "one still waits".to_owned() } else { format!("{lasting} still wait") };
        scope.out.line(&scope.out.tint(Tone::Bad, &format!("{those}: `tow next` leads to it")));
    }
    scope.out.line("");
    chart(scope, found.days.iter().map(|(day, sum)| (day.name.clone(), *sum)).collect());
    for (title, rows) in [("by project", projects(found)), ("by reason", found.reasons.clone())] {
        scope.out.line("");
        scope.out.line(&scope.out.tint(Tone::Faint, title));
        chart(scope, rows);
    }
}

fn projects(found: &Ledger) -> Vec<(String, WaitSum)> {
    let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "no project".to_owned());
    found.projects.iter().map(|(name, sum)| (named(name), *sum)).collect()
}

fn in_words(found: &Ledger) -> String {
    let WaitSum { waited_ms, times, longest_ms, median_ms } = found.total;
    let place = found
        .longest_in
        .as_deref()
        .map_or_else(String::new, |name| format!(" in {}", escape_for_terminal(name)));
    let (waited, longest) = (format_duration(waited_ms), format_duration(longest_ms));
    let rest = if times == 1 {
        place
    } else {
        format!("; longest {longest}{place}, median {}", format_duration(median_ms))
    };
    format!("agents waited {waited} for you, {}{rest}", times_of(times))
}

fn times_of(times: usize) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}

/// Widest name and widest bar, in columns.
const WIDEST_NAME: usize = 24;
const WIDEST_BAR: usize = 40;

/// Prints one line per row: name, bar, time, count, longest.
fn chart(scope: &Scope, rows: Vec<(String, WaitSum)>) {
    let rows: Vec<(String, WaitSum)> =
        rows.into_iter().map(|(name, sum)| (escape_for_terminal(&name), sum)).collect();
    let name_width = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0).clamp(14, WIDEST_NAME);
    let longest = rows.iter().map(|(_, sum)| sum.waited_ms).max().unwrap_or(0);
    let beside = name_width + FIGURES;
    let bar_width = scope.out.columns().saturating_sub(beside).clamp(4, WIDEST_BAR);
    for (name, sum) in rows {
        let bar = pad(&strokes().bar(sum.waited_ms, longest, bar_width), bar_width);
        let figures = match sum {
            WaitSum { waited_ms: 0, times: 0, .. } => "-".to_owned(),
            WaitSum { waited_ms, times: 0, .. } => {
                format!("{} (from the day before)", format_duration(waited_ms))
            }
            WaitSum { waited_ms, times: 1, .. } => format!("{} once", pad(&format_duration(waited_ms), 11)),
            WaitSum { waited_ms, times, longest_ms, .. } => {
                format!(
                    "{} {} longest {}",
                    pad(&format_duration(waited_ms), 11),
                    pad(&times_of(times), 10),
                    format_duration(longest_ms)
                )
            }
        };
        scope.out.line(&format!("{}  {bar}  {figures}", pad(&name, name_width)));
    }
}

/// Columns of the figures after a bar, gaps included.
const FIGURES: usize = 46;
