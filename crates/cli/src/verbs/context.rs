//! `tow context`: shows the context that a session would be given, and why each part is in it.
//!
//! Uses the hook's material and composer, and captures pending transcript lines first, as the hook does. It
//! never takes a baton or marks anything as given.

use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use towline_agents::Agent;
use towline_core::compose::{
    ComposeInput, ComposedContext, ContextBudget, ContextPart, ContextPartState, compose,
};
use towline_core::id::SessionKey;
use towline_core::memory::choose::{MemorySelection, SelectionCost};
use towline_engine::capture;
use towline_engine::handoff::past;
use towline_engine::memory::recall;
use towline_engine::memory::recall::{Asker, Given};
use towline_engine::query::{Chosen as Project, called, is_path, unreadable};
use towline_engine::runtime::config::settings;
use towline_engine::runtime::env::current_folder;
use towline_engine::runtime::failure::Failure;
use towline_engine::runtime::{env, projects};
use towline_store::archive::Conversation;
use towline_store::{Archive, Store, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow context                    what a new session here would be given of the one before it
  tow context 1a2b3c4d           the same of a certain session
  tow context --fresh            what is remembered here, without any session's work
  tow context --why              a line for each part: what it is, its size, why it is there, and what it took to learn
  tow context --agent NAME       as the other agent would be given it

To begin anew without it once: `tow fresh` before `/clear`. For good: `tow config set inherit.on_clear never`.";

/// Show the context that a session would be given: the previous session's work and memories, and why.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The session whose work would go on; the latest of this folder's project if not given.
    #[arg(conflicts_with = "fresh")]
    session: Option<String>,
    /// As a session that inherits nothing: memories only.
    #[arg(long)]
    fresh: bool,
    /// As if this were the first prompt: memories are chosen by it.
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// As if in this project, by name or by a folder in it, instead of the one of the current folder.
    #[arg(long, value_name = "NAME|PATH")]
    project: Option<String>,
    /// Composed for this agent; for the session's own if not given.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Print a line for each part instead: its size, name and reason.
    #[arg(long)]
    why: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const PATIENCE: Duration = Duration::from_millis(300);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let failed = |error| Failure::new(&error).hint("Run `tow doctor`.");
    let archive = Archive::read(&scope.env.home, PATIENCE).map_err(failed)?;
    let hot = Store::read(&scope.env.home, PATIENCE).map_err(failed)?;
    let folder = folder(archive.as_ref(), arguments)?;
    let from = if arguments.fresh {
        None
    } else {
        Some(whose(scope, archive.as_ref(), arguments, folder.as_deref())?)
    };
    let agent = composed_for(arguments, from.as_ref())?;
    let mut material = match &from {
        Some(from) => carried_over(scope, archive.as_ref(), hot.as_ref(), from)?,
        None => ComposeInput { past: None, compaction: None, remembered: vec![], program: env::program() },
    };
    let mut chosen = MemorySelection::default();
    if let Some(archive) = &archive {
        let folder = folder.as_deref();
        chosen = remembered(scope, archive, arguments, folder, from.as_ref(), hot.as_ref())?;
        material.remembered.clone_from(&chosen.parts);
    }
    let composed = compose(&material, agent.budget());
    show(scope, arguments, &composed, Given::of(&composed, &chosen), agent.budget());
    Ok(ExitCode::SUCCESS)
}

fn carried_over(
    scope: &Scope,
    archive: Option<&Archive>,
    hot: Option<&Store>,
    from: &SessionKey,
) -> Result<ComposeInput, Failure> {
    let failed = |error| Failure::new(&error).hint("Run `tow doctor`.");
    if let Some(known) = hot.map(|hot| hot.session(from)).transpose().map_err(failed)?.flatten() {
        capture::hurry(&scope.env, &known);
    }
    archive.map_or(Ok(()), Archive::hold_still).map_err(failed)?;
    let way = "as `tow context` was asked".to_owned();
    let mut material = past::material(archive, hot, from, way, scope.env.now).map_err(failed)?;
    if let Some(machine) =
        archive.map(|archive| elsewhere(archive, from)).transpose().map_err(failed)?.flatten()
    {
        past::put_away(&mut material, archive, machine).map_err(failed)?;
    }
    Ok(material)
}

/// The user's other machine that the session ran on, if any.
fn elsewhere(archive: &Archive, session: &SessionKey) -> Result<Option<String>, StoreError> {
    let Some(conversation) = archive.conversation(session)? else { return Ok(None) };
    match archive.origin_of(&conversation)? {
        (machine, None) => archive.machine_called(machine),
        (_, Some(_)) => Ok(None),
    }
}

/// The memories that a session starting in this folder would be given.
fn remembered(
    scope: &Scope,
    archive: &Archive,
    arguments: &Arguments,
    folder: Option<&Path>,
    from: Option<&SessionKey>,
    hot: Option<&Store>,
) -> Result<MemorySelection, Failure> {
    let config = settings(&scope.env);
    let project = folder.map(|folder| projects::traces(&config, folder));
    let asker = Asker {
        folder: folder.and_then(Path::to_str),
        project: project.as_ref(),
        prompt: arguments.prompt.as_deref().unwrap_or(""),
        not_of: &|key| from == Some(key) || recall::is_at_work(hot, key),
    };
    recall::gather(&scope.env, &config, archive, asker)
        .map_err(|error| Failure::new(&error).hint("Run `tow doctor`."))
}

fn composed_for(arguments: &Arguments, from: Option<&SessionKey>) -> Result<Agent, Failure> {
    let own = from.map_or(Agent::ALL[0].name(), |from| from.agent.as_str());
    let name = arguments.agent.as_deref().unwrap_or(own);
    Agent::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Agent::ALL.iter().map(|agent| agent.name()).collect();
        Failure::input(format!("there is no agent `{name}`"))
            .hint(format!("Give one of: {}.", known.join(", ")))
    })
}

/// The session's folder. A project given by name stands for the folder it was first seen in.
fn folder(archive: Option<&Archive>, arguments: &Arguments) -> Result<Option<PathBuf>, Failure> {
    let Some(name) = &arguments.project else { return Ok(current_folder()) };
    if is_path(name) {
        return Ok(Some(PathBuf::from(name)));
    }
    let known = archive.map(Archive::project_rows).transpose().map_err(unreadable)?.unwrap_or_default();
    let Project::Known { row, .. } = called(known.clone(), name)? else { return Ok(None) };
    Ok(known.into_iter().find(|project| project.row == row).map(|project| PathBuf::from(project.root)))
}

fn whose(
    scope: &Scope,
    archive: Option<&Archive>,
    arguments: &Arguments,
    folder: Option<&Path>,
) -> Result<SessionKey, Failure> {
    let nothing = || {
        Failure::input("nothing was captured yet")
            .hint("Run `tow import` to take in what the agents have written so far.")
    };
    let archive = archive.ok_or_else(nothing)?;
    let failed = |error| Failure::new(&error).hint("Run `tow doctor`.");
    let found = match &arguments.session {
        Some(name) => {
            archive.conversations_called(name.rsplit(':').next().unwrap_or(name)).map_err(failed)?
        }
        None => past::latest_in(&scope.env, archive, folder).map_err(failed)?.into_iter().collect(),
    };
    match found.as_slice() {
        [one] => Ok(one.session.clone()),
        [] => {
            Err(Failure::input("no such session was captured")
                .hint("Run `tow sessions` to see those that were."))
        }
        many => Err(ambiguous(many)),
    }
}

fn ambiguous(many: &[Conversation]) -> Failure {
    let names: Vec<_> = many.iter().map(|one| one.session.to_string()).collect();
    Failure::input("several sessions are called so").hint(format!("Give one of: {}.", names.join(", ")))
}

fn show(
    scope: &Scope,
    arguments: &Arguments,
    composed: &ComposedContext,
    given: Given,
    budget: ContextBudget,
) {
    if arguments.json {
        return scope.out.line(&as_json(composed, given, budget).to_string());
    }
    if !arguments.why {
        return scope.out.text(&composed.text);
    }
    for part in &composed.parts {
        scope.out.line(&format!("{:>6}  {:<9} {}: {}", part.size, state(part), part.what.name(), part.why));
    }
    let (size, unit) = (budget.size_of(&composed.text), budget.unit());
    scope.out.line(&format!("{size:>6}  of {} {unit}", budget.limit()));
    if given.items > 0 {
        scope.out.line(&format!("{:>6}  things remembered: {given}", given.items));
    }
}

fn as_json(composed: &ComposedContext, given: Given, budget: ContextBudget) -> Value {
    let parts: Vec<_> = composed.parts.iter().map(row).collect();
    let SelectionCost { memories, turns, tokens } = given.took;
    json!({
        "text": composed.text, "size": budget.size_of(&composed.text), "limit": budget.limit(), "parts": parts,
        "remembered": {
            "items": given.items, "tokens": given.tokens,
            "learnt": {"items": memories, "turns": turns, "tokens": tokens},
        },
    })
}

fn row(part: &ContextPart) -> Value {
    json!({"what": part.what.name(), "why": part.why, "size": part.size, "state": state(part)})
}

fn state(part: &ContextPart) -> &'static str {
    match part.state {
        ContextPartState::Whole => "whole",
        ContextPartState::Cut => "cut",
        ContextPartState::LeftOut => "left out",
    }
}
