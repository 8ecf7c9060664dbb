//! `tow tmux popup`: opens the agent list in a tmux popup.
//!
//! Only opens it: the content is `tow status --watch` or `tow monitor`.

use super::install::command_to_register;
use crate::scope::Scope;
use clap::Args;
use towline_core::escape::escape_for_terminal;
use towline_engine::runtime::{Failure, Kind};
use towline_engine::status::tmux::conf::current_server;
use towline_engine::status::tmux::load;

const EXAMPLES: &str = "\
Examples:
  tow tmux popup
  tow tmux popup --monitor                     with contexts, tokens and costs
  bind-key A run-shell -b 'tow tmux popup'     in ~/.tmux.conf

Enter goes to the chosen agent, n to the one that has waited longest, q closes it.";

/// Show what every agent is doing in a tmux popup.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Show the monitor instead of the list.
    #[arg(long)]
    monitor: bool,
}

pub fn run(_: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let none = || Failure::input("a popup needs tmux").hint("Run `tow status --watch` instead.");
    let server = current_server().ok_or_else(none)?;
    let (major, minor) = load::version(Some(&server))?;
    if (major, minor) < load::WITH_POPUPS {
        let what = format!("tmux {major}.{minor} has no popups: they came with 3.2");
        return Err(Failure::input(what).hint("Run `tow status --watch` in a pane, or `tow tmux menu`."));
    }
    let tow = load::word(&command_to_register()?)?;
    let verb = if arguments.monitor { "monitor" } else { "status --watch" };
    server.popup(&format!("{tow} {verb}")).map_err(|why| {
        let failure = Failure::input(format!("tmux did not open the popup: {}", escape_for_terminal(&why)));
        Failure { kind: Kind::Failed, ..failure }
            .hint("Attach to tmux first, or run it from a key: `tow tmux popup --help`.")
    })
}
