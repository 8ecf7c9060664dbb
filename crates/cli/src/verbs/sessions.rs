//! `tow session list`: lists captured sessions, latest first, with their first and last line.
//!
//! Only reads, and no more than it lists.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use towline_engine::query::{SessionsRequest, sessions};
use towline_engine::runtime::Failure;
use towline_render::{sessions_json, sessions_text};

const EXAMPLES: &str = "\
Examples:
  tow session list                       of the project of this folder
  tow session list --all-projects
  tow session list --since yesterday --limit 50
  tow session list --json";

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

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let request = SessionsRequest {
        scope: arguments.whose.scope(),
        since: arguments.since.as_deref(),
        before: arguments.before.as_deref(),
        agent: arguments.agent.as_deref(),
        limit: arguments.limit,
    };
    let list = sessions(&scope.env, &request)?;
    scope.out.print(arguments.json, || sessions_json(&list), || sessions_text(&list, scope.env.now));
    Ok(())
}
