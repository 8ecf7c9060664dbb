//! Hubs that a hook must not notice: one that is down, one that hangs up, one that never answers.
//!
//! Speaks no protocol: no request to these hubs ever succeeds.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use crate::outcome::Failure;

use super::home::Home;

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

    /// Writes the configuration and starts the hub, which runs until the returned value is dropped.
    pub fn set_up(self, home: &Home) -> Result<Option<Standing>, Failure> {
        if self == Hub::Unset {
            return Ok(None);
        }
        let standing = Standing::start(self)?;
        let folder = home.user().join(".config/towline");
        fs::create_dir_all(&folder).map_err(Failure::write(&folder))?;
        let path = folder.join("config.toml");
        let text = match self {
            Hub::Unset | Hub::None => "[keep]\nevents_days = 90\n".to_owned(),
            Hub::Down | Hub::Refusing | Hub::Silent => format!(
                "[hub]\nurl = \"postgres://ann@127.0.0.1:{}/towline\"\nteam = \"crew\"\ntls = \"plain\"\n",
                standing.port
            ),
        };
        fs::write(&path, text).map_err(Failure::write(&path))?;
        Ok(Some(standing))
    }
}

/// A fake hub on a local port, which ends when this is dropped.
pub struct Standing {
    port: u16,
    is_over: Arc<AtomicBool>,
}

const LOOKS_AGAIN_AFTER: Duration = Duration::from_millis(20);

impl Standing {
    fn start(hub: Hub) -> Result<Standing, Failure> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(Failure::start("a listener"))?;
        let port = listener.local_addr().map_err(Failure::start("a listener"))?.port();
        let is_over = Arc::new(AtomicBool::new(false));
        if matches!(hub, Hub::Refusing | Hub::Silent) {
            listener.set_nonblocking(true).map_err(Failure::start("a listener"))?;
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || stand(&listener, hub, &is_over));
        }
        Ok(Standing { port, is_over })
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn stand(listener: &TcpListener, hub: Hub, is_over: &AtomicBool) {
    let mut kept: Vec<TcpStream> = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) if hub == Hub::Silent => kept.push(stream),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(LOOKS_AGAIN_AFTER),
            Err(_) => return,
        }
    }
}
