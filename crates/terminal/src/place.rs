//! Finds the seat (pane, terminal, editor) of a process.
//!
//! The process's controlling terminal decides. Environment variables say which multiplexer to query or, if none can be
//! queried, the seat's name. They are the agent's own, never the hook's: a hook may run below a process that serves
//! many seats.

use crate::process::{Environment, Process, ancestors, of_same_user};
use crate::tmux::{PaneInfo, TmuxServer};
use std::collections::BTreeMap;
use std::time::Duration;
use towline_core::event::SessionPresence;
use towline_core::seat::{SeatKind, SeatLocation, SeatProof};

/// How to recognise an agent's processes.
pub struct AgentMatcher<'a> {
    pub is_program: &'a dyn Fn(&str) -> bool,
    /// Whether a process with these arguments serves sessions that are displayed elsewhere.
    pub is_server: &'a dyn Fn(&[String]) -> bool,
}

const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "fish", "ksh", "env"];

/// The agent above a hook with this parent: the nearest ancestor recognised as one, else the nearest that is no shell.
/// Whatever is above the leader of a terminal's session shows that terminal, and runs in another one.
pub fn agent_above(parent: u32, looks: &AgentMatcher<'_>) -> Option<Process> {
    let mut other = None;
    for process in ancestors(parent) {
        let is_shell = SHELLS.contains(&process.name.as_str());
        if (looks.is_program)(&process.name) || (!is_shell && (looks.is_program)(&process.program_name())) {
            return Some(process);
        }
        let is_top = process.pid == process.leader && process.has_terminal();
        if other.is_none() && process.pid > 1 && !is_shell {
            other = Some(process);
        }
        if is_top {
            break;
        }
    }
    other
}

/// The seat of an interactive process. Queries the multiplexer, if there is one.
pub fn seat_of(process: &Process, presence: SessionPresence) -> Option<SeatLocation> {
    let terminal = process.terminal();
    if presence == SessionPresence::Ide && terminal.is_none() {
        return Some(place(process, SeatKind::Ide, format!("ide:{}:{}", process.pid, process.started)));
    }
    let terminal = terminal?;
    let environment = process.environment();
    let in_tmux =
        environment.get("TMUX").and_then(TmuxServer::parse).and_then(|server| match server.panes() {
            Some(panes) => {
                Some(in_pane(process, &server, panes.iter().find(|pane| pane.terminal == terminal)?))
            }
            None => Some(tmux_seat(process, &server, environment.get("TMUX_PANE")?)),
        });
    let found = in_tmux.or_else(|| in_other_multiplexer(process, &environment));
    Some(found.unwrap_or_else(|| plain(process, &environment, &terminal)))
}

/// The seat in which this prompt was typed, among processes that share one server. Only a screen that shows the prompt
/// counts; of two such screens the folder decides, else there is no result.
pub fn seat_of_prompt(
    server: &Process,
    looks: &AgentMatcher<'_>,
    typed: &TypedPrompt<'_>,
) -> Option<SeatLocation> {
    let candidates: Vec<Process> = of_same_user(server.pid)
        .into_iter()
        .filter(|process| process.terminal().is_some() && (looks.is_program)(&process.name))
        .filter(|process| {
            !(looks.is_server)(&process.arguments()) && (typed.shares_home)(&process.environment())
        })
        .collect();
    let servers = by_server(candidates);
    (0..ATTEMPTS).find_map(|attempt| {
        if attempt > 0 {
            pause(RETRY_AFTER);
        }
        showing(&servers, typed)
    })
}

/// A client may report a prompt before it has drawn it, so the screens are read several times.
const ATTEMPTS: usize = 4;
const RETRY_AFTER: Duration = Duration::from_millis(40);

#[expect(clippy::disallowed_methods, reason = "a screen can only be looked at again")]
fn pause(duration: Duration) {
    std::thread::sleep(duration);
}

/// The one seat whose screen shows the prompt now.
fn showing(servers: &BTreeMap<TmuxServer, Vec<Process>>, typed: &TypedPrompt<'_>) -> Option<SeatLocation> {
    let mut showing: Vec<(Process, SeatLocation)> = vec![];
    for (server, members) in servers {
        let terminals: Vec<String> = members.iter().filter_map(Process::terminal).collect();
        for pane in server.screens(&terminals)?.into_iter().filter(|pane| (typed.is_shown)(&pane.screen)) {
            let member =
                members.iter().find(|process| process.terminal().as_deref() == Some(&pane.terminal))?;
            let place = in_pane(member, server, &pane);
            showing.push((member.clone(), SeatLocation { proof: SeatProof::Evidence, ..place }));
        }
    }
    if showing.len() > 1 {
        showing.retain(|(process, _)| {
            process.folder().is_some_and(|folder| folder.to_str() == Some(typed.folder))
        });
    }
    if showing.len() == 1 { showing.pop().map(|(_, place)| place) } else { None }
}

/// A prompt whose seat is searched for.
pub struct TypedPrompt<'a> {
    pub folder: &'a str,
    pub is_shown: &'a dyn Fn(&str) -> bool,
    /// Whether a process with this environment uses the same server.
    pub shares_home: &'a dyn Fn(&Environment) -> bool,
}

fn by_server(processes: Vec<Process>) -> BTreeMap<TmuxServer, Vec<Process>> {
    let mut servers: BTreeMap<TmuxServer, Vec<Process>> = BTreeMap::new();
    for process in processes {
        if let Some(server) = process.environment().get("TMUX").and_then(TmuxServer::parse) {
            servers.entry(server).or_default().push(process);
        }
    }
    servers
}

fn in_pane(process: &Process, server: &TmuxServer, pane: &PaneInfo) -> SeatLocation {
    SeatLocation { proof: SeatProof::Terminal, ..tmux_seat(process, server, &pane.id) }
}

fn tmux_seat(process: &Process, server: &TmuxServer, pane: &str) -> SeatLocation {
    let key = format!("tmux:{}:{}:{pane}", server.socket, server.pid);
    let found = place(process, SeatKind::Tmux, key);
    SeatLocation { pane: Some(pane.to_owned()), server: Some(server.socket.clone()), ..found }
}

/// The two variables in which a multiplexer or terminal names the session and the pane.
struct SeatVariables {
    kind: SeatKind,
    server: &'static str,
    pane: &'static str,
}

const OTHERS: [SeatVariables; 4] = [
    SeatVariables { kind: SeatKind::Screen, server: "STY", pane: "WINDOW" },
    SeatVariables { kind: SeatKind::Zellij, server: "ZELLIJ_SESSION_NAME", pane: "ZELLIJ_PANE_ID" },
    SeatVariables { kind: SeatKind::Kitty, server: "KITTY_PID", pane: "KITTY_WINDOW_ID" },
    SeatVariables { kind: SeatKind::Wezterm, server: "WEZTERM_UNIX_SOCKET", pane: "WEZTERM_PANE" },
];

fn in_other_multiplexer(process: &Process, environment: &Environment) -> Option<SeatLocation> {
    OTHERS.iter().find_map(|names| {
        let (server, pane) = (environment.get(names.server)?, environment.get(names.pane)?);
        // Terminals started from there inherit the variables: the device distinguishes such seats.
        let device = process.terminal().unwrap_or_default();
        let found = place(process, names.kind, format!("{}:{server}:{pane}:{device}", names.kind.name()));
        Some(SeatLocation { pane: Some(pane.to_owned()), server: Some(server.to_owned()), ..found })
    })
}

/// A plain terminal. Its device name is reused by the next one, its leader's start time is not.
fn plain(process: &Process, environment: &Environment, terminal: &str) -> SeatLocation {
    let leader_started = Process::read(process.leader).map_or(process.started, |leader| leader.started);
    let kind =
        if environment.get("TERM_PROGRAM") == Some("vscode") { SeatKind::Ide } else { SeatKind::Terminal };
    let found = place(process, kind, format!("{}:{terminal}:{leader_started}", kind.name()));
    SeatLocation { proof: SeatProof::Terminal, ..found }
}

fn place(process: &Process, kind: SeatKind, key: String) -> SeatLocation {
    SeatLocation {
        key,
        kind,
        pane: None,
        server: None,
        tty: process.terminal(),
        pid: process.pid,
        started: process.started,
        program: process.program().map(|path| path.to_string_lossy().into_owned()),
        proof: SeatProof::Environment,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Process {
        Process::read(std::process::id()).unwrap()
    }

    fn environment(lines: &[&str]) -> Environment {
        Environment::from(lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check_other(lines: &[&str], expected: Option<&str>) {
        let found = in_other_multiplexer(&own(), &environment(lines));
        let key = found.map(|place| place.key.trim_end_matches(&place.tty.unwrap_or_default()).to_owned());
        assert_eq!(key.as_deref(), expected);
    }

    #[test]
    fn multiplexers_are_known_by_both_of_their_variables() {
        check_other(&["STY=1.host", "WINDOW=3"], Some("screen:1.host:3:"));
        check_other(&["ZELLIJ_SESSION_NAME=s", "ZELLIJ_PANE_ID=0"], Some("zellij:s:0:"));
        check_other(&["KITTY_PID=9", "KITTY_WINDOW_ID=2"], Some("kitty:9:2:"));
        check_other(&["WEZTERM_UNIX_SOCKET=/s", "WEZTERM_PANE=1"], Some("wezterm:/s:1:"));
        check_other(&["STY=1.host"], None);
    }

    #[test]
    fn an_editor_without_a_terminal_is_a_seat_of_its_process() {
        let mut process = own();
        process.leader = 0;
        let found = place(&process, SeatKind::Ide, format!("ide:{}:{}", process.pid, process.started));
        assert_eq!((found.kind, found.pid), (SeatKind::Ide, process.pid));
    }

    #[test]
    fn the_agent_above_is_the_nearest_that_looks_like_it() {
        let parent = Process::read(own().parent).unwrap();
        let looks = AgentMatcher { is_program: &|name| name == parent.name, is_server: &|_| false };
        assert_eq!(agent_above(parent.pid, &looks).unwrap().pid, parent.pid);
    }
}
