//! `tow data serve`: serves the viewer and the API on this machine until it is stopped.
//!
//! Listens on local addresses only, requires the token, and changes nothing without `--write`. A server that may write
//! replaces one that only reads, never the other way round.

use crate::output::complain;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use towline_engine::runtime::Failure;
use towline_server::backend::EngineBackend;
use towline_server::http::{Listening, Place, ServeError, Server, Settings, Tokens, Writing};
use towline_server::{AddressFile, ServerKey, TokenReuse, running, tokens};

const EXAMPLES: &str = "\
Examples:
  tow data serve                     read only, on a port of 127.0.0.1; prints an address that logs in once
  tow data serve --write             memories can be edited, pinned and forgotten; replaces a server that only reads
  tow data serve --port 4800 --json
  tow data serve --socket /run/user/1000/tow.sock
  tow data serve --new-tokens        those of before open nothing any more";

/// The preferred port.
const PORT: u16 = 4747;

/// Serve the viewer and the API to this machine's user.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Listen on this port of 127.0.0.1; 0 for any that is free. Without it 4747, or any if that is taken.
    #[arg(long, value_name = "PORT", conflicts_with = "socket")]
    port: Option<u16>,
    /// Listen on this unix socket instead: for processes of this user, without a token.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Allow changes: edit, pin, supersede, hold back, forget, retry. Replaces your running server if it only reads.
    #[arg(long)]
    write: bool,
    /// Generate new tokens first.
    #[arg(long)]
    new_tokens: bool,
    /// Exit after this many minutes without use.
    #[arg(long, value_name = "MINUTES")]
    idle: Option<u64>,
    /// Answer at most N requests per second, of each token and of browsers.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    rate: u32,
    /// Print one JSON object with the address, an address that logs in once, and the token.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let home = &scope.env.home;
    let kept = if arguments.new_tokens { TokenReuse::Replace } else { TokenReuse::Keep };
    home.create().map_err(|error| Failure::about("could not make the data folder", &error))?;
    let drawn = tokens(home, kept)?;
    let user = rustix::process::getuid().as_raw();
    let writing = if arguments.write { Writing::Allowed } else { Writing::Refused };
    let other = other(scope, arguments, &drawn.key)?;
    let listening = listen(arguments, other.port(), user)?;
    let server = Server {
        desk: Arc::new(EngineBackend { began_at: scope.env.now, writing }),
        tokens: Tokens::new(&drawn.viewer, &drawn.events),
        key: drawn.key.clone(),
        settings: Settings {
            writing,
            idle: arguments.idle.map(|minutes| Duration::from_secs(minutes.saturating_mul(60))),
            rate: arguments.rate.max(1),
            user,
            version: env!("CARGO_PKG_VERSION"),
        },
    };
    let code = drawn.key.login_code(listening.run(), scope.env.now);
    let code = code.map_err(|error| Failure::about("could not make a login code", &error))?;
    let address = &listening.run().address;
    // `tow open` keeps to a server that may write: the new one must not take its place.
    let note = (other != Other::Writes).then(|| AddressFile::note(home, listening.run(), writing));
    announce(scope, arguments, Access { address, code: &code, token: &drawn.viewer });
    let served = listening.serve(server);
    drop(note);
    served.map_err(|error| Failure::new(&error))
}

/// The user's server that ran before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    None,
    /// It only read, and was ended; its port is free.
    Replaced(u16),
    /// It may write, and goes on.
    Writes,
}

impl Other {
    fn port(self) -> u16 {
        if let Other::Replaced(port) = self { port } else { PORT }
    }
}

/// Ends a server that only reads if this one may write; never ends one that may write.
fn other(scope: &Scope, arguments: &Arguments, key: &ServerKey) -> Result<Other, Failure> {
    // A listener that is not ours is in nobody's way: this server takes another port.
    let Ok(Some(server)) = running(&scope.env.home, key) else { return Ok(Other::None) };
    let address = &server.run.address;
    match (server.writing, arguments.write) {
        (Writing::Refused, true) if arguments.socket.is_none() => {
            complain(&format!("replacing the server at {address}, which only reads\n"));
            server.end(key)?;
            Ok(Other::Replaced(address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(PORT)))
        }
        (Writing::Allowed, false) => {
            let next = "`tow open` still opens that one";
            complain(&format!("a server that may write runs at {address} and goes on; {next}\n"));
            Ok(Other::Writes)
        }
        _ => Ok(Other::None),
    }
}

fn listen(arguments: &Arguments, usual: u16, user: u32) -> Result<Listening, Failure> {
    let place = match (&arguments.socket, arguments.port) {
        (Some(path), _) => Place::Socket(path.clone()),
        (None, port) => Place::Port(port.unwrap_or(usual)),
    };
    let is_wished = arguments.socket.is_some() || arguments.port.is_some();
    let listening = match Listening::on(&place, user) {
        Err(_) if !is_wished => Listening::on(&Place::Port(0), user),
        tried => tried,
    };
    let next = match arguments.socket {
        Some(_) => "Give `--socket` a path where nothing is, or remove what is there.",
        None => "Run `tow data serve --port 0` for any port that is free.",
    };
    listening.map_err(|error: ServeError| Failure::new(&error).hint(next))
}

/// The ways into the server that are printed.
struct Access<'a> {
    address: &'a str,
    code: &'a str,
    token: &'a str,
}

/// Prints the address before the first request is served: the parent process waits for it.
fn announce(scope: &Scope, arguments: &Arguments, access: Access<'_>) {
    let Access { address, code, token } = access;
    let is_port = address.starts_with("http");
    let url = if is_port { format!("{address}/?code={code}") } else { address.to_owned() };
    let text = if arguments.json {
        let write = arguments.write;
        json!({"address": address, "url": url, "token": token, "write": write, "pid": std::process::id()})
            .to_string()
    } else {
        let may = if arguments.write { "may change memories" } else { "only reads" };
        let login = if is_port {
            "\nthis address logs in once, within a minute; after that run `tow open`"
        } else {
            ""
        };
        format!("serving at {url}{login}\nit {may}; end it by Ctrl-C")
    };
    let _nobody_reads = scope.out.send(&format!("{text}\n"));
}
