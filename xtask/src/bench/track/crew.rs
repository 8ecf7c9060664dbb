//! Agents in the windows of a private tmux server, each brought into its state by real hooks.
//!
//! Home, tmux server and processes belong to the crew and end with it. The states are verified: a refresh
//! that is fast because it sees no agent must not count.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use towline_agents::Agent;
use towline_testkit::{TestEnv, Tmux};

use super::agent::{self, FakeAgent, Order};
use super::strace;
use crate::bench::host::words;
use crate::bench::setup::Setup;
use crate::files;
use crate::outcome::{Failure, Result, output_of};

/// The state of an agent in the crew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    Idle,
    Working,
    Completed,
    Blocked,
}

impl State {
    /// As in `tow status --json`.
    fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The events that lead to this state after `SessionStart`.
    fn events(self) -> &'static [&'static str] {
        match self {
            State::Idle => &[],
            State::Working => &["UserPromptSubmit", "PostToolUse"],
            State::Completed => &["UserPromptSubmit", "PostToolUse", "Stop"],
            State::Blocked => &["UserPromptSubmit", "PermissionRequest"],
        }
    }
}

/// This many agents, in every state that lasts.
pub fn mixed(number: usize) -> Vec<State> {
    [State::Idle, State::Completed, State::Working].into_iter().cycle().take(number).collect()
}

/// A private tmux server and the agents in it.
pub struct Crew {
    pub tmux: Tmux,
    pub agents: Vec<FakeAgent>,
    tow: PathBuf,
    /// The value of `TMUX` in its panes.
    tmux_variable: String,
}

/// A recorded turn, as a real client writes it.
const TAIL: &str = "claude-2.1.325-usage.jsonl";

impl Crew {
    /// Starts one agent per state, each with a transcript of this many bytes.
    pub fn start(setup: &Setup, states: &[State], transcript_bytes: u64) -> Result<Crew> {
        let env = TestEnv::new(&setup.tow);
        env.link("claude", "/bin/bash");
        env.set("STARTING", strace::STARTING);
        let tmux = Tmux::start(&env);
        let mut agents = Vec::new();
        for number in 0..states.len() {
            let agent = FakeAgent::new(&env, number)?;
            write_transcript(&agent.transcript, &setup.tails.join(TAIL), transcript_bytes)?;
            agents.push(agent);
        }
        open_windows(&tmux, &agents);
        let tmux_variable = if agents.is_empty() { String::new() } else { tmux_variable(&tmux) };
        let crew = Crew { tmux, agents, tow: setup.tow.clone(), tmux_variable };
        crew.reach_states(setup, states)?;
        crew.check_states(states)?;
        Ok(crew)
    }

    /// A command of `tow` as tmux starts it in this home.
    pub fn tow(&self, arguments: &[&str]) -> Command {
        let mut command = self.tmux.env().command(&self.tow);
        command.args(arguments);
        if !self.tmux_variable.is_empty() {
            command.env("TMUX", &self.tmux_variable);
        }
        command
    }

    /// Runs `tow` to its end, unmeasured, and returns its output.
    pub fn run_tow(&self, arguments: &[&str]) -> Result<String> {
        output_of(&format!("tow {}", arguments.join(" ")), &mut self.tow(arguments))
    }

    /// The status cache that the last refresh wrote.
    pub fn status_cache(&self) -> PathBuf {
        self.tmux.env().data_dir().join("bars/quiet")
    }

    /// Makes the next refresh a full one.
    pub fn drop_status_cache(&self) -> Result<()> {
        files::remove(&self.status_cache())
    }

    pub fn pane(&self, number: usize) -> String {
        let panes = self.tmux.run(&["list-panes", "-s", "-F", "#{pane_id}"]);
        panes.lines().nth(number).unwrap_or_default().to_owned()
    }

    /// Runs the hooks of each agent, one after the other.
    fn reach_states(&self, setup: &Setup, states: &[State]) -> Result<()> {
        for (agent, state) in self.agents.iter().zip(states) {
            for event in ["SessionStart"].iter().chain(state.events()) {
                agent.carry_out(&Order::Hook(setup.recordings.payload(Agent::Claude, event)?))?;
            }
        }
        self.agents.iter().try_for_each(FakeAgent::touch_transcript)
    }

    fn check_states(&self, states: &[State]) -> Result<()> {
        let status = self.run_tow(&["status", "--json"])?;
        let wanted = counts(states.iter().map(|state| state.word()));
        let found = found_states(&status);
        if found == wanted {
            return Ok(());
        }
        Err(Failure::malformed("the crew", format!("{found:?} sit there instead of {wanted:?}")))
    }
}

fn found_states(status: &str) -> BTreeMap<String, usize> {
    let status: serde_json::Value = serde_json::from_str(status).unwrap_or_default();
    let seats = status["seats"].as_array().cloned().unwrap_or_default();
    counts(seats.iter().map(|seat| seat["state"].as_str().unwrap_or_default().to_owned()))
}

fn counts(words: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    counts
}

fn open_windows(tmux: &Tmux, agents: &[FakeAgent]) {
    let (env, project) = (tmux.env(), words(&tmux.env().project()));
    let claude = words(&env.root().join("bin/claude"));
    let script = words(&env.script("agent", agent::SCRIPT));
    for (number, agent) in agents.iter().enumerate() {
        let opening: &[&str] = match number {
            0 => &["new-session", "-d", "-x", "150", "-y", "50"],
            _ => &["new-window", "-d"],
        };
        tmux.run(&[opening, &["-c", &project, &claude, &script, &agent.folder()]].concat());
    }
}

fn tmux_variable(tmux: &Tmux) -> String {
    let pid = tmux.run(&["display-message", "-p", "#{pid}"]);
    format!("{},{},0", tmux.socket().display(), pid.trim())
}

/// The bytes written at a transcript's end. The rest is sparse: its content must not affect what is read.
const WRITTEN: usize = 128 * 1024;

/// Writes a transcript that repeats a real ending, as far back as anything is read.
fn write_transcript(path: &Path, tail: &Path, bytes: u64) -> Result<()> {
    let tail = std::fs::read(tail).map_err(Failure::read(tail))?;
    let room = usize::try_from(bytes).unwrap_or(WRITTEN).min(WRITTEN);
    let end = tail.repeat((room / tail.len()).max(1));
    let mut file = File::create(path).map_err(Failure::write(path))?;
    file.seek(SeekFrom::Start(bytes.saturating_sub(end.len() as u64))).map_err(Failure::write(path))?;
    file.write_all(&end).map_err(Failure::write(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crew_has_every_state_that_lasts() {
        assert_eq!(mixed(4), [State::Idle, State::Completed, State::Working, State::Idle]);
    }

    #[test]
    fn states_are_counted_as_status_tells_them() {
        let status = r#"{"seats":[{"state":"idle"},{"state":"working"},{"state":"idle"}]}"#;
        assert_eq!(found_states(status), BTreeMap::from([("idle".to_owned(), 2), ("working".to_owned(), 1)]));
        assert_eq!(found_states("no JSON"), BTreeMap::new());
    }

    #[test]
    fn transcript_has_its_size_and_ends_like_a_real_one() {
        let folder = tempfile::tempdir().unwrap();
        let (tail, path) = (folder.path().join("tail"), folder.path().join("transcript"));
        std::fs::write(&tail, "one\ntwo\n").unwrap();
        write_transcript(&path, &tail, 200 * 1024 * 1024).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 200 * 1024 * 1024);
        write_transcript(&path, &tail, 20).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"\0\0\0\0one\ntwo\none\ntwo\n");
    }
}
