//! `tow hub status`: shows the hub, our membership, shared projects, sync progress and errors.
//!
//! Shows local state even if the hub does not answer, and waits for it five seconds at most.

use super::common::without;
use crate::output::Tone;
use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;
use towline_core::escape::{escape_for_terminal, pad};
use towline_core::id::Uid;
use towline_engine::memory::remember::open;
use towline_engine::runtime::{Failure, calendar, settings};
use towline_engine::sync::{Agreement, Known, Link, NoLink, agreement, machine, model_here, waiting};
use towline_hub::{HubSchema, HubStatus};
use towline_store::archive::{SharedProject, WithdrawingProject};
use towline_store::{Archive, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow hub status
  tow hub status --json | jq '.projects[] | select(.behind > 0)'

Exits with 0 whether or not the hub answers: being without it is normal.";

/// Show the state of the hub and of shared projects.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// How long to wait for the hub.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let wanted = settings(&scope.env).hub.into_inner();
    if !wanted.is_joined() {
        let line = "this machine has joined no hub; `tow hub join URL --team TEAM` joins one";
        scope.out.say(arguments.json, &json!({"joined": false}), line);
        return Ok(());
    }
    let writing = open(&scope.env)?;
    let projects = writing.archive.shared_projects().map_err(failed)?;
    let known = Known::of(&writing.archive).map_err(failed)?;
    let leaving = writing.archive.leaving_projects().map_err(failed)?;
    let moved = projects.iter().map(|project| Moved::of(&writing.archive, project));
    let moved = moved.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    drop(writing);
    let far = far(scope, &projects);
    let queue = waiting(&scope.env)?;
    let (url, team) = (wanted.url, wanted.team);
    let report = HubReport { url, team, projects, moved, leaving, known, far, queue };
    if arguments.json {
        scope.out.json(&report.json());
    } else {
        report.print(scope);
    }
    Ok(())
}

fn failed(error: StoreError) -> Failure {
    Failure::about("could not read what is shared", &error).hint("Run `tow doctor`.")
}

/// Rows of a project that were sent and received, and changes still to be sent.
struct Moved {
    sent: u64,
    taken: u64,
    waiting: u64,
}

impl Moved {
    fn of(archive: &Archive, project: &SharedProject) -> Result<Moved, StoreError> {
        let (sent, taken) = archive.exchanged(project)?;
        Ok(Moved { sent, taken, waiting: archive.changes_waiting(project)? })
    }
}

/// The part of the report that comes from the hub.
struct Far {
    standing: HubStatus,
    person: String,
    /// Rows of each project that were not received yet.
    behind: Vec<(Uid, u64)>,
    meaning: Agreement,
}

fn far(scope: &Scope, projects: &[SharedProject]) -> Result<Far, NoLink> {
    let mut link = Link::open(&scope.env, &machine(&scope.env)?, PATIENCE)?;
    let standing = link.hub.server_status()?;
    let places: Vec<(Uid, u64)> = projects.iter().map(|project| (project.id, project.cursor)).collect();
    let behind = link.hub.lag(&link.membership, &places)?;
    let meaning = agreement(model_here(&scope.env).as_ref(), link.hub.embedding_support(&link.membership)?);
    Ok(Far { standing, person: link.membership.person.clone(), behind, meaning })
}

fn version(standing: &HubStatus) -> Option<u32> {
    match standing.schema {
        HubSchema::Open { version, .. } => Some(version),
        HubSchema::Absent | HubSchema::Closed => None,
    }
}

struct HubReport {
    url: String,
    team: String,
    projects: Vec<SharedProject>,
    /// In the order of `projects`.
    moved: Vec<Moved>,
    leaving: Vec<WithdrawingProject>,
    known: Known,
    far: Result<Far, NoLink>,
    queue: u64,
}

impl HubReport {
    fn json(&self) -> Value {
        let far = self.far.as_ref();
        let projects = self.projects.iter().zip(&self.moved);
        let projects = projects.map(|(project, moved)| self.project_json(project, moved));
        let trouble = self.known.trouble.as_ref().map(|trouble| {
            json!({
                "since": trouble.since().to_utc(), "what": trouble.what, "mend": trouble.mend,
                "failures": trouble.failures, "again": trouble.again().to_utc(),
            })
        });
        json!({
            "joined": true, "url": self.url, "team": self.team,
            "reachable": far.is_ok(),
            "error": far.err().map(NoLink::message),
            "person": far.ok().map(|far| &far.person),
            "machine": self.known.machine,
            "server": far.ok().map(|far| &far.standing.server),
            "schema": far.ok().and_then(|far| version(&far.standing)),
            "without": far.ok().map(|far| without(&far.standing)),
            "by_meaning": far.ok().map(|far| far.meaning == Agreement::Same),
            "synced_at": self.known.synced_at.map(|at| at.to_utc()),
            "queue": self.queue,
            "trouble": trouble,
            "projects": projects.collect::<Vec<_>>(),
            "leaving": self.leaving.iter().map(|project| json!({
                "project": project.name, "key": project.key, "since": project.since.to_utc(),
            })).collect::<Vec<_>>(),
        })
    }

    fn project_json(&self, project: &SharedProject, moved: &Moved) -> Value {
        json!({
            "project": project.name, "key": project.key, "extent": project.extent.name(),
            "since": project.since.to_utc(), "taken_up_to": project.cursor, "behind": self.behind(project),
            "sent": moved.sent, "taken": moved.taken, "waiting": moved.waiting,
        })
    }

    fn behind(&self, project: &SharedProject) -> Option<u64> {
        let far = self.far.as_ref().ok()?;
        far.behind.iter().find(|(id, _)| *id == project.id).map(|(_, rows)| *rows)
    }

    fn print(&self, scope: &Scope) {
        let out = &scope.out;
        let machine = self.known.machine.as_deref().unwrap_or("this machine");
        match &self.far {
            Ok(far) => {
                let version = version(&far.standing).unwrap_or(0);
                let line = format!("{} in {} on {machine}, hub version {version}", far.person, self.team);
                out.line(&format!("{} {}", out.tint(Tone::Good, "reachable:"), escape_for_terminal(&line)));
                without(&far.standing).iter().for_each(|name| out.line(&format!("without {name}")));
                if far.meaning == Agreement::Other {
                    out.line("no vectors are sent: the team's are of another model than this machine's (`tow hub model`)");
                }
            }
            Err(error) => {
                out.line(&out.tint(
                    Tone::Warning,
                    &format!("not reachable: {}", escape_for_terminal(&error.message())),
                ));
                error.remedy().iter().for_each(|mend| out.line(&escape_for_terminal(mend)));
            }
        }
        let synced = self.known.synced_at.map_or("never".to_owned(), |at| calendar::clock(at, scope.env.now));
        out.line(&format!("last exchange: {synced}; {} changes wait to be looked at", self.queue));
        if let Some(trouble) = &self.known.trouble {
            let [since, again] =
                [trouble.since(), trouble.again()].map(|at| calendar::clock(at, scope.env.now));
            out.line(&escape_for_terminal(&format!(
                "failing since {since}, tried again at {again}: {}",
                trouble.what
            )));
        }
        for project in &self.leaving {
            let name = escape_for_terminal(&project.name);
            out.line(&format!("{name} is being taken back; `tow hub sync` goes on with it"));
        }
        if self.projects.is_empty() {
            out.line("no project is shared; `tow hub share PROJECT` shares one");
        }
        for (project, Moved { sent, taken, waiting }) in self.projects.iter().zip(&self.moved) {
            let behind = self.behind(project).map_or(String::new(), |rows| format!(", {rows} rows behind"));
            let name = pad(&escape_for_terminal(&project.name), 24);
            let (extent, key) = (project.extent.name(), escape_for_terminal(&project.key));
            out.line(&format!(
                "{name} {extent} as {key}: {sent} rows sent, {taken} taken, {waiting} changes wait{behind}"
            ));
        }
    }
}
