//! A command of the user's, filled in and ready: the one place that starts programs which are not ours.
//!
//! Words go to the program as they are; there is no shell between. What it starts in turn is known to be ours by the
//! guard. Programs are in a group of their own, so that no signal meant for an agent reaches them.

use crate::runtime::env::GUARD;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;
use towline_core::telling::Telling;

/// One command and what it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
    /// The key or option that set it.
    pub name: String,
    /// Taken as it is: no value chooses what is run.
    pub program: String,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
}

/// Whether a person hears what the program complains of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    Silent,
    Heard,
}

/// What became of an errand that was waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// It was not waited for any longer, and goes on.
    Running,
    Failed(String),
}

impl Errand {
    pub fn new(name: impl Into<String>, words: &[String], telling: &Telling) -> Errand {
        let (program, rest) =
            words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        Errand {
            name: name.into(),
            program: program.to_owned(),
            arguments: telling.fill(rest),
            variables: telling.variables(),
        }
    }

    /// Starts it and does not wait. An error is a program that is not there or may not be run.
    pub fn start(&self) -> io::Result<()> {
        self.command(Voice::Silent).spawn().map(drop)
    }

    /// Starts it and waits for its end, at most so long.
    pub fn run(&self, voice: Voice, patience: Duration) -> Outcome {
        let mut child = match self.command(voice).spawn() {
            Ok(child) => child,
            Err(error) => return Outcome::Failed(format!("could not start `{}`: {error}", self.program)),
        };
        for pause in pauses(patience) {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Outcome::Done,
                Ok(Some(status)) => {
                    return Outcome::Failed(format!("`{}` ended with {status}", self.program));
                }
                Ok(None) => nap(pause),
                Err(error) => return Outcome::Failed(format!("lost sight of `{}`: {error}", self.program)),
            }
        }
        Outcome::Running
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

/// Most programs end at once; the others are not asked often.
fn pauses(total: Duration) -> impl Iterator<Item = Duration> {
    let lengths = std::iter::successors(Some(Duration::from_millis(4)), |pause| {
        Some((*pause * 2).min(Duration::from_millis(500)))
    });
    lengths.scan(Duration::ZERO, move |spent, pause| {
        *spent += pause;
        (*spent <= total).then_some(pause)
    })
}

#[expect(clippy::disallowed_methods, reason = "waiting for a child, which has no timed wait")]
fn nap(pause: Duration) {
    std::thread::sleep(pause);
}
