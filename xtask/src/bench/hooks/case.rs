//! The measured cases: event, agent, session state and size of the history.
//!
//! A case owns its home and its sessions. Bringing a session into its state is run but not measured.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use towline_agents::Agent;

use super::hub::{self, Hub};
use crate::bench::home::{Home, Seeds};
use crate::bench::measure::cost_of;
use crate::bench::payload::{Payload, Recordings};
use crate::bench::{rounds, statistics};
use crate::files;
use crate::outcome::{Failure, Result};

pub const KB: usize = 1024;

/// The state of the session when the event arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Situation {
    /// The session does not exist yet.
    New,
    /// It has only started.
    Started,
    /// Its turn has ended.
    Idle,
    /// A prompt has just been submitted.
    Prompted,
    /// It is working: its last event was a tool's, like this one.
    Working,
    /// It waits for a permission.
    Blocked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surroundings {
    /// The agent starts the hook in a repository and names its process and transcript.
    Agent,
    /// No agent process, no terminal, no transcript, and a folder outside any repository: a script, a service
    /// or another product starts the hook.
    Bare,
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub agent: Agent,
    pub event: String,
    pub situation: Situation,
    /// The payload is padded to this size; `None` leaves it as recorded.
    pub bytes: Option<usize>,
    /// Number of events in the store beforehand.
    pub history: u64,
    pub hub: Hub,
    pub surroundings: Surroundings,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.agent.name(), self.event)?;
        if self.situation == Situation::Blocked {
            write!(f, " after a block")?;
        }
        if let Some(bytes) = self.bytes {
            write!(f, " {}", statistics::bytes(bytes))?;
        }
        write!(f, ", {} events{}", statistics::count(self.history), self.hub.words())?;
        match (self.surroundings, self.situation) {
            (Surroundings::Agent, _) => Ok(()),
            (Surroundings::Bare, Situation::New) => write!(f, ", new session without seat"),
            (Surroundings::Bare, _) => write!(f, ", session without seat"),
        }
    }
}

/// Cases that are measured in the same rounds.
pub struct Group {
    pub title: &'static str,
    pub subjects: Vec<Subject>,
}

/// The history to which the bounds apply, and those between which the cost must not change.
pub const USUAL_HISTORY: u64 = 100_000;
pub const HISTORIES: [u64; 3] = [1_000, USUAL_HISTORY, 1_000_000];
pub const QUICK_HISTORIES: [u64; 2] = [1_000, USUAL_HISTORY];

/// Events with a bound on their cost, or that apply the journal.
const FOLDING: [&str; 5] = ["UserPromptSubmit", "Stop", "PermissionRequest", "SessionStart", "SessionEnd"];

const SIZES: [usize; 4] = [KB, 11 * KB, 200 * KB, 2048 * KB];
pub const USUAL_SIZE: usize = 11 * KB;

pub fn groups(recordings: &Recordings, histories: &[u64]) -> Vec<Group> {
    vec![
        Group { title: "Events by history", subjects: by_history(histories) },
        Group { title: "Tool results by size", subjects: by_size() },
        Group { title: "Every event", subjects: by_event(recordings) },
        Group { title: "With a hub", subjects: by_hub() },
        Group { title: "Sessions without a seat", subjects: without_seat() },
        Group { title: "Other agents", subjects: of_others() },
    ]
}

/// The agents with every event. The others run the same code under other names: of them the events with bounds suffice.
const BENCHED: [Agent; 2] = [Agent::Claude, Agent::Codex];

/// The events with bounds, each under the name that most agents give it.
const BOUNDED: [&str; 4] = ["PostToolUse", "UserPromptSubmit", "Stop", "PermissionRequest"];

fn by_history(histories: &[u64]) -> Vec<Subject> {
    let of_first = histories.iter().flat_map(|history| with_bounds(Agent::Claude, *history));
    of_first.chain(with_bounds(Agent::Codex, USUAL_HISTORY)).collect()
}

fn with_bounds(agent: Agent, history: u64) -> Vec<Subject> {
    let tool =
        |situation| Subject { situation, bytes: Some(USUAL_SIZE), ..recorded(agent, "PostToolUse", history) };
    let folding = FOLDING.map(|event| recorded(agent, event, history));
    [tool(Situation::Working), tool(Situation::Blocked)].into_iter().chain(folding).collect()
}

fn by_size() -> Vec<Subject> {
    let of = |agent| {
        SIZES.map(|bytes| Subject { bytes: Some(bytes), ..recorded(agent, "PostToolUse", USUAL_HISTORY) })
    };
    BENCHED.into_iter().flat_map(of).collect()
}

fn by_event(recordings: &Recordings) -> Vec<Subject> {
    let of = |agent| recordings.events_of(agent).map(move |event| recorded(agent, event, USUAL_HISTORY));
    BENCHED.into_iter().flat_map(of).collect()
}

/// Events that an agent waits for, with every kind of hub.
fn by_hub() -> Vec<Subject> {
    let of = |event| hub::ALIKE.map(|hub| Subject { hub, ..recorded(Agent::Claude, event, USUAL_HISTORY) });
    ["PostToolUse", "UserPromptSubmit", "Stop"].into_iter().flat_map(of).collect()
}

/// Events of a session with no seat, transcript or repository, known and new.
fn without_seat() -> Vec<Subject> {
    let of = |agent| {
        let bare = |event, bytes| Subject {
            bytes,
            surroundings: Surroundings::Bare,
            ..recorded(agent, event, USUAL_HISTORY)
        };
        let known =
            [bare("PostToolUse", Some(USUAL_SIZE)), bare("UserPromptSubmit", None), bare("Stop", None)];
        let new = |subject: &Subject| Subject { situation: Situation::New, ..subject.clone() };
        known.iter().cloned().chain(known.iter().map(new)).collect::<Vec<_>>()
    };
    BENCHED.into_iter().flat_map(of).collect()
}

fn of_others() -> Vec<Subject> {
    let others = Agent::ALL.into_iter().filter(|agent| !BENCHED.contains(agent));
    let of = |agent| {
        BOUNDED.map(|event| Subject {
            bytes: (event == "PostToolUse").then_some(USUAL_SIZE),
            ..recorded(agent, event, USUAL_HISTORY)
        })
    };
    others.flat_map(of).collect()
}

fn recorded(agent: Agent, event: &str, history: u64) -> Subject {
    Subject {
        agent,
        event: event.to_owned(),
        situation: usual_situation(event),
        bytes: None,
        history,
        hub: Hub::Unset,
        surroundings: Surroundings::Agent,
    }
}

/// Events that occur many times in a turn are measured during one; the others right after a prompt.
fn usual_situation(event: &str) -> Situation {
    match event {
        "SessionStart" | "sessionStart" => Situation::New,
        "SessionEnd" | "sessionEnd" => Situation::Started,
        "UserPromptSubmit" | "userPromptSubmitted" => Situation::Idle,
        "preToolUse" | "postToolUse" | "postToolUseFailure" | "PreToolUse" | "PostToolUse"
        | "PostToolUseFailure" | "PostToolBatch" | "MessageDisplay" | "PreModelRequest"
        | "PostModelRequest" => Situation::Working,
        _ => Situation::Prompted,
    }
}

/// Events that bring a session into `situation`, repeated in every round.
fn prelude(situation: Situation) -> &'static [&'static str] {
    match situation {
        Situation::New | Situation::Working => &[],
        Situation::Started => &["SessionStart"],
        Situation::Idle => &["Stop"],
        Situation::Prompted => &["UserPromptSubmit"],
        Situation::Blocked => &["UserPromptSubmit", "PermissionRequest"],
    }
}

/// A subject with everything needed to run it.
pub struct Case {
    pub subject: Subject,
    number: usize,
    home: Home,
    prelude: Vec<Payload>,
    payload: Payload,
}

impl Case {
    /// Creates the home and opens the session that lasts for all rounds, and makes it work. Fails if the hook
    /// recorded nothing: such a hook would seem fast.
    pub fn prepare(subject: &Subject, number: usize, recordings: &Recordings, seeds: &Seeds) -> Result<Case> {
        let recorded = |event: &&str| recordings.payload(subject.agent, event).cloned();
        let payload = recorded(&subject.event.as_str())?;
        let payload = subject.bytes.map_or_else(|| Ok(payload.clone()), |bytes| payload.grown_to(bytes))?;
        let home = seeds.home(subject.history)?;
        subject.hub.set_up(&home)?;
        let prelude = prelude(subject.situation).iter().map(recorded).collect::<Result<_, _>>()?;
        let case = Case { subject: subject.clone(), number, home, prelude, payload };
        let before = case.home.data_bytes();
        for event in ["SessionStart", "UserPromptSubmit"] {
            case.run_hook(&recorded(&event)?, 0)?;
        }
        if case.home.data_bytes() == before {
            let complaint = "a start and a prompt left no trace in the store";
            return Err(Failure::malformed(subject.to_string(), complaint));
        }
        case.run_hook(&case.payload, 0)?;
        Ok(case)
    }

    fn run_hook(&self, payload: &Payload, round: usize) -> Result<()> {
        let (mut command, stdin) = self.hook(payload, round)?;
        cost_of(&mut command, &stdin).map(drop)
    }

    /// An agent starts its hooks in the project, with its own environment; one agent identifies itself in it.
    fn hook(&self, payload: &Payload, round: usize) -> Result<(Command, Vec<u8>)> {
        let agent = self.subject.agent;
        let mut command = self.home.command();
        command.args(["hook", agent.name()]).envs(rounds::ENVIRONMENT).current_dir(self.folder());
        let name = match (self.subject.surroundings, agent) {
            (Surroundings::Bare, _) => "bench",
            (Surroundings::Agent, Agent::Claude) => {
                command.env("CLAUDE_PID", std::process::id().to_string());
                agent.name()
            }
            (Surroundings::Agent, Agent::Codex) => {
                command.env("CODEX_HOME", self.home.user().join(".codex"));
                agent.name()
            }
            (Surroundings::Agent, _) => agent.name(),
        };
        // With its agent's name a hook finds its agent at once; with another one it searches all its ancestors.
        files::write(Path::new("/proc/self/comm"), name)?;
        Ok((command, self.placed(payload, round).bytes().to_vec()))
    }

    /// Where the hook starts: the project, or a plain folder.
    fn folder(&self) -> PathBuf {
        match self.subject.surroundings {
            Surroundings::Agent => self.home.project(),
            Surroundings::Bare => self.home.plain_folder(),
        }
    }

    /// Adapts a payload to this case's session and folder. Turns and tool calls get fresh ids: a repeated id
    /// would be an update where the client makes an insert.
    fn placed(&self, payload: &Payload, round: usize) -> Payload {
        let is_of_round = matches!(self.subject.situation, Situation::New | Situation::Started);
        let session = uuid(self.number, if is_of_round { round + 1 } else { 0 });
        let transcript = self.home.user().join(format!("{session}.jsonl"));
        let payload = match self.subject.surroundings {
            Surroundings::Agent => payload.with("transcript_path", &transcript.to_string_lossy()),
            Surroundings::Bare => payload.without("transcript_path"),
        };
        payload
            .with("session_id", &session)
            .with("sessionId", &session)
            .with("cwd", &self.folder().to_string_lossy())
            .with("prompt_id", &uuid(self.number + 1000, round))
            .with("turn_id", &uuid(self.number + 1000, round))
            .with("tool_use_id", &format!("toolu_{:012}{round:012}", self.number))
    }
}

impl rounds::Case for Case {
    fn name(&self) -> String {
        self.subject.to_string()
    }

    fn process(&self, round: usize) -> Result<(Command, Vec<u8>)> {
        self.prelude.iter().try_for_each(|payload| self.run_hook(payload, round))?;
        self.hook(&self.payload, round)
    }
}

fn uuid(high: usize, low: usize) -> String {
    format!("{high:08x}-0000-4000-8000-{low:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::hooks::bounds::bound_of;

    fn names(subjects: &[Subject]) -> Vec<String> {
        subjects.iter().map(Subject::to_string).collect()
    }

    #[test]
    fn subject_says_what_is_measured() {
        let subjects = with_bounds(Agent::Claude, USUAL_HISTORY);
        assert_eq!(
            names(&subjects)[..3],
            [
                "claude PostToolUse 11 KB, 100 k events",
                "claude PostToolUse after a block 11 KB, 100 k events",
                "claude UserPromptSubmit, 100 k events",
            ]
        );
    }

    #[test]
    fn history_is_varied_for_every_event_with_a_bound() {
        let subjects = by_history(&HISTORIES);
        for history in HISTORIES {
            let count = subjects.iter().filter(|s| s.history == history && s.agent == Agent::Claude).count();
            assert_eq!(count, FOLDING.len() + 2);
        }
    }

    #[test]
    fn every_size_is_measured_for_every_agent() {
        assert_eq!(by_size().len(), SIZES.len() * BENCHED.len());
    }

    #[test]
    fn every_agent_has_its_events_with_bounds() {
        let subjects = of_others();
        assert_eq!(subjects.len(), (Agent::ALL.len() - BENCHED.len()) * BOUNDED.len());
        assert!(subjects.iter().all(|subject| bound_of(subject).is_some()));
        let names = names(&subjects);
        assert!(names.contains(&"gemini PostToolUse 11 KB, 100 k events".to_owned()), "{names:?}");
    }

    #[test]
    fn sessions_without_a_seat_are_known_and_new() {
        assert_eq!(
            names(&without_seat())[..4],
            [
                "claude PostToolUse 11 KB, 100 k events, session without seat",
                "claude UserPromptSubmit, 100 k events, session without seat",
                "claude Stop, 100 k events, session without seat",
                "claude PostToolUse 11 KB, 100 k events, new session without seat",
            ]
        );
    }

    #[test]
    fn ids_have_the_form_of_a_uuid() {
        assert_eq!(uuid(0xab, 0x12), "000000ab-0000-4000-8000-000000000012");
    }
}
