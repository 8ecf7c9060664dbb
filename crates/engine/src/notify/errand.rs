//! One user command with its placeholders filled in: the only place that starts programs that are not ours.
//!
//! Arguments are passed unchanged, without a shell. The guard variable marks everything the program starts as
//! ours. Each program gets its own process group, so that no signal meant for an agent reaches it.

use crate::runtime::env::GUARD;
use crate::runtime::spawn::ended_within;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use towline_core::telling::Notification;
use towline_terminal::child::leave;

/// A command with its arguments and environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
    /// The config key or tmux option that set it.
    pub name: String,
    /// Never expanded: no placeholder can choose the program.
    pub program: String,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
}

/// Whether the program's stderr is shown to the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    Silent,
    Heard,
}

/// The result of a command that was waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The wait timed out; the program keeps running.
    Running,
    Failed(String),
}

impl Errand {
    pub fn new(name: impl Into<String>, words: &[String], telling: &Notification) -> Errand {
        let (program, rest) =
            words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        Errand {
            name: name.into(),
            program: program.to_owned(),
            arguments: telling.fill(rest),
            variables: telling.variables(),
        }
    }

    /// Starts the command without waiting. Fails if the program is missing or not executable.
    pub fn start(&self) -> io::Result<()> {
        self.command(Voice::Silent).spawn().map(leave)
    }

    /// Starts the command and waits for its exit, at most `patience`.
    pub fn run(&self, voice: Voice, patience: Duration) -> Outcome {
        let mut child = match self.command(voice).spawn() {
            Ok(child) => child,
            Err(error) => return Outcome::Failed(format!("could not start `{}`: {error}", self.program)),
        };
        match ended_within(&mut child, patience) {
            Ok(Some(status)) if status.success() => Outcome::Done,
            Ok(Some(status)) => Outcome::Failed(format!("`{}` ended with {status}", self.program)),
            Ok(None) => Outcome::Running,
            Err(error) => Outcome::Failed(format!("lost sight of `{}`: {error}", self.program)),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that starts the user's own commands")]
    fn command(&self, voice: Voice) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env(GUARD, "1").process_group(0).current_dir("/");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(match voice {
            Voice::Silent => Stdio::null(),
            Voice::Heard => Stdio::inherit(),
        });
        command
    }
}
