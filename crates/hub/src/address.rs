//! The address of a hub, and the password for it.
//!
//! The password is never displayed: it has no text form, and it is overwritten when dropped.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

/// A database and how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubAddress {
    /// A name, an IP address, or the folder of a Unix socket.
    pub host: String,
    pub port: u16,
    pub database: String,
    pub user: String,
    pub tls: Tls,
}

/// How the connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Encrypted, with a verified server certificate: by this CA alone, else by the system's CAs.
    Verified { ca: Option<PathBuf> },
    /// Unencrypted: refused unless the server is on this machine.
    Plain,
    /// Unencrypted even to another machine: the user has opted in.
    PlainAnywhere,
}

impl HubAddress {
    /// Whether the traffic never leaves this machine.
    pub fn is_here(&self) -> bool {
        let is_loopback = || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        self.host.starts_with('/') || self.host == "localhost" || is_loopback()
    }
}

impl fmt::Display for HubAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.host, self.port, self.database)
    }
}

#[derive(Clone)]
pub struct HubPassword(Vec<u8>);

impl HubPassword {
    pub fn new(password: impl Into<String>) -> HubPassword {
        HubPassword(password.into().into_bytes())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for HubPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Drop for HubPassword {
    fn drop(&mut self) {
        self.0.fill(0);
        // Without it the compiler may optimise the write away.
        std::hint::black_box(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_here(host: &str, expected: bool) {
        let address = HubAddress {
            host: host.into(),
            port: 5432,
            database: "team".into(),
            user: "ann".into(),
            tls: Tls::Plain,
        };
        assert_eq!(address.is_here(), expected, "{host}");
    }

    #[test]
    fn only_loopback_and_sockets_are_on_this_machine() {
        for host in ["localhost", "127.0.0.1", "127.8.8.8", "::1", "/run/postgresql"] {
            check_here(host, true);
        }
        for host in ["db.example.com", "10.0.0.1", "localhost.example.com", ""] {
            check_here(host, false);
        }
    }

    #[test]
    fn a_secret_has_no_text() {
        assert_eq!(format!("{:?}", HubPassword::new("hunter2")), "Secret");
    }
}
