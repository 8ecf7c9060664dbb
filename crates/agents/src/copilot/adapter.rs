//! Copilot's entry in the table of adapters.
//!
//! Declares only: each part is in a file of its own.

use super::{SESSIONS, TRANSCRIPT, input, install, screen, status, tail, tool_action, transcript};
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

pub(crate) const ADAPTER: Adapter = Adapter {
    title: "GitHub Copilot CLI",
    proven: "1.0.102",
    folder: Folder::own("COPILOT_HOME", ".copilot"),
    resume: "copilot --resume",
    clear: "/clear",
    compact: "/compact",
    command_signs: &['/'],
    starts: SessionStartReport::WithFirstPrompt,
    session_variable: "COPILOT_AGENT_SESSION_ID",
    hook_variable: Some("COPILOT_PROJECT_DIR"),
    pid_variable: None,
    handoff_file: None,
    // The client cuts nothing, but a context takes room from the work.
    budget: ContextBudget::Characters(9_500),
    hooks: Hooks {
        event_kind: super::event_kind,
        before_tool: "preToolUse",
        corrected: Some(super::corrected),
        replies: super::REPLY_SUPPORT,
        // Payloads do not name a turn.
        turn_id: |payload| &payload.turn_id,
        typed_text: |prompt| prompt,
        is_prompt_searched: false,
    },
    process: ProcessRules {
        presence: |around| super::presence(&(around.arguments)()),
        is_shared_server: |_| false,
        runs_headless: |arguments| super::presence(arguments) != SessionPresence::Terminal,
    },
    install: Install {
        target: install::target,
        file_tools: FileTools::Matching(super::SUBAGENT_AND_FILE_TOOLS),
        dialect: install::DIALECT,
        servers_file: |variable| Some(Agent::Copilot.folder(variable)?.join(install::SERVERS)),
        servers_format: FileFormat::Json,
        enabled_plugin: None,
        consent: None,
    },
    transcript: Transcripts {
        places: &[SESSIONS],
        is_named: |name| name == TRANSCRIPT,
        of_session: Some(super::transcript_of),
        database: None,
        subagents: SubagentFiles::Inside,
        reader: || TranscriptReader::Copilot(transcript::EventsState::default()),
        end: tail::tail,
        holds: tail::holds,
        answer: None,
        last_message: Some(tail::last_message),
        context: |text, _| tail::context(text),
    },
    screen: Screens {
        state: screen::screen,
        input_line: input::input_line,
        is_cursor_at_end: input::is_cursor_at_end,
        paste_lasts_ms: 0,
        is_folded: input::is_folded,
        shown_session: Some(input::shown),
        shows_prompt: None,
    },
    tool_action: tool_action::tool_action,
    rewind: rewind::by_menu,
    repair: None,
    server: None,
    status_line: Some(status::status),
    ask: None,
};
