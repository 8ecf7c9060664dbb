//! The address file of a running server, for commands that open it.
//!
//! The file may outlive its server: readers must check that the server accepts connections.

use crate::http::Writing;
use serde_json::{Value, json};
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use towline_engine::runtime::env::{DataFolder, replace_file};

/// Owns the address file; removes it on drop.
pub struct AddressFile<'a> {
    home: &'a DataFolder,
    text: String,
}

/// Timeout for connecting to a local server.
const PATIENCE: Duration = Duration::from_millis(500);

impl<'a> AddressFile<'a> {
    /// Writes the file. Errors are ignored: a client that does not find this server starts another one.
    pub fn note(home: &'a DataFolder, address: &str, writing: Writing) -> AddressFile<'a> {
        let write = writing == Writing::Allowed;
        let text = json!({"address": address, "pid": std::process::id(), "write": write}).to_string();
        let _not_found = replace_file(&home.serving().join("address"), text.as_bytes());
        AddressFile { home, text }
    }
}

impl Drop for AddressFile<'_> {
    fn drop(&mut self) {
        let file = self.home.serving().join("address");
        if fs::read_to_string(&file).is_ok_and(|text| text == self.text) {
            let _stale = fs::remove_file(file);
        }
    }
}

/// A server that accepts connections.
pub struct Running {
    pub address: String,
    pub pid: u64,
    pub writing: Writing,
}

/// The server in the address file, if it accepts connections.
pub fn running(home: &DataFolder) -> Option<Running> {
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
