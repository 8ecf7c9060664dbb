//! A pane of tmux: everything can be seen and made sure of.
//!
//! What is typed goes through the server's buffers straight into the one pane, never as keys: those would also reach the
//! panes that are synchronised with it. The server itself checks in the same call that the pane is as it was looked at
//! last, and that nobody pressed a key there since: between looking and typing there is no moment for either.

use super::call::{Call, QUICK};
use super::sitter::Sitter;
use super::{DriverError, ENTER, NoDriver};
use crate::tmux::MARK;
use std::cell::RefCell;
use towline_core::seat::Place;
use towline_core::time::Timestamp;
use towline_core::typing::{Abilities, Look};

pub(super) const ABILITIES: Abilities =
    Abilities { identity: true, foreground: true, screen: true, mode: true, activity: true };

#[derive(Debug)]
pub(super) struct Pane {
    socket: String,
    id: String,
    terminal: String,
    /// How the pane was when it was looked at last.
    seen: RefCell<Option<Seen>>,
}

/// What must still be so when something is typed, in tmux's own words.
#[derive(Clone, Debug)]
struct Seen {
    program: String,
    keys: String,
}

/// How a buffer is put into the pane.
#[derive(Clone, Copy)]
enum Way {
    /// Between brackets, if the program there asked for them.
    Paste,
    /// As if from the keyboard.
    Keys,
}

impl Pane {
    pub(super) fn of(place: &Place) -> Result<Pane, NoDriver> {
        match (&place.server, &place.pane, &place.tty) {
            (Some(socket), Some(id), Some(terminal)) => {
                let (socket, id, terminal) = (socket.clone(), id.clone(), terminal.clone());
                Ok(Pane { socket, id, terminal, seen: RefCell::new(None) })
            }
            (_, _, _) => Err(NoDriver::NoPane),
        }
    }

    /// One call: everything is of the same moment.
    pub(super) fn look(&self, sitter: &Sitter) -> Look {
        let (about, keys) = (format!("{MARK}{ABOUT}"), self.keys());
        let question = [
            &["display-message", "-p", "-t", &self.id, &about, ";"][..],
            &["display-message", "-p", "-t", &self.id, PROGRAM_STATE, ";"],
            &["display-message", "-p", "-t", &self.id, &keys, ";"],
            &["list-clients", "-F", CLIENT, ";"],
            &["display-message", "-p", MARK, ";", "capture-pane", "-e", "-p", "-t", &self.id],
        ];
        match self.ask(&question.concat(), b"") {
            Ok(answer) => self.seen(&answer, sitter).unwrap_or_default(),
            Err(DriverError::Refused { .. }) => Look { is_there: Some(false), ..Look::default() },
            Err(_) => Look::default(),
        }
    }

    fn seen(&self, answer: &str, sitter: &Sitter) -> Option<Look> {
        let mut parts = answer.split(MARK).skip(1);
        let mut about = parts.next()?.splitn(4, '\n');
        let mut fields = about.next()?.split(' ');
        let (program, keys, clients) = (about.next()?, about.next()?, about.next()?);
        let screen = parts.next()?.strip_prefix('\n')?;
        let (terminal, dead, mode) = (fields.next()?, fields.next()?, fields.next()?);
        let (off, shared, window) = (fields.next()?, fields.next()?, fields.next()?);
        let cursor = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let is_same = terminal == self.terminal && sitter.process().is_some();
        let reaches =
            |client: &Client<'_>| client.pane == self.id || (shared == "1" && client.window == window);
        self.seen.replace(Some(Seen { program: program.to_owned(), keys: keys.to_owned() }));
        Some(Look {
            is_there: Some(is_same && dead == "0"),
            foreground: None,
            in_mode: Some(mode != "0" || off != "0"),
            last_key_at: last_key(clients.lines().filter_map(Client::parse).collect(), reaches),
            screen: Some(screen.to_owned()),
            cursor: Some(cursor),
        })
    }

    pub(super) fn paste(&self, text: &str) -> Result<(), DriverError> {
        self.put(text, Way::Paste)
    }

    pub(super) fn enter(&self) -> Result<(), DriverError> {
        self.put(ENTER, Way::Keys)
    }

    fn put(&self, text: &str, way: Way) -> Result<(), DriverError> {
        let buffer = format!("towline-{}", std::process::id());
        let options = match way {
            Way::Paste => "-p",
            Way::Keys => "-r",
        };
        let (is_as_seen, refusal) = self.is_as_seen();
        let then = format!("paste-buffer {options} -d -b {buffer} -t {}", self.id);
        let otherwise = format!("delete-buffer -b {buffer} ; display-message -p '{refusal}'");
        let order = [
            &["load-buffer", "-b", &buffer, "-", ";"][..],
            &["if-shell", "-F", "-t", &self.id, &is_as_seen, &then, &otherwise],
        ];
        match self.ask(&order.concat(), text.as_bytes())?.trim() {
            "" => Ok(()),
            said => Err(DriverError::Refused { program: PROGRAM, said: said.to_owned() }),
        }
    }

    /// Whether the pane takes what is typed and is as it was at the last look, as a question to tmux, and what it says if
    /// not.
    fn is_as_seen(&self) -> (String, String) {
        let takes_keys = format!("#{{==:{STATE},{} 0 0 0}}", self.terminal);
        let Some(seen) = self.seen.borrow().clone() else { return (takes_keys, CHANGED.to_owned()) };
        let is_same_program = format!("#{{==:{PROGRAM_STATE},{}}}", literal(&seen.program));
        let is_quiet = format!("#{{==:{},{}}}", self.keys(), literal(&seen.keys));
        let is_as_seen = format!("#{{&&:{takes_keys},#{{&&:{is_same_program},{is_quiet}}}}}");
        (is_as_seen, format!("#{{?{is_quiet},{CHANGED},{TYPED_IN}}}"))
    }

    /// When somebody last pressed a key where it reaches the pane, session by session, as a question to tmux. In whole
    /// seconds: whoever types makes sure that the last one is over. By the terminal, since tmux takes the `%` of a pane's
    /// name for the beginning of a time, more than once.
    fn keys(&self) -> String {
        let reaches = format!("#{{||:#{{==:#{{pane_tty}},{}}},#{{?synchronize-panes,1,0}}}}", self.terminal);
        format!("#{{S:#{{?{reaches},#{{session_id}}@#{{session_activity}},-}} }}")
    }

    fn ask(&self, arguments: &[&str], input: &[u8]) -> Result<String, DriverError> {
        // Without -u, a client in a plain locale is told `_` for everything that is not ASCII.
        let arguments = [&["-u", "-S", &self.socket], arguments].concat();
        Call { program: PROGRAM, arguments: &arguments, variables: &[], input, patience: QUICK }.run()
    }
}

const PROGRAM: &str = "tmux";

/// Whether the pane is the one that is meant and would take what is typed.
const STATE: &str = "#{pane_tty} #{pane_dead} #{pane_in_mode} #{pane_input_off}";

/// Who would get it.
const PROGRAM_STATE: &str = "#{pane_pid} #{pane_current_command}";

const ABOUT: &str = "#{pane_tty} #{pane_dead} #{pane_in_mode} #{pane_input_off} #{?synchronize-panes,1,0} \
    #{window_id} #{cursor_x} #{cursor_y}";

const CLIENT: &str = "#{pane_id} #{window_id} #{client_activity} #{client_control_mode}";

/// What tmux says in place of typing.
const CHANGED: &str = "the pane changed meanwhile";
const TYPED_IN: &str = "somebody typed there meanwhile";

/// Text that tmux compares with, and does not take for a part of the comparison.
fn literal(text: &str) -> String {
    text.replace('#', "##").replace(',', "#,").replace('}', "#}")
}

/// Somebody attached to the server.
struct Client<'a> {
    /// Where what is typed goes.
    pane: &'a str,
    window: &'a str,
    /// In seconds since the Unix epoch.
    active: i64,
    /// A program that shows panes by itself: it sends keys in its own way, and nobody tells when.
    is_program: bool,
}

impl<'a> Client<'a> {
    fn parse(line: &'a str) -> Option<Client<'a>> {
        let mut fields = line.split(' ');
        let (pane, window) = (fields.next()?, fields.next()?);
        let active = fields.next()?.parse().ok()?;
        Some(Client { pane, window, active, is_program: fields.next()? != "0" })
    }
}

/// The end of the second in which somebody last typed where it reaches the pane; long ago where nobody can.
fn last_key(clients: Vec<Client<'_>>, reaches: impl Fn(&Client<'_>) -> bool) -> Option<Timestamp> {
    if clients.iter().any(|client| client.is_program) {
        return None;
    }
    let last = clients.iter().filter(|client| reaches(client)).map(|client| client.active).max();
    Some(Timestamp(last.map_or(0, |seconds| seconds.saturating_mul(1000).saturating_add(999))))
}
