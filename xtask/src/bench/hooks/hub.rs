//! Hubs that a hook must not notice: one that is down, one that hangs up, one that never answers.
//!
//! Speaks no protocol: no request to these hubs ever succeeds.

use std::net::{TcpListener, TcpStream};
use std::thread;

use crate::bench::home::Home;
use crate::files;
use crate::outcome::{Failure, Result};

/// The hub in the user's configuration, and how it behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hub {
    /// There is no configuration file.
    Unset,
    /// The configuration names no hub.
    None,
    /// No process listens on its port.
    Down,
    /// Every connection is closed at once.
    Refusing,
    /// Connections are accepted and never answered.
    Silent,
}

/// Hubs that must cost the same.
pub const ALIKE: [Hub; 4] = [Hub::None, Hub::Down, Hub::Refusing, Hub::Silent];

impl Hub {
    pub fn words(self) -> &'static str {
        match self {
            Hub::Unset => "",
            Hub::None => ", no hub",
            Hub::Down => ", a hub that is down",
            Hub::Refusing => ", a hub that hangs up",
            Hub::Silent => ", a hub that never answers",
        }
    }

    /// Writes the configuration and starts the hub, which runs until the benchmark ends.
    pub fn set_up(self, home: &Home) -> Result<()> {
        let text = match self {
            Hub::Unset => return Ok(()),
            Hub::None => "[keep]\nevents_days = 90\n".to_owned(),
            Hub::Down | Hub::Refusing | Hub::Silent => format!(
                "[hub]\nurl = \"postgres://ann@127.0.0.1:{}/towline\"\nteam = \"crew\"\ntls = \"plain\"\n",
                self.listen().map_err(Failure::start("a listener"))?
            ),
        };
        files::write(&home.config(), text)
    }

    /// Behaves like this hub on a local port, which it returns.
    fn listen(self) -> std::io::Result<u16> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        if self != Hub::Down {
            thread::spawn(move || {
                let mut open: Vec<TcpStream> = Vec::new();
                let connections = listener.incoming().flatten();
                // A connection that is not kept is closed.
                connections.filter(|_| self == Hub::Silent).for_each(|stream| open.push(stream));
            });
        }
        Ok(port)
    }
}
