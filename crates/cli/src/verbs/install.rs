//! `tow install`: registers hooks, skills and tools with the agents found, and the bar in tmux on request.
//!
//! Chooses files and reports changes; the agents crate edits them. It never makes an agent trust our hooks:
//! it only tells the user how to.

use super::managed::{Change, ManagedEdit, OptionalEdits, refused};
use crate::output::{Tone, complain};
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use towline_agents::Agent;
use towline_agents::settings::{EditPlan, OriginalsArchive, RetryPace, Target, TaskStart};
use towline_engine::memory::gotchas;
use towline_engine::runtime::env::{find_in_path, own_program};
use towline_engine::runtime::{Config, Failure, settings, variable};
use towline_engine::status::tmux::conf::{self, Outcome, Writing};

const EXAMPLES: &str = "\
Examples:
  tow install                   every agent that is found
  tow install --tmux            every agent that is found, and the bar in tmux
  tow install --statusline      the same, and the status line: context, project and branch behind your own
  tow install --vscode          nothing but a task for `tow monitor` in .vscode/tasks.json of this folder
  tow install --no-mcp          without the tools by which models ask for memories
  tow install --dry-run         show the changes as a diff, write nothing
  tow install --agent NAME      one agent, found or not

It registers `tow hook` and `tow mcp`, and adds the skills `tow`, `tow-detail`, `tow-memory`, `tow-status` and
`tow-trim`. The files' original bytes are kept below the data folder; `tow uninstall` gives them back.";

/// Hook into your agents: events, skills and tools.
#[derive(Debug, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub choice: Choice,
    /// Also load Towline from tmux.conf: the bar, the menu's key, and tracking of panes you have seen.
    #[arg(long)]
    tmux: bool,
    /// The menu's key that `tow setup` agreed on with the user.
    #[arg(skip)]
    tmux_key: Option<String>,
    /// Also draw the status line of agents that have one, next to yours, and read exact numbers from it.
    #[arg(long)]
    statusline: bool,
    /// Add a task for `tow monitor` to .vscode/tasks.json of this folder; install the rest only if named.
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, default_missing_value = ".")]
    vscode: Option<PathBuf>,
    /// Let VS Code run that task whenever it opens the folder; it asks you once.
    #[arg(long, requires = "vscode")]
    on_open: bool,
    /// Do not offer models the tools of `tow mcp`.
    #[arg(long)]
    no_mcp: bool,
}

impl Arguments {
    /// Every agent that is found, and tmux if its menu is to have a key.
    pub fn everything(choice: Choice, tmux_key: Option<String>) -> Arguments {
        Arguments { choice, tmux: tmux_key.is_some(), tmux_key, ..Arguments::default() }
    }
}

/// Which agents, and whether anything is written.
#[derive(Debug, Default, Args)]
pub struct Choice {
    /// Only this agent (may be given more than once).
    #[arg(long = "agent", value_name = "NAME")]
    pub agents: Vec<String>,
    /// Show what would change, change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

pub const NO_AGENT: &str = "no agent was found; once you have one, run `tow setup`, or name it with --agent";

impl Choice {
    pub fn writing(&self) -> Writing {
        if self.dry_run { Writing::Planned } else { Writing::Done }
    }

    pub fn edit<'a>(&self, scope: &Scope, tow: &'a Path, change: Change) -> ManagedEdit<'a> {
        let archive = OriginalsArchive::new(scope.env.home.backups());
        ManagedEdit { change, writing: self.writing(), tow, archive }
    }
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let tow = command_to_register()?;
    let choice = &arguments.choice;
    let edit = choice.edit(scope, &tow, Change::Add);
    let config = settings(&scope.env);
    let is_task_alone = arguments.vscode.is_some() && choice.agents.is_empty();
    let agents = if is_task_alone { vec![] } else { chosen(choice)? };
    let mut outcomes = Outcomes {
        agents: edit_all(agents, |agent| hook_in(agent, arguments, &config, &edit)),
        tmux: None,
        task: None,
    };
    if arguments.tmux {
        outcomes.tmux =
            Some(conf::install(&scope.env, &tow, arguments.tmux_key.as_deref(), choice.writing()));
    }
    let start = if arguments.on_open { TaskStart::FolderOpen } else { TaskStart::ByHand };
    outcomes.task = arguments.vscode.as_ref().map(|folder| edit.editor_task(folder, start));
    if outcomes.agents.is_empty() && !is_task_alone && !choice.json {
        scope.out.line(NO_AGENT);
    }
    let nothing = if is_task_alone { "the task is there already" } else { "hooks are registered already" };
    outcomes.report(scope, choice, nothing);
    if !arguments.tmux && !is_task_alone && !choice.json && conf::is_worth_a_hint() {
        scope.out.line(&scope.out.tint(
            Tone::Faint,
            "tmux: `tow setup`, or `tow install --tmux`, puts the bar into its status line",
        ));
    }
    outcomes.verdict()
}

fn hook_in(
    agent: Agent,
    arguments: &Arguments,
    config: &Config,
    edit: &ManagedEdit<'_>,
) -> Result<Edited, Failure> {
    let folder = folder_of(agent)?;
    let target = gotchas::target(config, agent, &folder, edit.tow).map_err(refused)?;
    let target = if arguments.statusline { target.installing_status_line() } else { target };
    if let Some(plugin) = agent.enabled_plugin(&folder) {
        return beside_plugin(agent, target, plugin, edit);
    }
    let plan = edit.edit(&target, RetryPace::USUAL).map_err(refused)?;
    let skills = edit.skills(agent.skill_files(&folder, edit.tow).map_err(refused)?);
    let tools = (!arguments.no_mcp).then(|| edit.mcp_server(agent));
    let inspected = target.inspect_file(RetryPace::USUAL).ok();
    let next = inspected.and_then(|inspected| agent.consent_hint(&folder, &inspected));
    Ok(Edited { skills, tools: tools.unwrap_or_default(), next, ..Edited::of(plan) })
}

/// Registers nothing that the plugin provides. Entries already in the settings are updated and reported.
fn beside_plugin(
    agent: Agent,
    target: Target,
    plugin: String,
    edit: &ManagedEdit<'_>,
) -> Result<Edited, Failure> {
    let found = target.inspect_file(RetryPace::USUAL).map_err(refused)?;
    let is_twice = !found.right.is_empty() || !found.stale.is_empty();
    let plan = edit.edit(&target.only_existing_events(&found), RetryPace::USUAL).map_err(refused)?;
    let next = if is_twice {
        Some(format!("the hooks in the settings are a second set: tow uninstall --agent {}", agent.name()))
    } else {
        agent.plugin_wants_consent(&folder_of(agent)?, &plugin)
    };
    Ok(Edited { plugin: Some(plugin), next, ..Edited::of(plan) })
}

/// The changes to one agent's files.
pub struct Edited {
    pub plan: EditPlan,
    pub skills: OptionalEdits,
    /// The MCP server.
    pub tools: OptionalEdits,
    /// Our plugin, if enabled: it provides everything, so nothing is registered beside it.
    pub plugin: Option<String>,
    pub next: Option<String>,
}

impl Edited {
    pub fn of(plan: EditPlan) -> Edited {
        let none = OptionalEdits::default;
        Edited { plan, skills: none(), tools: none(), plugin: None, next: None }
    }

    /// Files that were left alone, and why.
    fn remarks(&self) -> impl Iterator<Item = &String> {
        self.skills.remarks.iter().chain(&self.tools.remarks)
    }
}

pub type EditedAgents = Vec<(Agent, Result<Edited, Failure>)>;

/// The results for all agents, tmux and the editor.
pub struct Outcomes {
    pub agents: EditedAgents,
    /// `None` if tmux was not requested.
    pub tmux: Option<Result<Outcome, Failure>>,
    /// The editor's task; `None` if not requested.
    pub task: Option<Result<EditPlan, Failure>>,
}

/// Edits the agents' files one by one. A refused edit neither stops the others nor hides their results.
pub fn edit_all(agents: Vec<Agent>, edit: impl Fn(Agent) -> Result<Edited, Failure>) -> EditedAgents {
    agents.into_iter().map(|agent| (agent, edit(agent))).collect()
}

/// The agents named by `--agent`, else all that are found.
pub fn chosen(choice: &Choice) -> Result<Vec<Agent>, Failure> {
    let known = || Agent::ALL.map(Agent::name).join(", ");
    let named = |name: &String| {
        Agent::from_name(name).ok_or_else(|| {
            Failure::input(format!("there is no agent `{name}`")).hint(format!("Known are: {}.", known()))
        })
    };
    if choice.agents.is_empty() {
        return Ok(Agent::ALL.into_iter().filter(|agent| is_found(*agent)).collect());
    }
    choice.agents.iter().map(named).collect()
}

/// Whether the agent's folder or its program exists.
pub fn is_found(agent: Agent) -> bool {
    agent.folder(&variable).is_some_and(|folder| folder.is_dir()) || has_program(agent)
}

pub fn has_program(agent: Agent) -> bool {
    find_in_path(agent.name()).is_some()
}

pub fn folder_of(agent: Agent) -> Result<PathBuf, Failure> {
    agent
        .folder(&variable)
        .ok_or_else(|| Failure::input(format!("{} has no folder without HOME", agent.title())))
}

/// `tow` on the PATH if it is this program, because that path survives an upgrade; else our own path.
pub fn command_to_register() -> Result<PathBuf, Failure> {
    let own = own_program().ok_or_else(|| Failure::input("this program does not know where it lies"))?;
    let same = |path: &PathBuf| path.canonicalize().ok() == own.canonicalize().ok();
    Ok(find_in_path("tow").filter(same).unwrap_or(own))
}

impl Outcomes {
    /// Fails with the first refused edit.
    pub fn verdict(self) -> Result<(), Failure> {
        let agents = self.agents.into_iter().filter_map(|(_, outcome)| outcome.err());
        let mut refused =
            agents.chain(self.tmux.and_then(Result::err)).chain(self.task.and_then(Result::err));
        refused.next().map_or(Ok(()), Err)
    }

    pub fn report(&self, scope: &Scope, choice: &Choice, nothing: &str) {
        if choice.json {
            let agents: Vec<_> = self.agents.iter().map(|(agent, outcome)| row(*agent, outcome)).collect();
            let mut report = json!({"dry_run": choice.dry_run, "agents": agents});
            if let Some(outcome) = &self.tmux {
                report["tmux"] = tmux_row(outcome);
            }
            if let Some(outcome) = &self.task {
                report["vscode"] = outcome.as_ref().map_or_else(failure_row, plan_row);
            }
            return scope.out.json(&report);
        }
        for (agent, outcome) in &self.agents {
            match outcome {
                Ok(edited) => tell_edited(scope, choice, agent.title(), nothing, edited),
                Err(_) => tell_refused(scope, agent.title()),
            }
        }
        match &self.tmux {
            Some(Ok(outcome)) => tell_tmux(scope, choice, outcome),
            Some(Err(_)) => tell_refused(scope, "tmux"),
            None => {}
        }
        match &self.task {
            Some(Ok(plan)) => tell_plan(scope, choice, "VS Code", nothing, plan),
            Some(Err(_)) => tell_refused(scope, "VS Code"),
            None => {}
        }
    }
}

fn row(agent: Agent, outcome: &Result<Edited, Failure>) -> Value {
    match outcome {
        Err(failure) => {
            let mut row = failure_row(failure);
            row["agent"] = agent.name().into();
            row["changed"] = false.into();
            row
        }
        Ok(edited) => {
            let mut row = plan_row(&edited.plan);
            row["agent"] = agent.name().into();
            row["next"] = edited.next.clone().into();
            row["skills"] = edited.skills.plans.iter().map(plan_row).collect();
            row["mcp"] = edited.tools.plans.first().map(plan_row).into();
            row["plugin"] = edited.plugin.clone().into();
            row["remarks"] = edited.remarks().cloned().collect();
            row
        }
    }
}

fn tmux_row(outcome: &Result<Outcome, Failure>) -> Value {
    match outcome {
        Err(failure) => failure_row(failure),
        Ok(Outcome { plans, servers, remarks, next }) => json!({
            "files": plans.iter().map(plan_row).collect::<Vec<_>>(),
            "servers": servers,
            "remarks": remarks,
            "next": next,
        }),
    }
}

fn failure_row(failure: &Failure) -> Value {
    json!({"error": failure.what, "because": failure.causes, "hints": failure.hints})
}

fn plan_row(plan: &EditPlan) -> Value {
    json!({"file": plan.file, "changed": !plan.is_empty(), "diff": plan.diff()})
}

fn tell_plan(scope: &Scope, choice: &Choice, title: &str, nothing: &str, plan: &EditPlan) {
    let file = plan.file.display();
    let done = match (&plan.before, &plan.after) {
        (None, Some(_)) => "made",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) | (None, None) => "changed",
    };
    match (plan.is_empty(), choice.writing()) {
        (true, _) => scope.out.line(&format!("{title}: {nothing} ({file})")),
        (false, Writing::Planned) => scope.out.text(&plan.diff()),
        (false, Writing::Done) => {
            scope.out.line(&format!("{title}: {} {file}", scope.out.tint(Tone::Good, done)));
        }
    }
}

/// Skills and tools that did not change are not mentioned.
fn tell_edited(scope: &Scope, choice: &Choice, title: &str, nothing: &str, edited: &Edited) {
    match &edited.plugin {
        Some(plugin) if edited.plan.is_empty() => scope.out.line(&format!(
            "{title}: the plugin {plugin} is switched on and brings everything: nothing was registered beside it"
        )),
        Some(_) | None => tell_plan(scope, choice, title, nothing, &edited.plan),
    }
    for plan in edited.skills.plans.iter().chain(&edited.tools.plans).filter(|plan| !plan.is_empty()) {
        tell_plan(scope, choice, title, "", plan);
    }
    for remark in edited.remarks() {
        complain(&format!("warning: {remark}\n"));
    }
    tell_next(scope, edited.next.as_deref());
}

fn tell_tmux(scope: &Scope, choice: &Choice, outcome: &Outcome) {
    for plan in &outcome.plans {
        tell_plan(scope, choice, "tmux", "the bar is loaded already", plan);
    }
    for socket in &outcome.servers {
        let server = match choice.writing() {
            Writing::Planned => "would be changed:",
            Writing::Done => "changed",
        };
        scope.out.line(&format!("tmux: {} the server on {socket}", scope.out.tint(Tone::Good, server)));
    }
    for remark in &outcome.remarks {
        complain(&format!("warning: {remark}\n"));
    }
    tell_next(scope, outcome.next.as_deref());
}

fn tell_next(scope: &Scope, next: Option<&str>) {
    if let Some(next) = next {
        scope.out.line(&scope.out.tint(Tone::Warning, &format!("  next: {next}")));
    }
}

fn tell_refused(scope: &Scope, title: &str) {
    scope.out.line(&format!("{title}: {}", scope.out.tint(Tone::Bad, "not changed")));
}
