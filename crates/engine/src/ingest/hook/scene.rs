//! Context of an event: how the session is run, its project, its seat.
//!
//! Inspects the agent's own process, never the hook's environment alone, and only what the event needs.

use super::{HookCall, PayloadSource};
use crate::runtime::{projects, variable};
use std::os::unix::process::parent_id;
use std::path::Path;
use towline_agents::{Agent, HookEvent, ProcessContext};
use towline_core::event::{Event, EventKind, EventScene, SessionPresence, StartedBy};
use towline_core::seat::SeatLocation;
use towline_core::text::clip;
use towline_store::shared;
use towline_terminal::place::{AgentMatcher, TypedPrompt, agent_above, seat_of, seat_of_prompt};
use towline_terminal::process::{Environment, Process, ancestors};

/// Everything but the seat, which may take longer to find than the event may wait to be accepted.
pub(super) fn of(call: &HookCall, heard: &HookEvent) -> EventScene {
    let arguments = || agent_process(call).map(Process::arguments).unwrap_or_default();
    let presence = match call.source {
        PayloadSource::Agent => {
            call.agent.presence(&ProcessContext { variable: &variable, arguments: &arguments })
        }
        // No session continues its work, and it continues none: no user is known to be there.
        PayloadSource::Host => SessionPresence::Headless,
    };
    EventScene {
        presence,
        folder: heard.folder.as_deref().map(bounded),
        transcript: heard.transcript.as_deref().map(bounded),
        model: heard.model.as_deref().map(bounded),
        place: ending_in(call, heard, presence),
        project: heard
            .folder
            .as_deref()
            .filter(|_| tells_project(&heard.happening))
            .map(|folder| projects::traces(&call.config, Path::new(folder))),
    }
}

/// The pane in which a session ended that may go on in another. Located before the event is accepted: only the event itself
/// can say where it ended. Such sessions are rare.
fn ending_in(call: &HookCall, heard: &HookEvent, presence: SessionPresence) -> Option<SeatLocation> {
    let is_end = matches!(heard.happening, EventKind::SessionEnded { .. });
    let is_one_of_two = is_end && shared::is_shared(&call.env.home, &heard.session);
    if is_one_of_two { own_seat(call, presence) } else { None }
}

/// The session's seat, if this kind of event reveals it.
pub(super) fn seat(call: &HookCall, event: &Event, heard: &HookEvent) -> Option<SeatLocation> {
    let presence = event.scene.as_ref()?.presence;
    if let EventKind::SessionStarted { by, .. } = heard.happening {
        return if by == StartedBy::Compact { None } else { own_seat(call, presence) };
    }
    if let (EventKind::PromptSubmitted { .. }, SessionPresence::Terminal) = (&heard.happening, presence) {
        let is_one_of_two = || heard.subagent.is_none() && shared::is_shared(&call.env.home, &heard.session);
        let typed = heard.typed.as_deref().zip(heard.folder.as_deref());
        return typed
            .and_then(|(prompt, folder)| typed_in(call, prompt, folder))
            .or_else(|| is_one_of_two().then(|| own_seat(call, presence)).flatten());
    }
    None
}

/// The seat of the agent above this hook, unless it is a shared server.
pub(super) fn own_seat(call: &HookCall, presence: SessionPresence) -> Option<SeatLocation> {
    if presence == SessionPresence::Headless {
        return None;
    }
    let process = agent_process(call)?;
    if presence == SessionPresence::Terminal && process.terminal().is_none() {
        return None;
    }
    let shared = call.agent.is_shared_server(&process.arguments());
    if shared { None } else { seat_of(process, presence) }
}

/// With a shared server between hook and seats, only the screen shows in which seat a prompt was typed.
fn typed_in(call: &HookCall, prompt: &str, folder: &str) -> Option<SeatLocation> {
    let server = agent_process(call)?;
    if !call.agent.is_shared_server(&server.arguments()) {
        return None;
    }
    let home = folder_of(call.agent, &server.environment());
    let shares_home = |environment: &Environment| folder_of(call.agent, environment) == home;
    let is_shown = |screen: &str| call.agent.shows_prompt(screen, prompt);
    let typed = TypedPrompt { folder, is_shown: &is_shown, shares_home: &shares_home };
    with_looks(call.agent, |looks| seat_of_prompt(server, looks, &typed))
}

fn folder_of(agent: Agent, environment: &Environment) -> Option<std::path::PathBuf> {
    agent.folder(&|name| environment.get(name).map(str::to_owned))
}

/// Paths and names are untrusted input; no sensible one is longer.
fn bounded(text: &str) -> String {
    clip(text, 4096).to_owned()
}

/// The agent above this hook. Its pid variable is inherited further, so only an ancestor is trusted.
fn agent_process(call: &HookCall) -> Option<&Process> {
    let told = || call.agent.pid_variable().and_then(variable).and_then(|pid| pid.parse::<u32>().ok());
    let find = || {
        let parent = parent_id();
        let named = told().and_then(|pid| ancestors(parent).find(|process| process.pid == pid));
        named.or_else(|| with_looks(call.agent, |looks| agent_above(parent, looks)))
    };
    call.process.get_or_init(find).as_ref()
}

fn with_looks<T>(agent: Agent, look: impl FnOnce(&AgentMatcher<'_>) -> T) -> T {
    let is_program = |name: &str| agent.is_program(name);
    let is_server = |arguments: &[String]| agent.is_shared_server(arguments);
    look(&AgentMatcher { is_program: &is_program, is_server: &is_server })
}

fn tells_project(happening: &EventKind) -> bool {
    matches!(
        happening,
        EventKind::SessionStarted { .. } | EventKind::PromptSubmitted { .. } | EventKind::FolderChanged
    )
}
