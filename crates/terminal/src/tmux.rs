//! tmux servers: panes and their terminals, screen contents, the status line, focus.
//!
//! One spawn per query, arguments as a list, never a shell. A server that does not answer is treated as absent. This
//! module never types into a pane.

use crate::child::leave;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use towline_core::patience::stretch;

/// A server as `$TMUX` names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TmuxServer {
    pub socket: String,
    /// Distinguishes two servers that used the same socket one after the other.
    pub pid: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneInfo {
    pub id: String,
    pub terminal: String,
    /// Only filled by `screens`.
    pub screen: String,
    /// The title that the program in it has set; only filled by `screens`.
    pub title: String,
}

impl PaneInfo {
    /// A pane of which nothing was read yet.
    pub fn at(id: &str, terminal: &str) -> PaneInfo {
        PaneInfo {
            id: id.to_owned(),
            terminal: terminal.to_owned(),
            screen: String::new(),
            title: String::new(),
        }
    }
}

/// One line of a menu: its label, its key, and the tmux command it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuItem {
    pub label: String,
    pub key: String,
    pub command: String,
}

/// One change to what a server displays. A pane that no longer exists is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusUpdate<'a> {
    /// The text of `#{@towline-status}`.
    Bar { text: &'a str },
    /// An agent's state, and whether the user should look, as options of its pane.
    Pane { pane: &'a str, state: &'a str, unseen: &'a str },
    /// The state and its icon as options of the pane's window. An icon on the pane would hide the window's.
    Window { pane: &'a str, state: &'a str, mark: &'a str },
    /// No agent runs in the pane any more.
    PaneLeft { pane: &'a str },
    /// Clears the state of all windows; those that have one are set again.
    ClearWindows,
}

impl StatusUpdate<'_> {
    fn commands(&self) -> Vec<Vec<&str>> {
        match *self {
            StatusUpdate::Bar { text } => vec![vec!["set-option", "-gq", BAR_OPTION, text]],
            StatusUpdate::Pane { pane, state, unseen } => {
                let set = |option, value| vec!["set-option", "-pq", "-t", pane, option, value];
                vec![set(STATE_OPTION, state), set(UNSEEN_OPTION, unseen)]
            }
            StatusUpdate::Window { pane, state, mark } => {
                let set = |option, value| vec!["set-option", "-wq", "-t", pane, option, value];
                vec![set(STATE_OPTION, state), set(MARK_OPTION, mark)]
            }
            StatusUpdate::PaneLeft { pane } => {
                let unset = |option| vec!["set-option", "-puq", "-t", pane, option];
                vec![unset(STATE_OPTION), unset(UNSEEN_OPTION)]
            }
            StatusUpdate::ClearWindows => vec![CLEAR_WINDOWS.to_vec()],
        }
    }

    /// The tmux arguments, each command with its terminator.
    fn words(&self) -> Vec<String> {
        let ended = |command: Vec<&str>| {
            let words = command.into_iter().map(argument);
            words.chain([";".to_owned()]).collect::<Vec<_>>()
        };
        self.commands().into_iter().flat_map(ended).collect()
    }
}

/// Escapes a tmux argument: a trailing `;` would end the command.
pub(crate) fn argument(word: &str) -> String {
    word.strip_suffix(';').map_or_else(|| word.to_owned(), |rest| format!("{rest}\\;"))
}

impl TmuxServer {
    /// Parses the value of `$TMUX`: socket, process, session.
    pub fn parse(variable: &str) -> Option<TmuxServer> {
        let mut parts = variable.rsplitn(3, ',');
        let (_session, pid, socket) = (parts.next()?, parts.next()?, parts.next()?);
        let is_valid = !socket.is_empty() && !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit());
        is_valid.then(|| TmuxServer { socket: socket.to_owned(), pid: pid.to_owned() })
    }

    /// All panes with their terminals; `None` if the server does not answer.
    pub fn panes(&self) -> Option<Vec<PaneInfo>> {
        let output = self.ask(&["list-panes", "-a", "-F", "#{pane_id} #{pane_tty}"])?;
        Some(output.lines().filter_map(parse_pane).collect())
    }

    /// The processes of the clients that are attached to the session with the pane on this terminal.
    pub fn clients_of(&self, terminal: &str) -> Option<Vec<u32>> {
        let panes = self.ask(&["list-panes", "-a", "-F", "#{pane_tty} #{session_id}"])?;
        let is_pane = |line: &&str| line.split_once(' ').is_some_and(|(tty, _)| tty == terminal);
        let (_, session) = panes.lines().find(is_pane)?.split_once(' ')?;
        let clients = self.ask(&["list-clients", "-F", "#{session_id} #{client_pid}"])?;
        let attached = clients.lines().filter_map(|line| line.split_once(' '));
        Some(attached.filter(|(id, _)| *id == session).filter_map(|(_, pid)| pid.parse().ok()).collect())
    }

    /// The screens of the panes on these terminals.
    pub fn screens(&self, terminals: &[String]) -> Option<Vec<PaneInfo>> {
        let mut panes = self.panes()?;
        panes.retain(|pane| terminals.contains(&pane.terminal));
        self.capture(&panes)
    }

    /// The screens of these panes, in one call unless one of them is gone. A pane whose terminal has changed is
    /// dropped: it is another pane under a reused id.
    pub fn show_screens(&self, panes: &[PaneInfo]) -> Option<Vec<PaneInfo>> {
        let terminals = || panes.iter().map(|pane| pane.terminal.clone()).collect::<Vec<_>>();
        self.capture(panes).or_else(|| self.screens(&terminals()))
    }

    /// Captures the panes' screens in one call. tmux stops at the first pane that it does not find.
    fn capture(&self, panes: &[PaneInfo]) -> Option<Vec<PaneInfo>> {
        let mark = format!("{MARK}#{{pane_id}} #{{pane_tty}} #{{pane_title}}");
        let mut arguments: Vec<&str> = vec![];
        for pane in panes {
            arguments.extend(["display-message", "-p", "-t", &pane.id, &mark, ";"]);
            arguments.extend(["capture-pane", "-p", "-J", "-t", &pane.id, ";"]);
        }
        arguments.pop();
        if arguments.is_empty() {
            return Some(vec![]);
        }
        let output = self.ask(&arguments)?;
        let screens = output.split(MARK).skip(1).filter_map(|part| {
            let (head, screen) = part.split_once('\n')?;
            Some(PaneInfo { screen: screen.to_owned(), ..parse_pane(head)? })
        });
        Some(
            screens
                .filter(|pane| panes.iter().any(|requested| requested.terminal == pane.terminal))
                .collect(),
        )
    }

    /// The values of global options, in the order of `names`; `None` for an unset one.
    pub fn user_options(&self, names: &[String]) -> Option<Vec<Option<String>>> {
        self.options_within(PATIENCE, names)
    }

    pub(crate) fn options_within(&self, patience: Duration, names: &[String]) -> Option<Vec<Option<String>>> {
        let mut arguments: Vec<&str> = vec![];
        for name in names {
            arguments.extend(["display-message", "-p", MARK, ";", "show-options", "-gqv", name, ";"]);
        }
        arguments.pop();
        let output = self.ask_within(patience, &arguments).filter(|output| output.succeeded)?.text;
        // The value of a set option ends with a newline of its own, even if it is empty.
        let value = |output: &str| output.strip_prefix('\n')?.strip_suffix('\n').map(str::to_owned);
        Some(output.split(MARK).skip(1).map(value).collect())
    }

    /// Focuses a pane: its window, the pane, and the client's session. Returns whether the pane exists.
    pub fn show(&self, pane: &str) -> bool {
        let there = self.ask(&["select-window", "-t", pane, ";", "select-pane", "-t", pane]).is_some();
        // Without an attached client there is nothing to switch.
        let _ = self.ask(&["switch-client", "-t", pane]);
        there
    }

    /// The time of the last key in each client that shows this pane, in seconds since the Unix epoch.
    pub fn lookers(&self, pane: &str) -> Vec<i64> {
        let output = self.ask(&["list-clients", "-F", "#{pane_id} #{client_activity}"]).unwrap_or_default();
        let looks = |line: &str| line.strip_prefix(pane)?.trim_start().parse().ok();
        output.lines().filter_map(looks).collect()
    }

    /// The width of the narrowest attached client, in columns.
    pub fn narrowest_client(&self) -> Option<usize> {
        let widths = self.ask(&["list-clients", "-F", "#{client_width}"])?;
        widths.lines().filter_map(|width| width.parse().ok()).min()
    }

    /// Opens a menu for the user. Titles and labels must be escaped already; commands are tmux's own. tmux answers only
    /// when the menu is closed, so no answer within `PATIENCE` means that it opened.
    pub fn menu(&self, title: &str, items: &[MenuItem]) -> bool {
        let words = items.iter().flat_map(|item| [&item.label, &item.key, &item.command]);
        let mut tmux = self.command();
        tmux.args(["-u", "display-menu", "-T", &argument(title), "-x", "C", "-y", "C", "--"]);
        tmux.args(words.map(|word| argument(word)));
        let started = tmux.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut client) = started else { return false };
        match client.stdout.take().and_then(|pipe| read_within(pipe, PATIENCE)) {
            Some(_) => client.wait().is_ok_and(|status| status.success()),
            None => true,
        }
    }

    /// Opens a popup and waits until it is closed. `command` goes through a shell: it must be one of ours, whole.
    /// Returns tmux's error message if it refuses.
    pub fn popup(&self, command: &str) -> Result<(), String> {
        let mut tmux = self.command();
        tmux.args(["display-popup", "-E", "-w", "90%", "-h", "60%", command]);
        let done = tmux.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        let output = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        // The exit status of the command in it does not matter: tmux prints a message if it fails itself.
        if output.is_empty() { Ok(()) } else { Err(output) }
    }

    /// Runs a program in a folder: in the pane if its program has ended, else in a new window, which is shown.
    pub fn start(&self, pane: Option<&str>, folder: &str, program: &[&str]) -> bool {
        let in_pane =
            |pane: &str| self.ask(&[&["respawn-pane", "-t", pane, "-c", folder], program].concat()).is_some();
        pane.is_some_and(|pane| in_pane(pane) && self.show(pane))
            || self.ask(&[&["new-window", "-c", folder], program].concat()).is_some()
    }

    /// Shows a message in the status line of the user who pressed a key.
    pub fn say(&self, text: &str) {
        let _shown = self.ask(&["display-message", &argument(text)]);
    }

    /// Applies orders, which also redraws status lines. Does not wait; returns whether tmux could be started. tmux
    /// keeps `until_done` open until it has finished: a lock held on it keeps the next push from overtaking this one.
    pub fn carry_out(&self, orders: &[StatusUpdate<'_>], until_done: File) -> bool {
        let mut tmux = self.command();
        tmux.args(orders.iter().flat_map(StatusUpdate::words));
        tmux.stdin(Stdio::null()).stdout(Stdio::null()).stderr(until_done).process_group(0);
        tmux.spawn().map(leave).is_ok()
    }

    /// tmux's output, if it succeeds.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Option<String> {
        self.ask_within(PATIENCE, arguments).filter(|output| output.succeeded).map(|output| output.text)
    }

    /// Runs tmux and gives up after `patience`, killing the client of a server that hangs.
    pub(crate) fn ask_within(&self, patience: Duration, arguments: &[&str]) -> Option<ProgramOutput> {
        // Without -u, tmux prints `_` for every non-ASCII character to a client in a plain locale.
        output_within(self.command().arg("-u").args(arguments), patience)
    }

    /// A client of this server, still without its command.
    #[expect(clippy::disallowed_methods, reason = "the one place that runs tmux")]
    fn command(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.socket).env_remove("TMUX");
        tmux
    }
}

/// A program's output, and whether it succeeded.
pub(crate) struct ProgramOutput {
    pub text: String,
    pub succeeded: bool,
}

/// The output of a program without input; one that takes longer than `patience` is killed.
pub(crate) fn output_within(program: &mut Command, patience: Duration) -> Option<ProgramOutput> {
    let mut child = program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let output = child.stdout.take().and_then(|pipe| read_within(pipe, patience));
    if output.is_none() {
        let _ = child.kill();
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    output.map(|bytes| ProgramOutput { text: String::from_utf8_lossy(&bytes).into_owned(), succeeded })
}

/// A server answers in a few milliseconds, or not at all.
const PATIENCE: Duration = Duration::from_millis(250);

/// Reads to the end of the pipe; `None` if more than `patience`, stretched on a slow machine, passes between two reads.
pub(crate) fn read_within(mut pipe: impl Read + AsFd, patience: Duration) -> Option<Vec<u8>> {
    let patience = stretch(patience);
    let mut bytes = vec![];
    let mut part = [0; 16 * 1024];
    loop {
        let limit = Timespec::try_from(patience).ok()?;
        let ready = poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&limit)).ok()?;
        let read = if ready == 0 { return None } else { pipe.read(&mut part).ok()? };
        if read == 0 {
            return Some(bytes);
        }
        bytes.extend_from_slice(&part[..read]);
    }
}

/// The tmux option that holds the bar's text. `core::status_line` is the agent's own line.
pub const BAR_OPTION: &str = "@towline-status";

/// The state of the agent in a pane; of a window, the most urgent state in it.
pub const STATE_OPTION: &str = "@towline-state";

/// The state's icon; empty if the user does not need to look.
pub const MARK_OPTION: &str = "@towline-mark";

/// Whether the user should look at the pane: focus hooks check it before they start anything.
pub const UNSEEN_OPTION: &str = "@towline-unseen";

/// tmux iterates over its windows itself: listing them first would take another spawn. Versions before 3.2 cannot, and
/// keep a window's state until another agent runs there.
const CLEAR_WINDOWS: [&str; 5] = ["if-shell", "-F", "#{m/r:^3\\.[01][^0-9]*$,#{version}}", "", CLEAR_COMMAND];

const CLEAR_COMMAND: &str = "run-shell -C \"#{S:#{W:set-option -wuq -t '#{window_id}' @towline-state ; \
    set-option -wuq -t '#{window_id}' @towline-mark ;}}\"";

/// Separates screens in an answer; no screen contains it.
pub(crate) const MARK: &str = "\u{1e}towline\u{1e}";

fn parse_pane(line: &str) -> Option<PaneInfo> {
    let (id, rest) = line.split_once(' ')?;
    let (terminal, title) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_valid = id.starts_with('%') && id[1..].bytes().all(|b| b.is_ascii_digit());
    is_valid.then(|| PaneInfo { title: title.to_owned(), ..PaneInfo::at(id, terminal) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_read_from_its_end() {
        let server = TmuxServer::parse("/tmp/odd,name/default,4242,7").unwrap();
        assert_eq!((server.socket.as_str(), server.pid.as_str()), ("/tmp/odd,name/default", "4242"));
        assert_eq!(TmuxServer::parse("/tmp/x"), None);
        assert_eq!(TmuxServer::parse("/tmp/x,notanumber,0"), None);
    }

    #[test]
    fn a_word_that_ends_in_a_semicolon_stays_one_word() {
        assert_eq!(["a", ";", "a;", r"a\;", "a;b"].map(argument), ["a", r"\;", r"a\;", r"a\\;", "a;b"]);
    }

    #[test]
    fn a_name_that_ends_in_a_semicolon_does_not_end_an_order() {
        let order = StatusUpdate::Bar { text: "0. 1* @kill-server;" };
        assert_eq!(order.words(), ["set-option", "-gq", BAR_OPTION, r"0. 1* @kill-server\;", ";"]);
        let order = StatusUpdate::Window { pane: "%1", state: "working", mark: ";" };
        assert_eq!(order.words().join(" ").matches(" ;").count(), 2);
    }

    #[test]
    fn a_server_that_is_not_there_has_no_panes() {
        let server = TmuxServer { socket: "/nonexistent/socket".into(), pid: "1".into() };
        assert_eq!(server.panes(), None);
    }
}
