//! `tow session context`: shows the context that a session would be given, and why each part is in it.
//!
//! Uses the hook's material and composer, and captures pending transcript lines first, as the hook does. It
//! never takes a baton or marks anything as given.

use crate::scope::Scope;
use clap::Args;
use towline_engine::query::{ContextRequest, SessionStart, context};
use towline_engine::runtime::Failure;
use towline_render::{context_json, context_parts_text};

const EXAMPLES: &str = "\
Examples:
  tow session context                    what a session that starts in this terminal after `/clear`, or takes over work that was
                                 handed on, would be given; without either, what is remembered here
  tow session context 1a2b3c4d           the same of a certain session
  tow session context --fresh            what is remembered here, without any session's work
  tow session context --why              a line for each part: what it is, its size, why it is there, and what it took to learn
  tow session context --agent NAME       as another agent would be given it

To begin anew without it once: `tow session fresh` before `/clear`. For good: `tow config set inherit.on_clear never` (work) and
`tow config set memory.give false` (memories).";

const NOTHING: &str = "\
nothing: no session sits in this terminal, no work was handed on in this project, and nothing is remembered here
Run `tow session list`, then `tow session context ID` for what a certain session would pass on.
";

/// Show the context that a session would be given: the previous session's work and memories, and why.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The session whose work would go on; the one in this terminal or the one that handed its work on if not given.
    #[arg(conflicts_with = "fresh")]
    session: Option<String>,
    /// As a session that inherits nothing: memories only.
    #[arg(long)]
    fresh: bool,
    /// As if this were the first prompt: memories are chosen by it.
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// As if in this project, by name or by a folder in it, instead of the one of the current folder.
    #[arg(long, value_name = "NAME|PATH")]
    project: Option<String>,
    /// Composed for this agent; for the session's own if not given.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print a line for each part instead: its size, name and reason.
    #[arg(long)]
    why: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let request = ContextRequest {
        session: arguments.session.clone(),
        start: SessionStart::ThisTerminal,
        is_fresh: arguments.fresh,
        prompt: arguments.prompt.clone(),
        project: arguments.project.clone(),
        agent: arguments.agent.clone(),
    };
    let preview = context(&scope.env, &request)?;
    let text = || match arguments.why {
        true => context_parts_text(&preview),
        false if preview.composed.text.is_empty() => NOTHING.to_owned(),
        false => preview.composed.text.clone(),
    };
    scope.out.print(arguments.json, || context_json(&preview), text);
    Ok(())
}
