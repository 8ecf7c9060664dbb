//! A tmux server's settings: options, hooks and keys, read and changed so that they can be restored.
//!
//! The caller decides what to set. Never starts a server. A set of changes is one call, which tmux executes without
//! interruption.

use crate::tmux::{MARK, TmuxServer, argument};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A key's binding in the prefix table.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KeyBinding {
    /// As `list-keys` prints it, without column padding: tmux can parse it as a command.
    pub text: String,
    pub note: Option<String>,
}

/// One change of a server's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TmuxChange {
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
    /// Restores a key's former binding.
    BindBack(KeyBinding),
    Unbind {
        key: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOutcome {
    Done,
    /// A command failed; the commands after it were not run.
    Refused,
    /// The server did not answer.
    Unanswered,
}

/// No agent waits for these calls; a server under load is given time.
const PATIENCE: Duration = Duration::from_secs(3);

/// A key table in which bindings are tried out; nothing ever switches to it.
const TRIAL_TABLE: &str = "towline-trial";
const PREFIX_TABLE: &str = "prefix";

/// The version of the tmux on the PATH; no server is queried.
#[expect(clippy::disallowed_methods, reason = "the one question that no server can answer")]
pub fn installed_version() -> Option<String> {
    let output = Command::new("tmux").arg("-V").stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().strip_prefix("tmux ")?.to_owned())
}

impl TmuxServer {
    /// The server that listens on this socket, if one does.
    pub fn at(socket: &str) -> Option<TmuxServer> {
        let unknown = TmuxServer { socket: socket.to_owned(), pid: String::new() };
        let pid = unknown.run(&["display-message", "-p", "#{pid}"])?.trim().to_owned();
        let is_valid = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
        is_valid.then_some(TmuxServer { pid, ..unknown })
    }

    /// The server's version, such as `3.3a`.
    pub fn version(&self) -> Option<String> {
        Some(self.run(&["display-message", "-p", "#{version}"])?.trim().to_owned())
    }

    /// The values of global options or hook entries; `None` for an unset one.
    pub fn options(&self, names: &[String]) -> Option<Vec<Option<String>>> {
        self.options_within(PATIENCE, names)
    }

    /// The bindings of the prefix table by key as tmux writes it, without notes.
    pub fn bindings(&self) -> Option<BTreeMap<String, KeyBinding>> {
        // Listing an empty table fails: the mark distinguishes that from a missing server.
        let arguments = ["display-message", "-p", MARK, ";", "list-keys", "-T", PREFIX_TABLE];
        let answer = self.ask_within(PATIENCE, &arguments)?;
        let lines = answer.text.strip_prefix(MARK)?.lines();
        Some(
            lines
                .filter_map(ListedKey::parse)
                .map(|line| (line.key.to_owned(), line.in_table(PREFIX_TABLE)))
                .collect(),
        )
    }

    /// Adds a binding's note. tmux lists notes separately, and before 3.1 has none.
    pub fn with_note(&self, key: &str, binding: KeyBinding) -> KeyBinding {
        let answer = self.run(&["list-keys", "-N", "-P", "", "-T", PREFIX_TABLE, &argument(&plain(key))]);
        let note = answer.and_then(|line| {
            let (_, note) = line.trim_end_matches('\n').split_once(' ')?;
            Some(note.trim_start().to_owned())
        });
        KeyBinding { note: note.filter(|note| !note.is_empty()), ..binding }
    }

    /// Tries a binding out: its key as tmux writes it, and the binding itself; `None` if tmux refuses it.
    pub fn tried(&self, binding: &TmuxChange) -> Option<(String, KeyBinding)> {
        let rest = [vec!["list-keys", "-T", TRIAL_TABLE], vec!["unbind-key", "-a", "-T", TRIAL_TABLE]];
        let rest = rest.map(|words| words.into_iter().map(str::to_owned).collect());
        let text = self.run_all(&[vec![commands(binding, TRIAL_TABLE)], rest.to_vec()].concat())?;
        let line = ListedKey::parse(text.lines().next()?)?;
        Some((line.key.to_owned(), line.in_table(PREFIX_TABLE)))
    }

    /// Applies all changes, in order, as one call.
    pub fn change(&self, changes: &[TmuxChange]) -> ChangeOutcome {
        let words: Vec<Vec<String>> = changes.iter().map(|change| commands(change, PREFIX_TABLE)).collect();
        if words.is_empty() {
            return ChangeOutcome::Done;
        }
        let joined = join(&words);
        let joined: Vec<&str> = joined.iter().map(String::as_str).collect();
        match self.ask_within(PATIENCE, &joined) {
            Some(answer) if answer.succeeded => ChangeOutcome::Done,
            Some(_) => ChangeOutcome::Refused,
            None => ChangeOutcome::Unanswered,
        }
    }

    /// Unsets these user options on every pane and window.
    pub fn unset_everywhere(&self, options: &[&str]) -> ChangeOutcome {
        let panes = self.run(&["list-panes", "-a", "-F", "-pqu #{pane_id}\n-wqu #{window_id}"]);
        let Some(panes) = panes else { return ChangeOutcome::Unanswered };
        let mut targets: Vec<&str> = panes.lines().collect();
        targets.sort_unstable();
        targets.dedup();
        let unset = |target: &&str, option: &str| {
            let (flags, id) = target.split_once(' ').unwrap_or((target, ""));
            ["set-option", flags, "-t", id, option].map(str::to_owned).to_vec()
        };
        let words: Vec<Vec<String>> = targets
            .iter()
            .flat_map(|target| options.iter().map(move |option| unset(target, option)))
            .collect();
        self.run_all(&words).map_or(ChangeOutcome::Refused, |_| ChangeOutcome::Done)
    }

    fn run(&self, arguments: &[&str]) -> Option<String> {
        self.ask_within(PATIENCE, arguments).filter(|answer| answer.succeeded).map(|answer| answer.text)
    }

    fn run_all(&self, words: &[Vec<String>]) -> Option<String> {
        let joined = join(words);
        self.run(&joined.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// The tmux command for a change, each word escaped as an argument.
fn commands(change: &TmuxChange, table: &str) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| argument(word)).collect::<Vec<_>>();
    match change {
        TmuxChange::Set { option, value } => words(&["set-option", "-g", option, value]),
        TmuxChange::Unset { option } => words(&["set-option", "-gqu", option]),
        TmuxChange::Unbind { key } => words(&["unbind-key", "-T", table, &plain(key)]),
        TmuxChange::Bind { key, note, words: command } => {
            let mut bind = words(&["bind-key"]);
            bind.extend(note.iter().flat_map(|note| words(&["-N", note])));
            bind.extend(words(&["-T", table, key]));
            bind.extend(command.iter().map(|word| argument(word)));
            bind
        }
        // tmux parses the second word as commands, like a line of its configuration.
        TmuxChange::BindBack(binding) => {
            let text = with_note_option(
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

fn with_note_option(text: &str, note: Option<&str>) -> String {
    match note {
        Some(note) => text.replacen("bind-key ", &format!("bind-key -N {} ", quote(note)), 1),
        None => text.to_owned(),
    }
}

/// A line of `list-keys`, padded into columns.
struct ListedKey<'a> {
    repeats: bool,
    key: &'a str,
    command: &'a str,
}

impl ListedKey<'_> {
    fn parse(line: &str) -> Option<ListedKey<'_>> {
        let rest = line.strip_prefix("bind-key ")?.trim_start();
        let repeating = rest.strip_prefix("-r ");
        let rest = repeating.unwrap_or(rest).trim_start().strip_prefix("-T ")?;
        let (_table, rest) = rest.trim_start().split_once(' ')?;
        let (key, command) = rest.trim_start().split_once(' ')?;
        Some(ListedKey { repeats: repeating.is_some(), key, command: command.trim_start() })
    }

    fn in_table(&self, table: &str) -> KeyBinding {
        let repeats = if self.repeats { "-r " } else { "" };
        let text = format!("bind-key {repeats}-T {table} {} {}", self.key, self.command);
        KeyBinding { text, note: None }
    }
}

/// Removes the backslash with which tmux escapes a key in a command.
fn plain(key: &str) -> String {
    key.strip_prefix('\\').filter(|rest| !rest.is_empty()).unwrap_or(key).to_owned()
}

/// Quotes a word for tmux's parser, which reads single quotes as a shell does.
pub fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_is_given_back_with_its_note_and_in_its_table() {
        let binding = KeyBinding {
            text: "bind-key -r -T prefix a display-message x".into(),
            note: Some("it's".into()),
        };
        let text = r"bind-key -N 'it'\''s' -r -T prefix a display-message x";
        assert_eq!(commands(&TmuxChange::BindBack(binding), "prefix"), ["if-shell", "-F", "1", text]);
    }

    #[test]
    fn a_printed_binding_is_read_without_the_blanks_of_its_columns() {
        let read = |line: &str| {
            let listed = ListedKey::parse(line).unwrap();
            (listed.key.to_owned(), listed.in_table(PREFIX_TABLE).text)
        };
        let (key, text) = read("bind-key    -T prefix       M-c                  display-message  \"a  b\"");
        assert_eq!(
            (key.as_str(), text.as_str()),
            ("M-c", "bind-key -T prefix M-c display-message  \"a  b\"")
        );
        let (key, text) = read(r"bind-key -r -T towline-trial \; last-pane");
        assert_eq!((key.as_str(), text.as_str()), (r"\;", r"bind-key -r -T prefix \; last-pane"));
        assert!(ListedKey::parse("unknown key: x").is_none());
    }

    #[test]
    fn a_key_is_known_behind_the_backslash_that_tmux_writes_before_it() {
        assert_eq!([r"\;", r"\\", r"\#", "a", r"\"].map(plain), [";", r"\", "#", "a", r"\"]);
    }
}
