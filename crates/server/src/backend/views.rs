//! HTTP operations that no command answers: a session with its relations, projects, faults, figures.
//!
//! Only reads. Rows have the format that the commands print.

use super::reads::show;
use super::refusal::{bad_request, env, not_found};
use crate::http::{Answer, Given, Refusal, Status};
use serde_json::{Value, json};
use towline_core::id::SessionKey;
use towline_engine::query::overview::{self, FaultRow, Inheritance, ProjectCounts};
use towline_engine::query::{BookmarksRequest, Shown, bookmarks};
use towline_engine::runtime::env::Env;
use towline_render::{bookmarks_json, memory_json, show_json, summary_json};

/// A session as in `tow show`, with bookmarks, predecessors, successors, and its context size over time.
pub fn session(given: &Given) -> Result<Answer, Refusal> {
    let shown = show(given.text("id").unwrap_or_default())?;
    let [Shown::Session(session)] = shown.as_slice() else {
        return Err(Refusal::new(Status::NotFound, "that is no session")
            .next("Run `tow session list --all-projects`."));
    };
    let (env, key) = (env()?, &session.of.session);
    let (mut row, name) = (show_json(&shown), key.to_string());
    let request = BookmarksRequest {
        session: Some(&name),
        project: None,
        all_projects: true,
        search: None,
        with_deleted: false,
        limit: 200,
    };
    // An imported session has no events, hence no bookmarks.
    let list = bookmarks(&env, &request);
    row["bookmarks"] = list.map_or_else(|_| json!([]), |list| bookmarks_json(&list)["bookmarks"].take());
    let chain = overview::inheritance(&env, key).map_err(not_found)?;
    let links = |links: &[Inheritance]| links.iter().map(link_json).collect::<Vec<_>>();
    row["inheritance"] = json!({"from": links(&chain.from), "to": links(&chain.to)});
    row["context"] = context(&env, key)?;
    Ok(Answer::Json(row.to_string()))
}

fn link_json(link: &Inheritance) -> Value {
    json!({
        "from": link.from, "to": link.heir, "way": link.way.name(), "reason": link.reason,
        "at": link.decided_at.to_utc(), "given": link.given_at.is_some(),
    })
}

fn context(env: &Env, key: &SessionKey) -> Result<Value, Refusal> {
    let (points, window) = overview::context_sizes(env, key).map_err(not_found)?;
    let rows = points.iter().map(|point| {
        json!({"at": point.at.to_utc(), "turn": point.turn, "tokens": point.tokens, "window": window})
    });
    Ok(rows.collect())
}

/// The memories that exist, in the order requested.
pub fn memories(ids: &[&str]) -> Result<Answer, Refusal> {
    Ok(listed(memory_rows(ids)?))
}

pub fn memory_rows(ids: &[&str]) -> Result<Vec<Value>, Refusal> {
    Ok(overview::memories(&env()?, ids).map_err(not_found)?.iter().map(memory_json).collect())
}

pub fn summaries(given: &Given) -> Result<Answer, Refusal> {
    let limit = u32::try_from(given.number("limit").unwrap_or(50)).unwrap_or(50);
    let found = overview::summaries(&env()?, given.text("project"), limit).map_err(bad_request)?;
    let rows = found.iter().map(|(summary, of)| {
        let mut row = summary_json(summary);
        row["session"] = json!(summary.session);
        row["id"] = json!(of.as_ref().map(|of| &of.short));
        row["project"] = json!(of.as_ref().and_then(|of| of.project.as_ref()));
        row
    });
    Ok(listed(rows.collect()))
}

/// Faults in the database, after those that are still only in the journal.
pub fn faults() -> Result<Answer, Refusal> {
    let faults = overview::faults(&env()?).map_err(not_found)?;
    let pending = faults.pending.iter().map(|fault| {
        let at = fault.at.to_utc();
        json!({"kind": fault.kind.name(), "detail": fault.detail, "count": 1, "first_at": at, "last_at": at})
    });
    Ok(listed(pending.rev().chain(faults.known.iter().map(fault_json)).collect()))
}

fn fault_json(fault: &FaultRow) -> Value {
    json!({
        "kind": fault.kind.name(), "detail": fault.detail, "count": fault.count,
        "first_at": fault.first_at.to_utc(), "last_at": fault.last_at.to_utc(),
    })
}

pub fn projects() -> Result<Answer, Refusal> {
    let row = |project: &ProjectCounts| {
        json!({
            "name": project.name, "root": project.root, "remote": project.remote, "sessions": project.sessions,
            "memories": project.memories, "last_at": project.last_at.map(|at| at.to_utc()),
        })
    };
    Ok(listed(overview::projects(&env()?).map_err(not_found)?.iter().map(row).collect()))
}

pub fn stats() -> Result<Answer, Refusal> {
    let env = env()?;
    let counts = overview::counts(&env).map_err(not_found)?.map(|counts| {
        json!({
            "projects": counts.projects, "sessions": counts.sessions, "turns": counts.turns,
            "details": counts.details, "memories": counts.memories, "pinned": counts.pinned,
            "summaries": counts.summaries,
        })
    });
    let sizes = overview::sizes(&env.home);
    let bytes = json!({
        "database": sizes.database, "archive": sizes.archive, "journal": sizes.journal, "index": sizes.index,
        "vectors": sizes.vectors,
    });
    let stats = json!({"counts": counts, "bytes": bytes, "folder": env.home.folder()});
    Ok(Answer::Json(stats.to_string()))
}

fn listed(rows: Vec<Value>) -> Answer {
    Answer::Json(json!({"items": rows, "next": null}).to_string())
}
