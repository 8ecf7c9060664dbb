//! The agents: their payloads, replies and settings. The only crate that knows a vendor's name.
//!
//! Translates agent input into `core`'s types and `core`'s replies into agent output. Makes no decisions, keeps
//! no state, and reads neither clock nor environment.

pub mod ask;
mod call;
mod cells;
pub mod claude;
pub mod codex;
mod files;
mod json;
pub mod plugin;
mod reader;
mod rewind;
pub mod settings;
mod skills;
mod skim;
mod wanted;
mod wire;

/// Prices of the vendors' models, as annotated and dated TOML.
pub const PRICES: &str = include_str!("prices.toml");

pub use claude::{host, repair};
pub use codex::{history, server};
pub use reader::{LineError, TranscriptReader};
pub use rewind::RewindPoint;
use settings::{DataVariable, EditRefusal, Inspection, McpServerEntry, OwnedFile, Target};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use towline_core::arbiter::{ScreenProbe, TranscriptTail};
use towline_core::compose::ContextBudget;
use towline_core::context::ReportedContext;
use towline_core::deed::ToolAction;
use towline_core::event::{EventKind, OwnCommand, SessionPresence};
use towline_core::id::{AgentName, SessionId, SessionKey, SubagentId, TurnId};
use towline_core::meter::ContextUsage;
use towline_core::reply::Reply;
use towline_core::status_line::UsageLimit;
use towline_core::text::TextPolicy;
use towline_core::typing::{InputLine, SessionStartReport, ShownSession};
use towline_core::usage::Cost;
pub use wanted::{BEFORE_TOOL, PendingFiles};

/// An agent that can be hooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agent {
    Claude,
    Codex,
}

/// One parsed hook payload. The event name is kept because the reply must repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEvent {
    pub event: String,
    pub session: SessionKey,
    pub subagent: Option<SubagentId>,
    pub turn: Option<TurnId>,
    pub happening: EventKind,
    pub folder: Option<String>,
    pub transcript: Option<String>,
    /// The subagent's own transcript, if it has one.
    pub helper_transcript: Option<String>,
    pub model: Option<String>,
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

impl Agent {
    pub const ALL: [Agent; 2] = [Agent::Claude, Agent::Codex];

    /// The agent under whose name sessions of hosts without hooks are stored: `host` speaks its protocol.
    pub const OF_HOSTS: Agent = Agent::Claude;

    pub fn from_name(name: &str) -> Option<Agent> {
        Agent::ALL.into_iter().find(|agent| agent.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
        }
    }

    /// The product name shown to users.
    pub fn title(self) -> &'static str {
        match self {
            Agent::Claude => "Claude Code",
            Agent::Codex => "Codex",
        }
    }

    /// Parses one payload. `None` is an event we do not model: a newer agent must not break an older hook.
    pub fn parse_hook(self, payload: &[u8], keeping: TextLimits) -> Result<Option<HookEvent>, PayloadError> {
        match self {
            Agent::Claude => claude::parse_hook(payload, keeping),
            Agent::Codex => codex::parse_hook(payload, keeping),
        }
    }

    /// Renders a reply in the agent's format. `None` prints nothing; parts the event does not support are left out.
    pub fn render_reply(self, event: &str, reply: &Reply) -> Option<String> {
        match self {
            Agent::Claude => wire::answer(&claude::REPLY_SUPPORT, event, reply),
            Agent::Codex => wire::answer(&codex::REPLY_SUPPORT, event, reply),
        }
    }

    /// The Towline command in a typed text, in the agent's syntax for commands.
    pub fn own_command(self, typed: &str) -> Option<OwnCommand> {
        let signs: &[char] = match self {
            Agent::Claude => &['/'],
            // Codex calls commands skills.
            Agent::Codex => &['$', '/'],
        };
        let typed = typed.trim_start().strip_prefix(signs)?;
        // Commands of a plugin are prefixed with the plugin's name.
        OwnCommand::parse(typed.strip_prefix(plugin::COMMAND_PREFIX).unwrap_or(typed))
    }

    /// When the agent reports the start of a session.
    pub fn starts(self) -> SessionStartReport {
        match self {
            Agent::Claude => SessionStartReport::AtOnce,
            Agent::Codex => SessionStartReport::WithFirstPrompt,
        }
    }

    pub fn presence(self, around: &ProcessContext<'_>) -> SessionPresence {
        match self {
            Agent::Claude => claude::presence(around),
            Agent::Codex => codex::presence(around),
        }
    }

    /// Whether a process with these arguments serves sessions that users see in other processes.
    pub fn is_shared_server(self, arguments: &[String]) -> bool {
        match self {
            Agent::Claude => false,
            Agent::Codex => codex::is_daemon(arguments),
        }
    }

    /// Whether an invocation with these arguments runs without a user in front of it.
    pub fn runs_headless(self, arguments: &[String]) -> bool {
        match self {
            Agent::Claude => arguments.iter().any(|word| word == "-p" || word == "--print"),
            Agent::Codex => {
                let around = ProcessContext { variable: &|_| None, arguments: &|| arguments.to_vec() };
                codex::presence(&around) != SessionPresence::Terminal
            }
        }
    }

    /// The variable in which the agent passes the session id to the programs it starts.
    pub fn session_variable(self) -> &'static str {
        match self {
            Agent::Claude => "CLAUDE_CODE_SESSION_ID",
            Agent::Codex => "CODEX_THREAD_ID",
        }
    }

    /// The variable in which the agent passes its own process id to its hooks.
    pub fn pid_variable(self) -> Option<&'static str> {
        match self {
            Agent::Claude => Some("CLAUDE_PID"),
            Agent::Codex => None,
        }
    }

    /// Whether a program of this name is the agent.
    pub fn is_program(self, name: &str) -> bool {
        name == self.name() || (name.starts_with(self.name()) && !name.contains("hook"))
    }

    /// The agent's settings folder, as its process resolves it.
    pub fn folder(self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let (own, below_home) = match self {
            Agent::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
            Agent::Codex => ("CODEX_HOME", ".codex"),
        };
        let given = variable(own).filter(|path| !path.is_empty()).map(PathBuf::from);
        given.or_else(|| Some(PathBuf::from(variable("HOME")?).join(below_home)))
    }

    /// The hooks to register in the agent's folder so that it calls the program at `tow`.
    pub fn target(self, folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
        match self {
            Agent::Claude => claude::install::target(folder, tow),
            Agent::Codex => codex::install::target(folder, tow),
        }
    }

    /// The hook entries of `target`, and those that call us before a tool reads or changes a file.
    pub fn target_with_files(self, folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
        let tools = match self {
            Agent::Claude => claude::SUBAGENT_AND_FILE_TOOLS,
            Agent::Codex => codex::SUBAGENT_AND_FILE_TOOLS,
        };
        Ok(self.target(folder, tow)?.matching(BEFORE_TOOL, tools))
    }

    /// The files that a tool is about to read or change, if the payload announces such a tool.
    pub fn pending_files(self, payload: &[u8]) -> Option<PendingFiles> {
        wanted::files_wanted(self, payload)
    }

    /// Our skills for the agent's folder, in order of creation; they are removed in reverse order.
    pub fn skill_files(self, folder: &Path, tow: &Path) -> Result<Vec<OwnedFile>, EditRefusal> {
        match self {
            Agent::Claude => claude::install::pages(folder, tow),
            Agent::Codex => codex::install::pages(folder, tow),
        }
    }

    /// The file in which the agent keeps a user's MCP servers.
    pub fn servers_file(self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        match self {
            Agent::Claude => claude::install::servers_file(variable),
            Agent::Codex => self.folder(variable).map(|folder| codex::install::servers_file(&folder)),
        }
    }

    /// Our MCP server entry in that file: the program at `tow`, with the variables that locate its data.
    pub fn mcp_server(
        self,
        file: &Path,
        tow: &Path,
        places: &[DataVariable],
    ) -> Result<McpServerEntry, EditRefusal> {
        let server = match self {
            Agent::Claude => claude::install::tool_server(file, tow)?,
            Agent::Codex => codex::install::tool_server(file, tow)?,
        };
        Ok(server.with_variables(places.to_vec()))
    }

    /// Our plugin's name, if it is enabled in the agent's folder.
    pub fn enabled_plugin(self, folder: &Path) -> Option<String> {
        match self {
            Agent::Claude => claude::install::enabled_plugin(folder),
            Agent::Codex => codex::install::enabled_plugin(folder),
        }
    }

    /// The step the user must still take so that the agent runs that plugin's hooks.
    pub fn plugin_wants_consent(self, folder: &Path, plugin: &str) -> Option<String> {
        match self {
            Agent::Claude => None,
            Agent::Codex => codex::plugin_wants_consent(folder, plugin),
        }
    }

    /// The step the user must still take so that the agent runs the registered hooks, if any.
    pub fn consent_hint(self, folder: &Path, inspection: &Inspection) -> Option<String> {
        match self {
            Agent::Claude => None,
            Agent::Codex => codex::wants_consent(folder, inspection),
        }
    }

    /// Whether a screen of the agent shows this prompt as sent, not as still being typed.
    pub fn shows_prompt(self, screen: &str, prompt: &str) -> bool {
        match self {
            Agent::Claude => false,
            Agent::Codex => codex::shows_prompt(screen, prompt),
        }
    }

    /// Instructions for the user to restore the conversation, step by step.
    pub fn rewind_steps(self, way: &RewindPoint<'_>) -> Vec<String> {
        match self {
            Agent::Claude => rewind::by_list(way),
            Agent::Codex => rewind::by_fork(way),
        }
    }

    /// The state at the end of a transcript, read from the file's last part. `None` if that part is inconclusive.
    pub fn transcript_end(self, text: &[u8]) -> Option<TranscriptTail> {
        match self {
            Agent::Claude => claude::tail::tail(text),
            Agent::Codex => codex::tail::tail(text),
        }
    }

    /// Whether this last part of a transcript holds the end of the turn's last message, and its cost.
    pub fn has_written(self, text: &[u8], words: &str) -> bool {
        match self {
            Agent::Claude => claude::tail::holds(text, words),
            Agent::Codex => codex::context::ends_counted(text),
        }
    }

    /// The file below the project's folder in which the agent may be asked to leave a handoff. Read if it exists.
    pub fn handoff_file(self) -> Option<&'static str> {
        match self {
            Agent::Claude => Some(".claude/handoff.md"),
            Agent::Codex => None,
        }
    }

    /// The command to type for a new session in the same seat, which the agent reports as a clear.
    pub fn clear_command(self) -> &'static str {
        match self {
            Agent::Claude | Agent::Codex => "/clear",
        }
    }

    /// The command to type to compact the context.
    pub fn compact_command(self) -> &'static str {
        match self {
            Agent::Claude | Agent::Codex => "/compact",
        }
    }

    /// The most a hook may add to the context before the client cuts it.
    pub fn budget(self) -> ContextBudget {
        match self {
            Agent::Claude => ContextBudget::Characters(9_500),
            Agent::Codex => ContextBudget::Tokens(2_400),
        }
    }

    /// The action of a tool call. `input` is its JSON or plain text, already redacted and possibly broken by that.
    pub fn tool_action<'a>(self, tool: &str, input: &'a str) -> ToolAction<'a> {
        match self {
            Agent::Claude => claude::deed::tool_action(tool, input),
            Agent::Codex => codex::deed::tool_action(tool, input),
        }
    }

    /// The state that the bottom of the agent's screen shows, given its lines as plain text.
    pub fn screen(self, text: &str) -> ScreenProbe {
        match self {
            Agent::Claude => claude::screen::screen(text),
            Agent::Codex => codex::screen::screen(text),
        }
    }

    /// The contents of the agent's input line. `cursor` is the column and line of the terminal's cursor, if known.
    pub fn input_line(self, screen_with_sequences: &str, cursor: Option<(usize, usize)>) -> InputLine {
        match self {
            Agent::Claude => claude::input::input_line(screen_with_sequences, cursor),
            Agent::Codex => codex::input::input_line(screen_with_sequences),
        }
    }

    /// The session that the agent's screen shows, for agents that report it nowhere else.
    pub fn shown_session(self, screen_with_sequences: &str) -> ShownSession {
        match self {
            Agent::Claude => ShownSession::Unknown,
            Agent::Codex => codex::input::shown(screen_with_sequences),
        }
    }

    /// Whether the input line holds exactly this text, wrapped or collapsed as the agent shows it.
    /// Leading whitespace means the user had already typed something.
    pub fn input_holds(self, held: &str, text: &str) -> bool {
        let letters = |text: &str| text.chars().filter(|char| !char.is_whitespace()).collect::<String>();
        let is_folded = match self {
            Agent::Claude => claude::input::is_folded(held, text),
            Agent::Codex => codex::input::is_folded(held, text),
        };
        is_folded || (letters(held) == letters(text) && !held.starts_with(char::is_whitespace))
    }

    pub fn resume_command(self, session: &SessionId) -> String {
        match self {
            Agent::Claude => format!("claude --resume {session}"),
            Agent::Codex => format!("codex resume {session}"),
        }
    }

    /// The transcript with points to rewind to, for agents whose sessions a full context can break beyond resuming.
    pub fn repair_transcript(
        self,
        transcript: &[u8],
        wish: repair::RepairOptions<'_>,
    ) -> Option<Result<repair::Repair, repair::Unrepairable>> {
        match self {
            Agent::Claude => Some(claude::repair::repaired(transcript, wish)),
            Agent::Codex => None,
        }
    }

    /// The address of the server through which sessions can be changed without the screen, if the agent has one.
    pub fn server(self, folder: &Path) -> Option<server::ServerAddress> {
        match self {
            Agent::Claude => None,
            Agent::Codex => Some(codex::server::address(folder)),
        }
    }

    /// Context usage, read from the last part of the transcript. `announced` is the model that the session named at its
    /// start: some agents report the window size only there.
    pub fn context(self, text: &[u8], announced: Option<&str>) -> Option<ReportedContext> {
        match self {
            Agent::Claude => claude::context::context(text, announced),
            Agent::Codex => codex::context::context(text),
        }
    }

    /// Parses a status line payload; `None` if it is not one of this agent's.
    pub fn status(self, payload: &[u8]) -> Option<StatusLineInput> {
        match self {
            Agent::Claude => claude::status::status(payload),
            // Codex draws its own status line without an external program.
            Agent::Codex => None,
        }
    }

    /// The session key for an id taken from one of the agent's variables.
    pub fn session_named(self, id: &str) -> Option<SessionKey> {
        self.session(Some(Cow::Borrowed(id))).ok()
    }

    fn session(self, raw: Option<Cow<'_, str>>) -> Result<SessionKey, PayloadError> {
        let raw = raw.ok_or(PayloadError::Missing { field: "session_id" })?;
        let bad = |field| move |source| PayloadError::BadName { field, source };
        let agent = AgentName::parse(self.name()).map_err(bad("agent"))?;
        Ok(SessionKey { agent, id: SessionId::parse(&raw).map_err(bad("session_id"))? })
    }
}

#[cfg(test)]
mod tests;
