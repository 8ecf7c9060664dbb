//! `tow monitor`: all sessions of all agents, live, with context and usage.
//!
//! Draws the same list as `tow status`, in more detail. Decides nothing.

use crate::monitor::{
    Channel, MonitorOptions, RowGatherer, SeatFilter, SessionFilter, play, require_terminal,
};
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::meter::Exactness;
use towline_core::time::Timestamp;
use towline_engine::ingest::live::Glance;
use towline_engine::runtime::Failure;
use towline_monitor::{ColourMode, EndedRows, MonitorInput, MonitorModel, MonitorRow, page, update};
use towline_render::spent_json;

const EXAMPLES: &str = "\
Examples:
  tow monitor                      all sessions, live; ? shows the keys
  tow monitor --all                those that have ended, too
  tow monitor --session 1a2b3c     only the session with this id, or its beginning
  tow monitor --notify bell        ring when an agent is done or waits
  tow monitor --once --width 80    one page as text
  tow monitor --json | jq '.sessions[] | select(.context.percent > 60)'";

/// Watch all sessions of all agents: state, context, tokens, cost.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Include ended sessions.
    #[arg(long)]
    all: bool,
    /// Only sessions with this id, its end as the list shows it, or its beginning.
    #[arg(long, value_name = "PREFIX")]
    session: Option<String>,
    #[command(flatten)]
    filter: SeatFilter,
    /// How the terminal notifies you that an agent is done or waits; by default not at all.
    #[arg(long, conflicts_with_all = ["once", "json"])]
    notify: Option<Channel>,
    /// Print one page as text and exit.
    #[arg(long)]
    once: bool,
    /// Width of that page in columns; by default that of the terminal.
    #[arg(long, value_name = "COLUMNS", requires = "once", value_parser = clap::value_parser!(u16).range(1..=1000))]
    width: Option<u16>,
    /// Print one JSON object and exit.
    #[arg(long, conflicts_with = "once")]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    arguments.filter.check()?;
    let filter = SessionFilter { session: arguments.session.clone(), seats: arguments.filter.clone() };
    let ended = if arguments.all { EndedRows::Shown } else { EndedRows::Hidden };
    if !arguments.once && !arguments.json {
        let instead = "Run `tow monitor --once` for one page, or `tow monitor --json` for a script.";
        require_terminal("tow monitor", instead)?;
        let channel = arguments.notify.unwrap_or(Channel::None);
        return play(scope, MonitorOptions { filter, ended, channel });
    }
    let rows = RowGatherer::new(filter).rows(scope, Glance::Thorough, ended)?;
    if arguments.json {
        let sessions: Vec<Value> = rows.iter().map(object).collect();
        scope.out.json(&json!({"sessions": sessions}));
    } else {
        let columns =
            arguments.width.unwrap_or_else(|| u16::try_from(scope.out.columns()).unwrap_or(u16::MAX));
        let mut model = MonitorModel::new(scope.env.now, ColourMode::Hidden, ended);
        let _nothing_follows = update(&mut model, MonitorInput::Rows(rows));
        scope.out.text(&page(&model, columns));
    }
    Ok(ExitCode::SUCCESS)
}

fn object(row: &MonitorRow) -> Value {
    let shown = &row.shown;
    let time = |at: Option<Timestamp>| at.map(Timestamp::to_utc);
    json!({
        "seat": shown.seat, "agent": shown.agent, "session": shown.session, "state": shown.state.name(),
        "since": shown.since.to_utc(), "reason": shown.state.reason(), "tool": shown.tool, "seen": shown.seen,
        "project": shown.project, "branch": shown.branch, "prompt": shown.prompt, "model": shown.model,
        "context": context(row), "spent": row.spent.as_ref().map(spent_json),
        "started_at": time(row.started_at), "active_at": time(row.active_at), "helpers": shown.subagents,
        "tasks": shown.tasks, "limited_until": time(shown.until), "pane": shown.pane,
    })
}

fn context(row: &MonitorRow) -> Option<Value> {
    let fill = row.fill?;
    Some(json!({
        "tokens": fill.tokens, "window": fill.window, "percent": fill.percent(),
        "estimated": fill.exact == Exactness::Estimated, "source": fill.source.name(),
        "thresholds": row.thresholds,
    }))
}
