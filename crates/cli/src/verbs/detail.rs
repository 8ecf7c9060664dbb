//! `tow session detail`: prints messages, tool inputs and outputs of past turns, by time or by id.
//!
//! Only reads. An empty result exits with 0.

use crate::projects::ProjectArgs;
use crate::scope::Scope;
use clap::Args;
use towline_engine::query::{DetailRequest, Thinking, detail};
use towline_engine::runtime::Failure;
use towline_render::{detail_json, detail_text};

const EXAMPLES: &str = "\
Examples:
  tow session detail 14:05                   what was going on then: today, else on the latest day that has it
  tow session detail 14:05-14:20             over some minutes
  tow session detail yesterday 14:05
  tow session detail 30m ago                 or: tow session detail -- -30m
  tow session detail 2026-11-14T14:05
  tow session detail 1a2b3c4d#12             a turn, by the end of its session's id and its number
  tow session detail 1a2b3c4d#10-12          some turns
  tow session detail 1a2b3c4d#12.3           one tool input or output, whole
  tow session detail 14:05 --all-projects    not only in the project of this folder
  tow session detail 1a2b3c4d#12 --json      for programs; see docs/getting-back.md

A time means every turn that was under way then. Times are those of your own clock.";

/// Print what was said and done at a time or in a turn: messages, tool inputs and outputs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// A time, a range of times, a turn, a tool input or output of it, or a session.
    #[arg(required = true, value_name = "EXPR")]
    expressions: Vec<String>,
    #[command(flatten)]
    whose: ProjectArgs,
    /// Print what the agent thought, too.
    #[arg(long)]
    thinking: bool,
    /// Show at most this many turns; the rest is counted.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Show at most this many bytes of text, shared by the turns; 0 for all.
    #[arg(long, value_name = "N")]
    bytes: Option<usize>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let request = DetailRequest {
        expressions: &arguments.expressions,
        scope: arguments.whose.scope(),
        thinking: if arguments.thinking { Thinking::Shown } else { Thinking::Hidden },
        limit: arguments.limit,
        bytes: arguments.bytes,
    };
    let details = detail(&scope.env, &request)?;
    scope.out.print(arguments.json, || detail_json(&details), || detail_text(&details, scope.env.now));
    Ok(())
}
