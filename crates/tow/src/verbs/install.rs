//! `tow install`: registers our hooks with the agents that are found.
//!
//! Chooses files and shows what happens to them; editing them is the agents crate's. Whom an agent trusts stays the
//! user's decision: it is only said what to press.

use crate::edge::{on_path, own_program, variable};
use crate::failure::Failure;
use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use towline_agents::Agent;
use towline_agents::settings::{Archive, Pace, Plan, Refusal, Target};

const EXAMPLES: &str = "\
Examples:
  tow install                   every agent that is found
  tow install --dry-run         show the changes as a diff, write nothing
  tow install --agent NAME      one agent, found or not

The files' original bytes are kept below the data folder; `tow uninstall` gives them back.";

/// Hook into the agents: register `tow hook` in their settings.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub choice: Choice,
}

/// Which agents, and whether anything is written.
#[derive(Debug, Args)]
pub struct Choice {
    /// Only this agent (may be given more than once).
    #[arg(long = "agent", value_name = "NAME")]
    agents: Vec<String>,
    /// Show what would change, change nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let tow = command_to_register()?;
    let archive = Archive::new(scope.edge.home.backups());
    let edit = |agent: Agent| {
        let folder = folder_of(agent)?;
        let target = agent.target(&folder, &tow).map_err(refused)?;
        let plan = match arguments.choice.dry_run {
            true => target.preview(Pace::USUAL).map_err(refused)?,
            false => target.apply(&archive, Pace::USUAL).map_err(refused)?.plan,
        };
        Ok(Edited { agent, plan, next: next_step(agent, &folder, &target) })
    };
    edit_all(scope, &arguments.choice, "hooks are registered already", edit)
}

/// What became of one agent's file.
pub struct Edited {
    pub agent: Agent,
    pub plan: Plan,
    pub next: Option<String>,
}

/// Edits one agent's file after the other: one that is refused does not keep the others from being done, nor hides that
/// they were.
pub fn edit_all(
    scope: &Scope,
    choice: &Choice,
    nothing: &str,
    edit: impl Fn(Agent) -> Result<Edited, Failure>,
) -> Result<ExitCode, Failure> {
    let outcomes: Vec<_> = chosen(choice)?.into_iter().map(|agent| (agent, edit(agent))).collect();
    report(scope, choice, &outcomes, nothing);
    let mut refused = outcomes.into_iter().filter_map(|(_, outcome)| outcome.err());
    refused.next().map_or(Ok(ExitCode::SUCCESS), Err)
}

/// The agents that were named, else all that are found.
pub fn chosen(choice: &Choice) -> Result<Vec<Agent>, Failure> {
    let known = || Agent::ALL.map(Agent::name).join(", ");
    let named = |name: &String| {
        Agent::named(name).ok_or_else(|| {
            Failure::input(format!("there is no agent `{name}`")).hint(format!("Known are: {}.", known()))
        })
    };
    if choice.agents.is_empty() {
        return Ok(Agent::ALL.into_iter().filter(|agent| is_found(*agent)).collect());
    }
    choice.agents.iter().map(named).collect()
}

/// An agent is here if its folder or its program is.
pub fn is_found(agent: Agent) -> bool {
    agent.folder(&variable).is_some_and(|folder| folder.is_dir()) || on_path(agent.name()).is_some()
}

pub fn folder_of(agent: Agent) -> Result<PathBuf, Failure> {
    agent
        .folder(&variable)
        .ok_or_else(|| Failure::input(format!("{} has no folder without HOME", agent.title())))
}

pub fn refused(refusal: Refusal) -> Failure {
    let hint = refusal.hint();
    Failure::new(&refusal).hint(hint)
}

/// The name on the PATH if it leads to this program, since it survives an upgrade; else this program itself.
pub fn command_to_register() -> Result<PathBuf, Failure> {
    let own = own_program().ok_or_else(|| Failure::input("this program does not know where it lies"))?;
    let same = |path: &PathBuf| path.canonicalize().ok() == own.canonicalize().ok();
    Ok(on_path("tow").filter(same).unwrap_or(own))
}

fn next_step(agent: Agent, folder: &Path, target: &Target) -> Option<String> {
    agent.wants_consent(folder, &target.inspect_file(Pace::USUAL).ok()?)
}

fn report(scope: &Scope, choice: &Choice, outcomes: &[(Agent, Result<Edited, Failure>)], nothing: &str) {
    if choice.json {
        let rows: Vec<_> = outcomes.iter().map(|(agent, outcome)| row(*agent, outcome)).collect();
        return scope.out.line(&serde_json::json!({"dry_run": choice.dry_run, "agents": rows}).to_string());
    }
    if outcomes.is_empty() {
        scope.out.line("no agent was found; name one with --agent");
    }
    for (agent, outcome) in outcomes {
        match outcome {
            Ok(edited) => report_one(scope, choice, edited, nothing),
            Err(_) => {
                scope.out.line(&format!("{}: {}", agent.title(), scope.out.tint(Tone::Bad, "not changed")))
            }
        }
    }
}

fn row(agent: Agent, outcome: &Result<Edited, Failure>) -> serde_json::Value {
    match outcome {
        Err(failure) => serde_json::json!({
            "agent": agent.name(), "changed": false, "error": failure.what, "because": failure.causes, "hints": failure.hints,
        }),
        Ok(edited) => serde_json::json!({
            "agent": agent.name(),
            "file": edited.plan.file,
            "changed": !edited.plan.is_empty(),
            "diff": edited.plan.diff(),
            "next": edited.next,
        }),
    }
}

fn report_one(scope: &Scope, choice: &Choice, edited: &Edited, nothing: &str) {
    let (title, file) = (edited.agent.title(), edited.plan.file.display());
    let done = match (&edited.plan.before, &edited.plan.after) {
        (None, Some(_)) => "made",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) | (None, None) => "changed",
    };
    match (edited.plan.is_empty(), choice.dry_run) {
        (true, _) => scope.out.line(&format!("{title}: {nothing} ({file})")),
        (false, true) => scope.out.text(&edited.plan.diff()),
        (false, false) => scope.out.line(&format!("{title}: {} {file}", scope.out.tint(Tone::Good, done))),
    }
    if let Some(next) = &edited.next {
        scope.out.line(&scope.out.tint(Tone::Warning, &format!("  next: {next}")));
    }
}
