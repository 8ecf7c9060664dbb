//! The address file of a running server, for commands that open it.
//!
//! The file may outlive its server, and another program may listen there by then: clients get a server only after it has
//! proved that it has the key of this data folder.

use crate::http::{PROOF_PATH, Writing};
use crate::proof::{ServerKey, ServerRun, random};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use towline_core::patience::stretch;
use towline_engine::runtime::env::{DataFolder, replace_file};
use towline_engine::runtime::{Failure, Kind, spawn};

/// Owns the address file; removes it on drop.
pub struct AddressFile<'a> {
    home: &'a DataFolder,
    text: String,
}

/// Timeout for connecting to a local server.
const PATIENCE: Duration = Duration::from_millis(500);

/// Timeout for its answer, which a busy machine delays.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// Timeout for the end of a server: it closes its listener first.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// More bytes than any proof has.
const LONGEST_ANSWER: usize = 8 << 10;

impl<'a> AddressFile<'a> {
    /// Writes the file. Errors are ignored: a client that does not find this server starts another one.
    pub fn note(home: &'a DataFolder, run: &ServerRun, writing: Writing) -> AddressFile<'a> {
        let (pid, write) = (std::process::id(), writing == Writing::Allowed);
        let text = json!({"address": run.address, "run": run.id, "pid": pid, "write": write}).to_string();
        let _not_found = replace_file(&home.serving().join("address"), text.as_bytes());
        AddressFile { home, text }
    }
}

impl Drop for AddressFile<'_> {
    fn drop(&mut self) {
        let file = self.home.serving().join("address");
        if fs::read_to_string(&file).is_ok_and(|text| text == self.text) {
            let _stale = fs::remove_file(file);
            let _not_opened = fs::remove_file(login_page(self.home));
        }
    }
}

/// The page that `tow open` has the browser open: it holds a login code for the server.
pub fn login_page(home: &DataFolder) -> PathBuf {
    home.serving().join("open.html")
}

/// A server that proved to be ours.
pub struct Running {
    pub run: ServerRun,
    /// `None` if the note is not of this run.
    pub pid: Option<i32>,
    pub writing: Writing,
}

/// The server in the address file, if it accepts connections on a port. An error if the listener is not ours.
pub fn running(home: &DataFolder, key: &ServerKey) -> Result<Option<Running>, Failure> {
    let text = fs::read_to_string(home.serving().join("address")).unwrap_or_default();
    let note: Value = serde_json::from_str(&text).unwrap_or_default();
    let Some(address) = note["address"].as_str() else { return Ok(None) };
    let writing = if note["write"] == true { Writing::Allowed } else { Writing::Refused };
    let run = proven(address, key)?;
    // The note of another run names a process that has ended, or by now another program.
    let pid = |run: &ServerRun| note["pid"].as_i64().filter(|_| note["run"] == run.id.as_str());
    Ok(run.map(|run| Running { pid: pid(&run).and_then(|pid| pid.try_into().ok()), run, writing }))
}

impl Running {
    /// Ends this server, and waits until its address is free.
    pub fn end(&self, key: &ServerKey) -> Result<(), Failure> {
        let address = &self.run.address;
        let is_gone = || !matches!(proven(address, key), Ok(Some(_)));
        if self.pid.is_some_and(|pid| spawn::end(pid, stretch(END_PATIENCE), is_gone)) {
            return Ok(());
        }
        let what = format!("the server at {address} could not be ended");
        let next = "End it by Ctrl-C or `kill`, then run this again.";
        Err(Failure { kind: Kind::Failed, ..Failure::input(what) }.hint(next))
    }
}

/// The run that listens on this address, once it has proved that it has our key; `None` if nothing listens on a port there.
/// Until then it is sent a nonce and a signature of it, which are of no use to anyone else.
pub fn proven(address: &str, key: &ServerKey) -> Result<Option<ServerRun>, Failure> {
    let Some(host) = address.strip_prefix("http://") else { return Ok(None) };
    let connect = |host: SocketAddr| TcpStream::connect_timeout(&host, stretch(PATIENCE)).ok();
    let Some(stream) = host.parse().ok().and_then(connect) else { return Ok(None) };
    challenge(stream, address, key).map(Some).map_err(|error| {
        Failure::about(
            format!("the program that listens on {host} did not prove that it is your server"),
            &error,
        )
        .hint("It is another program, or a server of an older version. Nothing secret was sent to it.")
        .hint("Run `tow data serve` for a server on a free port, then run this again.")
    })
}

/// Reads to the end, for as long as an answer may take in all: a byte now and then does not prolong it.
#[expect(clippy::disallowed_methods, reason = "a deadline of a read from another program")]
fn read_within(stream: &mut TcpStream, answer: &mut String) -> io::Result<()> {
    let (end, mut bytes, mut part) = (Instant::now() + stretch(ANSWER_PATIENCE), vec![], [0; 1024]);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > LONGEST_ANSWER {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => break,
            read => bytes.extend_from_slice(&part[..read]),
        }
    }
    answer.push_str(&String::from_utf8_lossy(&bytes));
    Ok(())
}

fn challenge(mut stream: TcpStream, address: &str, key: &ServerKey) -> io::Result<ServerRun> {
    let (nonce, host) = (random()?, address.trim_start_matches("http://"));
    let proof = key.client_proof(address, &nonce);
    let head = format!("GET {PROOF_PATH}?nonce={nonce}&proof={proof} HTTP/1.1\r\nHost: {host}\r\n");
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    let silent = |_| io::Error::other("it did not answer like a server of Towline");
    read_within(&mut stream, &mut answer).map_err(silent)?;
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let said: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |name: &str| said[name].as_str().unwrap_or_default();
    let run = ServerRun { address: address.to_owned(), id: text("server").to_owned() };
    match key.is_server(&run, &nonce, text("proof")) {
        true => Ok(run),
        false => {
            Err(io::Error::other("its answer is not signed with the key in `serve/key` of the data folder"))
        }
    }
}
