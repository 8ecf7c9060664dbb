//! `tow bar`: the counts as one line, for any status bar that runs a command.
//!
//! Prints that line and nothing else; prints nothing with `--refresh`, or if there are no agents and the configuration is
//! sound.

use crate::scope::Scope;
use clap::Args;
use towline_core::bar::{BarStyle, bar};
use towline_engine::ingest::live::{self, Glance};
use towline_engine::runtime::Failure;
use towline_engine::status::push;
use towline_engine::status::read_marks::Look;

const EXAMPLES: &str = "\
Examples:
  set -g status-right '#{@towline-status}#(tow bar --refresh) %H:%M'     in ~/.tmux.conf, or `tow install --tmux`
  tow bar --plain       for a bar that knows no tmux colours

Hooks set @towline-status the moment something changes. The refresh sees what no hook tells: a turn that was
stopped with Escape, an agent that was killed, minutes that go by.";

/// Print how many agents are idle, working, done or waiting for you, and how many proposals are open.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Without tmux's colour marks.
    #[arg(long)]
    plain: bool,
    /// Print nothing; set tmux's option @towline-status if the line has changed.
    #[arg(long, conflicts_with = "plain")]
    refresh: bool,
    /// The pane that a client shows: an agent that finished there is seen after @towline-completed-delay.
    #[arg(long, value_name = "PANE", requires = "refresh")]
    looking_at: Option<String>,
    /// The pane that has just received the focus.
    #[arg(long, value_name = "PANE", requires = "refresh", conflicts_with = "looking_at")]
    focused: Option<String>,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.refresh {
        let look = match (&arguments.looking_at, &arguments.focused) {
            (Some(pane), _) => Look::At(pane),
            (None, Some(pane)) => Look::Focused(pane),
            (None, None) => Look::Nowhere,
        };
        towline_engine::ingest::bar::refresh(&scope.env, look)?;
        return Ok(());
    }
    let seats = live::seats(&scope.env, Glance::Cheap)?;
    let mut style = BarStyle::default();
    if arguments.plain {
        style = style.without_colours();
    }
    let line = bar(&seats, push::notes(&scope.env), &style, scope.env.now);
    if !line.is_empty() {
        scope.out.line(&line);
    }
    Ok(())
}
