//! Telling tmux servers what agents do: the bar, and the state of each pane and window. Only what changed, in one spawn
//! that nobody waits for.
//!
//! What a server was told last is remembered in a small file. Losing it costs one push too many; a server in which
//! nobody sits any more is told so once, and forgotten. Pushes do not overtake each other: each holds a lock that ends
//! with the process that carries it out.

use crate::edge::Edge;
use crate::tmux::options::Options;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::bar::{BarStyle, bar};
use towline_core::escape::for_tmux;
use towline_core::shown::{Light, Shown};
use towline_store::home::private_folder;
use towline_store::lock::{pauses, wait_for};
use towline_terminal::tmux::{Order, Server};

/// Tells every server in which one of these seats is, and those that they left. Whether all were told: one that is still
/// busy with the push before has to be told again, by what is then shown.
pub fn push(edge: &Edge, seats: &[Shown]) -> bool {
    let folder = edge.home.bars();
    let mut told = remembered(&folder);
    let mut all_told = true;
    for (pid, server) in servers(seats) {
        let last = told.remove(&pid).unwrap_or_else(|| Told::nothing(&server.socket));
        let style = Options::remembered(&edge.home, &server).style;
        let now = Told {
            socket: server.socket.clone(),
            text: bar(seats, &style, edge.now),
            panes: panes(seats, &server, &style),
        };
        all_told &= now == last || tell(&folder, &server, &last, &now);
    }
    for (pid, last) in told {
        let server = Server { socket: last.socket.clone(), pid };
        if tell(&folder, &server, &last, &Told::nothing(&last.socket)) {
            forget(&folder, &server);
        } else {
            all_told = false;
        }
    }
    all_told
}

/// The servers by their process id, which is in the key of every seat in them and safe in a path.
pub fn servers(seats: &[Shown]) -> BTreeMap<String, Server> {
    seats.iter().filter_map(|seat| server_of(&seat.seat)).map(|server| (server.pid.clone(), server)).collect()
}

/// The tmux server that a seat is in, by the seat's key: socket, process, pane.
pub fn server_of(seat: &str) -> Option<Server> {
    let mut parts = seat.strip_prefix("tmux:")?.rsplitn(3, ':');
    let (_pane, pid, socket) = (parts.next()?, parts.next()?.to_owned(), parts.next()?.to_owned());
    let sound = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    sound.then_some(Server { socket, pid })
}

/// What a server shows.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Told {
    socket: String,
    text: String,
    /// The most urgent last: of several panes in one window, the last decides what the window shows.
    panes: Vec<PaneState>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct PaneState {
    pane: String,
    state: String,
    mark: String,
}

impl Told {
    fn nothing(socket: &str) -> Told {
        Told { socket: socket.to_owned(), text: String::new(), panes: vec![] }
    }
}

fn panes(seats: &[Shown], server: &Server, style: &BarStyle) -> Vec<PaneState> {
    let in_it = seats.iter().rev().filter(|seat| server_of(&seat.seat).as_ref() == Some(server));
    let state = |seat: &Shown| {
        let light = seat.light();
        let mark = if light == Light::Idle { String::new() } else { for_tmux(&style.look(light).icon) };
        Some(PaneState { pane: seat.pane.clone()?, state: seat.word().to_owned(), mark })
    };
    in_it.filter_map(state).collect()
}

/// Waits a moment for a push that is still under way.
fn tell(folder: &Path, server: &Server, last: &Told, now: &Told) -> bool {
    remember(folder, server, now);
    let turn = wait_for(&folder.join("turn.lock"), pauses(PATIENCE));
    let Ok(Some(turn)) = turn else {
        forget(folder, server);
        return false;
    };
    server.carry_out(&orders(last, now), turn);
    true
}

/// A push takes tmux a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(100);

/// What makes `now` of `last`. A window that lost an agent may have others, so all windows are cleared and set again.
fn orders<'a>(last: &'a Told, now: &'a Told) -> Vec<Order<'a>> {
    let mut orders = vec![];
    if now.text != last.text {
        orders.push(Order::Bar { text: &now.text });
    }
    if now.panes == last.panes {
        return orders;
    }
    let left = last.panes.iter().filter(|old| !now.panes.iter().any(|new| new.pane == old.pane));
    orders.extend(left.map(|old| Order::PaneLeft { pane: &old.pane }));
    if orders.iter().any(|order| matches!(order, Order::PaneLeft { .. })) {
        orders.push(Order::ClearWindows);
    }
    for PaneState { pane, state, .. } in now.panes.iter().filter(|new| !last.panes.contains(new)) {
        orders.push(Order::Pane { pane, state });
    }
    for PaneState { pane, state, mark } in &now.panes {
        orders.push(Order::Window { pane, state, mark });
    }
    orders
}

fn remembered(folder: &Path) -> BTreeMap<String, Told> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let told = |path: PathBuf| {
        let pid = path.file_name()?.to_str()?.to_owned();
        let is_pid = pid.bytes().all(|byte| byte.is_ascii_digit());
        let told = serde_json::from_slice(&fs::read(&path).ok().filter(|_| is_pid)?).ok()?;
        Some((pid, told))
    };
    entries.filter_map(|entry| told(entry.path())).collect()
}

fn remember(folder: &Path, server: &Server, told: &Told) {
    let write = || fs::write(folder.join(&server.pid), serde_json::to_vec(told)?);
    let _ = private_folder(folder).and_then(|()| write());
}

fn forget(folder: &Path, server: &Server) {
    let _ = fs::remove_file(folder.join(&server.pid));
}
