//! The agents by name, and what is known about each without reading its payloads, screens or files.
//!
//! Tables and types only: parsing, replying and installing is done in the agent's own folder.

use std::borrow::Cow;
use std::path::PathBuf;
use towline_core::compose::ContextBudget;
use towline_core::event::{EventKind, OwnCommand};
use towline_core::id::{AgentName, SessionId, SessionKey, SubagentId, TurnId};
use towline_core::meter::ContextUsage;
use towline_core::status_line::UsageLimit;
use towline_core::text::TextPolicy;
use towline_core::typing::SessionStartReport;
use towline_core::usage::Cost;

/// Prefix of the plugin's commands.
const COMMAND_PREFIX: &str = "towline:";

towline_core::named_enum! {
    /// An agent that can be hooked.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Agent as from_name {
        Claude = "claude",
        Codex = "codex",
        Qwen = "qwen",
        Gemini = "gemini",
        Copilot = "copilot",
        Opencode = "opencode",
        Kilo = "kilo",
    }
}

/// One parsed hook payload. The event name is kept because the reply must repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEvent {
    pub event: String,
    pub session: SessionKey,
    pub subagent: Option<SubagentId>,
    pub turn: Option<TurnId>,
    pub happening: EventKind,
    /// The whole prompt was marked private: `happening` does not hold it.
    pub is_private: bool,
    pub folder: Option<String>,
    pub transcript: Option<String>,
    /// The subagent's own transcript, if it has one.
    pub subagent_transcript: Option<String>,
    pub model: Option<String>,
    /// How full the context is, for agents that report it with an event.
    pub fill: Option<ContextUsage>,
    /// The end of a prompt as it was typed, to search screens for. Never stored.
    pub typed: Option<String>,
    pub ending: StopDetails,
}

/// Details of a turn's end. Never stored as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopDetails {
    /// Whether any hook, ours or another, has already kept the turn from ending.
    pub was_blocked: bool,
    /// The agent's last message from its handoff block on, if it holds one.
    pub handoff: Option<String>,
    /// The end of the agent's last message, to search its transcript for.
    pub words: Option<String>,
}

/// Input of the program that draws an agent's status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLineInput {
    pub session: SessionKey,
    pub model: Option<String>,
    pub folder: Option<String>,
    pub fill: Option<ContextUsage>,
    pub cost: Option<Cost>,
    /// Limits of subscription users.
    pub limits: Vec<UsageLimit>,
}

/// How much of each payload text is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    pub prompt: TextPolicy,
    pub answer: TextPolicy,
}

/// Why a payload is not an event. The texts never repeat the payload, which may hold anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("the payload is empty")]
    Empty,
    /// Without the position, so that equal faults are counted as one.
    #[error("the payload is not valid JSON")]
    NotJson,
    #[error("the payload is larger than {} MB", .0 >> 20)]
    TooLarge(u64),
    #[error("the payload has no {field}")]
    Missing { field: &'static str },
    #[error("the payload's {field} is unusable: {source}")]
    BadName { field: &'static str, source: towline_core::id::InvalidId },
}

/// Access to the agent's process and its hook's environment, to find out how the session is run.
pub struct ProcessContext<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The arguments of the agent's process. Called only if needed, since finding them costs system calls.
    pub arguments: &'a dyn Fn() -> Vec<String>,
}

/// Agents that Towline does not hook into: a command below one of them is not the user's either.
const OTHER_AGENTS: [&str; 17] = [
    "aider",
    "amp",
    "auggie",
    "cline",
    "crush",
    "cursor-agent",
    "droid",
    "goose",
    "grok",
    "kilocode",
    "kimi",
    "kimi-code",
    "pi",
    "plandex",
    "roo",
    "vibe",
    "vibe-rs",
];

/// Variables of unhooked agents, and of hooked agents whose commands may get no session id.
const OTHER_VARIABLES: [&str; 4] = ["CURSOR_AGENT", "GEMINI_CLI", "OPENCODE_PID", "QWEN_CODE"];

/// Whether a program of this name is an agent that Towline does not hook into.
pub fn is_other_agent(name: &str) -> bool {
    OTHER_AGENTS.contains(&name)
}

/// Whether a process with these variables is run by an agent that may not name its session to it.
pub fn has_agents_variable(is_set: &dyn Fn(&str) -> bool) -> bool {
    OTHER_VARIABLES.iter().any(|name| is_set(name))
}

impl Agent {
    /// The agent under whose name sessions of hosts without hooks are stored: `host` speaks its protocol.
    pub const OF_HOSTS: Agent = Agent::Claude;

    /// The product name shown to users.
    pub fn title(self) -> &'static str {
        self.adapter().title
    }

    /// The Towline command in a typed text, in the agent's syntax for commands.
    pub fn own_command(self, typed: &str) -> Option<OwnCommand> {
        let typed = typed.trim_start().strip_prefix(self.adapter().command_signs)?;
        // Commands of a plugin are prefixed with the plugin's name.
        OwnCommand::parse(typed.strip_prefix(COMMAND_PREFIX).unwrap_or(typed))
    }

    /// When the agent reports the start of a session.
    pub fn starts(self) -> SessionStartReport {
        self.adapter().starts
    }

    /// The variable in which the agent passes the session id to the programs it starts.
    pub fn session_variable(self) -> &'static str {
        self.adapter().session_variable
    }

    /// Whether another agent runs this hook: some also run the hooks that a project registers with others.
    pub fn is_run_by_another(self, is_set: &dyn Fn(&str) -> bool) -> bool {
        let others = Agent::ALL.into_iter().filter(|other| *other != self);
        others.filter_map(|other| other.adapter().hook_variable).any(is_set)
    }

    /// The variable in which the agent passes its own process id to its hooks.
    pub fn pid_variable(self) -> Option<&'static str> {
        self.adapter().pid_variable
    }

    /// Whether a program of this name is the agent.
    pub fn is_program(self, name: &str) -> bool {
        name == self.name() || (name.starts_with(self.name()) && !name.contains("hook"))
    }

    /// The agent's settings folder, as its process resolves it.
    pub fn folder(self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        self.adapter().folder.path(variable)
    }

    /// The file below the project's folder in which the agent may be asked to leave a handoff. Read if it exists.
    pub fn handoff_file(self) -> Option<&'static str> {
        self.adapter().handoff_file
    }

    /// The command to type for a new session in the same seat, which the agent reports as a clear.
    pub fn clear_command(self) -> &'static str {
        self.adapter().clear
    }

    /// The command to type to compact the context.
    pub fn compact_command(self) -> &'static str {
        self.adapter().compact
    }

    /// The most a hook may add to the context before the client cuts it.
    pub fn budget(self) -> ContextBudget {
        self.adapter().budget
    }

    pub fn resume_command(self, session: &SessionId) -> String {
        format!("{} {session}", self.adapter().resume)
    }

    /// The session key for an id taken from one of the agent's variables.
    pub fn session_named(self, id: &str) -> Option<SessionKey> {
        self.session(Some(Cow::Borrowed(id))).ok()
    }

    pub(crate) fn session(self, raw: Option<Cow<'_, str>>) -> Result<SessionKey, PayloadError> {
        let raw = raw.ok_or(PayloadError::Missing { field: "session_id" })?;
        let bad = |field| move |source| PayloadError::BadName { field, source };
        let agent = AgentName::parse(self.name()).map_err(bad("agent"))?;
        Ok(SessionKey { agent, id: SessionId::parse(&raw).map_err(bad("session_id"))? })
    }
}
