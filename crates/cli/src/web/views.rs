//! HTTP operations that no single verb answers: a session with its relations, projects, faults, figures.
//!
//! Only reads. Asks a verb where one exists; rows have the format that the verbs print.

use super::command::{VerbCommand, refusal};
use super::reads::show;
use crate::output::Output;
use crate::scope::Scope;
use crate::verbs::show::summary_row;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use towline_core::id::SessionKey;
use towline_core::memory::number;
use towline_engine::ingest::live;
use towline_engine::query::{memory_json, unreadable};
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::Failure;
use towline_server::http::{Answer, Given, Refusal, Status};
use towline_store::archive::{Conversation, ProjectCounts};
use towline_store::{Archive, DataFolder, FaultRow, Inheritance, InheritanceFilter, Store, StoreError};

/// How long a read waits for a database lock.
const PATIENCE: Duration = Duration::from_millis(500);

/// Limit of inheritance steps that are followed.
const MOST_STEPS: u32 = 100;

/// A session as in `tow show`, with bookmarks, predecessors, successors, and its context size over time.
pub fn session(given: &Given) -> Result<Answer, Refusal> {
    let mut shown = show(given.text("id").unwrap_or_default()).value_of_one()?;
    if shown["kind"] != "session" {
        return Err(
            Refusal::new(Status::NotFound, "that is no session").next("Run `tow sessions --all-projects`.")
        );
    }
    let key = shown["session"]["session"].as_str().unwrap_or_default().to_owned();
    let bookmarks = VerbCommand::new(&["bookmarks"])
        .of_project(None)
        .with("--session", Some(&key))
        .with("--limit", Some(200));
    // An imported session has no events, hence no bookmarks.
    shown["bookmarks"] = bookmarks.value().map_or_else(|_| json!([]), |mut found| found["bookmarks"].take());
    if let Ok(key) = SessionKey::parse(&key) {
        let env = env()?;
        shown["inheritance"] =
            inheritance(&env, &key).map_err(|failure| refusal(failure, Status::NotFound))?;
        shown["context"] = context(&env, &key).map_err(unread)?;
    }
    Ok(Answer::Json(shown.to_string()))
}

/// The inheritance links of the session's chain: from, to, and way.
fn inheritance(env: &Env, key: &SessionKey) -> Result<Value, Failure> {
    let scope = Scope { env: env.later(), out: Output::kept() };
    let Some(store) = live::store(&scope.env)? else { return Ok(json!({"from": [], "to": []})) };
    let (mut from, mut to) = (vec![], vec![]);
    let (mut wanted, mut met) = (vec![key.clone()], vec![key.clone()]);
    while let Some(one) = wanted.pop().filter(|_| met.len() < MOST_STEPS as usize) {
        let asked =
            InheritanceFilter { session: Some(&one), limit: MOST_STEPS, ..InheritanceFilter::default() };
        for env in store.inheritances(&asked).map_err(unreadable)? {
            let Some(other) = other_end(&env, &one).filter(|other| !met.contains(other)) else { continue };
            let is_earlier = env.heir == one;
            met.push(other.clone());
            wanted.push(other);
            if is_earlier { from.push(edge_json(&env)) } else { to.push(edge_json(&env)) }
        }
    }
    Ok(json!({"from": from, "to": to}))
}

fn other_end(env: &Inheritance, one: &SessionKey) -> Option<SessionKey> {
    let from = env.from.clone()?;
    Some(if env.heir == *one { from } else { env.heir.clone() })
}

fn edge_json(env: &Inheritance) -> Value {
    json!({
        "from": env.from, "to": env.heir, "way": env.way.name(), "reason": env.reason,
        "at": env.decided_at.to_utc(), "given": env.given_at.is_some(),
    })
}

fn context(env: &Env, key: &SessionKey) -> Result<Value, StoreError> {
    let Some(archive) = Archive::read(&env.home, PATIENCE)? else { return Ok(json!([])) };
    let Some(of) = archive.conversation(key)? else { return Ok(json!([])) };
    let hot = Store::read(&env.home, PATIENCE)?.map(|store| store.session(key)).transpose()?.flatten();
    let window = hot.and_then(|session| session.meter.last).map(|(fill, _)| fill.window);
    let points = archive.context_points(&of)?;
    let rows = points.iter().map(|point| {
        json!({"at": point.at.to_utc(), "turn": point.turn, "tokens": point.tokens, "window": window})
    });
    Ok(rows.collect())
}

/// The memories that exist, in the order requested.
pub fn memories(ids: &[&str]) -> Result<Answer, Refusal> {
    let Some(archive) = archive()? else { return Ok(listed(vec![])) };
    let mut rows = vec![];
    for number in ids.iter().filter_map(|id| number(id)) {
        rows.extend(archive.memory(number).map_err(unread)?.as_ref().map(memory_json));
    }
    Ok(listed(rows))
}

pub fn summaries(given: &Given) -> Result<Answer, Refusal> {
    let most = u32::try_from(given.number("limit").unwrap_or(50)).unwrap_or(50);
    let Some(archive) = archive()? else { return Ok(listed(vec![])) };
    let project = given.text("project").map(|name| named(&archive, name)).transpose()?;
    let found = archive.latest_summaries(project, most).map_err(unread)?;
    let row = |kept: &towline_store::archive::KeptSummary| -> Result<Value, Refusal> {
        let of: Option<Conversation> = archive.conversation(&kept.session).map_err(unread)?;
        let mut row = summary_row(kept);
        row["session"] = json!(kept.session);
        row["id"] = json!(of.as_ref().map(|of| &of.short));
        row["project"] = json!(of.as_ref().and_then(|of| of.project.as_ref()));
        Ok(row)
    };
    Ok(listed(found.iter().map(row).collect::<Result<_, _>>()?))
}

fn named(archive: &Archive, name: &str) -> Result<i64, Refusal> {
    let known = archive.project_rows().map_err(unread)?;
    let is_meant = |root: &str| Path::new(root) == Path::new(name);
    if let Some(project) = known.iter().find(|project| is_meant(&project.root)) {
        return Ok(project.row);
    }
    let chosen =
        towline_engine::query::called(known, name).map_err(|failure| refusal(failure, Status::BadRequest))?;
    chosen.row().ok_or_else(|| Refusal::new(Status::BadRequest, "that is no project"))
}

/// Faults in the database, after those that are still only in the journal.
pub fn faults() -> Result<Answer, Refusal> {
    let Some(store) = Store::read(&env()?.home, PATIENCE).map_err(unread)? else {
        return Ok(listed(vec![]));
    };
    let waiting = store.unfolded_faults().map_err(unread)?;
    let waiting = waiting.iter().map(|fault| {
        let at = fault.at.to_utc();
        json!({"kind": fault.kind.name(), "detail": fault.detail, "count": 1, "first_at": at, "last_at": at})
    });
    let known = store.faults().map_err(unread)?;
    Ok(listed(waiting.rev().chain(known.iter().map(fault_json)).collect()))
}

fn fault_json(fault: &FaultRow) -> Value {
    json!({
        "kind": fault.kind.name(), "detail": fault.detail, "count": fault.count,
        "first_at": fault.first_at.to_utc(), "last_at": fault.last_at.to_utc(),
    })
}

pub fn projects() -> Result<Answer, Refusal> {
    let Some(archive) = archive()? else { return Ok(listed(vec![])) };
    let row = |project: &ProjectCounts| {
        json!({
            "name": project.name, "root": project.root, "remote": project.remote, "sessions": project.sessions,
            "memories": project.memories, "last_at": project.last_at.map(|at| at.to_utc()),
        })
    };
    Ok(listed(archive.project_figures().map_err(unread)?.iter().map(row).collect()))
}

pub fn stats() -> Result<Answer, Refusal> {
    let home = env()?.home;
    let counts = archive()?.map(|archive| archive.counts()).transpose().map_err(unread)?;
    let counts = counts.map(|counts| {
        json!({
            "projects": counts.projects, "sessions": counts.sessions, "turns": counts.turns,
            "details": counts.details, "memories": counts.memories, "pinned": counts.pinned,
            "summaries": counts.summaries,
        })
    });
    let stats = json!({"counts": counts, "bytes": sizes(&home), "folder": home.folder()});
    Ok(Answer::Json(stats.to_string()))
}

fn sizes(home: &DataFolder) -> Value {
    let of = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    let inside = |folder: &Path| -> u64 {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.map(|file| of(&file.path())).sum()
    };
    json!({
        "database": of(&home.database()) + of(&home.write_ahead_log()),
        "archive": of(&home.archive()) + of(&home.archive_log()),
        "journal": inside(&home.journal()), "index": inside(&home.folder().join("index")),
        "vectors": inside(&home.folder().join("vectors")),
    })
}

fn listed(rows: Vec<Value>) -> Answer {
    Answer::Json(json!({"items": rows, "next": null}).to_string())
}

fn archive() -> Result<Option<Archive>, Refusal> {
    let archive = Archive::read(&env()?.home, PATIENCE).map_err(unread)?;
    // An archive last written by an older version has no memory tables: the next writer migrates it.
    Ok(archive.filter(|archive| archive.remembers().unwrap_or(false)))
}

fn env() -> Result<Env, Refusal> {
    Env::new().ok_or_else(|| Refusal::new(Status::Unavailable, "there is no home folder any more"))
}

fn unread(error: StoreError) -> Refusal {
    refusal(unreadable(error), Status::NotFound)
}
