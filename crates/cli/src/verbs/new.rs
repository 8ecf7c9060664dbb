//! `tow new`: starts an agent in a folder, and says what its first prompt will be given.
//!
//! The hook composes and gives it; this only passes a baton where one is asked for, and starts the agent.

use super::doctor::is_any_agent_hooked;
use super::{baton, install};
use crate::launch::{Launch, launch};
use crate::output::complain;
use crate::scope::Scope;
use clap::Args;
use std::path::PathBuf;
use towline_agents::Agent;
use towline_engine::query::{ContextRequest, context};
use towline_engine::runtime::Failure;
use towline_engine::runtime::env::current_folder;

const EXAMPLES: &str = "\
Examples:
  tow new                       the agent that is found first, in this folder
  tow new AGENT ~/src/shop     this one, in that folder
  tow new --from 1a2b3c4d       with that session's work
  tow session context --fresh   what it would be given";

/// Start an agent with what is remembered here.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The agent's name, or the folder.
    #[arg(value_name = "AGENT|DIR")]
    words: Vec<String>,
    /// The session whose work it goes on with: how its id begins or ends.
    #[arg(long, value_name = "SESSION")]
    from: Option<String>,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let (agent, folder) = match arguments.words.as_slice() {
        [] => (None, None),
        [word] if Agent::from_name(word).is_some() => (Some(word), None),
        [folder] => (None, Some(folder)),
        [agent, folder] => (Some(agent), Some(folder)),
        [_, _, rest, ..] => {
            return Err(
                Failure::input(format!("`{rest}` is one word too many")).hint("Run `tow new --help`.")
            );
        }
    };
    let agent = chosen(agent.map(String::as_str))?;
    let folder = folder_named(folder.map(String::as_str))?;
    if let Some(from) = &arguments.from {
        baton::pass(scope, from)?;
    }
    let request = ContextRequest {
        project: Some(folder.clone()),
        agent: Some(agent.name().to_owned()),
        ..ContextRequest::default()
    };
    let preview = context(&scope.env, &request)?;
    if !is_any_agent_hooked() {
        complain("warning: no agent is hooked, so it is given nothing\nhint: Run `tow setup`.\n");
    } else if !preview.composed.text.is_empty() {
        let items = preview.given.items;
        let work = if arguments.from.is_some() { ", and the work that goes on" } else { "" };
        complain(&format!(
            "with its first prompt it is given {items} memories{work} (`tow session context`)\n"
        ));
    }
    launch(scope, Launch::Here, &folder, &[agent.name()])
}

/// The named agent, else the first that is found.
fn chosen(name: Option<&str>) -> Result<Agent, Failure> {
    let known = Agent::ALL.map(Agent::name).join(", ");
    match name {
        Some(name) => Agent::from_name(name).ok_or_else(|| {
            Failure::input(format!("there is no agent `{name}`")).hint(format!("Give one of: {known}."))
        }),
        None => Agent::ALL.into_iter().find(|agent| install::has_program(*agent)).ok_or_else(|| {
            Failure::input("no agent is on the PATH").hint(format!("Install one of: {known}."))
        }),
    }
}

fn folder_named(name: Option<&str>) -> Result<String, Failure> {
    let lost = || Failure::input("this folder is not there any more").hint("Run `tow new` in another one.");
    let here = current_folder().ok_or_else(lost)?;
    let folder: PathBuf = name.map_or(here.clone(), |name| here.join(name));
    let missing =
        || Failure::input(format!("there is no folder {}", folder.display())).hint("Name one that exists.");
    folder
        .canonicalize()
        .ok()
        .filter(|folder| folder.is_dir())
        .map(|it| it.display().to_string())
        .ok_or_else(missing)
}
