//! `tow hub members`: lists and changes the team's members and their access to projects.
//!
//! Checks no permissions itself: the hub decides what this login may change.

use super::common::PATIENCE;
use crate::output::Tone;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use towline_core::escape::{escape_for_terminal, pad};
use towline_engine::runtime::{Failure, calendar};
use towline_engine::sync::{Link, NoLink, machine};
use towline_hub::{HubProject, Member, MemberRole};

const EXAMPLES: &str = "\
Examples:
  tow hub members
  tow hub members add bob --role bob_login            a login that the database has: CREATE ROLE bob_login LOGIN …
  tow hub members add eve --role eve_login --admin    may add and revoke others, too
  tow hub members revoke bob                          reads and writes nothing from now on
  tow hub members allow bob app                       a project that was not shared with all
  tow hub members disallow bob app";

/// Show and change who belongs to the team.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<MembersAction>,
    /// Print one JSON object.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum MembersAction {
    /// Add a person, by the login that the database knows them by.
    Add {
        name: String,
        #[arg(long)]
        role: String,
        /// May add and revoke others.
        #[arg(long)]
        admin: bool,
    },
    /// Remove a person from the team.
    Revoke { name: String },
    /// Let a person see a project that is not shared with all.
    Allow { name: String, project: String },
    /// Stop a person from seeing such a project.
    Disallow { name: String, project: String },
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let mut link = Link::open(&scope.env, &machine(&scope.env)?, PATIENCE)?;
    let said = match &arguments.action {
        None => return list(scope, arguments, &mut link),
        Some(MembersAction::Add { name, role, admin }) => {
            let rights = if *admin { MemberRole::Admin } else { MemberRole::Member };
            link.hub.add_member(&link.membership, name, role, rights).map_err(NoLink::from)?;
            format!("{name} belongs to the team, as {role}")
        }
        Some(MembersAction::Revoke { name }) => {
            link.hub.revoke_member(&link.membership, name).map_err(NoLink::from)?;
            format!("{name} no longer belongs to the team; what they shared stays")
        }
        Some(MembersAction::Allow { name, project }) => {
            let of = hub_project(&mut link, project)?;
            link.hub.allow(&link.membership, of.id, name).map_err(NoLink::from)?;
            format!("{name} may see {}", of.name)
        }
        Some(MembersAction::Disallow { name, project }) => {
            let of = hub_project(&mut link, project)?;
            link.hub.disallow(&link.membership, of.id, name).map_err(NoLink::from)?;
            format!("{name} may no longer see {}", of.name)
        }
    };
    if arguments.json {
        return list(scope, arguments, &mut link);
    }
    scope.out.line(&escape_for_terminal(&said));
    Ok(())
}

fn list(scope: &Scope, arguments: &Arguments, link: &mut Link) -> Result<(), Failure> {
    let members = link.hub.members(&link.membership).map_err(NoLink::from)?;
    if arguments.json {
        let all: Vec<Value> = members.iter().map(as_json).collect();
        scope.out.json(&json!({"team": link.wanted.team, "members": all}));
        return Ok(());
    }
    for member in &members {
        let [name, role] = [(&member.name, 20), (&member.role, 24)]
            .map(|(text, wide)| pad(&escape_for_terminal(text), wide));
        let machines = escape_for_terminal(&member.machines.join(", "));
        let line = format!("{name} {role} {} {machines}", pad(rights(member), 14)).trim_end().to_owned();
        match member.revoked_at {
            None => scope.out.line(&line),
            Some(at) => {
                let when = calendar::clock(at, scope.env.now);
                scope.out.line(&scope.out.tint(Tone::Faint, &format!("{line}, revoked {when}")));
            }
        }
    }
    Ok(())
}

fn rights(member: &Member) -> &'static str {
    match member.rights {
        MemberRole::Admin => "administrator",
        MemberRole::Member => "member",
    }
}

fn as_json(member: &Member) -> Value {
    json!({
        "name": member.name, "role": member.role, "admin": member.rights == MemberRole::Admin,
        "machines": member.machines, "revoked_at": member.revoked_at.map(|at| at.to_utc()),
    })
}

/// The team's project with this key or name. A name that two projects share is an error that lists their keys.
fn hub_project(link: &mut Link, called: &str) -> Result<HubProject, Failure> {
    let all = link.hub.projects(&link.membership).map_err(NoLink::from)?;
    let fits = |project: &HubProject| project.key == called || project.name.eq_ignore_ascii_case(called);
    let mut found: Vec<HubProject> = all.into_iter().filter(fits).collect();
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Failure::input(format!("the team shares no project `{}`", escape_for_terminal(called)))
            .hint("Run `tow hub status` to see which there are.")),
        _ => {
            let keys: Vec<String> = found.iter().map(|project| escape_for_terminal(&project.key)).collect();
            Err(Failure::input(format!("several projects are called `{}`", escape_for_terminal(called)))
                .hint(format!("Give one of their keys: {}.", keys.join(", "))))
        }
    }
}
