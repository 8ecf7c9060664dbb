//! Pushing the bar to the tmux servers in which agents sit: only when its text changed, and without waiting.
//!
//! What was pushed last is remembered per server, socket and text, in a small file. Losing it costs one push too many;
//! a server in which nobody sits any more is told so once, and forgotten. Pushes do not overtake each other: each holds
//! a lock that ends with the process that carries it out.

use crate::edge::Edge;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::bar::{BarStyle, bar};
use towline_core::shown::Shown;
use towline_store::home::private_folder;
use towline_store::lock::{pauses, wait_for};
use towline_terminal::tmux::Server;

/// Pushes what these seats show to every server that one of them is in, and nothing to those that they left. Whether all
/// were told: one that is still busy with the push before has to be told again, by what is then shown.
pub fn push(edge: &Edge, seats: &[Shown]) -> bool {
    let folder = edge.home.bars();
    let mut pushed = remembered(&folder);
    let text = bar(seats, &BarStyle::default(), edge.now);
    let mut all_told = true;
    for (pid, server) in servers(seats) {
        if pushed.remove(&pid).is_some_and(|last| last.text == text) {
            continue;
        }
        remember(&folder, &server, &text);
        if !set(&folder, &server, &text) {
            let _ = fs::remove_file(folder.join(pid));
            all_told = false;
        }
    }
    for (pid, left) in pushed {
        if set(&folder, &Server { socket: left.socket, pid: pid.clone() }, "") {
            let _ = fs::remove_file(folder.join(&pid));
        } else {
            all_told = false;
        }
    }
    all_told
}

/// Waits a moment for a push that is still under way.
fn set(folder: &Path, server: &Server, text: &str) -> bool {
    let Ok(Some(turn)) = wait_for(&folder.join("turn.lock"), pauses(PATIENCE)) else { return false };
    server.set_bar(text, turn);
    true
}

/// A push takes tmux a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(100);

/// The servers by their process id, which is in the key of every seat in them and safe in a path.
fn servers(seats: &[Shown]) -> BTreeMap<String, Server> {
    let of = |seat: &Shown| {
        let socket = seat.server.clone()?;
        let pid =
            seat.seat.strip_prefix("tmux:")?.strip_prefix(socket.as_str())?.split(':').nth(1)?.to_owned();
        let sound = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
        sound.then(|| (pid.clone(), Server { socket, pid }))
    };
    seats.iter().filter_map(of).collect()
}

/// What a server's bar was set to last.
struct Pushed {
    socket: String,
    text: String,
}

fn remembered(folder: &Path) -> BTreeMap<String, Pushed> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let pushed = |path: PathBuf| {
        let pid = path
            .file_name()?
            .to_str()
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))?
            .to_owned();
        let (socket, text) =
            fs::read_to_string(&path).ok()?.split_once('\n').map(|(s, t)| (s.to_owned(), t.to_owned()))?;
        Some((pid, Pushed { socket, text }))
    };
    entries.filter_map(|entry| pushed(entry.path())).collect()
}

fn remember(folder: &Path, server: &Server, text: &str) {
    let _ = private_folder(folder)
        .and_then(|()| fs::write(folder.join(&server.pid), format!("{}\n{text}", server.socket)));
}
