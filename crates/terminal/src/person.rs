//! Whether a person runs a process: positive evidence from the process tree.
//!
//! All of it is needed: a controlling terminal with the process in its foreground, and above the process a terminal,
//! multiplexer or login without an agent in between. A multiplexer counts only if a person is attached to it. Anything
//! else is a doubt, and a doubt is never a person. Cannot tell a person from another process of the same user that types
//! into a terminal or starts one of its own (SECURITY.md).

use crate::process::{Process, ancestors};
use crate::tmux::TmuxServer;

/// The evidence that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The name of the agent's process among the ancestors.
    AgentAbove(String),
    NoTerminal,
    InBackground,
    NoTerminalAbove,
    /// No person is attached to the multiplexer's session.
    NoClient,
}

/// Multiplexers may be nested; real ones are not nested deeper.
const DEEPEST_NESTING: usize = 3;

/// Terminals, multiplexers and logins by the file name of their program.
const TERMINALS: [&str; 56] = [
    "Hyper",
    "SCREEN",
    "abduco",
    "alacritty",
    "black-box",
    "code",
    "code-insiders",
    "codium",
    "contour",
    "cool-retro-term",
    "cosmic-term",
    "cursor",
    "deepin-terminal",
    "dtach",
    "eterm",
    "foot",
    "footclient",
    "ghostty",
    "gnome-terminal-server",
    "guake",
    "idea",
    "kgx",
    "kitty",
    "konsole",
    "login",
    "lxterminal",
    "mate-terminal",
    "mlterm",
    "mosh-server",
    "ptyxis",
    "ptyxis-agent",
    "qterminal",
    "rio",
    "rxvt",
    "rxvt-unicode",
    "sakura",
    "screen",
    "sshd",
    "sshd-session",
    "st",
    "tabby",
    "terminator",
    "terminology",
    "tilda",
    "tilix",
    "tmux",
    "urxvt",
    "urxvtd",
    "warp",
    "warp-terminal",
    "wezterm",
    "wezterm-gui",
    "xfce4-terminal",
    "xterm",
    "yakuake",
    "zed",
];

/// How to recognise agents.
pub struct PersonTest<'a> {
    pub is_agent: &'a dyn Fn(&Process) -> bool,
}

impl PersonTest<'_> {
    /// The first evidence that a person runs this process and that is missing; `None` if there is all of it.
    pub fn doubt(&self, pid: u32) -> Option<Doubt> {
        self.doubt_within(pid, DEEPEST_NESTING)
    }

    fn doubt_within(&self, pid: u32, nesting: usize) -> Option<Doubt> {
        let line: Vec<Process> = ancestors(pid).collect();
        if let Some(agent) = line.iter().find(|process| (self.is_agent)(process)) {
            return Some(Doubt::AgentAbove(agent.name.clone()));
        }
        let Some(process) = line.first().filter(|process| process.has_terminal()) else {
            return Some(Doubt::NoTerminal);
        };
        if !process.is_in_front() {
            return Some(Doubt::InBackground);
        }
        match line.iter().skip(1).find(|above| is_terminal(above)) {
            Some(server) if server.program_name() == "tmux" => self.doubt_in_tmux(process, server, nesting),
            Some(_) => None,
            None if is_entered(process) => None,
            None => Some(Doubt::NoTerminalAbove),
        }
    }

    /// An agent can start a server of its own, but no person is attached to that.
    fn doubt_in_tmux(&self, process: &Process, server: &Process, nesting: usize) -> Option<Doubt> {
        let is_server = |named: &TmuxServer| named.pid == server.pid.to_string();
        let named = process.environment().get("TMUX").and_then(TmuxServer::parse).filter(is_server);
        let clients = named.zip(process.terminal()).and_then(|(named, tty)| named.clients_of(&tty));
        let is_person = |client: &u32| nesting > 0 && self.doubt_within(*client, nesting - 1).is_none();
        match clients.unwrap_or_default().iter().any(is_person) {
            true => None,
            false => Some(Doubt::NoClient),
        }
    }
}

/// Some terminals are Python scripts, whose program is the interpreter.
fn is_terminal(process: &Process) -> bool {
    let program = process.program_name();
    let name = if program.starts_with("python") { &process.name } else { &program };
    TERMINALS.binary_search(&name.as_str()).is_ok()
}

/// Whether the process's terminal session was started from outside the container that it runs in.
fn is_entered(process: &Process) -> bool {
    Process::read(process.leader).is_some_and(|leader| leader.parent == 0 && leader.has_terminal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_sorted_for_the_binary_search() {
        assert!(TERMINALS.is_sorted());
    }

    #[test]
    fn an_agent_above_is_named_before_anything_else() {
        let own = Process::read(std::process::id()).unwrap();
        let test = PersonTest { is_agent: &|process| process.pid == own.parent };
        let parent = Process::read(own.parent).unwrap();
        assert_eq!(test.doubt(own.pid), Some(Doubt::AgentAbove(parent.name)));
    }

    #[test]
    fn a_process_that_is_gone_is_no_person() {
        let test = PersonTest { is_agent: &|_| false };
        assert_eq!(test.doubt(u32::MAX), Some(Doubt::NoTerminal));
    }
}
