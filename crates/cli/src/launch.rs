//! Starts an agent: in this terminal, in a pane whose program has ended, or in a new tmux window.
//!
//! Arguments are passed as a list, never through a shell. Types nothing.

use crate::agreement::is_interactive;
use crate::scope::Scope;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use towline_engine::runtime::{Failure, variable};
use towline_engine::status::push::server_of;
use towline_engine::status::tmux::conf::current_server;

/// Where an agent may be started.
#[derive(Clone, Copy)]
pub enum Launch<'a> {
    /// In this terminal; without one, in a new window of tmux.
    Here,
    /// In this seat if it is this terminal or its program has ended, else in a new window of tmux.
    Seat(Option<&'a str>),
}

/// Starts the program in the folder. Returns only if it runs elsewhere, or if it could not be started.
pub fn launch(scope: &Scope, place: Launch<'_>, folder: &str, program: &[&str]) -> Result<(), Failure> {
    if !Path::new(folder).is_dir() {
        return Err(Failure::input(format!("the folder {folder} is not there"))
            .hint("Name one that is, or create it."));
    }
    let (is_here, pane) = match place {
        Launch::Here => (is_interactive(), None),
        Launch::Seat(seat) => {
            let server = seat.and_then(server_of).filter(|server| current_server().as_ref() == Some(server));
            let pane = seat.and_then(|seat| seat.rsplit(':').next()).filter(|_| server.is_some());
            (
                is_interactive() && (current_server().is_none() || pane == variable("TMUX_PANE").as_deref()),
                pane,
            )
        }
    };
    if is_here {
        return Err(replace_this_process(folder, program));
    }
    let line = program.join(" ");
    if current_server().is_some_and(|server| server.start(pane, folder, program)) {
        scope.out.line(&format!("`{line}` runs in tmux, in {folder}"));
        return Ok(());
    }
    let what = format!("`{line}` needs a terminal");
    Err(Failure::input(what).hint(format!("Run `cd {folder} && {line}` in one.")))
}

#[expect(clippy::disallowed_methods, reason = "becomes the agent that the user asked for")]
fn replace_this_process(folder: &str, program: &[&str]) -> Failure {
    let (name, arguments) = program.split_first().map_or(("", program), |(name, rest)| (*name, rest));
    let error = Command::new(name).args(arguments).current_dir(folder).exec();
    Failure::about(format!("could not start `{name}`"), &error).hint("Put it on the PATH, then try again.")
}
