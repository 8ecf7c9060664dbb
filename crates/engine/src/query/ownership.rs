//! Resolves which session is meant: by part of its id, by the terminal this runs in, or by the project.
//!
//! Never guesses: an ambiguous name is an error that lists all candidates.

use crate::handoff::inherit::session_label;
use crate::ingest::live;
use crate::runtime::config::project_name;
use crate::runtime::{Env, Failure, variable};
use towline_agents::Agent;
use towline_core::event::SessionPresence;
use towline_core::id::SessionKey;
use towline_core::project::ProjectIdentity;
use towline_core::seat::Seat;
use towline_core::session::{Session, SessionState};
use towline_store::{Store, StoreError};
use towline_terminal::place::seat_of;
use towline_terminal::process::{Process, ancestors};
use towline_terminal::project;

/// The store with the journal applied.
pub fn store(env: &Env) -> Result<Store, Failure> {
    let nothing =
        || Failure::input("nothing is recorded yet").hint("Run `tow install`, then work with your agents.");
    live::store(env)?.ok_or_else(nothing)
}

/// The named session, else the one this command runs in. `verb` is the command that hints suggest with an id.
pub fn session(store: &Store, name: Option<&str>, verb: &str) -> Result<Session, Failure> {
    name.map_or_else(|| current_session(store, verb), |name| named(store, name))
}

/// Matches the whole key, or the beginning or end of an id.
pub fn named(store: &Store, name: &str) -> Result<Session, Failure> {
    let keys = store.sessions_named(name)?;
    match keys.as_slice() {
        [] => Err(Failure::input(format!("no session's id begins or ends with `{name}`"))
            .hint("Run `tow status` for the sessions that are open.")),
        [key] => known(store, key),
        several => {
            let names: Vec<String> = several.iter().map(ToString::to_string).collect();
            let what = format!("`{name}` fits several sessions: {}", names.join(", "));
            Err(Failure::input(what).hint("Give more of the id, or all of it."))
        }
    }
}

/// The session whose agent started this process, if any.
pub fn of_caller(store: &Store) -> Result<Option<Session>, Failure> {
    let line: Vec<Process> = ancestors(std::process::id()).collect();
    let key = below_agent(store, &line)?;
    key.map(|key| known(store, &key)).transpose()
}

/// The session of the agent above this process, else of the same terminal, else the only one open in the
/// project.
pub fn current_session(store: &Store, verb: &str) -> Result<Session, Failure> {
    sitting_here(store)?.map_or_else(|| only_one(store, verb), Ok)
}

/// The session of the agent above this process, else the one that sits or sat last in the same terminal.
pub fn sitting_here(store: &Store) -> Result<Option<Session>, Failure> {
    let line: Vec<Process> = ancestors(std::process::id()).collect();
    let found = match below_agent(store, &line)? {
        Some(key) => Some(key),
        None => in_terminal(store, &line)?,
    };
    found.map(|key| known(store, &key)).transpose()
}

/// The stored name of the current folder's project, if anything was recorded of it.
pub fn project(store: &Store) -> Result<Option<String>, Failure> {
    let Some(traces) = traces() else { return Ok(None) };
    let projects = store.projects()?.into_iter();
    let mut same = projects.filter(|(_, root, remote)| traces.matches_project(root, remote.as_deref()));
    Ok(same.next().map(|(name, _, _)| name))
}

/// The named project; without a name the current folder's, unless the list covers all projects. `verb` is the command that
/// the hint suggests for that.
pub fn project_or_all(
    store: &Store,
    name: Option<&str>,
    is_everywhere: bool,
    verb: &str,
) -> Result<Option<String>, Failure> {
    if name.is_some() || is_everywhere {
        return Ok(name.map(str::to_owned));
    }
    project(store)?.map(Some).ok_or_else(|| {
        Failure::input("nothing was recorded of a project in this folder")
            .hint(format!("Run `{verb} --all-projects`, or name one by `--project`."))
    })
}

fn known(store: &Store, key: &SessionKey) -> Result<Session, Failure> {
    let gone = || Failure::input(format!("{key} is not known")).hint("Run `tow status`.");
    store.session(key)?.ok_or_else(gone)
}

/// Matches an agent by its process, else by the session id that agents export to their children.
fn below_agent(store: &Store, line: &[Process]) -> Result<Option<SessionKey>, StoreError> {
    let seats = store.seats()?;
    let sits = |process: &Process| {
        let is_it = |seat: &&Seat| (seat.place.pid, seat.place.started) == (process.pid, process.started);
        seats.iter().rev().filter(is_it).find_map(|seat| seat.current.clone())
    };
    if let Some(key) = line.iter().find_map(sits) {
        return Ok(Some(key));
    }
    for agent in Agent::ALL {
        let told = variable(agent.session_variable()).and_then(|id| agent.session_named(&id));
        if let Some(key) = told
            && store.session(&key)?.is_some()
        {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// The current or last session of this terminal. `None` below a shared server: its terminal is the one it was
/// started in.
fn in_terminal(store: &Store, line: &[Process]) -> Result<Option<SessionKey>, StoreError> {
    let is_shared = |process: &Process| {
        let agent = Agent::ALL.into_iter().find(|agent| agent.is_program(&process.name));
        agent.is_some_and(|agent| agent.is_shared_server(&process.arguments()))
    };
    if line.iter().any(is_shared) {
        return Ok(None);
    }
    let attached = line.iter().find(|process| process.terminal().is_some());
    let Some(place) = attached.and_then(|process| seat_of(process, SessionPresence::Terminal)) else {
        return Ok(None);
    };
    Ok(store.seat(&place.key)?.and_then(|seat| seat.current))
}

fn only_one(store: &Store, verb: &str) -> Result<Session, Failure> {
    let traces = traces();
    let is_here = |session: &Session| {
        let project = session.project.as_ref().zip(traces.as_ref());
        session.state != SessionState::Ended
            && project.is_some_and(|(own, traces)| traces.matches_project(&own.root, own.remote.as_deref()))
    };
    let mut open: Vec<Session> = store.live_sessions()?.into_iter().filter(is_here).collect();
    if open.len() == 1
        && let Some(session) = open.pop()
    {
        return Ok(session);
    }
    if open.is_empty() {
        let what = "no session sits here, and none is open in this project";
        return Err(Failure::input(what).hint(format!("Run `tow status`, then `{verb} ID`.")));
    }
    let failure = Failure::input("no session sits here, and several are open in this project");
    let hint =
        |session: &Session| format!("Run `{verb} {}` for {}.", session.key.short(), session_label(session));
    Err(open.iter().fold(failure, |failure, session| failure.hint(hint(session))))
}

/// The project of the current folder.
fn traces() -> Option<ProjectIdentity> {
    let folder = Process::read(std::process::id())?.folder()?;
    Some(project::traces(&folder, &project_name))
}
