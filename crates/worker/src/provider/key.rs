//! The key of an API: out of the environment, or out of a command such as a keyring's.
//!
//! Never kept, never printed: it is asked for when it is needed.

use super::child::{Child, Finished};
use std::fmt;
use std::path::Path;
use std::time::Duration;

#[derive(Clone)]
pub enum Key {
    /// For endpoints that want none.
    None,
    Given(String),
    /// It should be there and is not: where.
    Missing(String),
    /// The words of a command that prints it.
    Command(Vec<String>),
}

/// A keyring may want to be unlocked; longer than this nobody is there.
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
    let Some((program, arguments)) = words.split_first() else {
        return Err("distil.key_command is empty".into());
    };
    let child = Child { arguments: arguments.to_vec(), ..Child::new(program.into(), folder.to_owned()) };
    match child.run(PATIENCE) {
        Ok(Finished { stdout, ended: towline_agents::ask::Ended::Well, .. }) if !stdout.trim().is_empty() => {
            Ok(stdout.trim().to_owned())
        }
        Ok(_) => Err("distil.key_command printed no key".to_owned()),
        Err(error) => Err(format!("distil.key_command could not be run: {error}")),
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
