//! Claude Code's entry in the table of adapters.
//!
//! Declares only: each part is in a file of its own.

use super::{ask, context, input, install, repair, screen, status, tail, tool_action, transcript};
use crate::adapter::{
    Adapter, FileTools, Folder, Hooks, Install, ProcessRules, Screens, SubagentFiles, Transcripts,
};
use crate::ask::Asking;
use crate::reader::TranscriptReader;
use crate::rewind;
use crate::settings::FileFormat;
use towline_core::compose::ContextBudget;
use towline_core::typing::SessionStartReport;

pub(crate) const ADAPTER: Adapter = Adapter {
    title: "Claude Code",
    proven: "2.1.197, 2.1.325",
    folder: Folder::own("CLAUDE_CONFIG_DIR", ".claude"),
    resume: "claude --resume",
    clear: "/clear",
    compact: "/compact",
    command_signs: &['/'],
    starts: SessionStartReport::AtOnce,
    session_variable: "CLAUDE_CODE_SESSION_ID",
    hook_variable: None,
    pid_variable: Some("CLAUDE_PID"),
    handoff_file: Some(".claude/handoff.md"),
    budget: ContextBudget::Characters(9_500),
    hooks: Hooks {
        event_kind: super::event_kind,
        before_tool: "PreToolUse",
        corrected: None,
        replies: super::REPLY_SUPPORT,
        turn_id: |payload| &payload.prompt_id,
        typed_text: super::typed_text,
        is_prompt_searched: false,
    },
    process: ProcessRules {
        presence: super::presence,
        is_shared_server: |_| false,
        runs_headless: |arguments| arguments.iter().any(|word| word == "-p" || word == "--print"),
    },
    install: Install {
        target: install::target,
        file_tools: FileTools::Matching(super::SUBAGENT_AND_FILE_TOOLS),
        dialect: install::DIALECT,
        servers_file: install::servers_file,
        servers_format: FileFormat::Json,
        enabled_plugin: Some(install::enabled_plugin),
        consent: None,
    },
    transcript: Transcripts {
        places: &["projects"],
        is_named: |_| true,
        of_session: None,
        database: None,
        subagents: SubagentFiles::Below,
        reader: || TranscriptReader::Claude(transcript::TranscriptState::default()),
        end: tail::tail,
        holds: tail::holds,
        answer: None,
        last_message: None,
        context: context::context,
    },
    screen: Screens {
        state: screen::screen,
        input_line: input::input_line,
        is_cursor_at_end: input::is_cursor_at_end,
        paste_lasts_ms: 0,
        is_folded: input::is_folded,
        shown_session: None,
        shows_prompt: None,
    },
    tool_action: tool_action::tool_action,
    rewind: rewind::by_list,
    repair: Some(repair::repaired),
    server: None,
    status_line: Some(status::status),
    ask: Some(Asking { ask: ask::ask, answered: ask::answered, adds_tokens: 450, login: "claude /login" }),
};
