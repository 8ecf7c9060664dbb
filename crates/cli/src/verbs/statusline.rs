//! `tow statusline` for users who ask for help; calls by agents never reach this file.
//!
//! Carries the help text only.

use crate::scope::Scope;
use clap::Args;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
The agent calls it with one JSON object on stdin; `tow install --statusline` registers it.
It always exits with 0. A line of your own goes on being drawn, before ours.

What it shows is `statusline.template` (`tow config get statusline.template`); other agents are counted where tmux shows
the bar.

Examples:
  tow install --statusline
  tow config set statusline.own false      only your own line; the numbers are still taken
  tow statusline --preview                 the line as it would look, at several widths
  tow config set statusline.template '{model:cyan}[ {context}][ on {branch}]'
  tow statusline --over 'my-line' < payload.json";

/// Draw an agent's status line, and record its exact numbers for the meter (the agents call this).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The status line command that was set before, as a shell command.
    #[arg(long, value_name = "COMMAND")]
    over: Option<String>,
    /// Preview the line.
    #[arg(long)]
    preview: bool,
}

pub fn run(_: &Scope, _: &Arguments) -> Result<(), Failure> {
    Err(Failure::input("the agents call this").hint("Run `tow statusline --help`."))
}
