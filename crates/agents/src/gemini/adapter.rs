//! Gemini CLI's entry in the table of adapters.
//!
//! Declares only: each part is in a file of its own.

use super::{context, input, install, screen, tail, tool_action, transcript};
use crate::adapter::{
    Adapter, FileTools, Folder, Hooks, Install, ProcessRules, Screens, SubagentFiles, Transcripts,
};
use crate::agent::Agent;
use crate::reader::TranscriptReader;
use crate::rewind;
use crate::settings::FileFormat;
use towline_core::compose::ContextBudget;
use towline_core::event::SessionPresence;
use towline_core::typing::SessionStartReport;

const RESUME: &str = "gemini --resume";

pub(crate) const ADAPTER: Adapter = Adapter {
    title: "Gemini CLI",
    proven: "0.61.0",
    folder: Folder::own("", ".gemini"),
    resume: RESUME,
    clear: "/clear",
    compact: "/compress",
    command_signs: &['/', '$'],
    starts: SessionStartReport::AtOnce,
    // Hooks only: commands and MCP servers get no id.
    session_variable: "GEMINI_SESSION_ID",
    pid_variable: None,
    hook_variable: None,
    handoff_file: None,
    // The client cuts nothing: as much as elsewhere.
    budget: ContextBudget::Characters(9_500),
    hooks: Hooks {
        event_kind: super::event_kind,
        replies: super::REPLY_SUPPORT,
        turn_id: |payload| &payload.turn_id,
        typed_text: super::typed_text,
        is_prompt_searched: false,
        before_tool: "BeforeTool",
        corrected: None,
    },
    process: ProcessRules {
        presence: |around| super::presence(&(around.arguments)()),
        is_shared_server: |_| false,
        runs_headless: |arguments| super::presence(arguments) == SessionPresence::Headless,
    },
    install: Install {
        target: install::target,
        // A hook before a tool can deny it, but not add context: files are not warned about.
        file_tools: FileTools::Matching(install::SUBAGENT_TOOLS),
        dialect: install::DIALECT,
        servers_file: |variable| Some(Agent::Gemini.folder(variable)?.join(install::SETTINGS)),
        servers_format: FileFormat::Json,
        enabled_plugin: None,
        consent: None,
    },
    transcript: Transcripts {
        places: &["tmp"],
        is_named: |name| name.starts_with("session-"),
        subagents: SubagentFiles::Unread,
        reader: || TranscriptReader::Gemini(transcript::ConversationState::default()),
        end: tail::tail,
        holds: tail::holds,
        of_session: None,
        database: None,
        last_message: None,
        answer: Some(tail::last_answer),
        context: |text, _| context::context(text),
    },
    screen: Screens {
        state: screen::screen,
        input_line: |screen, _| input::input_line(screen),
        is_cursor_at_end: |screen, _, _| input::is_cursor_at_end(screen),
        // 40 ms by its own clock, which a loaded machine holds up.
        paste_lasts_ms: 300,
        is_folded: input::is_folded,
        shown_session: None,
        shows_prompt: None,
    },
    tool_action: tool_action::tool_action,
    rewind: |way| rewind::by_resuming(way, RESUME),
    repair: None,
    server: None,
    // The client draws its own status line without an external program.
    status_line: None,
    ask: None,
};
