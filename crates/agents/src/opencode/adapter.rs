//! The entries of OpenCode and Kilo in the table of adapters.
//!
//! Declares only: each part is in a file of its own. The two differ in names and folders alone.

use super::{input, install, screen, tool_action, transcript};
use crate::adapter::{
    Adapter, FileTools, Folder, Hooks, Install, ProcessRules, Screens, SubagentFiles, Transcripts, Variable,
};
use crate::agent::Agent;
use crate::reader::TranscriptReader;
use crate::settings::FileFormat;
use crate::{rewind, shim};
use std::path::PathBuf;
use towline_core::compose::ContextBudget;
use towline_core::event::SessionPresence;
use towline_core::typing::SessionStartReport;

pub(crate) const OPENCODE: Adapter = Adapter {
    title: "OpenCode",
    proven: "1.18.33",
    folder: Folder {
        variable: "XDG_CONFIG_HOME",
        below_variable: "opencode",
        below_home: ".config/opencode",
    },
    resume: "opencode --session",
    clear: "/new",
    compact: "/compact",
    command_signs: &['/'],
    starts: SessionStartReport::WithFirstPrompt,
    // Set by our plugin.
    session_variable: "TOWLINE_OPENCODE_SESSION",
    hook_variable: None,
    pid_variable: None,
    handoff_file: None,
    // The client cuts nothing, but a context takes room from the work.
    budget: ContextBudget::Characters(9_500),
    hooks: Hooks {
        event_kind: |event, wire, keeping, bytes| {
            shim::event_kind(Agent::Opencode, event, (wire, bytes), keeping)
        },
        before_tool: shim::BEFORE_FILES,
        corrected: None,
        replies: shim::REPLY_SUPPORT,
        turn_id: |payload| &payload.turn_id,
        typed_text: |prompt| prompt,
        is_prompt_searched: false,
    },
    process: ProcessRules {
        presence: |around| super::presence(&(around.arguments)()),
        is_shared_server: super::is_server,
        runs_headless: |arguments| {
            super::presence(arguments) != SessionPresence::Terminal || super::is_server(arguments)
        },
    },
    install: Install {
        target: |folder, tow| install::target(Agent::Opencode, folder, tow),
        // A plugin can add context to a tool's result only: there the model reads it as early as elsewhere.
        file_tools: FileTools::InScript(|folder, tow| {
            install::target_with_files(Agent::Opencode, folder, tow)
        }),
        dialect: install::dialect("opencode"),
        servers_file: |variable| servers_file(Agent::Opencode, variable),
        servers_format: FileFormat::Script,
        enabled_plugin: None,
        consent: None,
    },
    transcript: Transcripts {
        places: &[],
        is_named: |_| false,
        of_session: None,
        database: Some((
            Folder {
                variable: "XDG_DATA_HOME",
                below_variable: "opencode",
                below_home: ".local/share/opencode",
            },
            "opencode.db",
        )),
        subagents: SubagentFiles::Inside,
        reader: || TranscriptReader::Rows(transcript::RowsState::of(Agent::Opencode)),
        // The plugin tells all of it.
        end: |_| None,
        holds: |_, _| true,
        answer: None,
        last_message: None,
        context: |_, _| None,
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
    rewind: |way| rewind::by_undo(way, "opencode --session"),
    repair: None,
    server: None,
    status_line: None,
    ask: None,
};

pub(crate) const KILO: Adapter = Adapter {
    title: "Kilo Code",
    proven: "7.7.7",
    folder: Folder { variable: "XDG_CONFIG_HOME", below_variable: "kilo", below_home: ".config/kilo" },
    resume: "kilo --session",
    session_variable: "TOWLINE_KILO_SESSION",
    hooks: Hooks {
        event_kind: |event, wire, keeping, bytes| {
            shim::event_kind(Agent::Kilo, event, (wire, bytes), keeping)
        },
        ..OPENCODE.hooks
    },
    install: Install {
        target: |folder, tow| install::target(Agent::Kilo, folder, tow),
        file_tools: FileTools::InScript(|folder, tow| install::target_with_files(Agent::Kilo, folder, tow)),
        dialect: install::dialect("kilo"),
        servers_file: |variable| servers_file(Agent::Kilo, variable),
        ..OPENCODE.install
    },
    transcript: Transcripts {
        database: Some((
            Folder { variable: "XDG_DATA_HOME", below_variable: "kilo", below_home: ".local/share/kilo" },
            "kilo.db",
        )),
        reader: || TranscriptReader::Rows(transcript::RowsState::of(Agent::Kilo)),
        ..OPENCODE.transcript
    },
    rewind: |way| rewind::by_undo(way, "kilo --session"),
    ..OPENCODE
};

fn servers_file(agent: Agent, variable: Variable<'_>) -> Option<PathBuf> {
    Some(agent.folder(variable)?.join(install::SERVERS))
}
