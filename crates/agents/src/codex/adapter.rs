//! Codex's entry in the table of adapters.
//!
//! Declares only: each part is in a file of its own.

use super::{ask, context, input, install, screen, server, tail, tool_action, transcript};
use crate::adapter::{
    Adapter, Consent, FileTools, Folder, Hooks, Install, ProcessRules, Screens, SubagentFiles, Transcripts,
};
use crate::agent::Agent;
use crate::ask::Asking;
use crate::reader::TranscriptReader;
use crate::rewind;
use crate::settings::FileFormat;
use towline_core::compose::ContextBudget;
use towline_core::event::SessionPresence;
use towline_core::typing::SessionStartReport;

pub(crate) const ADAPTER: Adapter = Adapter {
    title: "Codex",
    proven: "0.166.0",
    folder: Folder::own("CODEX_HOME", ".codex"),
    resume: "codex resume",
    clear: "/clear",
    compact: "/compact",
    // Codex calls commands skills.
    command_signs: &['$', '/'],
    starts: SessionStartReport::WithFirstPrompt,
    session_variable: "CODEX_THREAD_ID",
    hook_variable: None,
    pid_variable: None,
    handoff_file: None,
    budget: ContextBudget::Tokens(2_400),
    hooks: Hooks {
        event_kind: super::event_kind,
        before_tool: "PreToolUse",
        corrected: None,
        replies: super::REPLY_SUPPORT,
        turn_id: |payload| &payload.turn_id,
        typed_text: |prompt| prompt,
        is_prompt_searched: true,
    },
    process: ProcessRules {
        presence: |around| super::presence(&(around.arguments)()),
        is_shared_server: super::is_daemon,
        runs_headless: |arguments| super::presence(arguments) != SessionPresence::Terminal,
    },
    install: Install {
        target: install::target,
        file_tools: FileTools::Matching(super::SUBAGENT_AND_FILE_TOOLS),
        dialect: install::dialect("$"),
        servers_file: |variable| Some(Agent::Codex.folder(variable)?.join(install::CONFIG)),
        servers_format: FileFormat::Toml,
        enabled_plugin: Some(install::enabled_plugin),
        consent: Some(Consent {
            of_hooks: super::wants_consent,
            of_plugin: |folder, plugin| super::consent_hint(install::untrusted_of_plugin(folder, plugin)),
        }),
    },
    transcript: Transcripts {
        places: &["sessions", "archived_sessions"],
        is_named: |name| name.starts_with("rollout-"),
        of_session: None,
        database: None,
        subagents: SubagentFiles::Beside,
        reader: || TranscriptReader::Codex(transcript::RolloutState::default()),
        end: tail::tail,
        holds: context::holds_counted,
        answer: None,
        last_message: None,
        context: |text, _| context::context(text),
    },
    screen: Screens {
        state: screen::screen,
        input_line: |screen, _| input::input_line(screen),
        is_cursor_at_end: input::is_cursor_at_end,
        paste_lasts_ms: 0,
        is_folded: input::is_folded,
        shown_session: Some(input::shown),
        shows_prompt: Some(super::shows_prompt),
    },
    tool_action: tool_action::tool_action,
    rewind: rewind::by_fork,
    repair: None,
    server: Some(server::address),
    // Codex draws its own status line without an external program.
    status_line: None,
    ask: Some(Asking { ask: ask::ask, answered: ask::answered, adds_tokens: 800, login: "codex login" }),
};
