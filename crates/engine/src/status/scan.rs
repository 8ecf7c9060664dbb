//! Agents that run without our hooks: seats without a session, found among this user's processes.
//!
//! A process scan is too slow for every refresh, so its result is cached in a small file; readers filter out
//! agents that have ended or have a session by now. Changes no other file and no table.

use crate::runtime::config::project_name;
use crate::runtime::{Env, json_file, privacy, settings, variable};
use crate::status::described::{self, Sight};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use towline_agents::Agent;
use towline_agents::described::Description;
use towline_core::event::SessionPresence;
use towline_core::seat::SeatLocation;
use towline_core::session::SessionState;
use towline_core::shown::SeatView;
use towline_core::time::Timestamp;
use towline_store::DataFolder;
use towline_terminal::place::seat_of;
use towline_terminal::process::{Process, of_same_user};
use towline_terminal::project;

/// An agent in a terminal that has sent no hook event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stray {
    pub agent: String,
    pub place: SeatLocation,
    pub folder: Option<String>,
    project: Option<String>,
    branch: Option<String>,
    found_at: Timestamp,
    /// What its screen showed, if a description says how to read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sight: Option<Sight>,
}

#[derive(Default, Serialize, Deserialize)]
struct ScanCache {
    at: Timestamp,
    strays: Vec<Stray>,
}

/// How old a scan may be for a refresh.
const STALE_MS: i64 = 60_000;

/// The strays of the last scan, without those that have ended or have a session by now.
pub fn remembered(home: &DataFolder, places: &[SeatLocation]) -> Vec<Stray> {
    let found = json_file::load::<ScanCache>(&file(home)).unwrap_or_default();
    found
        .strays
        .into_iter()
        .filter(|stray| {
            let Stray { place, .. } = stray;
            let process = Process::read(place.pid);
            process.is_some_and(|process| process.started == place.started)
                && !places.iter().any(|known| known.tty == place.tty)
        })
        .collect()
}

/// The strays as of at most a minute ago; what their screens show as of now.
pub fn recent(env: &Env, places: &[SeatLocation]) -> Vec<Stray> {
    match json_file::load::<ScanCache>(&file(&env.home)) {
        Some(found) if found.at <= env.now && env.now.since_ms(found.at) < STALE_MS => {
            let mut strays = remembered(&env.home, places);
            if strays.iter().any(|stray| Agent::from_name(&stray.agent).is_none()) {
                described::look(env, &described::candidates(env), &mut strays);
                json_file::save(&file(&env.home), &ScanCache { at: found.at, strays: strays.clone() });
            }
            strays
        }
        Some(_) | None => now(env, places),
    }
}

/// Scans the processes now.
pub fn now(env: &Env, places: &[SeatLocation]) -> Vec<Stray> {
    let before = json_file::load::<ScanCache>(&file(&env.home)).unwrap_or_default().strays;
    let config = settings(env);
    let is_excluded =
        |stray: &Stray| stray.folder.as_deref().is_some_and(|folder| privacy::is_excluded(&config, folder));
    let own = std::process::id();
    let descriptions = described::candidates(env);
    let candidates = of_same_user(own).into_iter();
    let candidates = candidates.filter_map(|process| Some((agent_of(&process, &descriptions)?, process)));
    let mut strays: Vec<Stray> = candidates
        .filter(|(_, process)| !sits_at_known_terminal(process, places))
        .filter_map(|(agent, process)| {
            let same =
                |stray: &&Stray| (stray.place.pid, stray.place.started) == (process.pid, process.started);
            before.iter().find(same).cloned().or_else(|| stray(env, &agent, &process))
        })
        // Excluded projects are not written to the cache either.
        .filter(|stray| !is_excluded(stray))
        .collect();
    described::look(env, &descriptions, &mut strays);
    json_file::save(&file(&env.home), &ScanCache { at: env.now, strays: strays.clone() });
    strays
}

pub fn show(stray: &Stray) -> SeatView {
    SeatView {
        project: stray.project.clone(),
        branch: stray.branch.clone(),
        pane: stray.place.pane.clone(),
        server: stray.place.server.clone(),
        state: stray.sight.map_or(SessionState::default(), Sight::state),
        by_screen: stray.sight.is_some(),
        ..SeatView::at(
            &stray.place.key,
            &stray.agent,
            stray.sight.map_or(stray.found_at, |sight| sight.since),
        )
    }
}

/// The agent that this process is, if it is visible in a terminal and not the child of an agent.
fn agent_of(process: &Process, descriptions: &[Arc<Description>]) -> Option<String> {
    process.terminal()?;
    if let Some(agent) = known_agent_of(process) {
        return Some(agent.name().to_owned());
    }
    let description = descriptions.iter().find(|description| described::is_agent(description, process))?;
    shares_our_home(process).then(|| description.name().to_owned())
}

fn known_agent_of(process: &Process) -> Option<Agent> {
    // Exact match: names of wrappers and monitors only contain the agent's name.
    let program = process.program_name();
    let is_it = |agent: &Agent| agent.name() == process.name || agent.name() == program;
    let agent = Agent::ALL.into_iter().find(is_it)?;
    let arguments = process.arguments();
    let is_agent =
        |parent: Process| agent.is_program(&parent.name) || agent.is_program(&parent.program_name());
    let is_child = Process::read(process.parent).is_some_and(is_agent);
    let seen = !agent.is_shared_server(&arguments) && !agent.runs_headless(&arguments);
    (seen && !is_child && shares_our_home(process)).then_some(agent)
}

/// An agent with another home would report to another data folder, if to any.
fn shares_our_home(process: &Process) -> bool {
    let environment = process.environment();
    let same = |name: &str| variable(name).as_deref() == environment.get(name);
    ["HOME", "XDG_DATA_HOME", "TOWLINE_HOME"].into_iter().all(same)
}

fn stray(env: &Env, agent: &str, process: &Process) -> Option<Stray> {
    let place = seat_of(process, SessionPresence::Terminal)?;
    let folder = process.folder();
    let traces = folder.as_deref().map(|folder| project::traces(folder, &project_name));
    Some(Stray {
        agent: agent.to_owned(),
        place,
        folder: folder.map(|folder| folder.to_string_lossy().into_owned()),
        project: traces.as_ref().map(|traces| traces.display_name().to_owned()),
        branch: traces.and_then(|traces| traces.branch),
        found_at: env.now,
        sight: None,
    })
}

/// A terminal holds one agent: if a session is known there, this process belongs to it.
fn sits_at_known_terminal(process: &Process, places: &[SeatLocation]) -> bool {
    let terminal = process.terminal();
    places.iter().any(|place| place.tty == terminal)
}

fn file(home: &DataFolder) -> PathBuf {
    home.bars().join("strays")
}
