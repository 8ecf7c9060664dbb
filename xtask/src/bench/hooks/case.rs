//! The measured cases: event, agent, session state and size of the history.
//!
//! A case owns its home and its sessions. Bringing a session into its state is run but not measured.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::outcome::Failure;

use super::home::{Home, Seeds};
use super::hub::{self, Hub, Standing};
use crate::bench::measure::{Cost, cost_of};
use crate::bench::payload::{AGENTS, Agent, Payload, Recordings};
use crate::bench::{baseline, instructions, rounds, statistics};

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

/// The surroundings of the session.
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
        write!(f, "{} {}", self.agent.word(), self.event)?;
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

/// Lists all groups to measure.
pub fn groups(recordings: &Recordings, histories: &[u64]) -> Vec<Group> {
    vec![
        Group { title: "Events by history", subjects: by_history(histories) },
        Group { title: "Tool results by size", subjects: by_size() },
        Group { title: "Every event", subjects: by_event(recordings) },
        Group { title: "With a hub", subjects: by_hub() },
        Group { title: "Sessions without a seat", subjects: without_seat() },
    ]
}

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
    AGENTS.into_iter().flat_map(of).collect()
}

fn by_event(recordings: &Recordings) -> Vec<Subject> {
    let of = |agent| recordings.events_of(agent).map(move |event| recorded(agent, event, USUAL_HISTORY));
    AGENTS.into_iter().flat_map(of).collect()
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
    AGENTS.into_iter().flat_map(of).collect()
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
        "SessionStart" => Situation::New,
        "SessionEnd" => Situation::Started,
        "UserPromptSubmit" => Situation::Idle,
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "MessageDisplay"
        | "PreModelRequest" | "PostModelRequest" => Situation::Working,
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
    hook: Hook,
    prelude: Vec<Payload>,
    payload: Payload,
    _hub: Option<Standing>,
}

impl Case {
    /// Creates the home and opens the session.
    pub fn prepare(
        subject: &Subject,
        number: usize,
        recordings: &Recordings,
        seeds: &Seeds,
    ) -> Result<Case, Failure> {
        let agent = subject.agent;
        let recorded = |event: &&str| recordings.payload(agent, event).cloned();
        let payload = recordings.payload(agent, &subject.event)?;
        let payload = subject.bytes.map_or_else(|| Ok(payload.clone()), |bytes| payload.grown_to(bytes))?;
        let home = seeds.home(subject.history)?;
        let hub = subject.hub.set_up(&home)?;
        let hook = Hook { tow: seeds.tow().to_owned(), agent, surroundings: subject.surroundings };
        let prelude = prelude(subject.situation).iter().map(recorded).collect::<Result<_, _>>()?;
        let case = Case { subject: subject.clone(), number, home, hook, prelude, payload, _hub: hub };
        case.open(["SessionStart", "UserPromptSubmit"].iter().map(recorded).collect::<Result<_, _>>()?)?;
        Ok(case)
    }

    /// Starts the session that lasts for all rounds, and makes it work. Fails if the hook recorded nothing:
    /// such a hook would seem fast.
    fn open(&self, beginning: Vec<Payload>) -> Result<(), Failure> {
        let before = self.home.data_bytes();
        for payload in &beginning {
            self.hook.run(&self.home, &self.placed(payload, 0))?;
        }
        if self.home.data_bytes() == before {
            return Err(Failure::malformed(
                self.subject.to_string(),
                "a start and a prompt left no trace in the store",
            ));
        }
        self.hook.run(&self.home, &self.placed(&self.payload, 0)).map(drop)
    }

    fn lead_up(&self, round: usize) -> Result<(), Failure> {
        self.prelude
            .iter()
            .try_for_each(|payload| self.hook.run(&self.home, &self.placed(payload, round)).map(drop))
    }

    /// Adapts a payload to this case's session and folder. Turns and tool calls get fresh ids: a repeated id
    /// would be an update where the client makes an insert.
    fn placed(&self, payload: &Payload, round: usize) -> Payload {
        let payload = match self.subject.surroundings {
            Surroundings::Agent => payload.with("transcript_path", &self.transcript(round).to_string_lossy()),
            Surroundings::Bare => payload.without("transcript_path"),
        };
        payload
            .with("session_id", &self.session(round))
            .with("cwd", &self.hook.folder(&self.home).to_string_lossy())
            .with("prompt_id", &uuid(self.number + 1000, round))
            .with("turn_id", &uuid(self.number + 1000, round))
            .with("tool_use_id", &format!("toolu_{:012}{round:012}", self.number))
    }

    fn session(&self, round: usize) -> String {
        match self.subject.situation {
            Situation::New | Situation::Started => uuid(self.number, round + 1),
            Situation::Idle | Situation::Prompted | Situation::Working | Situation::Blocked => {
                uuid(self.number, 0)
            }
        }
    }

    fn transcript(&self, round: usize) -> PathBuf {
        self.home.user().join(format!("{}.jsonl", self.session(round)))
    }
}

impl rounds::Case for Case {
    fn name(&self) -> String {
        self.subject.to_string()
    }

    fn run(&self, round: usize) -> Result<Cost, Failure> {
        self.lead_up(round)?;
        self.hook.run(&self.home, &self.placed(&self.payload, round))
    }

    fn instructions(&self, round: usize) -> Result<u64, Failure> {
        self.lead_up(round)?;
        let payload = self.placed(&self.payload, round);
        instructions::of(&self.hook.command(&self.home), payload.bytes())
    }
}

fn uuid(high: usize, low: usize) -> String {
    format!("{high:08x}-0000-4000-8000-{low:012x}")
}

/// The program under test, started as an agent does.
struct Hook {
    tow: PathBuf,
    agent: Agent,
    surroundings: Surroundings,
}

impl Hook {
    fn run(&self, home: &Home, payload: &Payload) -> Result<Cost, Failure> {
        set_process_name(match self.surroundings {
            Surroundings::Agent => self.agent.word(),
            Surroundings::Bare => "bench",
        })?;
        cost_of(&mut self.command(home), payload.bytes())
    }

    /// Where the hook starts: the project, or a plain folder.
    fn folder(&self, home: &Home) -> PathBuf {
        match self.surroundings {
            Surroundings::Agent => home.project(),
            Surroundings::Bare => home.plain_folder(),
        }
    }

    /// An agent starts its hooks in the project, with its own environment; one agent identifies itself in it.
    fn command(&self, home: &Home) -> Command {
        let mut command = Command::new(&self.tow);
        command.arg("hook").arg(self.agent.word());
        command.env_clear().envs(baseline::ENVIRONMENT).current_dir(self.folder(home));
        command.env("HOME", home.user()).env("TOWLINE_HOME", home.data());
        let own = match (self.surroundings, self.agent) {
            (Surroundings::Agent, Agent::Claude) => Some(("CLAUDE_PID", std::process::id().to_string())),
            (Surroundings::Agent, Agent::Codex) => {
                Some(("CODEX_HOME", home.user().join(".codex").display().to_string()))
            }
            (Surroundings::Bare, _) => None,
        };
        command.envs(own);
        command
    }
}

/// Takes a process name. With its agent's name a hook finds its agent at once; with another one it searches
/// all its ancestors.
fn set_process_name(name: &str) -> Result<(), Failure> {
    let path = Path::new("/proc/self/comm");
    std::fs::write(path, name).map_err(Failure::write(path))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(by_size().len(), SIZES.len() * AGENTS.len());
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
