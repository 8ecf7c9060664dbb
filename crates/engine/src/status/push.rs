//! Pushes the bar and each pane's and window's state to tmux servers: only changes, with one tmux call that is not waited
//! for.
//!
//! A small file per server holds the last push, written once tmux was started with it. Pushes to one server
//! are serialized: each holds that server's lock until tmux is done, and reads the seats after taking the
//! lock. Servers do not wait for each other. A server that has ended is never contacted, because another may
//! listen on its socket.

use crate::runtime::config::mistakes;
use crate::runtime::{Env, json_file};
use crate::status::proposals;
use crate::status::read_marks::is_unseen;
use crate::status::tmux::options::Options;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::bar::{BarNotes, BarStyle, bar};
use towline_core::escape::for_tmux;
use towline_core::shown::{SeatLight, SeatView};
use towline_store::StoreError;
use towline_store::home::{DataFolder, private_folder};
use towline_store::lock::{pauses, wait_for};
use towline_terminal::process::Process;
use towline_terminal::tmux::{StatusUpdate, TmuxServer};

/// Reads the current seats.
pub type Reading<'a> = &'a dyn Fn() -> Result<Vec<SeatView>, StoreError>;

/// Pushes to every server with a seat, and to those that lost their last one. Returns whether all were
/// reached: a server still busy with the previous push needs another one.
pub fn push(env: &Env, patience: Duration, seats: Reading<'_>) -> Result<bool, StoreError> {
    let shown = seats()?;
    let (mut all_told, mut known) = (true, None);
    for server in servers(&shown).into_values().chain(left(&env.home, &shown)) {
        let push = Push { env, seats, notes: *known.get_or_insert_with(|| notes(env)) };
        if recall(&env.home, &server) != push.wanted(&server, &shown) {
            all_told &= push.tell(&server, patience)?;
        }
    }
    Ok(all_told)
}

/// The open proposals and whether the configuration is broken, as the bar shows them.
pub fn notes(env: &Env) -> BarNotes {
    BarNotes { open_proposals: proposals::count(&env.home), has_config_mistakes: !mistakes(env).is_empty() }
}

/// One push to all servers.
struct Push<'a> {
    env: &'a Env,
    seats: Reading<'a>,
    notes: BarNotes,
}

/// The servers by process id, which is in the key of each of their seats and safe in a path.
pub fn servers(seats: &[SeatView]) -> BTreeMap<String, TmuxServer> {
    let alive = |server: &TmuxServer| is_alive(&server.pid);
    let found = seats.iter().filter_map(|seat| server_of(&seat.seat)).filter(alive);
    found.map(|server| (server.pid.clone(), server)).collect()
}

/// The tmux server of a seat, parsed from its key: socket, process, pane.
pub fn server_of(seat: &str) -> Option<TmuxServer> {
    let mut parts = seat.strip_prefix("tmux:")?.rsplitn(3, ':');
    let (_pane, pid, socket) = (parts.next()?, parts.next()?.to_owned(), parts.next()?.to_owned());
    let sound = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    sound.then_some(TmuxServer { socket, pid })
}

/// The running servers that have received a push.
pub fn told_servers(home: &DataFolder) -> Vec<TmuxServer> {
    let entries = fs::read_dir(home.bars()).into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let pids = pids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && is_alive(name));
    pids.filter_map(|pid| Some(TmuxServer { socket: read(home, &pid)?.socket, pid })).collect()
}

/// Files of servers that have ended: last push, options, locks.
pub fn stale_files(home: &DataFolder) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.bars()).into_iter().flatten().filter_map(Result::ok);
    let is_of_dead_server = |path: &PathBuf| {
        let pid = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        pid.bytes().all(|byte| byte.is_ascii_digit()) && !is_alive(pid)
    };
    entries.map(|entry| entry.path()).filter(is_of_dead_server).collect()
}

/// The servers without seats.
fn left(home: &DataFolder, seats: &[SeatView]) -> Vec<TmuxServer> {
    let sat_in = servers(seats);
    let mut told = told_servers(home);
    told.retain(|server| !sat_in.contains_key(&server.pid));
    told
}

fn is_alive(pid: &str) -> bool {
    pid.parse().is_ok_and(|pid| Process::read(pid).is_some())
}

/// The contents of a push.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PushedState {
    socket: String,
    text: String,
    /// The most urgent last: of several panes in one window, the last decides the window's state.
    panes: Vec<PaneState>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PaneState {
    pane: String,
    state: String,
    mark: String,
    unseen: bool,
}

impl PushedState {
    fn nothing(server: &TmuxServer) -> PushedState {
        PushedState { socket: server.socket.clone(), text: String::new(), panes: vec![] }
    }
}

impl Push<'_> {
    fn wanted(&self, server: &TmuxServer, seats: &[SeatView]) -> PushedState {
        let style = Options::remembered(&self.env.home, server).style;
        let panes = panes(seats, server, &style);
        if panes.is_empty() {
            return PushedState::nothing(server);
        }
        let text = bar(seats, self.notes, &style, self.env.now);
        PushedState { text, panes, ..PushedState::nothing(server) }
    }

    /// Reads the seats again under the lock, so that a later push never carries older data.
    fn tell(&self, server: &TmuxServer, patience: Duration) -> Result<bool, StoreError> {
        let home = &self.env.home;
        let lock = home.bars().join(format!("{}.lock", server.pid));
        let turn = private_folder(&home.bars()).and_then(|()| wait_for(&lock, pauses(patience)));
        let Ok(Some(turn)) = turn else { return Ok(false) };
        let (last, now) = (recall(home, server), self.wanted(server, &(self.seats)()?));
        if now == last {
            return Ok(true);
        }
        let is_started = server.carry_out(&orders(&last, &now), turn);
        if is_started {
            remember(home, server, &now);
        }
        Ok(is_started)
    }
}

fn panes(seats: &[SeatView], server: &TmuxServer, style: &BarStyle) -> Vec<PaneState> {
    let in_it = seats.iter().rev().filter(|seat| server_of(&seat.seat).as_ref() == Some(server));
    let state = |seat: &SeatView| {
        let light = seat.light();
        let mark =
            if light == SeatLight::Idle { String::new() } else { for_tmux(&style.light_style(light).icon) };
        let (pane, unseen) = (seat.pane.clone()?, is_unseen(seat));
        Some(PaneState { pane, state: seat.state_name().to_owned(), mark, unseen })
    };
    in_it.filter_map(state).collect()
}

/// The orders that turn `last` into `now`. The most urgent pane is sent last and decides its window's state,
/// so windows are sent again from the first changed pane. If a pane was left, its window may hold other
/// agents: all windows are cleared and sent again.
fn orders<'a>(last: &'a PushedState, now: &'a PushedState) -> Vec<StatusUpdate<'a>> {
    let mut orders = vec![];
    if now.text != last.text {
        orders.push(StatusUpdate::Bar { text: &now.text });
    }
    if now.panes == last.panes {
        return orders;
    }
    let left = last.panes.iter().filter(|old| !now.panes.iter().any(|new| new.pane == old.pane));
    orders.extend(left.map(|old| StatusUpdate::PaneLeft { pane: &old.pane }));
    let mut first = now.panes.iter().position(|new| !last.panes.contains(new)).unwrap_or(now.panes.len());
    if orders.iter().any(|order| matches!(order, StatusUpdate::PaneLeft { .. })) {
        orders.push(StatusUpdate::ClearWindows);
        first = 0;
    }
    for PaneState { pane, state, unseen, .. } in now.panes.iter().filter(|new| !last.panes.contains(new)) {
        orders.push(StatusUpdate::Pane { pane, state, unseen: if *unseen { "1" } else { "" } });
    }
    for PaneState { pane, state, mark, .. } in &now.panes[first..] {
        orders.push(StatusUpdate::Window { pane, state, mark });
    }
    orders
}

/// Drops the record of the last push if the server shows something else: it failed or was undone.
pub fn compare(home: &DataFolder, server: &TmuxServer, bar: &str) {
    if read(home, &server.pid).is_some_and(|told| told.text != bar) {
        let _ = fs::remove_file(file(home, &server.pid));
    }
}

fn recall(home: &DataFolder, server: &TmuxServer) -> PushedState {
    read(home, &server.pid)
        .filter(|told| told.socket == server.socket)
        .unwrap_or_else(|| PushedState::nothing(server))
}

fn read(home: &DataFolder, pid: &str) -> Option<PushedState> {
    json_file::load(&file(home, pid))
}

/// A failed write costs one extra push.
fn remember(home: &DataFolder, server: &TmuxServer, told: &PushedState) {
    if told.panes.is_empty() {
        let _ = fs::remove_file(file(home, &server.pid));
    } else {
        json_file::save(&file(home, &server.pid), told);
    }
}

fn file(home: &DataFolder, pid: &str) -> PathBuf {
    home.bars().join(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str, state: &str) -> PushedState {
        let pane = PaneState { pane: "%1".into(), state: state.into(), mark: "*".into(), unseen: false };
        PushedState { socket: "s".into(), text: text.into(), panes: vec![pane] }
    }

    #[test]
    fn the_bar_is_told_before_panes_and_windows() {
        let (last, now) = (told("1.", "idle"), told("1*", "working"));
        let expected = [
            StatusUpdate::Bar { text: "1*" },
            StatusUpdate::Pane { pane: "%1", state: "working", unseen: "" },
            StatusUpdate::Window { pane: "%1", state: "working", mark: "*" },
        ];
        assert_eq!(orders(&last, &now), expected);
    }

    #[test]
    fn windows_are_told_from_the_first_pane_that_changed() {
        let pane = |name: &str, state: &str| PaneState {
            pane: name.into(),
            state: state.into(),
            mark: String::new(),
            unseen: false,
        };
        let all = |panes: Vec<PaneState>| PushedState { socket: "s".into(), text: "t".into(), panes };
        let (idle, works, waits) = (pane("%1", "idle"), pane("%2", "working"), pane("%3", "blocked"));
        let last = all(vec![idle.clone(), pane("%2", "idle"), waits.clone()]);
        let windows = |now: &PushedState| -> Vec<String> {
            let orders = orders(&last, now);
            let told = orders.iter().filter_map(|order| match order {
                StatusUpdate::Window { pane, .. } => Some((*pane).to_owned()),
                StatusUpdate::Bar { .. }
                | StatusUpdate::Pane { .. }
                | StatusUpdate::PaneLeft { .. }
                | StatusUpdate::ClearWindows => None,
            });
            told.collect()
        };
        assert_eq!(windows(&all(vec![idle.clone(), works.clone(), waits.clone()])), ["%2", "%3"]);
        assert_eq!(windows(&all(vec![idle, works])), ["%1", "%2"], "one left, so all are cleared");
    }

    #[test]
    fn minutes_that_go_by_change_the_bar_alone() {
        let (last, now) = (told("1!1m", "blocked"), told("1!2m", "blocked"));
        assert_eq!(orders(&last, &now), [StatusUpdate::Bar { text: "1!2m" }]);
        assert_eq!(orders(&now, &now), []);
    }
}
