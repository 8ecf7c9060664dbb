//! `tow hub share`: shares a project with the team, or with the user's other machines.
//!
//! Never shares any other project. The extent is chosen here, and changed by sharing again.

use super::common::PATIENCE;
use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_core::escape::escape_for_terminal;
use towline_core::project::same_remote;
use towline_engine::memory::remember::open;
use towline_engine::query::{Chosen, Past, ProjectScope, unreadable_data};
use towline_engine::runtime::{Failure, settings};
use towline_engine::sync::{Link, NoLink, machine};
use towline_hub::{HubProject, ProjectVisibility};
use towline_store::StoreError;
use towline_store::archive::{ProjectRow, ShareLevel, SharedProject, project_id};

const EXAMPLES: &str = "\
Examples:
  tow hub share .                        the project of this folder, with the whole team
  tow hub share app --with bob --with eve
  tow hub share notes --as team/notes    a project without a remote: everybody gives the same name
  tow hub share app --bodies             what was said in it, too
  tow hub share app --dry-run

Memories, summaries, lines of turns, bookmarks and work handed on go, those that are there and those to come; with --bodies what was
said, with --details what tools were given and gave, too. `tow hub private m12` keeps one memory here.";

/// Share a project.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// By name, or by a folder in it.
    #[arg(value_name = "PROJECT")]
    project: String,
    /// The project's key on every machine; its remote if not given.
    #[arg(long = "as", value_name = "KEY")]
    key: Option<String>,
    /// Only with these members.
    #[arg(long = "with", value_name = "NAME")]
    with: Vec<String>,
    /// Share messages, too.
    #[arg(long, conflicts_with = "details")]
    bodies: bool,
    /// Share messages, tool inputs and tool outputs, too.
    #[arg(long)]
    details: bool,
    /// Show what would be shared.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let project = known(scope, &arguments.project)?;
    let key = key_of(&project, arguments.key.as_deref())?;
    let extent = extent(scope, arguments);
    if arguments.dry_run {
        tell(scope, arguments, &project.name, &key, extent);
        return Ok(());
    }
    let mut link = Link::open(&scope.env, &machine(&scope.env)?, PATIENCE)?;
    let reach = if arguments.with.is_empty() { ProjectVisibility::Team } else { ProjectVisibility::Chosen };
    let wanted = HubProject { id: project_id(&key), key: key.clone(), name: project.name.clone(), reach };
    link.hub.share(&link.membership, &wanted).map_err(NoLink::from)?;
    for member in &arguments.with {
        link.hub.allow(&link.membership, wanted.id, member).map_err(NoLink::from)?;
    }
    let writing = open(&scope.env)?;
    writing.archive.share_project(project.row, &key, extent, scope.env.now).map_err(failed)?;
    drop(writing);
    towline_engine::runtime::spawn::start_detached(&scope.env);
    tell(scope, arguments, &project.name, &key, extent);
    Ok(())
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not note what is shared", &error).hint("Run `tow doctor`.")
}

fn tell(scope: &Scope, arguments: &Arguments, name: &str, key: &str, extent: ShareLevel) {
    let all = json!({
        "project": name, "key": key, "extent": extent.name(), "with": arguments.with, "dry_run": arguments.dry_run,
    });
    let with = match arguments.with.as_slice() {
        [] => "the whole team".to_owned(),
        names => names.join(", "),
    };
    let verb = if arguments.dry_run { "would be shared" } else { "is shared" };
    let line = format!("{name} {verb} as {key} with {with}: {}", extent.name());
    scope.out.say(arguments.json, &all, &escape_for_terminal(&line));
}

fn extent(scope: &Scope, arguments: &Arguments) -> ShareLevel {
    match (arguments.bodies, arguments.details) {
        (_, true) => ShareLevel::Details,
        (true, false) => ShareLevel::Bodies,
        (false, false) => ShareLevel::named(&settings(&scope.env).hub.extent).unwrap_or(ShareLevel::Lines),
    }
}

/// The captured project with this name or folder.
pub fn known(scope: &Scope, name: &str) -> Result<ProjectRow, Failure> {
    let nothing = || {
        Failure::input(format!("nothing was captured of the project `{}`", escape_for_terminal(name)))
            .hint("Run `tow session list --all-projects` to see which there are, or `tow data import`.")
    };
    let past = Past::open(&scope.env, &ProjectScope::of(Some(name.to_owned())))?.ok_or_else(nothing)?;
    let Chosen::Known { row, .. } = past.project else { return Err(nothing()) };
    let rows = past.archive.project_rows().map_err(unreadable_data)?;
    rows.into_iter().find(|project| project.row == row).ok_or_else(nothing)
}

/// The key that identifies the project on every machine.
fn key_of(project: &ProjectRow, given: Option<&str>) -> Result<String, Failure> {
    let given = given.map(str::trim).filter(|key| !key.is_empty());
    if let Some(key) = given {
        return Ok(same_remote(key).unwrap_or_else(|| key.to_owned()));
    }
    project.remote.clone().ok_or_else(|| {
        let name = escape_for_terminal(&project.name);
        Failure::input(format!("{name} has no remote by which another machine could know it"))
            .hint(format!("Run `tow hub share {name} --as NAME`, with the same NAME on every machine."))
    })
}

/// The shared project with this name, key or folder.
pub fn shared(scope: &Scope, called: &str) -> Result<SharedProject, Failure> {
    let writing = open(&scope.env)?;
    let all = writing.archive.shared_projects().map_err(failed)?;
    drop(writing);
    let by_name =
        |project: &&SharedProject| project.key == called || project.name.eq_ignore_ascii_case(called);
    if let Some(found) = all.iter().find(by_name) {
        return Ok(found.clone());
    }
    let row = known(scope, called)?.row;
    all.into_iter().find(|project| project.row == row).ok_or_else(|| {
        Failure::input(format!("`{}` is not shared", escape_for_terminal(called)))
            .hint("Run `tow hub status`.")
    })
}
