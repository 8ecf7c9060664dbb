//! `tow bar`: the counts as one line, for any status bar that runs a command.
//!
//! Prints the line and nothing else; without a seat, or as a refresh, it prints nothing.

use crate::failure::Failure;
use crate::scope::Scope;
use crate::{live, push};
use clap::Args;
use std::process::ExitCode;
use towline_core::bar::{BarStyle, bar};

const EXAMPLES: &str = "\
Examples:
  set -g status-right '#{@towline-status}#(tow bar --refresh) %H:%M'     in ~/.tmux.conf
  tow bar --plain       for a bar that knows no tmux colours

Hooks set @towline-status the moment something changes. The refresh sees what no hook tells: a turn that was
stopped with Escape, an agent that was killed, minutes that go by.";

/// Print how many agents are idle, working, done or waiting for you.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Without tmux's colour marks.
    #[arg(long)]
    plain: bool,
    /// Print nothing; set tmux's option @towline-status if the line has changed.
    #[arg(long, conflicts_with = "plain")]
    refresh: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.refresh {
        return refresh(scope);
    }
    let seats = live::seats(scope)?;
    let mut style = BarStyle::default();
    if arguments.plain {
        style = style.without_colours();
    }
    let line = bar(&seats, &style, scope.edge.now);
    if !line.is_empty() {
        scope.out.line(&line);
    }
    Ok(ExitCode::SUCCESS)
}

/// A server that is busy is told a moment later, by what is shown then.
const TRIES: usize = 20;

pub fn refresh(scope: &Scope) -> Result<ExitCode, Failure> {
    for _ in 0..TRIES {
        if push::push(&scope.edge, &live::seats(scope)?) {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}
