//! Mutated payloads, transcripts and screens: recorded ones, damaged in a way that a number decides.
//!
//! Deterministic: the same recordings, seed and number give the same bytes on every machine. Knows no event's
//! meaning; only `answer` knows which answers an event allows.

mod answer;
mod damage;
mod dice;
mod document;
mod recording;

pub use answer::{event_of, flaw_in_answer};
pub use dice::Dice;
pub use document::{damaged_screen, damaged_transcript};
pub use recording::{Recording, recordings};

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use damage::Damage;

/// Generates damaged payloads by number.
pub struct Mutator {
    recordings: Vec<Recording>,
    seed: u64,
}

/// One damaged payload, and how to feed it to a hook.
#[derive(Debug)]
pub struct Mutant {
    /// The agent whose hook is called.
    pub agent: String,
    pub payload: Vec<u8>,
    pub feeding: Feeding,
    /// The recording and the damage, for reports.
    pub origin: String,
}

/// How the payload reaches the hook's standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feeding {
    Whole,
    InPieces,
    /// Standard input is closed.
    Closed,
}

impl Mutator {
    pub fn new(recordings: Vec<Recording>, seed: u64) -> Self {
        assert!(!recordings.is_empty(), "there are no recordings to damage");
        Self { recordings, seed }
    }

    /// The mutant with this number; independent of all others.
    pub fn mutant(&self, number: u64) -> Mutant {
        let mut dice = Dice::new(self.seed, number);
        let recording = dice.pick(&self.recordings);
        let damage = Damage::thrown(&mut dice);
        // Sometimes a payload goes to the other agent's hook: users copy settings by hand.
        let agent = if dice.one_in(10) { &dice.pick(&self.recordings).agent } else { &recording.agent };
        let feeding = if damage == Damage::ClosedInput {
            Feeding::Closed
        } else if dice.one_in(20) {
            Feeding::InPieces
        } else {
            Feeding::Whole
        };
        Mutant {
            agent: agent.clone(),
            payload: damage.inflict(&recording.payload, &mut dice),
            feeding,
            origin: format!("{}/{}, {damage:?}", recording.agent, recording.name),
        }
    }
}

impl Mutant {
    /// Runs the hook of `tow` on this payload. `command` builds a command with the right environment.
    pub fn feed_to(&self, tow: &Path, command: &dyn Fn(&OsStr) -> Command) -> io::Result<Output> {
        let mut hook = match self.feeding {
            Feeding::Closed => {
                let mut shell = command(OsStr::new("sh"));
                shell.args(["-c", "exec \"$0\" \"$@\" <&-"]).arg(tow);
                shell
            }
            Feeding::Whole | Feeding::InPieces => command(tow.as_os_str()),
        };
        hook.args(["hook", &self.agent]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = hook.spawn()?;
        if let Some(pipe) = child.stdin.take() {
            // A hook that gave up closes its input early; only its exit matters then.
            let _ = self.write_to(pipe);
        }
        child.wait_with_output()
    }

    fn write_to(&self, mut pipe: impl Write) -> io::Result<()> {
        let pieces = match self.feeding {
            Feeding::Whole => 1,
            Feeding::InPieces => 7,
            Feeding::Closed => return Ok(()),
        };
        for piece in self.payload.chunks(self.payload.len().div_ceil(pieces).max(1)) {
            pipe.write_all(piece)?;
        }
        Ok(())
    }

    /// The flaw in the hook's reaction, if any: it must exit with 0, print no error, and answer validly.
    pub fn flaw_in(&self, output: &Output) -> Option<String> {
        if output.status.code() != Some(0) {
            return Some(format!("ended with {}", output.status));
        }
        if !output.stderr.is_empty() {
            return Some(format!("complained: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let event = if output.stdout.is_empty() { None } else { event_of(&self.payload) };
        flaw_in_answer(&self.agent, event.as_deref(), &output.stdout)
    }
}

#[cfg(test)]
mod tests;
