//! Qwen Code's entry in the table of adapters.
//!
//! Declares only: each part is in a file of its own.

use super::{install, screen, tail, tool_action, transcript};
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
    title: "Qwen Code",
    proven: "0.24.4",
    folder: Folder::own("QWEN_HOME", ".qwen"),
    resume: "qwen --resume",
    clear: "/clear",
    compact: "/compress",
    command_signs: &['/'],
    starts: SessionStartReport::AtOnce,
    session_variable: "QWEN_CODE_SESSION_ID",
    hook_variable: None,
    pid_variable: None,
    handoff_file: None,
    budget: ContextBudget::Characters(9_500),
    hooks: Hooks {
        event_kind: super::event_kind,
        before_tool: "PreToolUse",
        corrected: None,
        replies: super::REPLY_SUPPORT,
        // The ids have a form of their own, and the transcript does not repeat them.
        turn_id: |payload| &payload.turn_id,
        typed_text: |prompt| prompt,
        is_prompt_searched: false,
    },
    process: ProcessRules {
        presence: |around| {
            let is_headless = runs_headless(&(around.arguments)());
            if is_headless { SessionPresence::Headless } else { SessionPresence::Terminal }
        },
        is_shared_server: |_| false,
        runs_headless,
    },
    install: Install {
        target: install::target,
        // The client drops the context of a hook before a tool: files are not warned about.
        file_tools: FileTools::Matching(install::SUBAGENT_TOOLS),
        dialect: install::DIALECT,
        servers_file: |variable| Some(Agent::Qwen.folder(variable)?.join(install::SETTINGS)),
        servers_format: FileFormat::Json,
        enabled_plugin: None,
        consent: None,
    },
    transcript: Transcripts {
        places: &["projects"],
        is_named: |_| true,
        of_session: None,
        database: None,
        subagents: SubagentFiles::InSiblingFolder,
        reader: || TranscriptReader::Qwen(transcript::TranscriptState::default()),
        end: tail::tail,
        holds: tail::holds,
        answer: None,
        last_message: None,
        context: |text, _| tail::context(text),
    },
    screen: Screens {
        state: screen::screen,
        input_line: screen::input_line,
        is_cursor_at_end: screen::is_cursor_at_end,
        paste_lasts_ms: 0,
        is_folded: |_, _| false,
        shown_session: None,
        shows_prompt: None,
    },
    tool_action: tool_action::tool_action,
    rewind: |way| rewind::by_resuming(way, "qwen --resume"),
    repair: None,
    server: None,
    // The client's own status line command gets no path of a transcript, and hooks report the same numbers.
    status_line: None,
    ask: None,
};

fn runs_headless(arguments: &[String]) -> bool {
    arguments.iter().any(|word| word == "-p" || word == "--prompt")
}
