//! `tow tmux`: loads Towline into a running tmux server, or unloads it.
//!
//! Changes no file: `tow install --tmux` does, and its line in tmux.conf runs this verb. Decides no settings.

use super::install::command_to_register;
use crate::output::complain;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use towline_engine::runtime::Failure;
use towline_engine::status::tmux::conf::current_server;
use towline_engine::status::tmux::load::{self, Changed, Outcome};
use towline_terminal::tmux::TmuxServer;

const EXAMPLES: &str = "\
Examples:
  tow tmux load                 into the server that this shell runs in
  tow tmux load --socket PATH
  tow tmux unload               everything as it was before

Loading sets what `tmux show-options -g | grep @towline` asks for: the bar in status-right, a status-interval
of 5 seconds at most, prefix + a for the menu, and hooks that notice which pane you look at. It can be run again
at any time: after a change of an option, or after `tmux source-file`. `tow install --tmux` puts it into tmux.conf.";

/// Load the bar, the keys and the hooks into a running tmux server, or unload them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    action: TmuxAction,
}

#[derive(Debug, Subcommand)]
enum TmuxAction {
    /// Load the bar, the keys and the hooks into the server.
    Load(ServerArgs),
    /// Unload what was loaded, and nothing else.
    Unload(ServerArgs),
}

#[derive(Debug, Args)]
struct ServerArgs {
    /// The server's socket, if it is not the one that this shell runs in.
    #[arg(long, value_name = "PATH")]
    socket: Option<String>,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.action {
        TmuxAction::Load(which) => {
            let server = server(which)?;
            let outcome = load::load(&scope.env, &server, &command_to_register()?)?;
            report(scope, &outcome, "loaded into", "loaded already into", &server);
        }
        TmuxAction::Unload(which) => {
            let server = server(which)?;
            let outcome = load::unload(&scope.env, &server)?;
            report(scope, &outcome, "taken out of", "nothing of ours was in", &server);
        }
    }
    Ok(())
}

fn server(which: &ServerArgs) -> Result<TmuxServer, Failure> {
    if let Some(socket) = &which.socket {
        let none = || {
            Failure::input(format!("no tmux server answers on {socket}")).hint("Run `tmux list-sessions`.")
        };
        return TmuxServer::at(socket).ok_or_else(none);
    }
    let none = || Failure::input("this shell does not run in tmux").hint("Name a server with --socket.");
    current_server().ok_or_else(none)
}

fn report(scope: &Scope, outcome: &Outcome, something: &str, nothing: &str, server: &TmuxServer) {
    let what = match outcome.changed {
        Changed::Something => something,
        Changed::Nothing => nothing,
    };
    scope.out.line(&format!("{what} the tmux server on {}", server.socket));
    for remark in &outcome.remarks {
        complain(&format!("warning: {remark}\n"));
    }
}
