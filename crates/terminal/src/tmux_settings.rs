//! The settings of a tmux server: options, hooks and keys, read and changed so that they can be given back.
//!
//! Chooses nothing: what to set is the caller's. Never starts a server. Changes are one call each, which tmux carries out
//! without anything coming in between.

use crate::tmux::{MARK, Server, argument};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What stands behind a key in the prefix table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// As `list-keys` prints it, without the blanks that fill its columns: tmux reads it back as a command.
    pub text: String,
    pub note: Option<String>,
}

/// One change of a server's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A global option, or one entry of a hook.
    Set {
        option: String,
        value: String,
    },
    Unset {
        option: String,
    },
    /// A key of the prefix table, as the user writes it.
    Bind {
        key: String,
        note: Option<String>,
        words: Vec<String>,
    },
    /// What a key was bound to before.
    BindBack(Binding),
    Unbind {
        key: String,
    },
}

/// How a server took it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Done,
    /// It understood something else, and did not go on from there.
    Refused,
    /// It did not answer.
    Unanswered,
}

/// Nobody's agent waits here; a server under load is given time.
const PATIENCE: Duration = Duration::from_secs(3);

/// A table of keys in which bindings are tried out; nothing ever switches to it.
const TRIAL: &str = "towline-trial";
const PREFIX: &str = "prefix";

/// The version of the tmux on the PATH, as it calls it; no server is asked.
#[expect(clippy::disallowed_methods, reason = "the one question that no server can answer")]
pub fn installed_version() -> Option<String> {
    let told = Command::new("tmux").arg("-V").stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&told.stdout).trim().strip_prefix("tmux ")?.to_owned())
}

impl Server {
    /// The server that listens on this socket, if one does.
    pub fn at(socket: &str) -> Option<Server> {
        let unknown = Server { socket: socket.to_owned(), pid: String::new() };
        let pid = unknown.patiently(&["display-message", "-p", "#{pid}"])?.trim().to_owned();
        let sound = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
        sound.then_some(Server { pid, ..unknown })
    }

    /// Its version as it calls it, such as `3.3a`.
    pub fn version(&self) -> Option<String> {
        Some(self.patiently(&["display-message", "-p", "#{version}"])?.trim().to_owned())
    }

    /// The values of global options or entries of hooks; `None` in the place of one that is not set.
    pub fn options(&self, names: &[String]) -> Option<Vec<Option<String>>> {
        self.options_within(PATIENCE, names)
    }

    /// The keys of the prefix table as tmux writes them, with what they are bound to, without notes.
    pub fn bindings(&self) -> Option<BTreeMap<String, Binding>> {
        // An empty table is none, and to list it fails: the mark tells that from a server that is not there.
        let asked = ["display-message", "-p", MARK, ";", "list-keys", "-T", PREFIX];
        let answer = self.ask_within(PATIENCE, &asked)?;
        let lines = answer.text.strip_prefix(MARK)?.lines();
        Some(
            lines
                .filter_map(Printed::parse)
                .map(|line| (line.key.to_owned(), line.in_table(PREFIX)))
                .collect(),
        )
    }

    /// The same binding with its note. tmux tells notes apart from bindings, and before 3.1 has none.
    pub fn with_note(&self, key: &str, binding: Binding) -> Binding {
        let answer = self.patiently(&["list-keys", "-N", "-P", "", "-T", PREFIX, &argument(&plain(key))]);
        let note = answer.and_then(|line| {
            let (_, note) = line.trim_end_matches('\n').split_once(' ')?;
            Some(note.trim_start().to_owned())
        });
        Binding { note: note.filter(|note| !note.is_empty()), ..binding }
    }

    /// How tmux writes the key of a binding, and the binding itself; `None` for one that it does not take.
    pub fn tried(&self, binding: &Change) -> Option<(String, Binding)> {
        let rest = [vec!["list-keys", "-T", TRIAL], vec!["unbind-key", "-a", "-T", TRIAL]];
        let rest = rest.map(|words| words.into_iter().map(str::to_owned).collect());
        let text = self.patiently_all(&[vec![commands(binding, TRIAL)], rest.to_vec()].concat())?;
        let line = Printed::parse(text.lines().next()?)?;
        Some((line.key.to_owned(), line.in_table(PREFIX)))
    }

    /// Carries out all changes, in their order, as one call.
    pub fn change(&self, changes: &[Change]) -> Taken {
        let words: Vec<Vec<String>> = changes.iter().map(|change| commands(change, PREFIX)).collect();
        if words.is_empty() {
            return Taken::Done;
        }
        let joined = join(&words);
        let joined: Vec<&str> = joined.iter().map(String::as_str).collect();
        match self.ask_within(PATIENCE, &joined) {
            Some(answer) if answer.succeeded => Taken::Done,
            Some(_) => Taken::Refused,
            None => Taken::Unanswered,
        }
    }

    /// Takes these user options off every pane and every window.
    pub fn unset_everywhere(&self, options: &[&str]) -> Taken {
        let panes = self.patiently(&["list-panes", "-a", "-F", "-pqu #{pane_id}\n-wqu #{window_id}"]);
        let Some(panes) = panes else { return Taken::Unanswered };
        let mut places: Vec<&str> = panes.lines().collect();
        places.sort_unstable();
        places.dedup();
        let unset = |place: &&str, option: &str| {
            let (flags, id) = place.split_once(' ').unwrap_or((place, ""));
            ["set-option", flags, "-t", id, option].map(str::to_owned).to_vec()
        };
        let words: Vec<Vec<String>> =
            places.iter().flat_map(|place| options.iter().map(move |option| unset(place, option))).collect();
        self.patiently_all(&words).map_or(Taken::Refused, |_| Taken::Done)
    }

    fn patiently(&self, arguments: &[&str]) -> Option<String> {
        self.ask_within(PATIENCE, arguments).filter(|answer| answer.succeeded).map(|answer| answer.text)
    }

    fn patiently_all(&self, words: &[Vec<String>]) -> Option<String> {
        let joined = join(words);
        self.patiently(&joined.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// The words of a change, each of them one argument already.
fn commands(change: &Change, table: &str) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| argument(word)).collect::<Vec<_>>();
    match change {
        Change::Set { option, value } => words(&["set-option", "-g", option, value]),
        Change::Unset { option } => words(&["set-option", "-gqu", option]),
        Change::Unbind { key } => words(&["unbind-key", "-T", table, &plain(key)]),
        Change::Bind { key, note, words: command } => {
            let mut bind = words(&["bind-key"]);
            bind.extend(note.iter().flat_map(|note| words(&["-N", note])));
            bind.extend(words(&["-T", table, key]));
            bind.extend(command.iter().map(|word| argument(word)));
            bind
        }
        // tmux reads the second word as commands, as it would read a line of its configuration.
        Change::BindBack(binding) => {
            let text = noted(
                &binding.text.replacen(" -T prefix ", &format!(" -T {table} "), 1),
                binding.note.as_deref(),
            );
            words(&["if-shell", "-F", "1", &text])
        }
    }
}

fn join(commands: &[Vec<String>]) -> Vec<String> {
    commands.join(&";".to_owned())
}

fn noted(text: &str, note: Option<&str>) -> String {
    match note {
        Some(note) => text.replacen("bind-key ", &format!("bind-key -N {} ", quote(note)), 1),
        None => text.to_owned(),
    }
}

/// A line of `list-keys`, which fills it with blanks so that keys stand below each other.
struct Printed<'a> {
    repeats: bool,
    key: &'a str,
    command: &'a str,
}

impl Printed<'_> {
    fn parse(line: &str) -> Option<Printed<'_>> {
        let rest = line.strip_prefix("bind-key ")?.trim_start();
        let repeating = rest.strip_prefix("-r ");
        let rest = repeating.unwrap_or(rest).trim_start().strip_prefix("-T ")?;
        let (_table, rest) = rest.trim_start().split_once(' ')?;
        let (key, command) = rest.trim_start().split_once(' ')?;
        Some(Printed { repeats: repeating.is_some(), key, command: command.trim_start() })
    }

    fn in_table(&self, table: &str) -> Binding {
        let repeats = if self.repeats { "-r " } else { "" };
        let text = format!("bind-key {repeats}-T {table} {} {}", self.key, self.command);
        Binding { text, note: None }
    }
}

/// A key as it is, from how tmux writes it in a command: behind a backslash if it would mean something there.
fn plain(key: &str) -> String {
    key.strip_prefix('\\').filter(|rest| !rest.is_empty()).unwrap_or(key).to_owned()
}

/// One word for tmux's own parser, which reads single quotes as a shell does.
pub fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_is_given_back_with_its_note_and_in_its_table() {
        let binding =
            Binding { text: "bind-key -r -T prefix a display-message x".into(), note: Some("it's".into()) };
        let text = r"bind-key -N 'it'\''s' -r -T prefix a display-message x";
        assert_eq!(commands(&Change::BindBack(binding), "prefix"), ["if-shell", "-F", "1", text]);
    }

    #[test]
    fn a_printed_binding_is_read_without_the_blanks_of_its_columns() {
        let read = |line: &str| {
            let printed = Printed::parse(line).unwrap();
            (printed.key.to_owned(), printed.in_table(PREFIX).text)
        };
        let (key, text) = read("bind-key    -T prefix       M-c                  display-message  \"a  b\"");
        assert_eq!(
            (key.as_str(), text.as_str()),
            ("M-c", "bind-key -T prefix M-c display-message  \"a  b\"")
        );
        let (key, text) = read(r"bind-key -r -T towline-trial \; last-pane");
        assert_eq!((key.as_str(), text.as_str()), (r"\;", r"bind-key -r -T prefix \; last-pane"));
        assert!(Printed::parse("unknown key: x").is_none());
    }

    #[test]
    fn a_key_is_known_behind_the_backslash_that_tmux_writes_before_it() {
        assert_eq!([r"\;", r"\\", r"\#", "a", r"\"].map(plain), [";", r"\", "#", "a", r"\"]);
    }
}
