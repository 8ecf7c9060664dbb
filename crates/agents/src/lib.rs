//! The agents: their payloads, their answers, their settings. The only crate that knows a vendor's name.
//!
//! Everything an agent says is turned into `core`'s words at this border, and everything said back is put into the
//! agent's words here. Nothing in this crate decides, keeps state, or reads a clock or an environment.

pub mod ask;
mod call;
mod cells;
pub mod claude;
pub mod codex;
mod eight;
mod files;
mod json;
pub mod plugin;
mod reader;
mod rewind;
pub mod settings;
mod skills;
mod skim;
mod unescape;
mod wanted;
mod wire;

/// What the models of the vendors cost, as TOML, annotated and dated.
pub const PRICES: &str = include_str!("prices.toml");

pub use claude::{host, repair};
pub use codex::{history, server};
pub use reader::{Reader, Unreadable};
pub use rewind::WayBack;
use settings::{Inspection, Page, Place, Refusal, Target, ToolServer};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use towline_core::arbiter::{ScreenSight, Tail};
use towline_core::compose::Budget;
use towline_core::context::Context;
use towline_core::deed::Deed;
use towline_core::event::{Happening, OwnCommand, Presence};
use towline_core::id::{AgentName, SessionId, SessionKey, SubagentId, TurnId};
use towline_core::meter::Fill;
use towline_core::reply::Reply;
use towline_core::status_line::Limit;
use towline_core::text::Keeping;
use towline_core::typing::{InputLine, Shown, Starts};
use towline_core::usage::Cost;
pub use wanted::{BEFORE_TOOL, FilesWanted};

/// An agent that can be hooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agent {
    Claude,
    Codex,
}

/// What one payload says. The event's own name is kept for the answer, which must repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    pub event: String,
    pub session: SessionKey,
    pub subagent: Option<SubagentId>,
    pub turn: Option<TurnId>,
    pub happening: Happening,
    pub folder: Option<String>,
    pub transcript: Option<String>,
    /// The helper's own, where it has one.
    pub helper_transcript: Option<String>,
    pub model: Option<String>,
    /// The end of a prompt as it was typed, to be looked for on screens. Never kept.
    pub typed: Option<String>,
    pub ending: Ending,
}

/// What the end of a turn says beside that it ended. Never kept as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Whether a hook, whoever's, has kept the turn from ending before.
    pub was_blocked: bool,
    /// The agent's last words from their handoff on, where they hold one.
    pub handoff: Option<String>,
    /// The end of the agent's last words, to be looked for in its transcript.
    pub words: Option<String>,
}

/// What an agent tells the program that draws its status line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    pub session: SessionKey,
    /// The model, as people call it.
    pub model: Option<String>,
    pub folder: Option<String>,
    pub fill: Option<Fill>,
    /// What the session has cost so far.
    pub cost: Option<Cost>,
    /// Of those who pay by the month.
    pub limits: Vec<Limit>,
}

/// How much is kept of what a payload says, by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepings {
    pub prompt: Keeping,
    pub answer: Keeping,
}

/// Why a payload is not an event. None of these texts repeats the payload: it may hold anything.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("the payload is empty")]
    Empty,
    /// Without the place: faults that are alike are counted as one.
    #[error("the payload is not valid JSON")]
    NotJson,
    #[error("the payload has no {field}")]
    Missing { field: &'static str },
    #[error("the payload's {field} is unusable: {source}")]
    BadName { field: &'static str, source: towline_core::id::BadName },
}

/// What an agent's process and its hook's environment tell about how the session is run.
pub struct Surroundings<'a> {
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The arguments of the agent's process; asked for only where they matter, since finding them costs system calls.
    pub arguments: &'a dyn Fn() -> Vec<String>,
}

impl Agent {
    pub const ALL: [Agent; 2] = [Agent::Claude, Agent::Codex];

    /// As whose sessions those of hosts without hooks are kept: `host` speaks its language.
    pub const OF_HOSTS: Agent = Agent::Claude;

    pub fn named(name: &str) -> Option<Agent> {
        Agent::ALL.into_iter().find(|agent| agent.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
        }
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Agent::Claude => "Claude Code",
            Agent::Codex => "Codex",
        }
    }

    /// Understands one payload. `None` is an event that we do not model: a newer agent must not break an older hook.
    pub fn hear(self, payload: &[u8], keeping: Keepings) -> Result<Option<Heard>, PayloadError> {
        match self {
            Agent::Claude => claude::hear(payload, keeping),
            Agent::Codex => codex::hear(payload, keeping),
        }
    }

    /// Puts a reply into the agent's words. `None` prints nothing: parts that the event has no room for are left out.
    pub fn speak(self, event: &str, reply: &Reply) -> Option<String> {
        match self {
            Agent::Claude => wire::answer(&claude::ROOM, event, reply),
            Agent::Codex => wire::answer(&codex::ROOM, event, reply),
        }
    }

    /// What a typed text means to us, if it is a command of ours as the agent's users type it.
    pub fn own_command(self, typed: &str) -> Option<OwnCommand> {
        let signs: &[char] = match self {
            Agent::Claude => &['/'],
            // What it calls a skill is what others call a command.
            Agent::Codex => &['$', '/'],
        };
        let typed = typed.trim_start().strip_prefix(signs)?;
        // What a plugin brings is called with the plugin's name before it.
        OwnCommand::parse(typed.strip_prefix(plugin::SIGN).unwrap_or(typed))
    }

    /// When it tells that a session has begun.
    pub fn starts(self) -> Starts {
        match self {
            Agent::Claude => Starts::AtOnce,
            Agent::Codex => Starts::WithFirstPrompt,
        }
    }

    pub fn presence(self, around: &Surroundings<'_>) -> Presence {
        match self {
            Agent::Claude => claude::presence(around),
            Agent::Codex => codex::presence(around),
        }
    }

    /// Whether a process of this program and these arguments serves sessions that people see in other processes.
    pub fn is_shared_server(self, arguments: &[String]) -> bool {
        match self {
            Agent::Claude => false,
            Agent::Codex => codex::is_daemon(arguments),
        }
    }

    /// Whether a call with these arguments runs without a person before it.
    pub fn runs_headless(self, arguments: &[String]) -> bool {
        match self {
            Agent::Claude => arguments.iter().any(|word| word == "-p" || word == "--print"),
            Agent::Codex => {
                let around = Surroundings { variable: &|_| None, arguments: &|| arguments.to_vec() };
                codex::presence(&around) != Presence::Terminal
            }
        }
    }

    /// The variable in which the agent tells the programs it starts which session they are started for.
    pub fn session_variable(self) -> &'static str {
        match self {
            Agent::Claude => "CLAUDE_CODE_SESSION_ID",
            Agent::Codex => "CODEX_THREAD_ID",
        }
    }

    /// The variable in which the agent tells its hooks its own process id.
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

    /// The folder in which the agent keeps its settings, as its process sees it.
    pub fn folder(self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let (own, below_home) = match self {
            Agent::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
            Agent::Codex => ("CODEX_HOME", ".codex"),
        };
        let given = variable(own).filter(|path| !path.is_empty()).map(PathBuf::from);
        given.or_else(|| Some(PathBuf::from(variable("HOME")?).join(below_home)))
    }

    /// What to register in the agent's folder so that it calls the program at `tow`.
    pub fn target(self, folder: &Path, tow: &Path) -> Result<Target, Refusal> {
        match self {
            Agent::Claude => claude::install::target(folder, tow),
            Agent::Codex => codex::install::target(folder, tow),
        }
    }

    /// The same, and it calls us also before a tool reads or changes a file.
    pub fn target_with_files(self, folder: &Path, tow: &Path) -> Result<Target, Refusal> {
        let tools = match self {
            Agent::Claude => claude::HELPER_AND_FILE_TOOLS,
            Agent::Codex => codex::HELPER_AND_FILE_TOOLS,
        };
        Ok(self.target(folder, tow)?.matching(BEFORE_TOOL, tools))
    }

    /// The files that a tool is about to read or change, if the payload tells of such a tool.
    pub fn files_wanted(self, payload: &[u8]) -> Option<FilesWanted> {
        wanted::files_wanted(self, payload)
    }

    /// The skills that we put into the agent's folder, in the order in which they are made; taken away in the other one.
    pub fn pages(self, folder: &Path, tow: &Path) -> Result<Vec<Page>, Refusal> {
        match self {
            Agent::Claude => claude::install::pages(folder, tow),
            Agent::Codex => codex::install::pages(folder, tow),
        }
    }

    /// The file in which the agent keeps the servers of tools that a user has.
    pub fn servers_file(self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        match self {
            Agent::Claude => claude::install::servers_file(variable),
            Agent::Codex => self.folder(variable).map(|folder| codex::install::servers_file(&folder)),
        }
    }

    /// Our server of tools in that file: the program at `tow`, which finds its data by these variables.
    pub fn tool_server(self, file: &Path, tow: &Path, places: &[Place]) -> Result<ToolServer, Refusal> {
        let server = match self {
            Agent::Claude => claude::install::tool_server(file, tow)?,
            Agent::Codex => codex::install::tool_server(file, tow)?,
        };
        Ok(server.among(places.to_vec()))
    }

    /// Our plugin, by the name under which it is switched on in the agent's folder.
    pub fn enabled_plugin(self, folder: &Path) -> Option<String> {
        match self {
            Agent::Claude => claude::install::enabled_plugin(folder),
            Agent::Codex => codex::install::enabled_plugin(folder),
        }
    }

    /// What the user must still do so that the agent runs what that plugin brings.
    pub fn plugin_wants_consent(self, folder: &Path, plugin: &str) -> Option<String> {
        match self {
            Agent::Claude => None,
            Agent::Codex => codex::plugin_wants_consent(folder, plugin),
        }
    }

    /// What the user must still do so that the agent runs what is registered; `None` where nothing is left to do.
    pub fn wants_consent(self, folder: &Path, inspection: &Inspection) -> Option<String> {
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

    /// What a person does to have the conversation as it was, step by step.
    pub fn way_back(self, way: &WayBack<'_>) -> Vec<String> {
        match self {
            Agent::Claude => rewind::by_list(way),
            Agent::Codex => rewind::by_fork(way),
        }
    }

    /// How a transcript ends, by the last part of its file. `None` where that part holds nothing to go by.
    pub fn tail(self, text: &[u8]) -> Option<Tail> {
        match self {
            Agent::Claude => claude::tail::tail(text),
            Agent::Codex => codex::tail::tail(text),
        }
    }

    /// Whether a transcript whose last part this is holds the end of a turn's last words, and what they cost.
    pub fn has_written(self, text: &[u8], words: &str) -> bool {
        match self {
            Agent::Claude => claude::tail::holds(text, words),
            Agent::Codex => codex::context::ends_counted(text),
        }
    }

    /// Where the agent may be told to leave a handoff, below the project's folder. Read if it is there.
    pub fn handoff_file(self) -> Option<&'static str> {
        match self {
            Agent::Claude => Some(".claude/handoff.md"),
            Agent::Codex => None,
        }
    }

    /// What is typed so that it begins anew in the same seat, and tells of that as of a clear.
    pub fn clear_command(self) -> &'static str {
        match self {
            Agent::Claude | Agent::Codex => "/clear",
        }
    }

    /// What is typed so that it compacts its context.
    pub fn compact_command(self) -> &'static str {
        match self {
            Agent::Claude | Agent::Codex => "/compact",
        }
    }

    /// How much a hook may say to the model before the client cuts it.
    pub fn budget(self) -> Budget {
        match self {
            Agent::Claude => Budget::Characters(9_500),
            Agent::Codex => Budget::Tokens(2_400),
        }
    }

    /// What a tool call does. `input` is the call's JSON or plain text, redacted before and perhaps broken by it.
    pub fn deed<'a>(self, tool: &str, input: &'a str) -> Deed<'a> {
        match self {
            Agent::Claude => claude::deed::deed(tool, input),
            Agent::Codex => codex::deed::deed(tool, input),
        }
    }

    /// What the bottom of the agent's screen shows, by its lines as plain text.
    pub fn screen(self, text: &str) -> ScreenSight {
        match self {
            Agent::Claude => claude::screen::screen(text),
            Agent::Codex => codex::screen::screen(text),
        }
    }

    /// What stands in the agent's input line, by its screen with the sequences for colours and, where it is
    /// known, by column and line of the terminal's cursor.
    pub fn input_line(self, screen_with_sequences: &str, cursor: Option<(usize, usize)>) -> InputLine {
        match self {
            Agent::Claude => claude::input::input_line(screen_with_sequences, cursor),
            Agent::Codex => codex::input::input_line(screen_with_sequences),
        }
    }

    /// Which session the agent's screen shows, as far as it says and as far as nothing else tells.
    pub fn shown(self, screen_with_sequences: &str) -> Shown {
        match self {
            Agent::Claude => Shown::Unknown,
            Agent::Codex => codex::input::shown(screen_with_sequences),
        }
    }

    /// Whether what the input line holds is this text and nothing else, broken into lines or folded as the agent shows it.
    /// Blanks before it were there before it.
    pub fn is_typed(self, held: &str, text: &str) -> bool {
        let letters = |text: &str| text.chars().filter(|char| !char.is_whitespace()).collect::<String>();
        let is_folded = match self {
            Agent::Claude => claude::input::is_folded(held, text),
            Agent::Codex => codex::input::is_folded(held, text),
        };
        is_folded || (letters(held) == letters(text) && !held.starts_with(char::is_whitespace))
    }

    /// What a person types to go on with a session.
    pub fn resuming(self, session: &SessionId) -> String {
        match self {
            Agent::Claude => format!("claude --resume {session}"),
            Agent::Codex => format!("codex resume {session}"),
        }
    }

    /// A transcript with places to go back to, where the agent's sessions can die of a full context and be mended so.
    pub fn repaired(
        self,
        transcript: &[u8],
        wish: repair::Wish<'_>,
    ) -> Option<Result<repair::Repair, repair::Unrepairable>> {
        match self {
            Agent::Claude => Some(claude::repair::repaired(transcript, wish)),
            Agent::Codex => None,
        }
    }

    /// Where the agent's sessions can be changed without its screen; `None` where nothing serves them.
    pub fn server(self, folder: &Path) -> Option<server::Address> {
        match self {
            Agent::Claude => None,
            Agent::Codex => Some(codex::server::address(folder)),
        }
    }

    /// How full the context is, by the last part of the transcript's file. `announced` is the model that the session
    /// named when it began: some agents tell the window there alone.
    pub fn context(self, text: &[u8], announced: Option<&str>) -> Option<Context> {
        match self {
            Agent::Claude => claude::context::context(text, announced),
            Agent::Codex => codex::context::context(text),
        }
    }

    /// What a payload for the status line says; `None` for what is none of this agent.
    pub fn status(self, payload: &[u8]) -> Option<Status> {
        match self {
            Agent::Claude => claude::status::status(payload),
            // It draws its own, and asks nobody.
            Agent::Codex => None,
        }
    }

    /// The agent's key of a session with this id, as one of its variables tells it.
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
