//! `tow open`: opens the viewer in a browser, and starts a server if none runs.
//!
//! Sends no token and no code to anyone: the listener must prove that it is ours, and the browser reads its one-time code
//! from a file of the user. Without a graphical session it opens nothing and prints the address.

use crate::output::complain;
use crate::scope::Scope;
use clap::Args;
use serde_json::Value;
use std::io;
use towline_engine::runtime::env::replace_file;
use towline_engine::runtime::{Failure, Kind, spawn, variable};
use towline_server::http::Writing;
use towline_server::{ServerKey, ServerRun, TokenReuse, login_page, proven, running, tokens};

const EXAMPLES: &str = "\
Examples:
  tow open           starts a server if none runs, and opens the viewer
  tow open --print   prints the address instead: it logs in once, within a minute
  tow open --write   memories can be changed; a server that only reads is replaced";

/// Open the viewer in a browser.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print the address, with a code that logs in once, and open nothing.
    #[arg(long)]
    print: bool,
    /// Allow changes: start a server that may write, or replace one that only reads.
    #[arg(long)]
    write: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let home = &scope.env.home;
    let key = tokens(home, TokenReuse::Keep)?.key;
    let run = match running(home, &key)? {
        Some(server) if arguments.write && server.writing == Writing::Refused => {
            complain(&format!("replacing the server at {}, which only reads\n", server.run.address));
            server.end(&key)?;
            started(arguments, &key)?
        }
        Some(server) => server.run,
        None => started(arguments, &key)?,
    };
    let unmade = |error: io::Error| Failure::about("could not make a login code", &error);
    let url = format!("{}/?code={}", run.address, key.login_code(&run, scope.env.now).map_err(unmade)?);
    if !arguments.print && !has_screen() {
        complain("no browser can be opened from here; this address logs in once:\n");
    }
    if arguments.print || !has_screen() {
        scope.out.line(&url);
        return Ok(());
    }
    let page = login_page(home);
    replace_file(&page, leading_to(&url).as_bytes()).map_err(unmade)?;
    let is_opened = spawn::open_in_browser(&page);
    scope.out.line(&if is_opened { format!("opened {}/", run.address) } else { url });
    Ok(())
}

/// A page that leads to the address. A file hides it: every user of the machine can read the arguments of a process.
fn leading_to(url: &str) -> String {
    format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><title>Towline</title>\n\
        <meta http-equiv=\"refresh\" content=\"0;url={url}\"><a href=\"{url}\">Open the viewer</a>\n"
    )
}

fn started(arguments: &Arguments, key: &ServerKey) -> Result<ServerRun, Failure> {
    let line = spawn::serve_detached(if arguments.write { &["--write"] } else { &[] });
    let said: Option<Value> = line.and_then(|line| serde_json::from_str(&line).ok());
    let address = said.and_then(|said| said["address"].as_str().map(str::to_owned)).unwrap_or_default();
    proven(&address, key)?.ok_or_else(|| {
        let what = "the server did not begin to listen";
        Failure { kind: Kind::Failed, ..Failure::input(what) }.hint("Run `tow data serve` to see why.")
    })
}

/// Whether there is a graphical session on this machine.
fn has_screen() -> bool {
    let has = |name: &str| variable(name).is_some();
    cfg!(target_os = "macos") && !has("SSH_CONNECTION") || has("DISPLAY") || has("WAYLAND_DISPLAY")
}
