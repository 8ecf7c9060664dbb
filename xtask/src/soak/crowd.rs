//! The sessions: each thread plays one after the other until the time is over, and counts what its hooks did.
//!
//! Waits for each hook, as a client does. A hook that fails is counted, never repeated.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use towline_agents::Agent;

use super::Scene;
use crate::agent_process::AgentProcess;
use crate::bench::host::now;
use crate::bench::measure::ended;
use crate::corpus::{Chance, LiveSession};
use crate::outcome::Result;

/// Turns after which a session ends and another one begins.
const MOST_TURNS: u64 = 40;
/// Projects of the live sessions: beyond those of the imported transcripts, one of which is forgotten.
const FIRST_PROJECT: u64 = 5_000;
const PROJECTS: u64 = 6;

/// Pauses of real work, in milliseconds: of a person before a prompt, and of a tool.
const THINKING_MS: (u64, u64) = (15_000, 400_000);
const TOOL_MS: (u64, u64) = (500, 40_000);

#[derive(Default)]
pub struct Crowd {
    counts: Mutex<Counts>,
}

#[derive(Default)]
pub struct Counts {
    /// Prompts that were sent, by session.
    pub prompts: BTreeMap<String, u64>,
    pub hooks: u64,
    pub failed: Vec<String>,
    /// Milliseconds of the hooks since the last sample.
    pub walls: Vec<f64>,
}

impl Crowd {
    pub fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plays sessions until the time is over.
    pub fn play(&self, scene: &Scene, number: u64) -> Result<()> {
        let mut chance = Chance::new(number + 1);
        // Not all begin at the same moment.
        scene.pause(Duration::from_millis(chance.below(THINKING_MS.1)));
        let mut life = 0;
        while !scene.is_over() {
            // The client depends on the number: a thread stays with its own.
            let session_number = number + 1_000 * life * 4;
            let project = FIRST_PROJECT + number % PROJECTS;
            let session =
                LiveSession::new(&scene.cast, &scene.env.home(), session_number, project, seconds());
            self.play_session(scene, session, &mut chance)?;
            life += 1;
        }
        Ok(())
    }

    fn play_session(&self, scene: &Scene, mut session: LiveSession<'_>, chance: &mut Chance) -> Result<()> {
        let agent = agent_process(scene, session.agent())?;
        self.send(scene, agent.as_ref(), &session, session.start("startup")?)?;
        for _ in 0..chance.size(3, MOST_TURNS) {
            scene.pause(Duration::from_millis(chance.size(THINKING_MS.0, THINKING_MS.1)));
            if scene.is_over() {
                break;
            }
            let (mut turn, payload) = session.prompt(chance, seconds())?;
            let key = format!("{}:{}", session.agent().name(), session.id());
            *self.counts().prompts.entry(key).or_default() += 1;
            self.send(scene, agent.as_ref(), &session, payload)?;
            session.accept(&mut turn)?;
            for _ in 0..turn.tools() {
                scene.pause(Duration::from_millis(chance.size(TOOL_MS.0, TOOL_MS.1)));
                let payload = session.use_tool(&mut turn)?;
                self.send(scene, agent.as_ref(), &session, payload)?;
            }
            self.send(scene, agent.as_ref(), &session, session.stop(turn)?)?;
        }
        self.send(scene, agent.as_ref(), &session, session.end("other")?)
    }

    fn send(
        &self,
        scene: &Scene,
        agent: Option<&AgentProcess>,
        session: &LiveSession<'_>,
        payload: Vec<u8>,
    ) -> Result<()> {
        let mut hook = scene.env.command("tow");
        hook.args(["hook", session.agent().name()]);
        if let Some(agent) = agent {
            hook.env("CLAUDE_PID", agent.id());
        }
        let (status, cost) = ended(&mut hook, &payload, Stdio::null())?;
        let mut counts = self.counts();
        counts.hooks += 1;
        counts.walls.push(cost.wall_ns as f64 / 1e6);
        if status != 0 {
            counts.failed.push(format!("hook: wait status {status:#x}"));
        }
        Ok(())
    }
}

fn seconds() -> u64 {
    u64::try_from(now().0 / 1000).unwrap_or_default()
}

/// The process that the session's hooks name. The second client's hooks name none.
pub fn agent_process(scene: &Scene, agent: Agent) -> Result<Option<AgentProcess>> {
    let start =
        || AgentProcess::start(&scene.env.root().join("bin"), agent.name(), &scene.env.command("tow"));
    (agent == Agent::Claude).then(start).transpose()
}
