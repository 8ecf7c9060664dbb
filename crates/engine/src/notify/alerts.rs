//! Pending desktop and phone notifications, and waking the alert process. Sends none itself.

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

/// Wakes the alert process, or starts one if none runs.
pub fn rouse(home: &Home) {
    if !nudge(home) {
        spawn::alert_detached();
    }
}

/// The notification steps still pending for these seats.
pub fn steps(env: &Env, notify: &Notify, seats: &[Shown]) -> Vec<Step> {
    plan(seats, notify, &|topic| told::last(&env.home, topic), env.now)
}

/// Returns whether an alert process was woken. A full queue means that it is about to wake anyway.
pub fn nudge(home: &Home) -> bool {
    let send = || {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        socket.send_to(b"!", home.alert_socket())
    };
    send().map_or_else(|error: io::Error| error.kind() == ErrorKind::WouldBlock, |_| true)
}

pub const NO_DESKTOP: &str = "neither notify-send nor osascript is on the PATH";

/// The command for this channel; `None` if no program is available.
pub fn errand(notify: &Notify, way: Way, telling: &Telling) -> Option<Errand> {
    match way {
        Way::Desktop => desktop(telling, &|name| on_path(name).is_some()),
        Way::Phone => Some(Errand::new("notify.phone", &notify.phone, telling)),
        Way::AtOnce => None,
    }
}
