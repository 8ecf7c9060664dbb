//! The cases measured against `/bin/true`: the end of a turn in a long transcript, a context, a detail.
//!
//! No case may run while a process that another case started is still running.

use std::process::Command;

use serde_json::{Value, json};

use crate::bench::host::{wait_for_captures, wait_for_work};
use crate::bench::instructions;
use crate::bench::measure::{Cost, cost_of};
use crate::bench::report::Judgement;
use crate::bench::rounds::Case;
use crate::outcome::Failure;

use super::many::{Crowd, LONG, Long};

pub struct Measured<'a> {
    what: What,
    crowd: &'a Crowd,
    long: &'a Long,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The hook that the agent waits for.
    Stop,
    /// The background process that the hook starts; the agent does not wait for it.
    Capture,
    Context,
    DetailByName,
    DetailByTime,
    Turns,
}

pub fn all<'a>(crowd: &'a Crowd, long: &'a Long) -> Vec<Measured<'a>> {
    let all = [What::Stop, What::Capture, What::Context, What::DetailByName, What::DetailByTime, What::Turns];
    all.into_iter().map(|what| Measured { what, crowd, long }).collect()
}

impl Measured<'_> {
    /// Checks the ratio against the case's bound, if it has one.
    pub fn judged(&self, ratio: f64) -> Option<Judgement> {
        let bound = match self.what {
            What::Stop => 4.0,
            What::Context | What::DetailByName | What::DetailByTime => 5.0,
            What::Capture | What::Turns => return None,
        };
        Some(Judgement::at_most(&self.name(), ratio, bound, " × /bin/true"))
    }

    fn command(&self) -> (Command, Vec<u8>) {
        let called = self.crowd.called();
        let of_crowd = |arguments: &[&str]| (self.crowd.person.tow(arguments), vec![]);
        match self.what {
            What::Stop => (self.long.person.tow(&["hook", "claude"]), self.stop()),
            What::Capture => (
                self.long.person.tow(&[
                    "capture",
                    "--at-once",
                    "claude",
                    &self.long.transcript().to_string_lossy(),
                ]),
                vec![],
            ),
            What::Context => of_crowd(&["context", &called]),
            What::DetailByName => of_crowd(&["detail", &format!("{called}#50")]),
            What::DetailByTime => of_crowd(&["detail", "--all-projects", &self.crowd.minute()]),
            What::Turns => of_crowd(&["turns", &called]),
        }
    }

    fn stop(&self) -> Vec<u8> {
        self.payload(&json!({
            "hook_event_name": "Stop", "stop_hook_active": false, "last_assistant_message": "It is done.",
        }))
    }

    fn prompt(&self, round: usize) -> Vec<u8> {
        let prompt = format!("look into part {round} of the work");
        self.payload(&json!({ "hook_event_name": "UserPromptSubmit", "prompt": prompt }))
    }

    fn payload(&self, told: &Value) -> Vec<u8> {
        let mut payload = json!({
            "session_id": LONG, "transcript_path": self.long.transcript(), "cwd": self.long.person.home(),
        });
        if let (Some(payload), Some(told)) = (payload.as_object_mut(), told.as_object()) {
            payload.extend(told.clone());
        }
        payload.to_string().into_bytes()
    }

    /// Prepares a run: a prompt was submitted, and the transcript has grown.
    fn prepare(&self, round: usize) -> Result<(), Failure> {
        match self.what {
            What::Stop => {
                cost_of(&mut self.long.person.tow(&["hook", "claude"]), &self.prompt(round))?;
                // A hook that finds another process applying the journal leaves its event to it, and is fast.
                wait_for_work(&self.long.person.data());
                self.long.grow(2 * round)
            }
            What::Capture => self.long.grow(2 * round + 1),
            What::Context | What::DetailByName | What::DetailByTime | What::Turns => Ok(()),
        }
    }

    /// Waits for the processes that a hook started: they must not run during the next case, and the next hook
    /// must start its own.
    fn finish(&self) -> Result<(), Failure> {
        if self.what == What::Stop {
            wait_for_captures(&self.long.person.data());
            self.long.person.run(&[
                "capture",
                "--at-once",
                "claude",
                &self.long.transcript().to_string_lossy(),
            ])?;
        }
        Ok(())
    }
}

impl Case for Measured<'_> {
    fn name(&self) -> String {
        let name = match self.what {
            What::Stop => "Stop hook, 100 MB transcript that grew by 50 kB",
            What::Capture => "capture of those 50 kB, which nobody waits for",
            What::Context => "tow context, 10 k sessions",
            What::DetailByName => "tow detail of a turn, 1 M turns",
            What::DetailByTime => "tow detail of a minute, 1 M turns",
            What::Turns => "tow turns, 1 M turns",
        };
        name.to_owned()
    }

    fn run(&self, round: usize) -> Result<Cost, Failure> {
        self.prepare(round)?;
        let (mut command, stdin) = self.command();
        let cost = cost_of(&mut command, &stdin)?;
        self.finish()?;
        Ok(cost)
    }

    fn instructions(&self, round: usize) -> Result<u64, Failure> {
        self.prepare(round)?;
        let (command, stdin) = self.command();
        let counted = instructions::of(&command, &stdin)?;
        self.finish()?;
        Ok(counted)
    }
}
