//! Codex: what its hook payloads mean, what its events can be answered, how a session is run.
//!
//! Measured on the real client; the recorded payloads are in `fixtures/codex`. The legacy `notify` program is not
//! used: it reports phantom turns and nothing but their end.

pub(crate) mod ask;
pub(crate) mod context;
pub(crate) mod deed;
pub mod history;
pub(crate) mod input;
pub mod install;
mod line;
pub mod rollout;
pub(crate) mod screen;
pub mod server;
pub(crate) mod tail;
mod wire;

use crate::reader::BOOKMARK;
use crate::settings::Inspection;
use crate::skim::without_bulk;
use crate::wire::{Room, ending, last_words, parse, text_of};
use crate::{Agent, Heard, Keepings, PayloadError, Surroundings};
use install::Trust;
use std::path::Path;
use towline_core::event::{EndedBy, Happening, Origin, Presence, Reason, StartedBy, ToolOutcome, Trigger};
use towline_core::id::{SubagentId, TurnId};
use towline_core::inherit::Wishes;
use towline_core::text::{Keeping, Kept};
use wire::Wire;

/// The tool that starts a helper.
const HELPER_TOOL: &str = "spawn_agent";

/// And the one that changes files.
pub(crate) const HELPER_AND_FILE_TOOLS: &str = "^(spawn_agent|apply_patch)$";

pub(crate) const ROOM: Room = Room {
    notices: &[
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PermissionRequest",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Interrupt",
    ],
    context: &["SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStart", "PreToolUse"],
    block: &["UserPromptSubmit", "PostToolUse", "Stop", "SubagentStop"],
    deny: &["PreToolUse"],
    // It has notifications of its own (`tui.notifications`), and no way for a hook to ask for one.
    terminal: &[],
};

pub(crate) fn hear(payload: &[u8], keeping: Keepings) -> Result<Option<Heard>, PayloadError> {
    let slim = without_bulk(payload);
    let text = text_of(&slim);
    let wire: Wire<'_> = parse(&text)?;
    let Some(event) = wire.hook_event_name.as_deref() else {
        return Err(PayloadError::Missing { field: "hook_event_name" });
    };
    let bytes = wire.tool_bytes(payload.len().saturating_sub(slim.len()));
    let Some(happening) = meaning(event, &wire, (keeping, bytes)) else { return Ok(None) };
    Ok(Some(Heard {
        event: event.to_owned(),
        session: Agent::Codex.session(wire.session_id.0)?,
        subagent: wire.agent_id.as_deref().and_then(|id| SubagentId::parse(id).ok()),
        turn: wire.turn_id.as_deref().and_then(|id| TurnId::parse(id).ok()),
        happening,
        folder: wire.cwd.into_owned(),
        transcript: wire.transcript_path.into_owned(),
        helper_transcript: wire.agent_transcript_path.into_owned(),
        model: wire.model.into_owned(),
        typed: wire.prompt.as_deref().map(end_of),
        ending: ending(&wire.last_assistant_message, &wire.stop_hook_active),
    }))
}

/// `bytes`: how much a tool was given and gave.
fn meaning(event: &str, wire: &Wire<'_>, (keeping, bytes): (Keepings, u64)) -> Option<Happening> {
    let tool = || Kept::new(wire.tool_name.as_deref().unwrap_or(""), keeping.prompt);
    Some(match event {
        "SessionStart" => Happening::SessionStarted { by: started_by(wire), wishes: Wishes::default() },
        "SessionEnd" => Happening::SessionEnded { by: EndedBy::Other },
        "UserPromptSubmit" => prompt(wire, keeping.prompt),
        // Registered for this tool alone: no other one pays for it.
        "PreToolUse" if wire.tool_name.is(HELPER_TOOL) => Happening::HelperWanted { tool: tool() },
        // A failing command looks like any other here: the payload has no exit code.
        "PostToolUse" => Happening::ToolFinished { tool: tool(), outcome: ToolOutcome::Done, bytes },
        "PermissionRequest" => Happening::PermissionAsked { tool: tool(), reason: Reason::Permission },
        "Stop" => Happening::TurnEnded {
            background: None,
            answer: last_words(&wire.last_assistant_message, keeping.answer),
        },
        "Interrupt" => Happening::Interrupted,
        "SubagentStart" => Happening::SubagentStarted,
        "SubagentStop" => Happening::SubagentStopped,
        "PreCompact" => Happening::CompactionStarted { trigger: trigger(wire) },
        "PostCompact" => Happening::CompactionEnded { trigger: trigger(wire) },
        "PostModelRequest" => Happening::ModelAnswered { context_tokens: context_tokens(wire)? },
        _ => return None,
    })
}

fn started_by(wire: &Wire<'_>) -> StartedBy {
    match wire.source.as_deref() {
        Some("startup") => StartedBy::Startup,
        Some("resume") => StartedBy::Resume,
        Some("clear") => StartedBy::Clear,
        Some("compact") => StartedBy::Compact,
        Some("fork") => StartedBy::Fork,
        _ => StartedBy::Unknown,
    }
}

fn prompt(wire: &Wire<'_>, keeping: Keeping) -> Happening {
    let raw = wire.prompt.as_deref().unwrap_or("");
    let own = Agent::Codex.own_command(raw);
    let origin = match raw.trim() {
        BOOKMARK => Origin::Bookmark,
        text if text.starts_with('/') || own.is_some() => Origin::Command,
        _ => Origin::Human,
    };
    Happening::PromptSubmitted { prompt: Kept::new(raw, keeping), origin, own }
}

/// More than is looked for on a screen, and little enough to copy.
fn end_of(prompt: &str) -> String {
    let from = prompt.char_indices().rev().nth(4 * TELLING_CHARACTERS).map_or(0, |(at, _)| at);
    prompt[from..].to_owned()
}

fn trigger(wire: &Wire<'_>) -> Trigger {
    if wire.trigger.is("auto") { Trigger::Auto } else { Trigger::Manual }
}

/// Input and output of the newest request together are what the next one starts from.
fn context_tokens(wire: &Wire<'_>) -> Option<u64> {
    wire.token_usage.0.get("total_tokens")?.as_u64()
}

/// The client runs no hook before the user has trusted it, and says nothing about that.
pub(crate) fn wants_consent(folder: &Path, inspection: &Inspection) -> Option<String> {
    let untrusted = match install::trust(folder, inspection) {
        Err(error) => return Some(format!("{error}; {}", install::HOW_TO_TRUST)),
        Ok(judged) => judged.into_iter().filter(|(_, trust)| *trust != Trust::Trusted).count(),
    };
    (untrusted > 0).then(|| format!("{untrusted} hooks are not trusted yet: {}", install::HOW_TO_TRUST))
}

/// The same of the hooks that our plugin brings.
pub(crate) fn plugin_wants_consent(folder: &Path, plugin: &str) -> Option<String> {
    match install::untrusted_of_plugin(folder, plugin) {
        Err(error) => Some(format!("{error}; {}", install::HOW_TO_TRUST)),
        Ok(0) => None,
        Ok(count) => Some(format!("{count} hooks are not trusted yet: {}", install::HOW_TO_TRUST)),
    }
}

pub(crate) fn presence(around: &Surroundings<'_>) -> Presence {
    let arguments = (around.arguments)();
    match subcommand(&arguments) {
        Some("exec" | "e" | "mcp-server" | "review") => Presence::Headless,
        // Sessions of the daemon are seen in a terminal, those of a private server in an editor.
        Some("app-server") if !is_daemon(&arguments) => Presence::Ide,
        _ => Presence::Terminal,
    }
}

pub(crate) fn is_daemon(arguments: &[String]) -> bool {
    subcommand(arguments) == Some("app-server")
        && arguments.iter().any(|word| word.starts_with("unix://") || word == "daemon")
}

/// How much of a prompt's end is looked for: enough to be telling, little enough to be on the screen.
const TELLING_CHARACTERS: usize = 100;

/// Looks at what was sent: a line with the composer's mark, but not the composer itself, which is the last one, and the
/// indented lines below it. White space is ignored, since the terminal wraps. A prompt must be there whole; of one that
/// is longer than a screen may show, the end is enough.
pub(crate) fn shows_prompt(screen: &str, prompt: &str) -> bool {
    let without_space = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let wanted = without_space(prompt);
    let is_long = wanted.chars().count() > TELLING_CHARACTERS;
    let tail: String =
        wanted.chars().skip(wanted.chars().count().saturating_sub(TELLING_CHARACTERS)).collect();
    let is_it = |sent: &String| if is_long { sent.ends_with(&tail) } else { *sent == wanted };
    !wanted.is_empty() && sent_prompts(screen).iter().map(|sent| without_space(sent)).any(|sent| is_it(&sent))
}

fn sent_prompts(screen: &str) -> Vec<String> {
    let mut prompts: Vec<String> = vec![];
    let mut inside = false;
    for line in screen.lines() {
        if let Some(first) = line.strip_prefix('›') {
            prompts.push(first.to_owned());
            inside = true;
        } else if inside && line.starts_with("  ") {
            prompts.last_mut().into_iter().for_each(|prompt| prompt.push_str(line));
        } else {
            inside = false;
        }
    }
    prompts.pop();
    prompts
}

/// The first word that is no option. Options with a separate value are few; their values are no subcommand's name.
fn subcommand(arguments: &[String]) -> Option<&str> {
    const KNOWN: [&str; 6] = ["exec", "e", "mcp-server", "review", "app-server", "resume"];
    arguments.iter().skip(1).map(String::as_str).find(|word| KNOWN.contains(word))
}
