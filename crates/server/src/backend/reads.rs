//! HTTP operations that only read: each runs the verb that answers it.
//!
//! Changes nothing. Long lists are paged: the rows of the verb, and the key of the next page.

use super::command::{VerbCommand, bad_request, env, no_json, not_found};
use crate::http::{Answer, Given, Refusal};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::query::{
    self, BookmarksRequest, MessageLimit, ProjectScope, Reader, SessionsRequest, ShowRequest, Shown,
    TimelineRequest, TurnsRequest, WaitsRequest, waits,
};
use towline_engine::runtime::config::effective;
use towline_render::{
    bookmarks_json, config_json, sessions_json, show_json, status_json, timeline_json, turns_json, waits_json,
};

/// Default page size.
const USUAL: usize = 50;

/// Limit of message text on a page of turns, in bytes.
const BYTES: usize = 400_000;

pub fn seats() -> Result<Answer, Refusal> {
    let seats = live::seats(&env()?, Glance::Thorough).map_err(bad_request)?;
    Ok(Answer::Json(status_json(&seats).to_string()))
}

pub fn sessions(given: &Given) -> Result<Answer, Refusal> {
    let request = SessionsRequest {
        scope: project(given),
        since: given.text("from"),
        before: given.text("before"),
        agent: given.text("agent"),
        limit: limit(given),
    };
    let mut list = sessions_json(&query::sessions(&env()?, &request).map_err(bad_request)?);
    let page = json!({"items": list["sessions"].take(), "next": list["next"].take()});
    Ok(Answer::Json(page.to_string()))
}

pub fn turns(given: &Given) -> Result<Answer, Refusal> {
    let request = TurnsRequest {
        scope: ProjectScope::All,
        session: Some(given.text("id").unwrap_or_default()),
        before: given.text("before"),
        after: given.text("after"),
        since: None,
        limit: limit(given),
        all: given.flag("all"),
        messages: MessageLimit::Whole,
        headings: true,
        bytes: BYTES,
    };
    let list = query::turns(&env()?, &request).map_err(not_found)?;
    let has_earlier = list.as_ref().is_some_and(|list| list.earlier > 0);
    let mut found = turns_json(list.as_ref());
    let first = found["turns"].get(0).map_or(Value::Null, |turn| turn["id"].clone());
    let page = json!({
        "items": found["turns"].take(), "next": if has_earlier { first } else { Value::Null },
        "session": found["session"].take(), "hidden_turns": found["hidden_turns"].take(),
    });
    Ok(Answer::Json(page.to_string()))
}

/// A turn, a detail or a memory, by id.
pub fn one(given: &Given) -> Result<Answer, Refusal> {
    Ok(Answer::Json(show_json(&show(given.text("id").unwrap_or_default())?).to_string()))
}

pub fn show(id: &str) -> Result<Vec<Shown>, Refusal> {
    let request = ShowRequest {
        ids: &[id.to_owned()],
        scope: ProjectScope::All,
        limit: 40,
        bytes: Some(BYTES),
        reader: Reader::User,
    };
    query::show(&env()?, &request).map_err(not_found)
}

pub fn memories(given: &Given) -> Result<Answer, Refusal> {
    let command = VerbCommand::new(&["memories"])
        .of_project(given.text("project"))
        .with("--type", given.text("type"))
        .with("--concept", given.text("concept"))
        .with("--file", given.text("file"))
        .with("--session", given.text("session"))
        .with("--since", given.text("from"))
        .with("--until", given.text("to"))
        .with("--before", given.text("before"))
        .with("--limit", Some(limit(given)))
        .if_set(given, "pinned", "--pinned")
        .if_set(given, "held", "--held-back")
        .if_set(given, "all", "--all");
    page(&command, "memories")
}

pub fn memories_by_file(given: &Given) -> Result<Answer, Refusal> {
    let command = VerbCommand::new(&["memories"])
        .of_project(given.text("project"))
        .with("--file", given.text("path"))
        .with("--limit", Some(limit(given)));
    page(&command, "memories")
}

pub fn search(given: &Given) -> Result<Answer, Refusal> {
    let command = VerbCommand::new(&["search"])
        .of_project(given.text("project"))
        .with("--kind", given.text("kind"))
        .with("--type", given.text("type"))
        .with("--concept", given.text("concept"))
        .with("--file", given.text("file"))
        .with("--agent", given.text("agent"))
        .with("--branch", given.text("branch"))
        .with("--session", given.text("session"))
        .with("--since", given.text("from"))
        .with("--until", given.text("to"))
        .with("--limit", Some(limit(given)));
    command.about(&[given.text("q").unwrap_or_default()]).said()
}

pub fn timeline(given: &Given) -> Result<Answer, Refusal> {
    let found = around(given.text("anchor").or(given.text("q")), given, "before", "after")?;
    Ok(Answer::Json(found.to_string()))
}

/// Entries around a point in time; now if there is no anchor.
pub fn around(anchor: Option<&str>, given: &Given, before: &str, after: &str) -> Result<Value, Refusal> {
    let number = |name| given.number(name).and_then(|number| u32::try_from(number).ok()).unwrap_or(10);
    let request = TimelineRequest {
        scope: project(given),
        anchor: anchor.filter(|anchor| !anchor.trim().is_empty()).unwrap_or_default(),
        before: number(before),
        after: number(after),
        reader: Reader::User,
    };
    Ok(timeline_json(&query::timeline(&env()?, &request).map_err(not_found)?))
}

/// Falls back to `--fresh`: a new project has no session to continue from.
pub fn context(given: &Given) -> Result<Answer, Refusal> {
    let command = |fresh: &[&str]| {
        VerbCommand::new(&[&["context"], fresh].concat())
            .with("--project", given.text("project"))
            .with("--agent", given.text("agent"))
            .with("--prompt", given.text("prompt"))
    };
    match given.text("session") {
        Some(session) => command(&[]).about(&[session]).said_of_one(),
        None => command(&[]).said().or_else(|_| command(&["--fresh"]).said()),
    }
}

pub fn bookmarks(given: &Given) -> Result<Answer, Refusal> {
    let project = given.text("project").filter(|project| !matches!(*project, "" | "*"));
    let request = BookmarksRequest {
        session: given.text("session"),
        project,
        all_projects: project.is_none(),
        search: given.text("search"),
        with_deleted: false,
        limit: limit(given),
    };
    let list = query::bookmarks(&env()?, &request).map_err(bad_request)?;
    Ok(Answer::Json(bookmarks_json(&list).to_string()))
}

pub fn jobs(given: &Given) -> Result<Answer, Refusal> {
    VerbCommand::new(&["jobs"]).with("--limit", Some(limit(given))).if_set(given, "dead", "--dead").said()
}

pub fn report(given: &Given) -> Result<Answer, Refusal> {
    let days = given.number("days").and_then(|days| u32::try_from(days).ok()).unwrap_or(7);
    let text = |name: &str| given.text(name).map(str::to_owned);
    let request = WaitsRequest { days, project: text("project"), agent: text("agent") };
    let report = waits(&env()?, &request).map_err(bad_request)?;
    Ok(Answer::Json(waits_json(&report).to_string()))
}

pub fn usage(given: &Given) -> Result<Answer, Refusal> {
    VerbCommand::new(&["usage"])
        .with("--by", given.text("by"))
        .with("--since", given.text("from"))
        .with("--project", given.text("project"))
        .with("--agent", given.text("agent"))
        .said()
}

pub fn config() -> Result<Answer, Refusal> {
    let config = effective(&env()?).map_err(bad_request)?;
    Ok(Answer::Json(config_json(&config).to_string()))
}

fn limit(given: &Given) -> usize {
    given.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(USUAL)
}

fn project(given: &Given) -> ProjectScope {
    match given.text("project") {
        None | Some("" | "*") => ProjectScope::All,
        Some(project) => ProjectScope::Named(project.to_owned()),
    }
}

/// A verb's list as a page. Rows are passed on unparsed, because there may be many.
fn page(command: &VerbCommand, name: &str) -> Result<Answer, Refusal> {
    let listed = command.text()?;
    let parts: BTreeMap<&str, &RawValue> = serde_json::from_str(&listed).map_err(no_json)?;
    let part = |name: &str| parts.get(name).map_or("null", |part| part.get());
    Ok(Answer::Json(format!("{{\"items\":{},\"next\":{}}}", part(name), part("next"))))
}
