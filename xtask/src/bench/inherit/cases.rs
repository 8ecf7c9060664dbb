//! The cases measured against `/bin/true`: the first prompt after a clear, the end of a turn in a long transcript, a
//! context, a detail.
//!
//! No case may run while a process that another case started is still running.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::host::{wait_for_captures, wait_for_work};
use crate::bench::measure::cost_of;
use crate::bench::report::Judgement;
use crate::bench::rounds::Case;
use crate::outcome::{Result, output_of};

use super::many::{LONG, LongSession, ManySessions, merged};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The hook that composes what the session inherits.
    FirstPrompt,
    /// The same, with words that memories share.
    TellingPrompt,
    /// The hook that the agent waits for.
    Stop,
    /// The background process that the hook starts; the agent does not wait for it.
    Capture,
    Context,
    DetailByName,
    DetailByTime,
    Turns,
}

/// Each case with its name and the bound on `× true`, if it has one.
const CASES: [(What, &str, Option<f64>); 8] = [
    (What::FirstPrompt, "first prompt after a clear, 1 M turns behind it", Some(8.0)),
    (What::TellingPrompt, "first prompt that names things, 1 M turns behind it", Some(8.0)),
    (What::Stop, "Stop hook, 100 MB transcript that grew by 50 kB", Some(4.0)),
    (What::Capture, "capture of those 50 kB, which nobody waits for", None),
    (What::Context, "tow session context, 10 k sessions", Some(5.0)),
    (What::DetailByName, "tow session detail of a turn, 1 M turns", Some(5.0)),
    (What::DetailByTime, "tow session detail of a minute, 1 M turns", Some(5.0)),
    (What::Turns, "tow session turns, 1 M turns", None),
];

pub struct Measured<'a> {
    what: What,
    name: &'static str,
    bound: Option<f64>,
    many: &'a ManySessions,
    long: &'a LongSession,
}

pub fn all<'a>(many: &'a ManySessions, long: &'a LongSession) -> Vec<Measured<'a>> {
    CASES.map(|(what, name, bound)| Measured { what, name, bound, many, long }).into()
}

impl Measured<'_> {
    /// Checks the ratio against the case's bound, if it has one.
    pub fn judged(&self, ratio: f64) -> Option<Judgement> {
        Some(Judgement::at_most(self.name, ratio, self.bound?, " × /bin/true"))
    }

    fn command(&self) -> Command {
        let (many, name) = (&self.many.home, self.many.short_name());
        match self.what {
            What::FirstPrompt | What::TellingPrompt => many.tow(&["hook", "claude"]),
            What::Stop => self.long.home.tow(&["hook", "claude"]),
            What::Capture => self.capture(),
            What::Context => many.tow(&["context", &name]),
            What::DetailByName => many.tow(&["detail", &format!("{name}#50")]),
            What::DetailByTime => many.tow(&["detail", "--all-projects", &self.many.active_minute()]),
            What::Turns => many.tow(&["turns", &name]),
        }
    }

    fn capture(&self) -> Command {
        let transcript = self.long.transcript();
        self.long.home.tow(&["capture", "--at-once", "claude", &transcript.to_string_lossy()])
    }

    fn payload(&self, event: &Value) -> Vec<u8> {
        let own = json!({
            "session_id": LONG, "transcript_path": self.long.transcript(), "cwd": self.long.home.user(),
        });
        merged(own, event.clone()).to_string().into_bytes()
    }
}

impl Case for Measured<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    /// Before a hook or a capture, a prompt was submitted, and the transcript has grown.
    fn process(&self, round: usize) -> Result<(Command, Vec<u8>)> {
        let mut stdin = vec![];
        if self.what == What::FirstPrompt {
            stdin = self.many.clear_one(2 * round, "what was I doing?")?;
        }
        if self.what == What::TellingPrompt {
            stdin =
                self.many.clear_one(2 * round + 1, "does the parser still lose the lantern of the pier?")?;
        }
        if self.what == What::Stop {
            let prompt = format!("look into part {round} of the work");
            let prompt = self.payload(&json!({ "hook_event_name": "UserPromptSubmit", "prompt": prompt }));
            cost_of(&mut self.command(), &prompt)?;
            // A hook that finds another process applying the journal leaves its event to it, and is fast.
            wait_for_work(&self.long.home.data());
            // With words that the transcript does not hold, the hook would wait for them.
            let words = self.long.grow(2 * round)?;
            stdin = self.payload(&json!({
                "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": words,
            }));
        }
        if self.what == What::Capture {
            self.long.grow(2 * round + 1)?;
        }
        Ok((self.command(), stdin))
    }

    /// Waits for the processes that a hook started: they must not run during the next case, and the next hook
    /// must start its own.
    fn finish(&self) -> Result<bool> {
        if self.what == What::Stop {
            wait_for_captures(&self.long.home.data());
            output_of("tow capture", &mut self.capture())?;
        }
        Ok(true)
    }
}
