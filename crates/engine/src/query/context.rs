//! The context that a session would be given, and why each part is in it.
//!
//! Uses the hook's material and composer, and captures pending transcript lines first, as the hook does. It
//! never takes a baton or marks anything as given.

use super::{Chosen, is_path, project_called, unreadable_data};
use crate::capture;
use crate::handoff::past;
use crate::memory::recall::{self, Asker, Given};
use crate::runtime::env::{current_folder, program};
use crate::runtime::{Env, Failure, projects, settings};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_agents::Agent;
use towline_core::compose::{ComposeInput, ComposedContext, ContextBudget, compose};
use towline_core::id::SessionKey;
use towline_core::memory::choose::MemorySelection;
use towline_store::{Archive, Store, StoreError};

const PATIENCE: Duration = Duration::from_millis(300);

#[derive(Clone, Debug, Default)]
pub struct ContextRequest {
    /// The session whose work would go on; the latest of the project if not given.
    pub session: Option<String>,
    /// As a session that inherits nothing: memories only.
    pub is_fresh: bool,
    /// The first prompt: memories are chosen by it.
    pub prompt: Option<String>,
    /// A name or a folder; the project of the current folder if not given.
    pub project: Option<String>,
    /// The session's own agent if not given.
    pub agent: Option<String>,
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
    let from = if request.is_fresh { None } else { Some(sources.predecessor(request)?) };
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

/// Like `context`, but a project without a session to continue from gets its memories only.
pub fn context_or_fresh(env: &Env, request: &ContextRequest) -> Result<ContextPreview, Failure> {
    context(env, request)
        .or_else(|_| context(env, &ContextRequest { is_fresh: true, session: None, ..request.clone() }))
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
    /// The session whose work would go on.
    fn predecessor(&self, request: &ContextRequest) -> Result<SessionKey, Failure> {
        let archive = self.archive.as_ref().ok_or_else(|| {
            Failure::input("nothing was captured yet")
                .hint("Run `tow import` to take in what the agents have written so far.")
        })?;
        let found = match &request.session {
            Some(name) => archive.conversations_called(name.rsplit(':').next().unwrap_or(name)),
            None => past::latest_in(self.env, archive, self.folder.as_deref())
                .map(|latest| latest.into_iter().collect()),
        };
        match found?.as_slice() {
            [one] => Ok(one.session.clone()),
            [] => Err(Failure::input("no such session was captured")
                .hint("Run `tow sessions` to see those that were.")),
            many => {
                let names: Vec<_> = many.iter().map(|one| one.session.to_string()).collect();
                Err(Failure::input("several sessions are called so")
                    .hint(format!("Give one of: {}.", names.join(", "))))
            }
        }
    }

    fn carried_over(&self, from: &SessionKey) -> Result<ComposeInput, StoreError> {
        let (archive, hot) = (self.archive.as_ref(), self.hot.as_ref());
        if let Some(known) = hot.map(|hot| hot.session(from)).transpose()?.flatten() {
            capture::capture_if_quick(self.env, &known);
        }
        archive.map_or(Ok(()), Archive::begin_read)?;
        let way = "as `tow context` was asked".to_owned();
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
