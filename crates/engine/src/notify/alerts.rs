//! What is left to tell later of the seats, and waking the process that does it.

use super::desktop::desktop;
use super::errand::Errand;
use super::plan::{Step, plan};
use crate::runtime::config::Notify;
use crate::runtime::env::{Env, on_path};
use crate::runtime::spawn;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use towline_core::shown::Shown;
use towline_core::telling::Telling;
use towline_store::Home;
use towline_store::told::{self, Way};

/// Sees to it that a process looks at the seats, and soon.
pub fn rouse(home: &Home) {
    if !nudge(home) {
        spawn::alert_detached();
    }
}

/// The steps that are left for these seats.
pub fn steps(env: &Env, notify: &Notify, seats: &[Shown]) -> Vec<Step> {
    plan(seats, notify, &|topic| told::last(&env.home, topic), env.now)
}

/// Whether there is somebody who now knows that there is something new. One whose queue is full knows it already.
pub fn nudge(home: &Home) -> bool {
    let send = || {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        socket.send_to(b"!", home.alert_socket())
    };
    send().map_or_else(|error: io::Error| error.kind() == ErrorKind::WouldBlock, |_| true)
}

pub const NO_DESKTOP: &str = "neither notify-send nor osascript is on the PATH";

/// What is run to tell something by this way; `None` where no program can.
pub fn errand(notify: &Notify, way: Way, telling: &Telling) -> Option<Errand> {
    match way {
        Way::Desktop => desktop(telling, &|name| on_path(name).is_some()),
        Way::Phone => Some(Errand::new("notify.phone", &notify.phone, telling)),
        Way::AtOnce => None,
    }
}
