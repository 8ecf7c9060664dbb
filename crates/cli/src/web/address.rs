//! Where the server listens, for whoever wants to open it.
//!
//! A note of a server that is gone is no server: who reads it asks whether anybody answers there.

use serde_json::{Value, json};
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use towline_server::http::Writing;
use towline_store::Home;
use towline_store::home::put_small;

/// The note, for as long as the server runs.
pub struct Address<'a> {
    home: &'a Home,
    text: String,
}

/// How long a server on this machine may take to take a connection.
const PATIENCE: Duration = Duration::from_millis(500);

impl<'a> Address<'a> {
    /// Somebody who cannot find the server starts another one: a note that cannot be written is no failure.
    pub fn note(home: &'a Home, address: &str, writing: Writing) -> Address<'a> {
        let write = writing == Writing::Allowed;
        let text = json!({"address": address, "pid": std::process::id(), "write": write}).to_string();
        let _not_found = put_small(&home.serving().join("address"), text.as_bytes());
        Address { home, text }
    }
}

impl Drop for Address<'_> {
    fn drop(&mut self) {
        let file = self.home.serving().join("address");
        if fs::read_to_string(&file).is_ok_and(|text| text == self.text) {
            let _stale = fs::remove_file(file);
        }
    }
}

/// A server that takes connections.
pub struct Running {
    pub address: String,
    pub pid: u64,
    pub writing: Writing,
}

/// The server that was noted last, if it is there.
pub fn running(home: &Home) -> Option<Running> {
    let text = fs::read_to_string(home.serving().join("address")).ok()?;
    let note: Value = serde_json::from_str(&text).ok()?;
    let address = note["address"].as_str()?;
    let answers = match (address.strip_prefix("http://"), address.strip_prefix("unix:")) {
        (Some(host), _) => {
            let host: SocketAddr = host.parse().ok()?;
            TcpStream::connect_timeout(&host, PATIENCE).is_ok()
        }
        (None, Some(path)) => UnixStream::connect(path).is_ok(),
        (None, None) => false,
    };
    let writing = if note["write"] == true { Writing::Allowed } else { Writing::Refused };
    answers.then(|| Running { address: address.to_owned(), pid: note["pid"].as_u64().unwrap_or(0), writing })
}
