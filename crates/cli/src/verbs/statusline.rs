//! `tow statusline`, as far as a person can ask about it; an agent's call never comes here.
//!
//! Carries the help text only.

use clap::Args;

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

/// Draw an agent's status line, and take its exact numbers for the meter (the agents call this).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The command that stood there before, as a line for the shell.
    #[arg(long, value_name = "COMMAND")]
    over: Option<String>,
    /// Show the line as it would look.
    #[arg(long)]
    preview: bool,
}
