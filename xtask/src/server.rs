//! A `tow data serve` of its own, for benchmarks and pictures.
//!
//! Must not be the user's: the caller's command names a home. It ends when it is dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::files;
use crate::outcome::{Failure, Result};

pub struct Server {
    child: Child,
    /// The line that it prints at its start.
    greeting: Value,
}

impl Server {
    /// Starts `tow`, with these options of `serve`, on a free port.
    pub fn start(tow: &mut Command, options: &[&str]) -> Result<Server> {
        tow.args(["data", "serve", "--json", "--port", "0"]).args(options).stdout(Stdio::piped());
        let mut child = tow.spawn().map_err(Failure::start("tow data serve"))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let greeting = serde_json::from_str(&line)
            .map_err(|error| Failure::malformed("what `tow data serve --json` printed", error))?;
        Ok(Server { child, greeting })
    }

    /// The address that contains the token.
    pub fn url(&self) -> &str {
        self.greeting["url"].as_str().unwrap_or_default()
    }

    pub fn base(&self) -> &str {
        self.url().split("/?").next().unwrap_or_default()
    }

    pub fn token(&self) -> &str {
        self.greeting["token"].as_str().unwrap_or_default()
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The server's resident memory.
    pub fn resident_mb(&self) -> Result<f64> {
        self.megabytes("VmRSS:")
    }

    /// The most it ever was.
    pub fn peak_mb(&self) -> Result<f64> {
        self.megabytes("VmHWM:")
    }

    fn megabytes(&self, name: &str) -> Result<f64> {
        let status = files::read(&PathBuf::from(format!("/proc/{}/status", self.child.id())))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
        kilobytes.map(|kilobytes| kilobytes / 1000.0).ok_or_else(|| Failure::malformed(name, status))
    }

    /// Opens a request with the server's token; the answer follows on the connection.
    pub fn get(&self, path: &str) -> Result<TcpStream> {
        let host = self.base().trim_start_matches("http://");
        let refused = Failure::start("a request to `tow data serve`");
        let mut stream = TcpStream::connect(host).map_err(refused)?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            self.token()
        )?;
        Ok(stream)
    }

    /// The answer to a request, with its head. Any status but 200 is a failure.
    pub fn answer(&self, path: &str) -> Result<String> {
        let mut text = Vec::new();
        self.get(path)?.read_to_end(&mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        if text.starts_with("HTTP/1.1 200 ") { Ok(text) } else { Err(Failure::malformed(path, text)) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that has already ended is no error.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}
