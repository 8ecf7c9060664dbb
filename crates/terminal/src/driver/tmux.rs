//! tmux panes: every ability is available.
//!
//! Text is pasted through a server buffer into the one pane, never sent as keys, which would also reach synchronised
//! panes. The same tmux call checks that the pane is unchanged since the last look and that no key was pressed there,
//! so there is no gap between looking and typing.

use super::call::{QUICK, exec};
use super::pane::{DriverError, ENTER, NoDriver, Terminal, presence};
use super::sitter::AgentProcess;
use crate::tmux::MARK;
use std::cell::RefCell;
use towline_core::seat::SeatLocation;
use towline_core::time::Timestamp;
use towline_core::typing::{PaneObservation, TerminalAbilities};

#[derive(Debug)]
pub(super) struct TmuxPane {
    socket: String,
    id: String,
    terminal: String,
    /// The pane's state at the last look.
    snapshot: RefCell<Option<PaneSnapshot>>,
}

/// The values that must be unchanged when text is typed, as tmux formats them.
#[derive(Clone, Debug)]
struct PaneSnapshot {
    program: String,
    keys: String,
}

impl TmuxPane {
    pub(super) fn of(place: &SeatLocation) -> Result<TmuxPane, NoDriver> {
        match (&place.server, &place.pane, &place.tty) {
            (Some(socket), Some(id), Some(terminal)) => {
                let (socket, id, terminal) = (socket.clone(), id.clone(), terminal.clone());
                Ok(TmuxPane { socket, id, terminal, snapshot: RefCell::new(None) })
            }
            (_, _, _) => Err(NoDriver::NoPane),
        }
    }

    fn parse_look(&self, answer: &str, agent: &AgentProcess) -> Option<PaneObservation> {
        let mut parts = answer.split(MARK).skip(1);
        let mut state = parts.next()?.splitn(4, '\n');
        let mut fields = state.next()?.split(' ');
        let (program, keys, clients) = (state.next()?, state.next()?, state.next()?);
        let screen = parts.next()?.strip_prefix('\n')?;
        let (terminal, dead, mode) = (fields.next()?, fields.next()?, fields.next()?);
        let (off, shared, window) = (fields.next()?, fields.next()?, fields.next()?);
        let cursor = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let is_same = terminal == self.terminal && agent.process().is_some();
        let reaches =
            |client: &TmuxClient<'_>| client.pane == self.id || (shared == "1" && client.window == window);
        self.snapshot.replace(Some(PaneSnapshot { program: program.to_owned(), keys: keys.to_owned() }));
        Some(PaneObservation {
            is_there: Some(is_same && dead == "0"),
            foreground: None,
            in_mode: Some(mode != "0" || off != "0"),
            last_key_at: last_key(clients.lines().filter_map(TmuxClient::parse).collect(), reaches),
            screen: Some(screen.to_owned()),
            cursor: Some(cursor),
        })
    }

    /// `option` of tmux says how the text arrives.
    fn put(&self, text: &str, option: &str) -> Result<(), DriverError> {
        let buffer = format!("towline-{}", std::process::id());
        let (is_unchanged, refusal) = self.unchanged_condition();
        let then = format!("paste-buffer {option} -d -b {buffer} -t {}", self.id);
        let otherwise = format!("delete-buffer -b {buffer} ; display-message -p '{refusal}'");
        let order = [
            &["load-buffer", "-b", &buffer, "-", ";"][..],
            &["if-shell", "-F", "-t", &self.id, &is_unchanged, &then, &otherwise],
        ];
        match self.ask(&order.concat(), text.as_bytes())?.trim() {
            "" => Ok(()),
            message => Err(DriverError::Refused { program: PROGRAM, said: message.to_owned() }),
        }
    }

    /// A tmux format that is true if the pane accepts input and is as it was at the last look, and the message to print
    /// if not.
    fn unchanged_condition(&self) -> (String, String) {
        let takes_keys = format!("#{{==:{STATE},{} 0 0 0}}", self.terminal);
        let Some(snapshot) = self.snapshot.borrow().clone() else { return (takes_keys, CHANGED.to_owned()) };
        let is_same_program = format!("#{{==:{PROGRAM_STATE},{}}}", literal(&snapshot.program));
        let is_quiet = format!("#{{==:{},{}}}", self.keys(), literal(&snapshot.keys));
        let unchanged_condition = format!("#{{&&:{takes_keys},#{{&&:{is_same_program},{is_quiet}}}}}");
        (unchanged_condition, format!("#{{?{is_quiet},{CHANGED},{TYPED_IN}}}"))
    }

    /// A tmux format with the time of the last key that reached the pane, per session, in whole seconds: the caller
    /// must let the last second pass. It compares terminals, since tmux expands the `%` of a pane id as a time, more
    /// than once.
    fn keys(&self) -> String {
        let reaches = format!("#{{||:#{{==:#{{pane_tty}},{}}},#{{?synchronize-panes,1,0}}}}", self.terminal);
        format!("#{{S:#{{?{reaches},#{{session_id}}@#{{session_activity}},-}} }}")
    }

    fn ask(&self, arguments: &[&str], input: &[u8]) -> Result<String, DriverError> {
        // Without -u, tmux prints `_` for every non-ASCII character to a client in a plain locale.
        let arguments = [&["-u", "-S", &self.socket], arguments].concat();
        exec(PROGRAM, &arguments, &[], input, QUICK)
    }
}

impl Terminal for TmuxPane {
    fn abilities(&self) -> TerminalAbilities {
        TerminalAbilities { identity: true, foreground: true, screen: true, mode: true, activity: true }
    }

    /// One call, so that all values are of the same moment.
    fn look(&self, agent: &AgentProcess) -> PaneObservation {
        let (state, keys) = (format!("{MARK}{LOOK_FORMAT}"), self.keys());
        let commands = [
            &["display-message", "-p", "-t", &self.id, &state, ";"][..],
            &["display-message", "-p", "-t", &self.id, PROGRAM_STATE, ";"],
            &["display-message", "-p", "-t", &self.id, &keys, ";"],
            &["list-clients", "-F", CLIENT_FORMAT, ";"],
            &["display-message", "-p", MARK, ";", "capture-pane", "-e", "-p", "-t", &self.id],
        ];
        let answer = self.ask(&commands.concat(), b"");
        let gone = PaneObservation { is_there: presence(&answer, || None), ..PaneObservation::default() };
        answer.ok().and_then(|answer| self.parse_look(&answer, agent)).unwrap_or(gone)
    }

    fn paste(&self, text: &str) -> Result<(), DriverError> {
        // As a bracketed paste, if the program asked for it.
        self.put(text, "-p")
    }

    fn enter(&self) -> Result<(), DriverError> {
        // As if typed.
        self.put(ENTER, "-r")
    }
}

const PROGRAM: &str = "tmux";

/// Identifies the pane and tells whether it accepts input.
const STATE: &str = "#{pane_tty} #{pane_dead} #{pane_in_mode} #{pane_input_off}";

/// The program that would receive the input.
const PROGRAM_STATE: &str = "#{pane_pid} #{pane_current_command}";

const LOOK_FORMAT: &str = "#{pane_tty} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{?synchronize-panes,1,0} \
    #{window_id} #{cursor_x} #{cursor_y}";

const CLIENT_FORMAT: &str = "#{pane_id} #{window_id} #{client_activity} #{client_control_mode}";

/// The messages tmux prints instead of typing.
const CHANGED: &str = "the pane changed meanwhile";
const TYPED_IN: &str = "somebody typed there meanwhile";

/// Escapes text for use inside a tmux comparison.
fn literal(text: &str) -> String {
    text.replace('#', "##").replace(',', "#,").replace('}', "#}")
}

/// A client attached to the server.
struct TmuxClient<'a> {
    /// The pane that receives its keys.
    pane: &'a str,
    window: &'a str,
    /// In seconds since the Unix epoch.
    active: i64,
    /// A control-mode client: it sends keys by command, and tmux does not report when.
    is_control_mode: bool,
}

impl<'a> TmuxClient<'a> {
    fn parse(line: &'a str) -> Option<TmuxClient<'a>> {
        let mut fields = line.split(' ');
        let (pane, window) = (fields.next()?, fields.next()?);
        let active = fields.next()?.parse().ok()?;
        Some(TmuxClient { pane, window, active, is_control_mode: fields.next()? != "0" })
    }
}

/// The end of the second of the last key that reached the pane; 0 if no client can type there.
fn last_key(clients: Vec<TmuxClient<'_>>, reaches: impl Fn(&TmuxClient<'_>) -> bool) -> Option<Timestamp> {
    if clients.iter().any(|client| client.is_control_mode) {
        return None;
    }
    let last = clients.iter().filter(|client| reaches(client)).map(|client| client.active).max();
    Some(Timestamp(last.map_or(0, |seconds| seconds.saturating_mul(1000).saturating_add(999))))
}
