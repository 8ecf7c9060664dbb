//! A TCP proxy between a client and a server that can be cut, silenced, slowed and healed.
//!
//! Never inspects the bytes that it forwards. Dropping it ends the proxy and its connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// How often an idle connection checks whether it has been cut.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    /// Delays each packet by this long.
    Slow(Duration),
    /// Accepts connections and forwards nothing.
    Silent,
    /// Closes all connections at once, old and new.
    Cut,
    Gone,
}

/// A proxy on its own port.
#[derive(Debug)]
pub struct Cut {
    port: u16,
    way: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    way: Mutex<Way>,
    changed: Condvar,
}

impl Cut {
    /// Forwards from a free port to this port on loopback.
    #[track_caller]
    pub fn before(port: u16) -> Cut {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let own = listener.local_addr().expect("it listens").port();
        let way = Arc::new(Shared { way: Mutex::new(Way::Open), changed: Condvar::new() });
        let shared = way.clone();
        thread::spawn(move || accept(&listener, port, &shared));
        Cut { port: own, way }
    }

    /// The port that clients connect to.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Closes every connection, and each new one as soon as it is accepted.
    pub fn cut(&self) {
        self.way.set(Way::Cut);
    }

    /// Forwards nothing, without closing any connection.
    pub fn silence(&self) {
        self.way.set(Way::Silent);
    }

    /// Delays every packet from now on, in both directions.
    pub fn slow(&self, per_packet: Duration) {
        self.way.set(Way::Slow(per_packet));
    }

    /// Forwards normally again. Closed connections stay closed; withheld bytes are forwarded.
    pub fn heal(&self) {
        self.way.set(Way::Open);
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        self.way.set(Way::Gone);
        // Wakes the listener, which then sees the end.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn set(&self, way: Way) {
        *self.way.lock().expect("no holder panicked") = way;
        self.changed.notify_all();
    }

    fn get(&self) -> Way {
        *self.way.lock().expect("no holder panicked")
    }

    /// Waits as the mode demands; returns false if the connection must close.
    fn passes(&self) -> bool {
        let way = self.way.lock().expect("no holder panicked");
        let way = match *way {
            Way::Slow(pause) => {
                let is_slow = |way: &mut Way| matches!(way, Way::Slow(_));
                self.changed.wait_timeout_while(way, pause, is_slow).expect("no holder panicked").0
            }
            Way::Open | Way::Silent | Way::Cut | Way::Gone => way,
        };
        let is_silent = |way: &mut Way| *way == Way::Silent;
        let way = self.changed.wait_while(way, is_silent).expect("no holder panicked");
        !matches!(*way, Way::Cut | Way::Gone)
    }

    fn has_ended(&self) -> bool {
        matches!(self.get(), Way::Cut | Way::Gone)
    }
}

fn accept(listener: &TcpListener, port: u16, way: &Arc<Shared>) {
    for client in listener.incoming().flatten() {
        match way.get() {
            Way::Gone => return,
            Way::Cut => drop(client),
            Way::Open | Way::Slow(_) | Way::Silent => {
                if let Ok(server) = TcpStream::connect(("127.0.0.1", port)) {
                    join(&client, &server, way);
                }
            }
        }
    }
}

fn join(client: &TcpStream, server: &TcpStream, way: &Arc<Shared>) {
    for (from, to) in [(client, server), (server, client)] {
        let (Ok(from), Ok(to)) = (from.try_clone(), to.try_clone()) else { return };
        let way = way.clone();
        thread::spawn(move || carry(from, to, &way));
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, way: &Shared) {
    let _ = from.set_read_timeout(Some(LOOK));
    let mut packet = [0; 16 << 10];
    while !way.has_ended() {
        let length = match from.read(&mut packet) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if is_idle(&error) => continue,
            Err(_) => break,
        };
        if !way.passes() || to.write_all(&packet[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

fn is_idle(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An echo server, one connection after the other.
    fn echo() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut word = [0; 4];
                while stream.read_exact(&mut word).is_ok() && stream.write_all(&word).is_ok() {}
            }
        });
        port
    }

    fn says_back(stream: &mut TcpStream) -> bool {
        let mut word = [0; 4];
        stream.write_all(b"word").is_ok() && stream.read_exact(&mut word).is_ok()
    }

    #[test]
    fn a_cut_ends_connections_and_healing_lets_new_ones_through() {
        let cut = Cut::before(echo());
        let mut stream = TcpStream::connect(("127.0.0.1", cut.port())).unwrap();
        assert!(says_back(&mut stream));
        cut.cut();
        assert!(!says_back(&mut stream));
        let mut during = TcpStream::connect(("127.0.0.1", cut.port())).unwrap();
        assert!(!says_back(&mut during));
        cut.heal();
        let mut after = TcpStream::connect(("127.0.0.1", cut.port())).unwrap();
        assert!(says_back(&mut after));
    }

    #[test]
    fn silence_holds_packets_back_until_it_is_healed() {
        let cut = Cut::before(echo());
        let mut stream = TcpStream::connect(("127.0.0.1", cut.port())).unwrap();
        assert!(says_back(&mut stream));
        cut.silence();
        stream.write_all(b"word").unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        assert!(stream.read_exact(&mut [0; 4]).is_err());
        cut.heal();
        stream.set_read_timeout(Some(crate::wait::PATIENCE)).unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
    }

    #[test]
    fn a_slow_way_lets_a_packet_through_late() {
        let cut = Cut::before(echo());
        let mut stream = TcpStream::connect(("127.0.0.1", cut.port())).unwrap();
        cut.slow(Duration::from_millis(300));
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        assert!(!says_back(&mut stream));
        stream.set_read_timeout(Some(crate::wait::PATIENCE)).unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
    }
}
