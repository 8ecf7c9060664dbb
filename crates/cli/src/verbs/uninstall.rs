//! `tow uninstall`: restores the settings of the agents and of tmux.
//!
//! Byte for byte if only we changed them, otherwise by removing exactly our entries. Keeps the data folder.

use super::install::{
    Choice, Edited, EditedAgents, NO_AGENT, Outcomes, chosen, command_to_register, edit_all, folder_of,
    refused,
};
use super::{editor, skills, tools};
use crate::scope::Scope;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use towline_agents::Agent;
use towline_agents::settings::{ManagedContent, OriginalsArchive, RetryPace};
use towline_engine::runtime::failure::Failure;
use towline_engine::status::tmux::conf;
use towline_engine::status::tmux::conf::{Outcome, Writing};

const EXAMPLES: &str = "\
Examples:
  tow uninstall                 everything: every agent that is found, and tmux
  tow uninstall --dry-run       show what would be given back
  tow uninstall --agent NAME    one agent, nothing else
  tow uninstall --tmux          tmux, nothing else
  tow uninstall --vscode        the task in .vscode/tasks.json of this folder, nothing else

What was recorded stays in the data folder; `tow doctor` says where that is.";

/// Remove our hooks, skills and tools from the agents, and the bar from tmux.
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
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let choice = &arguments.choice;
    let is_part = arguments.tmux || arguments.vscode.is_some();
    let agents = match (is_part, choice.agents.is_empty()) {
        (true, true) => vec![],
        (true, false) | (false, _) => chosen(choice)?,
    };
    let agents = give_back(scope, choice, agents)?;
    let with_tmux = arguments.tmux || choice.agents.is_empty() && !is_part;
    let tmux = with_tmux.then(|| conf::uninstall(&scope.env, choice.writing()));
    let tmux = tmux.filter(|outcome| arguments.tmux || is_news(outcome));
    let (tow, archive) = (command_to_register()?, OriginalsArchive::new(scope.env.home.backups()));
    let take_away = |folder: &PathBuf| editor::take_away(folder, &tow, &archive, choice.writing());
    let outcomes = Outcomes { agents, tmux, task: arguments.vscode.as_ref().map(take_away) };
    if outcomes.agents.is_empty() && !is_part && !choice.json {
        scope.out.line(NO_AGENT);
    }
    outcomes.report(scope, choice, NOTHING);
    if arguments.tmux && !choice.json && outcomes.tmux.as_ref().is_some_and(|outcome| !is_news(outcome)) {
        scope.out.line(&format!("tmux: {NOTHING}"));
    }
    outcomes.verdict()
}

const NOTHING: &str = "there is nothing of ours";

fn give_back(scope: &Scope, choice: &Choice, agents: Vec<Agent>) -> Result<EditedAgents, Failure> {
    let tow = command_to_register()?;
    let archive = OriginalsArchive::new(scope.env.home.backups());
    let edit = |agent: Agent| {
        let folder = folder_of(agent)?;
        let target = agent.target(&folder, &tow).map_err(refused)?;
        let tools = tools::take_away(agent, &tow, &archive, choice.writing());
        // Before the settings: if we created their folder, it is removed with them and must be empty by then.
        let skills =
            skills::take_away(agent.skill_files(&folder, &tow).map_err(refused)?, &archive, choice.writing());
        let plan = match choice.writing() {
            Writing::Planned => target.preview_removal(&archive, RetryPace::USUAL).map_err(refused)?,
            Writing::Done => target.remove(&archive, RetryPace::USUAL).map_err(refused)?.plan,
        };
        Ok(Edited { skills, tools, ..Edited::of(plan) })
    };
    Ok(edit_all(agents, edit))
}

/// Whether to report on tmux: a user who never installed it there need not hear about it.
fn is_news(outcome: &Result<Outcome, Failure>) -> bool {
    outcome.as_ref().map_or(true, |Outcome { plans, servers, remarks, .. }| {
        !plans.is_empty() || !servers.is_empty() || !remarks.is_empty()
    })
}
