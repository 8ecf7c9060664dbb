//! `tow sessions`: lists captured sessions, latest first, with their first and last line.
//!
//! Only reads, and no more than it lists.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_core::time::Timestamp;
use towline_core::when::TimeExpression;
use towline_engine::query::{Past, beginning, spanned, unreadable};
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::text::plain;
use towline_store::archive::{Conversation, PageKey, SessionQuery};

const EXAMPLES: &str = "\
Examples:
  tow sessions                       of the project of this folder
  tow sessions --all-projects
  tow sessions --since yesterday --limit 50
  tow sessions --json";

/// List captured sessions, latest first.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    whose: ProjectArgs,
    /// Only sessions that were active since this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<String>,
    /// Continue after the `next` of an earlier list.
    #[arg(long, value_name = "NEXT")]
    before: Option<String>,
    /// Only sessions of this agent.
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// List at most N sessions.
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A session with its first and its last line.
struct SessionLine {
    of: Conversation,
    first: Option<String>,
    last: Option<String>,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let since = arguments.since.as_deref().map(|since| time(since, scope.env.now)).transpose()?;
    let since = since.unwrap_or(Timestamp(0));
    let Some(past) = Past::open(&scope.env, &arguments.whose.scope())? else {
        return Ok(show(scope, arguments, &[], "nothing was captured yet", false));
    };
    let most = arguments.limit.saturating_add(1);
    let behind = arguments.before.as_deref().map(page_key).transpose()?;
    let agent = arguments.agent.as_deref();
    let asked = SessionQuery { project: past.project.row(), agent, since, behind, most };
    let mut found = past.archive.sessions_asked(&asked).map_err(unreadable)?;
    if past.project.is_empty() {
        found.clear();
    }
    let is_cut = found.len() > arguments.limit;
    found.truncate(arguments.limit);
    let with_lines = |of: Conversation| {
        let (first, last) = past.archive.first_and_last_line(&of).map_err(unreadable)?;
        Ok(SessionLine { of, first, last })
    };
    let listed = found.into_iter().map(with_lines).collect::<Result<Vec<_>, Failure>>()?;
    Ok(show(scope, arguments, &listed, &past.project.words(), is_cut))
}

fn page_key(text: &str) -> Result<PageKey, Failure> {
    let refused = || Failure::input(format!("`{}` is no place in a list", plain(text)));
    PageKey::parse(text).ok_or_else(|| refused().hint("Give what an earlier list with --json has as `next`."))
}

/// Parses the time of `--since`.
pub(super) fn time(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    let refused =
        |why: String| Failure::input(why).hint("Write a time such as yesterday, 14:05 or '2h ago'.");
    let wanted = TimeExpression::parse(text).map_err(|error| refused(error.to_string()))?;
    beginning(&wanted, now).ok_or_else(|| refused(format!("`{}` is no time", plain(text))))
}

fn show(
    scope: &Scope,
    arguments: &Arguments,
    listed: &[SessionLine],
    looked: &str,
    is_cut: bool,
) -> ExitCode {
    if arguments.json {
        let sessions: Vec<Value> = listed.iter().map(as_json).collect();
        let next = listed.last().filter(|_| is_cut).map(|last| PageKey::of(&last.of).to_string());
        scope.out.line(&json!({"sessions": sessions, "more": is_cut, "next": next}).to_string());
        return ExitCode::SUCCESS;
    }
    for session in listed {
        scope.out.text(&text(session, scope.env.now));
    }
    if is_cut {
        scope.out.line(&format!("there are older ones: --limit {}", arguments.limit.saturating_mul(5)));
    }
    match listed.first() {
        Some(latest) => scope.out.line(&format!(
            "next: `tow turns {short}` lists a session's turns, `tow show {short}` sums it up",
            short = latest.of.short
        )),
        None => {
            scope.out.line(&format!("no sessions found; looked in: {looked}"));
            scope
                .out
                .line("next: --all-projects looks everywhere, `tow import` takes in what the agents wrote");
        }
    }
    ExitCode::SUCCESS
}

fn text(session: &SessionLine, now: Timestamp) -> String {
    let of = &session.of;
    let or_none = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), for_terminal);
    let mut text = format!(
        "{} {} {} {} {}, {} turns\n",
        of.short,
        of.session.agent,
        or_none(&of.project),
        or_none(&of.branch),
        spanned(of.first_at, of.last_at, now),
        of.turns
    );
    if let Some(first) = &session.first {
        text += &format!("  first: {}\n", for_terminal(first));
    }
    if let Some(last) = session.last.as_ref().filter(|last| Some(*last) != session.first.as_ref()) {
        text += &format!("  last: {}\n", for_terminal(last));
    }
    text
}

fn as_json(session: &SessionLine) -> Value {
    let of = &session.of;
    json!({
        "id": of.short, "uid": of.uid, "session": of.session, "agent": of.session.agent.as_str(),
        "project": of.project, "branch": of.branch, "folder": of.folder, "forked_from": of.base,
        "first_at": of.first_at.to_utc(), "last_at": of.last_at.to_utc(), "turns": of.turns,
        "first_line": session.first, "last_line": session.last,
    })
}
