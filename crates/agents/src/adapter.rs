//! The adapter interface: everything that Towline knows about an agent, as one table per agent.
//!
//! Declares only. A capability that an agent lacks is `None`, and nothing takes its place.

use crate::agent::{ProcessContext, StatusLineInput, TextLimits};
use crate::ask::Asking;
use crate::json::OptText;
use crate::reader::TranscriptReader;
use crate::repair::{Repair, RepairOptions, Unrepairable};
use crate::rewind::RewindPoint;
use crate::settings::{EditRefusal, FileFormat, Inspection, Target};
use crate::skills::Dialect;
use crate::wire::{HookPayload, ReplySupport};
use std::path::{Path, PathBuf};
use towline_core::arbiter::{ScreenProbe, TranscriptTail};
use towline_core::compose::ContextBudget;
use towline_core::deed::ToolAction;
use towline_core::event::{EventKind, SessionPresence};
use towline_core::meter::ReportedContext;
use towline_core::typing::{InputLine, SessionStartReport, ShownSession};

/// Reads an environment variable of the agent.
pub(crate) type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

type RepairTranscript = fn(&[u8], RepairOptions<'_>) -> Result<Repair, Unrepairable>;
type ReadAnswer = fn(&[u8]) -> Option<String>;
type ParseStatusLine = fn(&[u8]) -> Option<StatusLineInput>;

/// One agent.
pub(crate) struct Adapter {
    /// The product name shown to users.
    pub title: &'static str,
    /// The versions of the real program that the end-to-end tests drive.
    pub proven: &'static str,
    pub folder: Folder,
    /// The command that resumes a session, without the session's id.
    pub resume: &'static str,
    /// The command to type for a new session in the same seat, which the agent reports as a clear.
    pub clear: &'static str,
    /// The command to type to compact the context.
    pub compact: &'static str,
    /// The characters before a command's name in the input.
    pub command_signs: &'static [char],
    pub starts: SessionStartReport,
    /// The variable in which the agent passes the session id to the programs it starts.
    pub session_variable: &'static str,
    /// A variable that the agent sets for hooks, and for nothing else that it starts.
    pub hook_variable: Option<&'static str>,
    /// The variable in which the agent passes its own process id to its hooks.
    pub pid_variable: Option<&'static str>,
    /// The file below the project's folder in which the agent may be asked to leave a handoff.
    pub handoff_file: Option<&'static str>,
    /// The most a hook may add to the context before the client cuts it.
    pub budget: ContextBudget,
    pub hooks: Hooks,
    pub process: ProcessRules,
    pub install: Install,
    pub transcript: Transcripts,
    pub screen: Screens,
    /// The action of a tool call.
    pub tool_action: for<'a> fn(&str, &'a str) -> ToolAction<'a>,
    /// Instructions for the user to restore an earlier point of the conversation.
    pub rewind: fn(&RewindPoint<'_>) -> Vec<String>,
    /// Repairs a transcript that a full context broke.
    pub repair: Option<RepairTranscript>,
    /// The server through which sessions can be changed without the screen, below the agent's folder.
    pub server: Option<fn(&Path) -> ServerAddress>,
    /// Parses the payload of a status line that an external program draws.
    pub status_line: Option<ParseStatusLine>,
    /// Answers single questions on its command line.
    pub ask: Option<Asking>,
}

/// A folder of the agent's: the variable that moves it, and its place below the home without that variable.
#[derive(Clone, Copy)]
pub(crate) struct Folder {
    pub variable: &'static str,
    /// The folder below the variable's value; empty if the value is the folder itself.
    pub below_variable: &'static str,
    pub below_home: &'static str,
}

impl Folder {
    /// A folder that a variable of the agent's own names.
    pub const fn own(variable: &'static str, below_home: &'static str) -> Folder {
        Folder { variable, below_variable: "", below_home }
    }

    pub fn path(&self, variable: Variable<'_>) -> Option<PathBuf> {
        let given = variable(self.variable).filter(|path| !path.is_empty()).map(PathBuf::from);
        let moved = || match (given, self.below_variable) {
            (Some(given), "") => Some(given),
            (given, below) => Some(given?.join(below)),
        };
        moved().or_else(|| Some(PathBuf::from(variable("HOME")?).join(self.below_home)))
    }
}

/// Hook input and output.
pub(crate) struct Hooks {
    pub event_kind: EventMeaning,
    /// The event before a tool runs.
    pub before_tool: &'static str,
    /// Corrects a payload whose fields mean something else than those of other agents.
    pub corrected: Option<fn(&mut HookPayload<'_>)>,
    pub replies: ReplySupport,
    /// The payload's field that identifies a turn.
    pub turn_id: for<'a, 'b> fn(&'b HookPayload<'a>) -> &'b OptText<'a>,
    /// A prompt without what editors and the client put before it.
    pub typed_text: fn(&str) -> &str,
    /// Whether a shared server sends the hooks, so that the prompt must be searched on screens.
    pub is_prompt_searched: bool,
}

/// An agent's meaning of an event; `None` for one we do not model. The number is the size of a tool's input and output.
pub(crate) type EventMeaning = fn(&str, &HookPayload<'_>, TextLimits, u64) -> Option<EventKind>;

/// How the agent's processes are told apart.
pub(crate) struct ProcessRules {
    pub presence: fn(&ProcessContext<'_>) -> SessionPresence,
    /// Whether a process with these arguments serves sessions that users see in other processes.
    pub is_shared_server: fn(&[String]) -> bool,
    /// Whether an invocation with these arguments runs without a user in front of it.
    pub runs_headless: fn(&[String]) -> bool,
}

/// The entries of ours in the agent's settings.
pub(crate) struct Install {
    /// The hooks in the agent's folder that call the program.
    pub target: fn(&Path, &Path) -> Result<Target, EditRefusal>,
    /// How we are called before a tool reads or changes a file, if the user wants warnings.
    pub file_tools: FileTools,
    pub dialect: Dialect,
    /// The file in which the agent keeps a user's MCP servers, and its format.
    pub servers_file: fn(Variable<'_>) -> Option<PathBuf>,
    pub servers_format: FileFormat,
    /// Our plugin's name, if it is enabled in the agent's folder.
    pub enabled_plugin: Option<fn(&Path) -> Option<String>>,
    /// The step the user must still take so that the agent runs the registered hooks, or those of the plugin.
    pub consent: Option<Consent>,
}

/// How the hook before a tool is extended to those that touch files.
pub(crate) enum FileTools {
    /// Its entry matches these tools: those that start a subagent, read or change files.
    Matching(&'static str),
    /// Another script calls the program for them, too.
    InScript(fn(&Path, &Path) -> Result<Target, EditRefusal>),
}

/// The step the user must take before the agent runs hooks.
pub(crate) struct Consent {
    pub of_hooks: fn(&Path, &Inspection) -> Option<String>,
    pub of_plugin: fn(&Path, &str) -> Option<String>,
}

/// Location and meaning of transcripts.
pub(crate) struct Transcripts {
    /// The folders of transcripts below the agent's folder.
    pub places: &'static [&'static str],
    /// Whether a file of this name is a transcript.
    pub is_named: fn(&str) -> bool,
    /// The transcript of a session below the agent's folder, for agents whose payloads do not name it.
    pub of_session: Option<fn(&Path, &str) -> PathBuf>,
    /// The folder of a database that holds all sessions, and the database in it, for agents that write no transcripts.
    pub database: Option<(Folder, &'static str)>,
    pub subagents: SubagentFiles,
    pub reader: fn() -> TranscriptReader,
    /// The state at the end of a transcript, read from the file's last part.
    pub end: fn(&[u8]) -> Option<TranscriptTail>,
    /// Whether the last part of a transcript holds the end of the turn's last message, and its cost.
    pub holds: fn(&[u8], &str) -> bool,
    /// The answer to the last prompt, for agents whose hooks tell neither the answer nor how the turn ended.
    pub answer: Option<ReadAnswer>,
    /// The last message of the turn whose end a hook reports, for agents whose payloads do not hold it. `None` while the
    /// transcript does not hold it either.
    pub last_message: Option<ReadAnswer>,
    /// Context usage, read from the last part of the transcript; the model is that named at the session's start.
    pub context: fn(&[u8], Option<&str>) -> Option<ReportedContext>,
}

/// The files of subagents.
pub(crate) enum SubagentFiles {
    /// In a folder `subagents` below one that is named like the session's file.
    Below,
    /// Among those of sessions, under names that end with their ids.
    Beside,
    /// In `subagents/SESSION`, beside the folder of the session's file.
    InSiblingFolder,
    /// In files that do not name their session: they are not read.
    Unread,
    /// In the session's own file.
    Inside,
}

/// The meaning of the agent's screen.
pub(crate) struct Screens {
    pub state: fn(&str) -> ScreenProbe,
    /// The contents of the input line, given the column and line of the terminal's cursor if known.
    pub input_line: fn(&str, Option<(usize, usize)>) -> InputLine,
    pub is_cursor_at_end: fn(&str, usize, usize) -> bool,
    /// How long the client takes Enter for a part of the paste before it, in milliseconds.
    pub paste_lasts_ms: u64,
    /// Whether the input line shows a long text in another form.
    pub is_folded: fn(&str, &str) -> bool,
    /// The session that the screen shows, for agents that report it nowhere else.
    pub shown_session: Option<fn(&str) -> ShownSession>,
    /// Whether the screen shows a prompt as sent, for agents whose hooks a shared server sends.
    pub shows_prompt: Option<fn(&str, &str) -> bool>,
}

/// How to reach an agent's server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    /// The socket of the background server, if one runs.
    pub socket: PathBuf,
    /// The agent's arguments for a server on standard input and output.
    pub arguments: &'static [&'static str],
}
