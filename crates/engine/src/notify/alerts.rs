//! Pending desktop and phone notifications, and waking the alert process. Sends none itself.

use super::desktop::desktop;
use super::errand::Errand;
use super::plan::{Step, plan};
use crate::runtime::config::Notify;
use crate::runtime::env::find_in_path;
use crate::runtime::{Env, spawn};
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixDatagram;
use towline_core::shown::SeatView;
use towline_core::telling::Notification;
use towline_store::DataFolder;
use towline_store::told::{self, NotifyChannel};

/// Wakes the alert process, or starts one if none runs.
pub fn wake_alert_process(home: &DataFolder) {
    if !nudge(home) {
        spawn::alert_detached();
    }
}

/// The notification steps still pending for these seats.
pub fn steps(env: &Env, notify: &Notify, seats: &[SeatView]) -> Vec<Step> {
    plan(seats, notify, &|topic| told::last(&env.home, topic), env.now)
}

/// Returns whether an alert process was woken. A full queue means that it is about to wake anyway.
pub fn nudge(home: &DataFolder) -> bool {
    let send = || {
        let socket = UnixDatagram::unbound()?;
        socket.set_nonblocking(true)?;
        socket.send_to(b"!", home.alert_socket())
    };
    send().map_or_else(|error: io::Error| error.kind() == ErrorKind::WouldBlock, |_| true)
}

pub const NO_DESKTOP: &str = "neither notify-send nor osascript is on the PATH";

/// The command for this channel; `None` if no program is available.
pub fn errand(notify: &Notify, way: NotifyChannel, telling: &Notification) -> Option<Errand> {
    match way {
        NotifyChannel::Desktop => desktop(telling, &|name| find_in_path(name).is_some()),
        NotifyChannel::Phone => Some(Errand::new("notify.phone", &notify.phone, telling)),
        NotifyChannel::AtOnce => None,
    }
}
