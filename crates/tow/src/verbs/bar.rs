//! `tow bar`: the counts as one line, for any status bar that runs a command.
//!
//! Prints the line and nothing else; without a seat it prints nothing.

use crate::cli::Scope;
use crate::failure::Failure;
use crate::live;
use clap::Args;
use std::process::ExitCode;
use towline_core::bar::{BarStyle, bar};

const EXAMPLES: &str = "\
Examples:
  set -g status-right '#(tow bar) %H:%M'     in ~/.tmux.conf
  tow bar --plain                            for a bar that knows no tmux colours";

/// Print how many agents are idle, working, done or waiting for you.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Without tmux's colour marks.
    #[arg(long)]
    plain: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut style = BarStyle::default();
    if arguments.plain {
        style = style.without_colours();
    }
    let line = bar(&live::seats(scope)?, &style, scope.edge.now);
    if !line.is_empty() {
        scope.out.line(&line);
    }
    Ok(ExitCode::SUCCESS)
}
