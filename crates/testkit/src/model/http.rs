//! The part of HTTP/1.1 that the clients use: one request per connection, sized or chunked bodies, streams.
//!
//! Knows no API and keeps no connection alive.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Headers that must not be logged.
const CREDENTIALS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "x-api-key"];

/// A request as received, without credentials.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

impl Received {
    /// The request target without its query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// Reads one request; `None` if the peer closed without sending any.
pub(super) fn receive(stream: &TcpStream) -> io::Result<Option<Received>> {
    let mut reader = BufReader::new(stream);
    let first = read_line(&mut reader)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let mut headers = read_headers(&mut reader)?;
    if headers.get("expect").is_some_and(|value| value == "100-continue") {
        (&*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = read_body(&mut reader, &headers)?;
    headers.retain(|name, _| !CREDENTIALS.contains(&name.as_str()));
    Ok(Some(Received { method, target, headers, body }))
}

/// Sends a whole answer; to HEAD, only its headers.
pub(super) fn send(
    mut stream: &TcpStream,
    status: u16,
    headers: &[(String, String)],
    body: &str,
) -> io::Result<()> {
    let length = format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
    stream.write_all(head(status, headers, &length).as_bytes())?;
    stream.write_all(body.as_bytes())
}

/// Starts a response of server-sent events, which lasts until the connection is closed.
pub(super) fn start_events(mut stream: &TcpStream, headers: &[(String, String)]) -> io::Result<()> {
    let kind = "content-type: text/event-stream\r\ncache-control: no-cache\r\n";
    stream.write_all(head(200, headers, kind).as_bytes())
}

/// Sends one server-sent event.
pub(super) fn send_event(mut stream: &TcpStream, name: Option<&str>, data: &str) -> io::Result<()> {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    stream.write_all(format!("{name}data: {data}\n\n").as_bytes())
}

fn head(status: u16, headers: &[(String, String)], own: &str) -> String {
    let given: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status} Scripted\r\nconnection: close\r\n{own}{given}\r\n")
}

fn read_headers(reader: &mut impl BufRead) -> io::Result<BTreeMap<String, String>> {
    let mut headers = BTreeMap::new();
    loop {
        let line = read_line(reader)?;
        let Some((name, value)) = line.split_once(':') else {
            return Ok(headers);
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
}

fn read_body(reader: &mut impl BufRead, headers: &BTreeMap<String, String>) -> io::Result<Vec<u8>> {
    if headers.get("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
        return read_chunks(reader);
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    read_exactly(reader, length.unwrap_or(0))
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader)?;
        let digits = line.split(';').next().unwrap_or_default();
        let size = usize::from_str_radix(digits, 16).map_err(io::Error::other)?;
        if size == 0 {
            while !read_line(reader)?.is_empty() {}
            return Ok(body);
        }
        body.extend(read_exactly(reader, size)?);
        read_line(reader)?;
    }
}

fn read_exactly(reader: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
