//! `tow open`: opens the viewer in a browser, and starts a server if none runs.
//!
//! Without a graphical session it opens nothing and prints the address.

use crate::scope::Scope;
use clap::Args;
use serde_json::Value;
use towline_engine::runtime::{Failure, Kind, spawn, variable};
use towline_server::http::Writing;
use towline_server::{Running, TokenReuse, running, tokens};

const EXAMPLES: &str = "\
Examples:
  tow open           starts a server if none runs, and opens the viewer
  tow open --print   prints the address instead
  tow open --write   a server that it starts may change memories";

/// Open the viewer in a browser.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print the address, with its token, and open nothing.
    #[arg(long)]
    print: bool,
    /// If a server is started: allow changes.
    #[arg(long)]
    write: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let home = &scope.env.home;
    let token = tokens(home, TokenReuse::Keep)?.viewer;
    let address = match running(home).filter(|server| server.address.starts_with("http")) {
        Some(server) if arguments.write && server.writing == Writing::Refused => {
            return Err(only_reads(&server));
        }
        Some(server) => server.address,
        None => started(arguments)?,
    };
    let url = format!("{address}/?token={token}");
    let is_opened = !arguments.print && has_screen() && spawn::open_in_browser(&url);
    scope.out.line(&if is_opened { format!("opened {address}/") } else { url });
    Ok(())
}

fn started(arguments: &Arguments) -> Result<String, Failure> {
    let line = spawn::serve_detached(if arguments.write { &["--write"] } else { &[] });
    let said: Option<Value> = line.and_then(|line| serde_json::from_str(&line).ok());
    said.and_then(|said| said["address"].as_str().map(str::to_owned)).ok_or_else(|| {
        let what = "the server did not begin to listen";
        Failure { kind: Kind::Failed, ..Failure::input(what) }.hint("Run `tow serve` to see why.")
    })
}

fn only_reads(server: &Running) -> Failure {
    let what = format!("a server that only reads runs already at {}", server.address);
    Failure::input(what).hint(format!("End it by `kill {}`, then run this again.", server.pid))
}

/// Whether there is a graphical session on this machine.
fn has_screen() -> bool {
    let has = |name: &str| variable(name).is_some();
    cfg!(target_os = "macos") && !has("SSH_CONNECTION") || has("DISPLAY") || has("WAYLAND_DISPLAY")
}
