//! The agents: their payloads, replies and settings. The only crate that knows a vendor's name, besides the places that
//! `HOMES` in `xtask/src/tidy/agent_names.rs` lists: `testkit`, `store/foreign`, the server's `hosts.rs` and `xtask`.
//!
//! Translates agent input into `core`'s types and `core`'s replies into agent output. Makes no decisions, keeps
//! no state, and reads neither clock nor environment.

mod adapter;
mod agent;
pub mod ask;
mod call;
mod cells;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod described;
mod files;
pub mod gemini;
mod hook;
mod json;
mod matrix;
pub mod opencode;
mod plan;
pub mod plugin;
mod provider;
pub mod qwen;
mod reader;
pub mod repair;
mod rewind;
pub mod settings;
mod shim;
mod skills;
mod skim;
mod table;
mod transcript;
mod wanted;
mod wire;

/// Prices of the vendors' models, as annotated and dated TOML.
pub const PRICES: &str = include_str!("prices.toml");

pub use agent::{
    Agent, HookEvent, PayloadError, ProcessContext, StatusLineInput, StopDetails, TextLimits,
    has_agents_variable, is_other_agent,
};
pub use claude::host;
pub use claude::repair::without_markers;
pub use codex::{history, server};
pub use files::{database_session, session_in};
pub use matrix::{described_matrix, matrix};
pub use provider::provider_of;
pub use reader::TranscriptReader;
pub use rewind::RewindPoint;
pub use transcript::LineError;
pub use wanted::PendingFiles;

use adapter::FileTools;
use settings::{DataVariable, EditRefusal, Inspection, McpServerEntry, OwnedFile, Target, absolute_command};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::arbiter::{ScreenProbe, TranscriptTail};
use towline_core::deed::ToolAction;
use towline_core::event::SessionPresence;
use towline_core::meter::ReportedContext;
use towline_core::reply::Reply;
use towline_core::typing::{InputLine, ShownSession};

impl Agent {
    /// Parses one payload. `None` is an event we do not model: a newer agent must not break an older hook.
    pub fn parse_hook(self, payload: &[u8], keeping: TextLimits) -> Result<Option<HookEvent>, PayloadError> {
        hook::parse_hook(self, None, payload, keeping)
    }

    /// The same for a payload of this event: some agents' payloads do not name it.
    pub fn parse_hook_of(
        self,
        event: Option<&str>,
        payload: &[u8],
        keeping: TextLimits,
    ) -> Result<Option<HookEvent>, PayloadError> {
        hook::parse_hook(self, event, payload, keeping)
    }

    /// Renders a reply in the agent's format. `None` prints nothing; parts the event does not support are left out.
    pub fn render_reply(self, event: &str, reply: &Reply) -> Option<String> {
        wire::answer(&self.adapter().hooks.replies, event, reply)
    }

    /// Whether a hook at the end of a turn can empty the conversation and go on, so that nothing needs to be typed.
    pub fn restarts_in_place(self) -> bool {
        !self.adapter().hooks.replies.restart.0.is_empty()
    }

    /// Whether it then goes on in another session, whose prompt reports the start of the new context.
    pub fn restarts_in_new_session(self) -> bool {
        self.adapter().hooks.replies.restarts_anew
    }

    pub fn presence(self, around: &ProcessContext<'_>) -> SessionPresence {
        (self.adapter().process.presence)(around)
    }

    /// Whether a process with these arguments serves sessions that users see in other processes.
    pub fn is_shared_server(self, arguments: &[String]) -> bool {
        (self.adapter().process.is_shared_server)(arguments)
    }

    /// Whether an invocation with these arguments runs without a user in front of it.
    pub fn runs_headless(self, arguments: &[String]) -> bool {
        (self.adapter().process.runs_headless)(arguments)
    }

    /// The hooks to register in the agent's folder so that it calls the program at `tow`.
    pub fn target(self, folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
        (self.adapter().install.target)(folder, tow)
    }

    /// The hook entries of `target`, and those that call us before a tool reads or changes a file.
    pub fn target_with_files(self, folder: &Path, tow: &Path) -> Result<Target, EditRefusal> {
        match self.adapter().install.file_tools {
            FileTools::Matching(tools) => Ok(self.target(folder, tow)?.matching(self.before_tool(), tools)),
            FileTools::InScript(target) => target(folder, tow),
        }
    }

    /// Our skills for the agent's folder, in order of creation; they are removed in reverse order.
    pub fn skill_files(self, folder: &Path, tow: &Path) -> Result<Vec<OwnedFile>, EditRefusal> {
        skills::pages(&self.adapter().install.dialect, folder, tow)
    }

    /// The file in which the agent keeps a user's MCP servers.
    pub fn servers_file(self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        (self.adapter().install.servers_file)(variable)
    }

    /// Our MCP server entry in that file: the program at `tow`, with the variables that locate its data.
    pub fn mcp_server(
        self,
        file: &Path,
        tow: &Path,
        places: &[DataVariable],
    ) -> Result<McpServerEntry, EditRefusal> {
        let command = absolute_command(file, tow)?;
        let format = self.adapter().install.servers_format;
        let server = McpServerEntry::new(self.name(), format, file.to_owned(), command);
        Ok(server.with_variables(places.to_vec()))
    }

    /// Our plugin's name, if it is enabled in the agent's folder.
    pub fn enabled_plugin(self, folder: &Path) -> Option<String> {
        self.adapter().install.enabled_plugin?(folder)
    }

    /// The step the user must still take so that the agent runs that plugin's hooks.
    pub fn plugin_wants_consent(self, folder: &Path, plugin: &str) -> Option<String> {
        (self.adapter().install.consent.as_ref()?.of_plugin)(folder, plugin)
    }

    /// The step the user must still take so that the agent runs the registered hooks, if any.
    pub fn consent_hint(self, folder: &Path, inspection: &Inspection) -> Option<String> {
        (self.adapter().install.consent.as_ref()?.of_hooks)(folder, inspection)
    }

    /// Whether a screen of the agent shows this prompt as sent, not as still being typed.
    pub fn shows_prompt(self, screen: &str, prompt: &str) -> bool {
        self.adapter().screen.shows_prompt.is_some_and(|shows| shows(screen, prompt))
    }

    /// Instructions for the user to restore the conversation, step by step.
    pub fn rewind_steps(self, way: &RewindPoint<'_>) -> Vec<String> {
        (self.adapter().rewind)(way)
    }

    /// The state at the end of a transcript, read from the file's last part. `None` if that part is inconclusive.
    pub fn transcript_end(self, text: &[u8]) -> Option<TranscriptTail> {
        (self.adapter().transcript.end)(text)
    }

    /// Whether this last part of a transcript holds the end of the turn's last message, and its cost.
    pub fn has_written(self, text: &[u8], words: &str) -> bool {
        (self.adapter().transcript.holds)(text, words)
    }

    /// Completes the end of a turn from this last part of the transcript, for agents whose hooks do not tell it.
    pub fn complete_turn_end(self, heard: &mut HookEvent, transcript: &[u8], keeping: TextLimits) {
        hook::complete_turn_end(self.adapter(), heard, transcript, keeping);
    }

    /// Whether `complete_turn_end` has something to add.
    pub fn tells_end_in_transcript(self) -> bool {
        self.adapter().transcript.answer.is_some()
    }

    /// Whether only the transcript holds the last message of a turn.
    pub fn keeps_last_message(self) -> bool {
        self.adapter().transcript.last_message.is_some()
    }

    /// The details of a turn's end with the last message that this last part of its transcript holds. `None` while it
    /// holds none.
    pub fn turn_ending(self, text: &[u8], ending: &StopDetails) -> Option<StopDetails> {
        let message = self.adapter().transcript.last_message?(text)?;
        Some(wire::turn_ending(Some(&message), ending.was_blocked))
    }

    /// The action of a tool call. `input` is its JSON or plain text, already redacted and possibly broken by that.
    pub fn tool_action<'a>(self, tool: &str, input: &'a str) -> ToolAction<'a> {
        (self.adapter().tool_action)(tool, input)
    }

    /// The state that the bottom of the agent's screen shows, given its lines as plain text.
    pub fn screen(self, text: &str) -> ScreenProbe {
        (self.adapter().screen.state)(text)
    }

    /// The contents of the agent's input line. `cursor` is the column and line of the terminal's cursor, if known.
    pub fn input_line(self, screen_with_sequences: &str, cursor: Option<(usize, usize)>) -> InputLine {
        (self.adapter().screen.input_line)(screen_with_sequences, cursor)
    }

    /// Whether the cursor is where the text in the agent's input line ends.
    pub fn is_cursor_at_end(self, screen_with_sequences: &str, column: usize, line: usize) -> bool {
        (self.adapter().screen.is_cursor_at_end)(screen_with_sequences, column, line)
    }

    /// How long to wait between a paste and Enter, so that Enter is not taken for a part of the paste.
    pub fn paste_lasts(self) -> Duration {
        Duration::from_millis(self.adapter().screen.paste_lasts_ms)
    }

    /// The session that the agent's screen shows, for agents that report it nowhere else.
    pub fn shown_session(self, screen_with_sequences: &str) -> ShownSession {
        let shown = self.adapter().screen.shown_session;
        shown.map_or(ShownSession::Unknown, |shown| shown(screen_with_sequences))
    }

    /// Whether the input line holds exactly this text, wrapped or collapsed as the agent shows it.
    /// Leading whitespace means the user had already typed something.
    pub fn input_holds(self, held: &str, text: &str) -> bool {
        let letters = |text: &str| text.chars().filter(|char| !char.is_whitespace()).collect::<String>();
        (self.adapter().screen.is_folded)(held, text)
            || (letters(held) == letters(text) && !held.starts_with(char::is_whitespace))
    }

    /// The transcript with points to rewind to, for agents whose sessions a full context can break beyond resuming.
    pub fn repair_transcript(
        self,
        transcript: &[u8],
        wish: repair::RepairOptions<'_>,
    ) -> Option<Result<repair::Repair, repair::Unrepairable>> {
        Some(self.adapter().repair?(transcript, wish))
    }

    /// The address of the server through which sessions can be changed without the screen, if the agent has one.
    pub fn server(self, folder: &Path) -> Option<server::ServerAddress> {
        Some(self.adapter().server?(folder))
    }

    /// Context usage, read from the last part of the transcript. `announced` is the model that the session named at its
    /// start: some agents report the window size only there.
    pub fn context(self, text: &[u8], announced: Option<&str>) -> Option<ReportedContext> {
        (self.adapter().transcript.context)(text, announced)
    }

    /// Parses a status line payload; `None` if it is not one of this agent's.
    pub fn status(self, payload: &[u8]) -> Option<StatusLineInput> {
        self.adapter().status_line?(payload)
    }
}

#[cfg(test)]
mod tests;
