//! `tow rewind`: how to get back to a bookmark, in the conversation and in the code.
//!
//! Says it, and does none of it.

use super::bookmarks::{code, row};
use crate::bookmarks::{Labels, named, short};
use crate::failure::Failure;
use crate::scope::Scope;
use crate::whose;
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use towline_agents::{Agent, WayBack};
use towline_core::escape::for_terminal;
use towline_store::{KnownBookmark, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow rewind 5e6f7a8b           the steps, in the conversation and in the code
  tow rewind 5e6f7a8b --json

Nothing is run: the commands are for you to read first. `tow bookmarks` lists the ids.";

/// Say how to get back to a bookmark.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// How the bookmark's id ends or begins.
    id: String,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let failed = |error: StoreError| Failure::new(&error).hint("Run `tow doctor`.");
    let store = whose::store(scope)?;
    let known = named(&store, &arguments.id)?;
    let mut labels = Labels::of(&store).map_err(failed)?;
    let label = labels.label(&known).map_err(failed)?;
    let since = labels.prompts_since(&known).map_err(failed)?;
    let conversation = steps(&known, &since);
    let code = commands(&known);
    if arguments.json {
        let mut row = row(&known, &label);
        (row["prompts_since"], row["conversation"], row["code"]) =
            (json!(since.len()), json!(conversation), json!(code));
        scope.out.line(&row.to_string());
        return Ok(ExitCode::SUCCESS);
    }
    scope.out.line(&format!("bookmark {}: {}", short(known.bookmark.uid), for_terminal(&label)));
    scope.out.line("the conversation:");
    numbered(scope, &conversation);
    scope.out.line(&state_of(&known));
    code.iter().for_each(|(command, why)| scope.out.line(&format!("  {command}   # {why}")));
    Ok(ExitCode::SUCCESS)
}

fn steps(known: &KnownBookmark, since: &[String]) -> Vec<String> {
    let first = since.first().map_or(String::new(), |prompt| for_terminal(prompt));
    let way = WayBack { session: known.session.id.as_str(), prompts: since.len(), first: &first };
    let agent = Agent::named(known.session.agent.as_str());
    agent.map_or_else(Vec::new, |agent| agent.way_back(&way))
}

fn numbered(scope: &Scope, steps: &[String]) {
    for (number, step) in steps.iter().enumerate() {
        scope.out.line(&format!("  {}. {step}", number + 1));
    }
}

fn state_of(known: &KnownBookmark) -> String {
    match code(known) {
        Some(code) if known.code.as_ref().and_then(|code| code.dirty) == Some(true) => {
            format!("the code was at {code} that no commit holds:")
        }
        Some(code) => format!("the code was at {code}:"),
        None => "the code: nothing is known of its state then".to_owned(),
    }
}

/// Commands that look at the code of then, and what each is for.
fn commands(known: &KnownBookmark) -> Vec<(String, &'static str)> {
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
