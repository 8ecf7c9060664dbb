//! Message transport to a server: WebSocket frames to a background server, lines to a child process.
//!
//! Both run over sockets, so that every wait has a deadline. Message contents are not interpreted here.

use crate::runtime::Env;
use crate::runtime::env::GUARD;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tungstenite::{HandshakeError, Message, WebSocket};

/// Upper bound of one line; no answer that we request comes near it.
const LONGEST: usize = 64 << 20;

/// How long a child may take to exit on its own.
const TO_END: Duration = Duration::from_secs(2);

pub(super) enum Transport<'a> {
    /// One message per WebSocket frame.
    Frames(Box<WebSocket<Timed<'a>>>),
    /// One message per line.
    Lines { reader: BufReader<Timed<'a>>, child: Child },
}

impl<'a> Transport<'a> {
    pub fn to_socket(env: &'a Env, path: &Path, until: Duration) -> io::Result<Transport<'a>> {
        let stream = Timed { stream: UnixStream::connect(path)?, env, until };
        match tungstenite::client("ws://localhost/", stream) {
            Ok((socket, _)) => Ok(Transport::Frames(Box::new(socket))),
            Err(HandshakeError::Failure(error)) => Err(as_io(error)),
            Err(HandshakeError::Interrupted(_)) => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// The child's stdin and stdout are one socket, because a pipe has no read timeout.
    #[expect(clippy::disallowed_methods, reason = "a server of our own, where none runs in the background")]
    pub fn to_child(env: &'a Env, program: &Path, arguments: &[&str]) -> io::Result<Transport<'a>> {
        let (ours, theirs) = UnixStream::pair()?;
        let output = OwnedFd::from(theirs.try_clone()?);
        let mut command = Command::new(program);
        command.args(arguments).env(GUARD, "1");
        command.stdin(OwnedFd::from(theirs)).stdout(output).stderr(Stdio::null());
        let child = command.spawn()?;
        let stream = Timed { stream: ours, env, until: env.elapsed() };
        Ok(Transport::Lines { reader: BufReader::new(stream), child })
    }

    pub fn send(&mut self, text: &str, until: Duration) -> io::Result<()> {
        match self {
            Transport::Frames(socket) => {
                socket.get_mut().until = until;
                socket.send(Message::text(text)).map_err(as_io)
            }
            Transport::Lines { reader, .. } => {
                let stream = reader.get_mut();
                stream.until = until;
                stream.write_all(format!("{text}\n").as_bytes())
            }
        }
    }

    /// Reads the next message.
    pub fn next(&mut self, until: Duration) -> io::Result<String> {
        match self {
            Transport::Frames(socket) => {
                socket.get_mut().until = until;
                loop {
                    match socket.read().map_err(as_io)? {
                        Message::Text(text) => return Ok(text.to_string()),
                        Message::Close(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
                        // The library itself answers pings.
                        Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
                    }
                }
            }
            Transport::Lines { reader, .. } => {
                reader.get_mut().until = until;
                next_line(reader)
            }
        }
    }
}

fn next_line(reader: &mut BufReader<Timed<'_>>) -> io::Result<String> {
    let mut line = String::new();
    reader.by_ref().take(LONGEST as u64).read_line(&mut line)?;
    if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

impl Drop for Transport<'_> {
    /// On end of input the child exits by itself and closes its end of the socket; it is killed after that.
    fn drop(&mut self) {
        let Transport::Lines { reader, child } = self else { return };
        let stream = reader.get_mut();
        stream.until = stream.env.elapsed() + TO_END;
        let _ = stream.stream.shutdown(std::net::Shutdown::Write);
        let _ = io::copy(reader, &mut io::sink());
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// A socket whose reads and writes share one deadline, measured from program start.
pub(super) struct Timed<'a> {
    stream: UnixStream,
    env: &'a Env,
    until: Duration,
}

impl Timed<'_> {
    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_sub(self.env.elapsed());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer).map_err(timed_out)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(buffer).map_err(timed_out)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The OS reports an expired socket timeout as `WouldBlock`.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { error }
}

fn as_io(error: tungstenite::Error) -> io::Error {
    if let tungstenite::Error::Io(error) = error { error } else { io::Error::other(error) }
}
