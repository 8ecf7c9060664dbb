//! `tow bookmark rewind`: explains how to get back to a bookmark, in the conversation and in the code.
//!
//! Runs nothing unless `--fork` is given: then the agent's server makes a new session, and the old one stays.

mod fork;

use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_agents::{Agent, RewindPoint};
use towline_core::escape::escape_for_terminal;
use towline_core::id::SessionKey;
use towline_core::session::SessionTurn;
use towline_engine::index::labels::{Labels, named, short};
use towline_engine::query::{BookmarkRow, LabelledBookmark, ownership};
use towline_engine::runtime::Failure;
use towline_render::{bookmark_code, bookmark_json};

const EXAMPLES: &str = "\
Examples:
  tow bookmark rewind 5e6f7a8b           the steps, in the conversation and in the code
  tow bookmark rewind 5e6f7a8b --json
  tow bookmark rewind 5e6f7a8b --fork    a new session of what was before it, where the agent's server can do that
  tow bookmark rewind 5e6f7a8b --fork --yes

Without --fork nothing is run: the commands are for you to read first. A fork leaves the session as it is, and the code too.
`tow bookmark list` lists the ids.";

/// Show how to get back to a bookmark, or fork the session there.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The bookmark's id, or its end or beginning.
    id: String,
    /// Fork a new session from the turns before it, if the agent's server can.
    #[arg(long)]
    fork: bool,
    /// Fork without asking.
    #[arg(long, requires = "fork")]
    yes: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let store = ownership::store(&scope.env)?;
    let known = named(&store, &arguments.id)?;
    let mut labels = Labels::of(&store)?;
    let label = labels.label(&known)?;
    let since = labels.turns_since(&known)?;
    let bookmark = LabelledBookmark { row: known, label };
    let known = &bookmark.row;
    let code = commands(known);
    if arguments.fork {
        let forked = fork::fork(scope, arguments, known, &since)?;
        show_fork(scope, arguments, known, &forked, &code);
        return Ok(());
    }
    let conversation = steps(known, &since);
    if arguments.json {
        let mut row = bookmark_json(&bookmark);
        (row["prompts_since"], row["conversation"], row["code"]) =
            (json!(since.len()), json!(conversation), json!(code));
        scope.out.json(&row);
        return Ok(());
    }
    scope.out.line(&format!(
        "bookmark {}: {}",
        short(known.bookmark.uid),
        escape_for_terminal(&bookmark.label)
    ));
    scope.out.line("the conversation:");
    numbered(scope, &conversation);
    show_code(scope, known, &code);
    Ok(())
}

fn show_fork(
    scope: &Scope,
    arguments: &Arguments,
    known: &BookmarkRow,
    forked: &SessionKey,
    code: &[(String, &'static str)],
) {
    let resuming = Agent::from_name(forked.agent.as_str())
        .map(|agent| agent.resume_command(&forked.id))
        .unwrap_or_default();
    if arguments.json {
        let bookmark = known.bookmark.uid.to_string();
        let report = json!({"bookmark": bookmark, "session": known.session, "fork": forked, "resume": resuming, "code": code});
        return scope.out.json(&report);
    }
    scope.out.line(&format!("forked: {forked} holds what was before the bookmark"));
    scope.out.line(&format!("  {resuming}   # goes on with it; {} stays as it is", known.session.short()));
    show_code(scope, known, code);
}

fn show_code(scope: &Scope, known: &BookmarkRow, code: &[(String, &'static str)]) {
    scope.out.line(&state_of(known));
    code.iter().for_each(|(command, why)| scope.out.line(&format!("  {command}   # {why}")));
}

fn steps(known: &BookmarkRow, since: &[SessionTurn]) -> Vec<String> {
    let first = since.first().map_or(String::new(), |turn| escape_for_terminal(turn.prompt.as_str()));
    let way = RewindPoint { session: known.session.id.as_str(), prompts: since.len(), first: &first };
    let agent = Agent::from_name(known.session.agent.as_str());
    agent.map_or_else(Vec::new, |agent| agent.rewind_steps(&way))
}

fn numbered(scope: &Scope, steps: &[String]) {
    for (number, step) in steps.iter().enumerate() {
        scope.out.line(&format!("  {}. {step}", number + 1));
    }
}

fn state_of(known: &BookmarkRow) -> String {
    match bookmark_code(known) {
        Some(code) if known.code.as_ref().and_then(|code| code.dirty) == Some(true) => {
            format!("the code was at {code} that no commit holds:")
        }
        Some(code) => format!("the code was at {code}:"),
        None => "the code: nothing is known of its state then".to_owned(),
    }
}

/// Commands that inspect the code as of the bookmark, each with its purpose.
fn commands(known: &BookmarkRow) -> Vec<(String, &'static str)> {
    let is_commit = |commit: &&str| !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let Some(commit) = known.code.as_ref().map(|code| code.commit.as_str()).filter(is_commit) else {
        return vec![];
    };
    let short_commit: String = commit.chars().take(10).collect();
    vec![
        (format!("git log --oneline {short_commit}..HEAD"), "what was committed since"),
        (format!("git diff {short_commit}"), "what is other now"),
        (
            format!("git worktree add --detach ../at-{short_commit} {commit}"),
            "the code of then, beside that of now",
        ),
    ]
}
