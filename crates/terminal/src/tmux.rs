//! A tmux server: which pane owns which terminal, what is on its screen, what its bar says, which pane is looked at.
//!
//! One spawn per question, arguments as a list, never a shell. A server that does not answer is no server. Nothing is
//! ever typed from here.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A server as `$TMUX` names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Server {
    pub socket: String,
    /// Its process: tells two servers apart that used the same socket one after the other.
    pub pid: String,
}

/// A pane and what it is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pane {
    pub id: String,
    pub terminal: String,
    /// Only filled by `screens`.
    pub screen: String,
}

/// One line of a menu: what it says, the key that chooses it, and what tmux then does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuItem {
    pub label: String,
    pub key: String,
    pub command: String,
}

/// One thing that a server is to show. A pane that is not there any more is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order<'a> {
    /// The text of `#{@towline-status}`.
    Bar { text: &'a str },
    /// The state of an agent, and whether a person should look, as options of its pane.
    Pane { pane: &'a str, state: &'a str, unseen: &'a str },
    /// The state, and the mark for it, as options of the pane's window. A mark of the pane would hide the window's.
    Window { pane: &'a str, state: &'a str, mark: &'a str },
    /// Nobody sits in the pane any more.
    PaneLeft { pane: &'a str },
    /// No window has a state: those that have one are set again.
    ClearWindows,
}

impl Order<'_> {
    fn commands(&self) -> Vec<Vec<&str>> {
        match *self {
            Order::Bar { text } => vec![vec!["set-option", "-gq", BAR_OPTION, text]],
            Order::Pane { pane, state, unseen } => {
                let set = |option, value| vec!["set-option", "-pq", "-t", pane, option, value];
                vec![set(STATE_OPTION, state), set(UNSEEN_OPTION, unseen)]
            }
            Order::Window { pane, state, mark } => {
                let set = |option, value| vec!["set-option", "-wq", "-t", pane, option, value];
                vec![set(STATE_OPTION, state), set(MARK_OPTION, mark)]
            }
            Order::PaneLeft { pane } => {
                let unset = |option| vec!["set-option", "-puq", "-t", pane, option];
                vec![unset(STATE_OPTION), unset(UNSEEN_OPTION)]
            }
            Order::ClearWindows => vec![CLEAR_WINDOWS.to_vec()],
        }
    }

    /// As arguments of tmux, each command with its end.
    fn words(&self) -> Vec<String> {
        let ended = |command: Vec<&str>| {
            let words = command.into_iter().map(argument);
            words.chain([";".to_owned()]).collect::<Vec<_>>()
        };
        self.commands().into_iter().flat_map(ended).collect()
    }
}

/// A word as tmux takes it for an argument: one that ends in `;` would end the command.
pub(crate) fn argument(word: &str) -> String {
    word.strip_suffix(';').map_or_else(|| word.to_owned(), |rest| format!("{rest}\\;"))
}

impl Server {
    /// Reads the value of `$TMUX`: socket, process, session.
    pub fn parse(variable: &str) -> Option<Server> {
        let mut parts = variable.rsplitn(3, ',');
        let (_session, pid, socket) = (parts.next()?, parts.next()?, parts.next()?);
        let sound = !socket.is_empty() && !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit());
        sound.then(|| Server { socket: socket.to_owned(), pid: pid.to_owned() })
    }

    /// All panes with their terminals; `None` if the server does not answer.
    pub fn panes(&self) -> Option<Vec<Pane>> {
        let answer = self.ask(&["list-panes", "-a", "-F", "#{pane_id} #{pane_tty}"])?;
        Some(answer.lines().filter_map(parse_pane).collect())
    }

    /// What the panes on these terminals show.
    pub fn screens(&self, terminals: &[String]) -> Option<Vec<Pane>> {
        let mut panes = self.panes()?;
        panes.retain(|pane| terminals.contains(&pane.terminal));
        self.captured(&panes)
    }

    /// What these panes show, in one call unless one of them is gone. A pane that has another terminal by now is not the
    /// one that is meant.
    pub fn show_screens(&self, panes: &[Pane]) -> Option<Vec<Pane>> {
        let terminals = || panes.iter().map(|pane| pane.terminal.clone()).collect::<Vec<_>>();
        self.captured(panes).or_else(|| self.screens(&terminals()))
    }

    /// tmux stops at the first pane that it does not find.
    fn captured(&self, panes: &[Pane]) -> Option<Vec<Pane>> {
        let mark = format!("{MARK}#{{pane_id}} #{{pane_tty}}");
        let mut question: Vec<&str> = vec![];
        for pane in panes {
            question.extend(["display-message", "-p", "-t", &pane.id, &mark, ";"]);
            question.extend(["capture-pane", "-p", "-J", "-t", &pane.id, ";"]);
        }
        question.pop();
        if question.is_empty() {
            return Some(vec![]);
        }
        let answer = self.ask(&question)?;
        let shown = answer.split(MARK).skip(1).filter_map(|part| {
            let (head, screen) = part.split_once('\n')?;
            Some(Pane { screen: screen.to_owned(), ..parse_pane(head)? })
        });
        Some(shown.filter(|pane| panes.iter().any(|asked| asked.terminal == pane.terminal)).collect())
    }

    /// The values of global options, in the order of their names; `None` in the place of one that is not set.
    pub fn user_options(&self, names: &[String]) -> Option<Vec<Option<String>>> {
        self.options_within(PATIENCE, names)
    }

    pub(crate) fn options_within(&self, patience: Duration, names: &[String]) -> Option<Vec<Option<String>>> {
        let mut question: Vec<&str> = vec![];
        for name in names {
            question.extend(["display-message", "-p", MARK, ";", "show-options", "-gqv", name, ";"]);
        }
        question.pop();
        let answer = self.ask_within(patience, &question).filter(|answer| answer.succeeded)?.text;
        // An option that is set ends with a line end of its own, even if it is empty.
        let value = |said: &str| said.strip_prefix('\n')?.strip_suffix('\n').map(str::to_owned);
        Some(answer.split(MARK).skip(1).map(value).collect())
    }

    /// Brings a pane before the person: its window, the pane, and the client's session. Whether the pane was there.
    pub fn show(&self, pane: &str) -> bool {
        let there = self.ask(&["select-window", "-t", pane, ";", "select-pane", "-t", pane]).is_some();
        // Without a client there is nobody to be switched.
        let _ = self.ask(&["switch-client", "-t", pane]);
        there
    }

    /// When something was last typed in each client that shows this pane, in seconds since the Unix epoch.
    pub fn lookers(&self, pane: &str) -> Vec<i64> {
        let answer = self.ask(&["list-clients", "-F", "#{pane_id} #{client_activity}"]).unwrap_or_default();
        let looks = |line: &str| line.strip_prefix(pane)?.trim_start().parse().ok();
        answer.lines().filter_map(looks).collect()
    }

    /// Opens a menu before the person. Titles and labels must be escaped already; commands are tmux's own. tmux answers
    /// when the menu is closed: one that has not refused by now has opened it.
    #[expect(clippy::disallowed_methods, reason = "a menu lasts as long as somebody looks at it")]
    pub fn menu(&self, title: &str, items: &[MenuItem]) -> bool {
        let words = items.iter().flat_map(|item| [&item.label, &item.key, &item.command]);
        let mut tmux = Command::new("tmux");
        tmux.arg("-u").arg("-S").arg(&self.socket).env_remove("TMUX");
        tmux.args(["display-menu", "-T", &argument(title), "-x", "C", "-y", "C", "--"]);
        tmux.args(words.map(|word| argument(word)));
        let started = tmux.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut client) = started else { return false };
        match client.stdout.take().and_then(|pipe| read_within(pipe, PATIENCE)) {
            Some(_) => client.wait().is_ok_and(|status| status.success()),
            None => true,
        }
    }

    /// Opens a popup before the person and waits until it is closed. `command` goes through a shell: it must be one of
    /// ours, whole. Says why tmux would not.
    #[expect(
        clippy::disallowed_methods,
        reason = "a popup lasts as long as somebody looks at it, unlike any question"
    )]
    pub fn popup(&self, command: &str) -> Result<(), String> {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.socket).args(["display-popup", "-E", "-w", "90%", "-h", "60%", command]);
        let done =
            tmux.env_remove("TMUX").stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        // How the command in it ended is not of interest: tmux itself says something if it fails.
        if said.is_empty() { Ok(()) } else { Err(said) }
    }

    /// Says something in the status line of the person who pressed a key.
    pub fn say(&self, text: &str) {
        let _shown = self.ask(&["display-message", &argument(text)]);
    }

    /// Carries out orders, which also redraws bars. Not waited for; whether tmux could be started. `until_done` stays open until tmux has done it:
    /// whoever holds a lock on it keeps the next push from overtaking this one.
    #[expect(
        clippy::disallowed_methods,
        reason = "the other place that runs tmux: nobody waits for this one"
    )]
    pub fn carry_out(&self, orders: &[Order<'_>], until_done: File) -> bool {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(&self.socket).args(orders.iter().flat_map(Order::words)).env_remove("TMUX");
        tmux.stdin(Stdio::null()).stdout(Stdio::null()).stderr(until_done).process_group(0);
        tmux.spawn().is_ok()
    }

    /// What tmux prints, if it does what it is asked.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Option<String> {
        self.ask_within(PATIENCE, arguments).filter(|answer| answer.succeeded).map(|answer| answer.text)
    }

    /// A server that hangs is given up after `patience`, and the client that asked it is ended.
    #[expect(clippy::disallowed_methods, reason = "the one place that runs tmux")]
    pub(crate) fn ask_within(&self, patience: Duration, arguments: &[&str]) -> Option<Answer> {
        let mut tmux = Command::new("tmux");
        // Without -u, a client in a plain locale is told `_` for everything that is not ASCII.
        tmux.arg("-u").arg("-S").arg(&self.socket).args(arguments).env_remove("TMUX");
        let mut client =
            tmux.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        let answer = client.stdout.take().and_then(|pipe| read_within(pipe, patience));
        if answer.is_none() {
            let _ = client.kill();
        }
        let succeeded = client.wait().is_ok_and(|status| status.success());
        answer.map(|bytes| Answer { text: String::from_utf8_lossy(&bytes).into_owned(), succeeded })
    }
}

/// What tmux printed, and whether it did what it was asked.
pub(crate) struct Answer {
    pub text: String,
    pub succeeded: bool,
}

/// A server answers in a few milliseconds, or not at all.
const PATIENCE: Duration = Duration::from_millis(250);

/// Everything up to the end of the pipe, if that comes within `patience` of the last bytes.
pub(crate) fn read_within(mut pipe: impl Read + AsFd, patience: Duration) -> Option<Vec<u8>> {
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

/// The option that a status line shows as `#{@towline-status}`.
pub const BAR_OPTION: &str = "@towline-status";

/// What the agent in a pane does, and of a window the one that is most urgent there.
pub const STATE_OPTION: &str = "@towline-state";

/// The icon for it; empty where nobody needs to look.
pub const MARK_OPTION: &str = "@towline-mark";

/// Whether somebody should look at the pane: asked by hooks on focus, before they start anything.
pub const UNSEEN_OPTION: &str = "@towline-unseen";

/// tmux itself walks its windows: asking for them first would take another spawn. Versions before 3.2 cannot, and keep
/// the state of a window until another agent sits there.
const CLEAR_WINDOWS: [&str; 5] = ["if-shell", "-F", "#{m/r:^3\\.[01][^0-9]*$,#{version}}", "", CLEAR_COMMAND];

const CLEAR_COMMAND: &str = "run-shell -C \"#{S:#{W:set-option -wuq -t '#{window_id}' @towline-state ; \
    set-option -wuq -t '#{window_id}' @towline-mark ;}}\"";

/// Separates screens in an answer; no screen shows it.
pub(crate) const MARK: &str = "\u{1e}towline\u{1e}";

fn parse_pane(line: &str) -> Option<Pane> {
    let (id, terminal) = line.split_once(' ')?;
    let sound = id.starts_with('%') && id[1..].bytes().all(|b| b.is_ascii_digit());
    sound.then(|| Pane { id: id.to_owned(), terminal: terminal.to_owned(), screen: String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_read_from_its_end() {
        let server = Server::parse("/tmp/odd,name/default,4242,7").unwrap();
        assert_eq!((server.socket.as_str(), server.pid.as_str()), ("/tmp/odd,name/default", "4242"));
        assert_eq!(Server::parse("/tmp/x"), None);
        assert_eq!(Server::parse("/tmp/x,notanumber,0"), None);
    }

    #[test]
    fn a_word_that_ends_in_a_semicolon_stays_one_word() {
        assert_eq!(["a", ";", "a;", r"a\;", "a;b"].map(argument), ["a", r"\;", r"a\;", r"a\\;", "a;b"]);
    }

    #[test]
    fn a_name_that_ends_in_a_semicolon_does_not_end_an_order() {
        let order = Order::Bar { text: "0. 1* @kill-server;" };
        assert_eq!(order.words(), ["set-option", "-gq", BAR_OPTION, r"0. 1* @kill-server\;", ";"]);
        let order = Order::Window { pane: "%1", state: "working", mark: ";" };
        assert_eq!(order.words().join(" ").matches(" ;").count(), 2);
    }

    #[test]
    fn a_server_that_is_not_there_has_no_panes() {
        let server = Server { socket: "/nonexistent/socket".into(), pid: "1".into() };
        assert_eq!(server.panes(), None);
    }
}
