//! The hooks of sessions that run now, beside years of older ones.
//!
//! Every hook finds the state that its event meets in real work: earlier events are sent but not measured.

use std::cell::RefCell;
use std::process::Command;

use towline_agents::Agent;

use super::meter::{Bound, Ends, Row, rounds};
use super::world::World;
use crate::agent_process::AgentProcess;
use crate::bench::host::{now, wait_for_captures, wait_for_work};
use crate::bench::measure::cost_of;
use crate::bench::rounds::Case;
use crate::corpus::{Cast, Chance, LiveSession, LiveTurn};
use crate::outcome::Result;

/// Sessions that run now, in one home.
pub struct Stage<'a> {
    pub world: &'a World,
    cast: &'a Cast,
    chance: RefCell<Chance>,
    pub agent: AgentProcess,
    /// Every session gets its own number.
    sessions: RefCell<u64>,
}

impl<'a> Stage<'a> {
    pub fn new(world: &'a World, cast: &'a Cast) -> Result<Stage<'a>> {
        let agent = AgentProcess::start(&world.home.plain_folder(), Agent::Claude.name(), &world.tow(&[]))?;
        let (chance, sessions) = (RefCell::new(Chance::new(7)), RefCell::new(0));
        Ok(Stage { world, cast, chance, agent, sessions })
    }

    /// A new session of the first client, in the largest project.
    pub fn session(&self) -> LiveSession<'a> {
        // Every fourth session is of the second client.
        let number = self.sessions.replace_with(|number| *number + 4);
        LiveSession::new(self.cast, &self.world.home.user(), number, 0, seconds())
    }

    /// An agent starts its hooks in the project, and names its process.
    pub fn hook(&self, session: &LiveSession<'_>) -> Command {
        let mut command = self.world.tow(&["hook", session.agent().name()]);
        command.current_dir(self.world.home.project()).env("CLAUDE_PID", self.agent.id());
        command
    }

    fn send(&self, session: &LiveSession<'_>, payload: &[u8]) -> Result<()> {
        cost_of(&mut self.hook(session), payload).map(drop)
    }

    /// Starts a session and plays its first turn.
    pub fn begin(&self, session: &mut LiveSession<'_>) -> Result<()> {
        self.send(session, &session.start("startup")?)?;
        self.play_turn(session)
    }

    /// Begins a turn with at least one tool, and returns the payload of its prompt.
    pub fn prompt(&self, session: &mut LiveSession<'_>) -> Result<(LiveTurn, Vec<u8>)> {
        loop {
            let (turn, payload) = session.prompt(&mut self.chance.borrow_mut(), seconds())?;
            if turn.tools() > 0 {
                return Ok((turn, payload));
            }
        }
    }

    /// Sends the hooks of a whole turn.
    pub fn play_turn(&self, session: &mut LiveSession<'_>) -> Result<()> {
        let (mut turn, payload) = self.prompt(session)?;
        self.send(session, &payload)?;
        session.accept(&mut turn)?;
        for _ in 0..turn.tools() {
            let payload = session.use_tool(&mut turn)?;
            self.send(session, &payload)?;
        }
        let payload = session.stop(turn)?;
        self.send(session, &payload)
    }

    pub fn wait_for_background(&self) {
        wait_for_captures(&self.world.home.data());
        wait_for_work(&self.world.home.data());
    }
}

pub fn seconds() -> u64 {
    u64::try_from(now().0 / 1000).unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hook {
    SessionStart,
    FirstPrompt,
    FirstPromptAfterClear,
    LaterPrompt,
    ToolResult,
    Stop,
}

const HOOKS: [(Hook, &str, &[Bound]); 6] = [
    (Hook::SessionStart, "SessionStart", &[]),
    (Hook::FirstPrompt, "first prompt of a session", &[Bound::Ratio(5.0)]),
    (Hook::FirstPromptAfterClear, "first prompt after a clear", &[Bound::Ratio(5.0)]),
    (Hook::LaterPrompt, "later prompt", &[]),
    (Hook::ToolResult, "tool result", &[]),
    (Hook::Stop, "Stop", &[]),
];

struct HookCase<'a> {
    stage: &'a Stage<'a>,
    hook: Hook,
    name: &'static str,
    /// The session of all rounds, if it is not a new one in each.
    lasting: RefCell<LiveSession<'a>>,
}

impl HookCase<'_> {
    /// A session that has only started, after another one was cleared if `source` says so.
    fn started(&self, source: &str) -> Result<LiveSession<'_>> {
        if source == "clear" {
            let mut before = self.stage.session();
            self.stage.begin(&mut before)?;
            self.stage.send(&before, &before.end("clear")?)?;
        }
        let session = self.stage.session();
        self.stage.send(&session, &session.start(source)?)?;
        self.stage.wait_for_background();
        Ok(session)
    }
}

impl Case for HookCase<'_> {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn process(&self, _round: usize) -> Result<(Command, Vec<u8>)> {
        let stage = self.stage;
        let first_prompt = |source| {
            let mut session = self.started(source)?;
            let (_, payload) = stage.prompt(&mut session)?;
            Ok((stage.hook(&session), payload))
        };
        match self.hook {
            Hook::SessionStart => {
                let session = stage.session();
                let payload = session.start("startup")?;
                return Ok((stage.hook(&session), payload));
            }
            Hook::FirstPrompt => return first_prompt("startup"),
            Hook::FirstPromptAfterClear => return first_prompt("clear"),
            Hook::LaterPrompt | Hook::ToolResult | Hook::Stop => {}
        }
        let mut session = self.lasting.borrow_mut();
        let (mut turn, prompt) = stage.prompt(&mut session)?;
        if self.hook == Hook::LaterPrompt {
            return Ok((stage.hook(&session), prompt));
        }
        stage.send(&session, &prompt)?;
        session.accept(&mut turn)?;
        let tool = session.use_tool(&mut turn)?;
        if self.hook == Hook::ToolResult {
            return Ok((stage.hook(&session), tool));
        }
        stage.send(&session, &tool)?;
        Ok((stage.hook(&session), session.stop(turn)?))
    }

    fn finish(&self) -> Result<bool> {
        if self.hook == Hook::Stop {
            self.stage.wait_for_background();
        }
        Ok(true)
    }
}

fn cases<'a>(stage: &'a Stage<'a>) -> Result<Vec<HookCase<'a>>> {
    let mut cases = vec![];
    for (hook, name, _) in HOOKS {
        let mut session = stage.session();
        stage.begin(&mut session)?;
        cases.push(HookCase { stage, hook, name, lasting: RefCell::new(session) });
    }
    stage.wait_for_background();
    Ok(cases)
}

/// Hands the process of every hook, and what it reads, to `look`.
pub fn each<T>(stage: &Stage<'_>, look: impl Fn(&Command, &[u8]) -> Result<T>) -> Result<Vec<T>> {
    let look_at = |case: &HookCase<'_>| {
        let (command, stdin) = case.process(0)?;
        look(&command, &stdin)
    };
    cases(stage)?.iter().map(look_at).collect()
}

pub fn measured(stage: &Stage<'_>, runs: usize) -> Result<Vec<Row>> {
    let cases = cases(stage)?;
    let all: Vec<(&dyn Case, Ends)> = cases.iter().map(|case| (case as &dyn Case, Ends::Well)).collect();
    let figures = rounds(&all, runs)?;
    let row = |((_, name, bounds), figures): (&(Hook, &str, &[Bound]), _)| Row {
        name: (*name).to_owned(),
        figures,
        bounds: bounds.to_vec(),
    };
    Ok(HOOKS.iter().zip(figures).map(row).collect())
}
