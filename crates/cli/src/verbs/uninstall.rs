//! `tow uninstall`: restores the settings of the agents and of tmux.
//!
//! Byte for byte if only we changed them, otherwise by removing exactly our entries. Keeps the recorded data and says where
//! it is, unless `--purge` asks to delete it.

use super::completions;
use super::install::{Choice, Edited, NO_AGENT, Outcomes, chosen, command_to_register, edit_all, folder_of};
use super::managed::{Change, ManagedEdit, refused};
use super::purge::{Agreement, Leftovers};
use crate::scope::Scope;
use clap::Args;
use std::path::PathBuf;
use towline_agents::Agent;
use towline_agents::settings::{RetryPace, TaskStart};
use towline_engine::runtime::Failure;
use towline_engine::status::tmux::conf::{self, Outcome};
use towline_server::{TokenReuse, running, tokens};

const EXAMPLES: &str = "\
Examples:
  tow uninstall                 everything: every agent that is found, and tmux
  tow uninstall --dry-run       show what would be given back
  tow uninstall --agent NAME    one agent, nothing else
  tow uninstall --tmux          tmux, nothing else
  tow uninstall --vscode        the task in .vscode/tasks.json of this folder, nothing else
  tow uninstall --purge         everything, and delete what was recorded and configured

Without `--purge`, recorded sessions, memories and your configuration stay; the last lines say where. `--purge` asks
first. It cannot delete what you shared through a hub: run `tow hub leave` before.";

/// Remove hooks, skills and tools from the agents and from tmux.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    choice: Choice,
    /// Only tmux (and the agents that are named).
    #[arg(long)]
    tmux: bool,
    /// Only the task in .vscode/tasks.json of this folder (and what else is named).
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    vscode: Option<PathBuf>,
    /// Delete what was recorded and your configuration as well.
    #[arg(long, conflicts_with_all = ["agents", "tmux", "vscode"])]
    purge: bool,
    /// Do not ask before `--purge` deletes.
    #[arg(long, short, requires = "purge")]
    yes: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let choice = &arguments.choice;
    let is_part = arguments.tmux || arguments.vscode.is_some();
    let is_whole = !is_part && choice.agents.is_empty();
    let leftovers = Leftovers::find(&scope.env);
    if arguments.purge && !choice.dry_run {
        leftovers.agree(scope, arguments.agreement())?;
    }
    let agents = if is_part && choice.agents.is_empty() { vec![] } else { chosen(choice)? };
    let tow = command_to_register()?;
    let edit = choice.edit(scope, &tow, Change::Remove);
    let agents = edit_all(agents, |agent| give_back(agent, &edit));
    let tmux = (arguments.tmux || is_whole).then(|| conf::uninstall(&scope.env, choice.writing()));
    let tmux = tmux.filter(|outcome| arguments.tmux || is_news(outcome));
    let task = arguments.vscode.as_ref().map(|folder| edit.editor_task(folder, TaskStart::default()));
    let outcomes = Outcomes { agents, tmux, task };
    if outcomes.agents.is_empty() && !is_part && !choice.json {
        scope.out.line(NO_AGENT);
    }
    outcomes.report(scope, choice, NOTHING);
    if is_whole && !choice.json && !choice.dry_run {
        completions::uninstall(scope);
    }
    if arguments.tmux && !choice.json && outcomes.tmux.as_ref().is_some_and(|outcome| !is_news(outcome)) {
        scope.out.line(&format!("tmux: {NOTHING}"));
    }
    // Settings that could not be restored need their backups, which are in the data folder.
    outcomes.verdict()?;
    if !is_whole {
        return Ok(());
    }
    if !choice.dry_run {
        end_viewer(scope, choice)?;
    }
    finish(scope, arguments, &leftovers)
}

/// Ends the viewer's server, which would go on until it is idle.
fn end_viewer(scope: &Scope, choice: &Choice) -> Result<(), Failure> {
    let home = &scope.env.home;
    if !home.serving().join("address").exists() {
        return Ok(());
    }
    let key = tokens(home, TokenReuse::Keep)?.key;
    if let Ok(Some(server)) = running(home, &key) {
        server.end(&key)?;
        if !choice.json {
            scope.out.line(&format!("ended the viewer at {}", server.run.address));
        }
    }
    Ok(())
}

/// Deletes the recorded data, or says where it is.
fn finish(scope: &Scope, arguments: &Arguments, leftovers: &Leftovers) -> Result<(), Failure> {
    let Choice { dry_run, json, .. } = arguments.choice;
    let deleted = if arguments.purge && !dry_run { leftovers.delete()? } else { vec![] };
    match (json, arguments.purge, dry_run) {
        (true, ..) => {}
        (false, false, _) => leftovers.show(scope),
        (false, true, true) => leftovers.show_plan(scope),
        (false, true, false) => {
            deleted.iter().for_each(|folder| scope.out.line(&format!("deleted {folder}")));
        }
    }
    Ok(())
}

impl Arguments {
    fn agreement(&self) -> Agreement {
        match (self.yes, self.choice.json) {
            (true, _) => Agreement::Given,
            (false, false) => Agreement::Askable,
            (false, true) => Agreement::Missing,
        }
    }
}

const NOTHING: &str = "there is nothing of ours";

fn give_back(agent: Agent, edit: &ManagedEdit<'_>) -> Result<Edited, Failure> {
    let folder = folder_of(agent)?;
    let target = agent.target(&folder, edit.tow).map_err(refused)?;
    let tools = edit.mcp_server(agent);
    // Before the settings: if we created their folder, it is removed with them and must be empty by then.
    let skills = edit.skills(agent.skill_files(&folder, edit.tow).map_err(refused)?);
    let plan = edit.edit(&target, RetryPace::USUAL).map_err(refused)?;
    Ok(Edited { skills, tools, ..Edited::of(plan) })
}

/// Whether to report on tmux: a user who never installed it there need not hear about it.
fn is_news(outcome: &Result<Outcome, Failure>) -> bool {
    outcome.as_ref().map_or(true, |Outcome { plans, servers, remarks, .. }| {
        !plans.is_empty() || !servers.is_empty() || !remarks.is_empty()
    })
}
