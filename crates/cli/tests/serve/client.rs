//! A small client: writes what it is told, reads what comes back, follows no rule of its own.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// No answer on this machine takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub fn is(self, status: u16) -> Response {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// One request on a connection of its own: a first line, headers, a body.
pub fn send(port: u16, head: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
    exchange(connect(port), head, headers, body)
}

pub fn send_to_socket(path: &std::path::Path, head: &str) -> Response {
    let stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    exchange(stream, head, &[("Host", "tow")], b"")
}

fn exchange(mut stream: impl Read + Write, head: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
    let mut text = format!("{head} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    let is_chunked = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    if !body.is_empty() && !is_chunked {
        text += &format!("Content-Length: {}\r\n", body.len());
    }
    // A server that has heard enough answers and closes: the rest cannot be written then.
    let _refused = stream.write_all(format!("{text}\r\n").as_bytes()).and_then(|()| stream.write_all(body));
    read(stream)
}

pub fn read(stream: impl Read) -> Response {
    let mut reader = BufReader::new(stream);
    let (status, headers) = read_head(&mut reader);
    let mut body = vec![];
    let length =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    match length {
        Some(length) => drop(reader.take(length).read_to_end(&mut body)),
        None => drop(reader.read_to_end(&mut body)),
    }
    Response { status, headers, body: String::from_utf8_lossy(&body).into_owned() }
}

/// 0 where nothing was answered at all.
pub fn read_head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    let _closed = reader.read_line(&mut line);
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let mut headers = vec![];
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            return (status, headers);
        }
        if let Some((name, value)) = line.trim().split_once(": ") {
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
    }
}
