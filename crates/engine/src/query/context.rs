//! The context that a session would be given, and why each part is in it.
//!
//! Uses the hook's material and composer, and captures pending transcript lines first, as the hook does. It
//! never takes a baton or marks anything as given.

use super::{Chosen, is_path, ownership, project_called, unreadable_data};
use crate::capture;
use crate::handoff::past;
use crate::ingest::live;
use crate::memory::recall::{self, Asker, Given};
use crate::runtime::env::{current_folder, program};
use crate::runtime::{Env, Failure, projects, settings};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_agents::Agent;
use towline_core::compose::{ComposeInput, ComposedContext, ContextBudget, compose};
use towline_core::id::SessionKey;
use towline_core::inherit::{OnClear, has_work};
use towline_core::memory::choose::MemorySelection;
use towline_core::session::{Session, SessionState};
use towline_store::{Archive, Store, StoreError};

const PATIENCE: Duration = Duration::from_millis(300);

#[derive(Clone, Debug, Default)]
pub struct ContextRequest {
    /// The session whose work would go on; the one that a session would continue at `start` if not given.
    pub session: Option<String>,
    pub start: SessionStart,
    /// As a session that inherits nothing: memories only.
    pub is_fresh: bool,
    /// The first prompt: memories are chosen by it.
    pub prompt: Option<String>,
    /// A name or a folder; the project of the current folder if not given.
    pub project: Option<String>,
    /// The session's own agent if not given.
    pub agent: Option<String>,
}

/// Where the session would start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionStart {
    /// Somewhere in the project: it continues only a session whose baton waits.
    #[default]
    Anywhere,
    /// In the terminal that this process runs in: it also continues the session that sits there, as after `/clear`.
    ThisTerminal,
}

pub struct ContextPreview {
    pub composed: ComposedContext,
    /// The memories that fit into it.
    pub given: Given,
    pub budget: ContextBudget,
}

/// Both databases, if they exist, and the folder that the session would start in.
struct Sources<'a> {
    env: &'a Env,
    archive: Option<Archive>,
    hot: Option<Store>,
    folder: Option<PathBuf>,
}

pub fn context(env: &Env, request: &ContextRequest) -> Result<ContextPreview, Failure> {
    let archive = Archive::read(&env.home, PATIENCE)?;
    let hot = Store::read(&env.home, PATIENCE)?;
    let folder = folder(archive.as_ref(), request)?;
    let sources = Sources { env, archive, hot, folder };
    let from = match &request.session {
        Some(name) => Some(sources.named(name)?),
        None if request.is_fresh => None,
        None => sources.predecessor(request)?,
    };
    let budget = agent(request, from.as_ref())?.budget();
    let mut material = match &from {
        Some(from) => sources.carried_over(from)?,
        None => ComposeInput { program: program(), ..ComposeInput::default() },
    };
    let prompt = request.prompt.as_deref().unwrap_or("");
    let chosen = sources.remembered(prompt, from.as_ref())?;
    material.remembered.clone_from(&chosen.parts);
    let composed = compose(&material, budget);
    Ok(ContextPreview { given: Given::of(&composed, &chosen), composed, budget })
}

/// The session's folder. A project given by name stands for the folder it was first seen in.
fn folder(archive: Option<&Archive>, request: &ContextRequest) -> Result<Option<PathBuf>, Failure> {
    let Some(name) = &request.project else { return Ok(current_folder()) };
    if is_path(name) {
        return Ok(Some(PathBuf::from(name)));
    }
    let known = archive.map(Archive::project_rows).transpose().map_err(unreadable_data)?.unwrap_or_default();
    let Chosen::Known { row, .. } = project_called(known.clone(), name)? else { return Ok(None) };
    Ok(known.into_iter().find(|project| project.row == row).map(|project| PathBuf::from(project.root)))
}

fn agent(request: &ContextRequest, from: Option<&SessionKey>) -> Result<Agent, Failure> {
    let own = from.map_or(Agent::ALL[0].name(), |from| from.agent.as_str());
    let name = request.agent.as_deref().unwrap_or(own);
    Agent::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Agent::ALL.iter().map(|agent| agent.name()).collect();
        Failure::input(format!("there is no agent `{name}`"))
            .hint(format!("Give one of: {}.", known.join(", ")))
    })
}

impl Sources<'_> {
    fn named(&self, name: &str) -> Result<SessionKey, Failure> {
        let archive = self.archive.as_ref().ok_or_else(|| {
            Failure::input("nothing was captured yet")
                .hint("Run `tow data import` to take in what the agents have written so far.")
        })?;
        match archive.conversations_called(name.rsplit(':').next().unwrap_or(name))?.as_slice() {
            [one] => Ok(one.session.clone()),
            [] => Err(Failure::input("no such session was captured")
                .hint("Run `tow session list` to see those that were.")),
            many => {
                let names: Vec<_> = many.iter().map(|one| one.session.to_string()).collect();
                Err(Failure::input("several sessions are called so")
                    .hint(format!("Give one of: {}.", names.join(", "))))
            }
        }
    }

    /// The session that one which starts now would continue, by the rules of `core::inherit`. Never guesses: a session of
    /// another terminal passes its work on by a baton alone.
    fn predecessor(&self, request: &ContextRequest) -> Result<Option<SessionKey>, Failure> {
        let Some(store) = live::store(self.env)? else { return Ok(None) };
        let is_here = request.start == SessionStart::ThisTerminal && request.project.is_none();
        let sitting = if is_here { ownership::sitting_here(&store)? } else { None };
        if sitting.as_ref().is_some_and(|session| session.fresh_at.is_some()) {
            return Ok(None);
        }
        let mut batons = store.open_batons(self.env.now)?;
        let is_withdrawn = |key: &SessionKey| {
            store.session(key).map(|session| session.is_some_and(|session| session.fresh_at.is_some()))
        };
        for baton in std::mem::take(&mut batons) {
            if !is_withdrawn(&baton.session)? {
                batons.push(baton);
            }
        }
        let seat = sitting.as_ref().and_then(|session| session.seat.as_ref());
        if let Some(baton) = batons.iter().rfind(|baton| seat.is_some() && baton.seat.as_ref() == seat) {
            return Ok(Some(baton.session.clone()));
        }
        let is_cleared = |session: &Session| {
            session.state != SessionState::Ended
                && has_work(session)
                && session.wishes.on_clear == OnClear::Always
        };
        if let Some(session) = sitting.filter(is_cleared) {
            return Ok(Some(session.key));
        }
        let project = self.project_name(&store)?;
        let mut of_project = batons.into_iter().filter(|baton| project.is_some() && baton.project == project);
        Ok(of_project.next().filter(|_| of_project.next().is_none()).map(|baton| baton.session))
    }

    /// The stored name of the folder's project.
    fn project_name(&self, store: &Store) -> Result<Option<String>, StoreError> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let traces = projects::traces(&settings(self.env), folder);
        let mut known = store.projects()?.into_iter();
        Ok(known
            .find(|(_, root, remote)| traces.matches_project(root, remote.as_deref()))
            .map(|(name, _, _)| name))
    }

    fn carried_over(&self, from: &SessionKey) -> Result<ComposeInput, StoreError> {
        let (archive, hot) = (self.archive.as_ref(), self.hot.as_ref());
        if let Some(known) = hot.map(|hot| hot.session(from)).transpose()?.flatten() {
            capture::capture_if_quick(self.env, &known, archive);
        }
        archive.map_or(Ok(()), Archive::begin_read)?;
        let way = "as `tow session context` was asked".to_owned();
        let mut material = past::material(archive, hot, from, way, self.env.now)?;
        if let Some(machine) = archive.map(|archive| elsewhere(archive, from)).transpose()?.flatten() {
            past::mark_remote(&mut material, archive, machine)?;
        }
        Ok(material)
    }

    /// The memories that a session starting in this folder would be given.
    fn remembered(&self, prompt: &str, from: Option<&SessionKey>) -> Result<MemorySelection, StoreError> {
        let Some(archive) = &self.archive else { return Ok(MemorySelection::default()) };
        let config = settings(self.env);
        let folder = self.folder.as_deref();
        let project = folder.map(|folder| projects::traces(&config, folder));
        let asker = Asker {
            folder: folder.and_then(Path::to_str),
            project: project.as_ref(),
            prompt,
            not_of: &|key| from == Some(key) || recall::is_continued(self.hot.as_ref(), key),
        };
        recall::gather(self.env, &config, archive, asker)
    }
}

/// The user's other machine that the session ran on, if any.
fn elsewhere(archive: &Archive, session: &SessionKey) -> Result<Option<String>, StoreError> {
    let Some(conversation) = archive.conversation(session)? else { return Ok(None) };
    match archive.origin_of(&conversation)? {
        (machine, None) => archive.machine_called(machine),
        (_, Some(_)) => Ok(None),
    }
}
