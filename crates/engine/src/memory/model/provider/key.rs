//! The API key, read from the environment or from a command such as a keyring's.
//!
//! Never stored and never printed: it is read when needed.

use super::child::{Child, Finished};
use std::fmt;
use std::path::Path;
use std::time::Duration;
use towline_agents::ask::ExitKind;

#[derive(Clone)]
pub enum Key {
    /// For endpoints without authentication.
    None,
    Given(String),
    /// Configured but absent, with the reason.
    Missing(String),
    /// A command that prints the key.
    Command(Vec<String>),
}

/// A keyring may need to be unlocked; after this time the user is presumed absent.
const PATIENCE: Duration = Duration::from_secs(15);

impl Key {
    /// The key itself; an error says what to do.
    pub(super) fn found(&self, folder: &Path) -> Result<Option<String>, String> {
        match self {
            Key::None => Ok(None),
            Key::Given(key) => Ok(Some(key.clone())),
            Key::Missing(what) => Err(what.clone()),
            Key::Command(words) => printed(words, folder).map(Some),
        }
    }
}

fn printed(words: &[String], folder: &Path) -> Result<String, String> {
    printed_secret(words, folder).map_err(|error| format!("distil.key_command {error}"))
}

/// Why a command gave no secret. Never contains the command's output.
#[derive(Debug, thiserror::Error)]
pub enum NoSecret {
    #[error("is empty")]
    NoCommand,
    #[error("printed no key")]
    Nothing,
    #[error("failed")]
    Failed,
    #[error("did not end within {} seconds", PATIENCE.as_secs())]
    Late,
    #[error("could not be run: {0}")]
    Start(std::io::Error),
}

/// The first line that a command prints. It runs in `folder`, and its output never touches a disk.
pub fn printed_secret(words: &[String], folder: &Path) -> Result<String, NoSecret> {
    let (program, arguments) = words.split_first().ok_or(NoSecret::NoCommand)?;
    let child = Child { arguments: arguments.to_vec(), ..Child::new(program.into(), folder.to_owned()) };
    let Finished { stdout, ended, .. } = child.printed(PATIENCE).map_err(NoSecret::Start)?;
    match (ended, stdout.trim_end_matches(['\r', '\n'])) {
        (ExitKind::Well, "") => Err(NoSecret::Nothing),
        (ExitKind::Well, secret) => Ok(secret.lines().next().unwrap_or(secret).to_owned()),
        (ExitKind::Badly, _) => Err(NoSecret::Failed),
        (ExitKind::Late, _) => Err(NoSecret::Late),
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Key::None => "None",
            Key::Given(_) => "Given(…)",
            Key::Missing(_) => "Missing",
            Key::Command(_) => "Command(…)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(script: &str) -> Result<String, NoSecret> {
        let folder = tempfile::tempdir().unwrap();
        printed_secret(&["/bin/sh", "-c", script].map(str::to_owned), folder.path())
    }

    #[test]
    fn a_secret_is_the_first_line_that_is_printed_and_spaces_are_part_of_it() {
        assert_eq!(asked("printf ' a b \\nmore\\n'").unwrap(), " a b ");
        assert_eq!(asked("echo key; ls -A >&2").unwrap(), "key");
    }

    #[test]
    fn a_command_that_gives_none_is_told_apart() {
        assert!(matches!(asked("true"), Err(NoSecret::Nothing)));
        assert!(matches!(asked("echo key; exit 3"), Err(NoSecret::Failed)));
        assert!(matches!(printed_secret(&[], Path::new("/")), Err(NoSecret::NoCommand)));
    }
}
