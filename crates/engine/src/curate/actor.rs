//! On whose behalf a command acts: the user, or an agent.
//!
//! A command line acts for the user only on positive evidence (`towline_terminal::person`); whatever is unproven acts for
//! an agent. A surface that identifies the user by other means, such as a token, says so itself.

use super::calling_session;
use crate::runtime::descriptions::Descriptions;
use crate::runtime::{Env, Failure};
use crate::status::described::is_program;
use towline_agents::{Agent, has_agents_variable, is_other_agent};
use towline_core::id::SessionKey;
use towline_store::private::{self, PrivateTurn};
use towline_terminal::person::{Doubt, PersonTest};
use towline_terminal::process::Process;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    Person,
    /// An agent, or a process that could not prove to be run by the user.
    Agent {
        session: Option<SessionKey>,
        why: Unproven,
    },
}

/// The reason why a command does not count as the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unproven {
    /// The caller is an agent by its nature: a tool that models call.
    Tool,
    /// An agent's session runs the command.
    Session,
    Evidence(Doubt),
}

impl Actor {
    /// The actor behind this process.
    pub fn of_caller(env: &Env) -> Result<Actor, Failure> {
        if let Some(session) = calling_session(env)? {
            return Ok(Actor::Agent { session: Some(session), why: Unproven::Session });
        }
        // Agents that the user describes, too: a command below one is not the user's.
        let described = Descriptions::load(env);
        let is_described =
            |process: &Process| described.all.iter().any(|it| is_program(&it.description, process));
        let test = PersonTest { is_agent: &|process| is_agent(process) || is_described(process) };
        Ok(test
            .doubt(std::process::id())
            .map_or(Actor::Person, |doubt| Actor::Agent { session: None, why: Unproven::Evidence(doubt) }))
    }

    /// The actor behind a request with the user's token: the user, unless an agent started the server. A server needs no
    /// terminal.
    pub fn of_token(env: &Env) -> Result<Actor, Failure> {
        Ok(match Actor::of_caller(env)? {
            Actor::Agent { why: Unproven::Evidence(doubt), .. } if !matches!(doubt, Doubt::AgentAbove(_)) => {
                Actor::Person
            }
            actor @ (Actor::Person | Actor::Agent { .. }) => actor,
        })
    }

    /// The agent that calls a tool made for models.
    pub fn tool(env: &Env) -> Actor {
        Actor::Agent { session: calling_session(env).ok().flatten(), why: Unproven::Tool }
    }

    pub fn is_person(&self) -> bool {
        matches!(self, Actor::Person)
    }

    /// Refuses an agent whose running turn is private: nothing that it writes may be kept.
    pub fn may_keep_text(&self, env: &Env) -> Result<(), Failure> {
        let Actor::Agent { session: Some(session), .. } = self else { return Ok(()) };
        if private::of(&env.home, session) != PrivateTurn::Running {
            return Ok(());
        }
        Err(Failure::input("this turn is private: nothing that is said in it is kept")
            .hint("Do it after the next prompt, or run it in a terminal of your own."))
    }

    /// Refuses everyone but the user. `action` completes "only a person can …".
    pub fn require_person(&self, action: &str) -> Result<(), Failure> {
        let Actor::Agent { why, .. } = self else { return Ok(()) };
        let reason = match why {
            Unproven::Tool | Unproven::Session => "an agent runs this".to_owned(),
            Unproven::Evidence(doubt) => describe(doubt),
        };
        Err(Failure::input(format!("only a person can {action}, and {reason}"))
            .hint("Run it in a terminal of your own, in the foreground."))
    }
}

fn describe(doubt: &Doubt) -> String {
    match doubt {
        Doubt::AgentAbove(name) => format!("an agent (`{name}`) runs this"),
        Doubt::NoTerminal => "this runs without a terminal".to_owned(),
        Doubt::InBackground => "this runs in the background of its terminal".to_owned(),
        Doubt::NoTerminalAbove => "no terminal, multiplexer or login started this".to_owned(),
        Doubt::NoClient => "nobody is attached to the tmux session in which this runs".to_owned(),
    }
}

/// By its name, or by the variable that an agent sets for all that it starts.
fn is_agent(process: &Process) -> bool {
    let names = [process.name.clone(), process.program_name()];
    let is_program = |agent: Agent| names.iter().any(|name| agent.is_program(name));
    let environment = process.environment();
    let is_set = |name: &str| environment.get(name).is_some();
    Agent::ALL.into_iter().any(|agent| is_program(agent) || is_set(agent.session_variable()))
        || names.iter().any(|name| is_other_agent(name))
        || has_agents_variable(&is_set)
}
