//! HTTP operations that only read: each runs the verb that answers it.
//!
//! Changes nothing. Long lists are paged: the rows of the verb, and the key of the next page.

use super::command::{VerbCommand, bad_request, env, no_json};
use crate::http::{Answer, Given, Refusal};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::query::{WaitsRequest, waits};
use towline_engine::runtime::config::effective;
use towline_render::{config_json, status_json, waits_json};

/// Default page size.
const USUAL: i64 = 50;

/// Limit of message text on a page of turns, in bytes.
const BYTES: usize = 400_000;

pub fn seats() -> Result<Answer, Refusal> {
    let seats = live::seats(&env()?, Glance::Thorough).map_err(bad_request)?;
    Ok(Answer::Json(status_json(&seats).to_string()))
}

pub fn sessions(given: &Given) -> Result<Answer, Refusal> {
    let command = VerbCommand::new(&["sessions"])
        .of_project(given.text("project"))
        .with("--agent", given.text("agent"))
        .with("--since", given.text("from"))
        .with("--before", given.text("before"))
        .with("--limit", Some(limit(given)));
    page(&command, "sessions")
}

pub fn turns(given: &Given) -> Result<Answer, Refusal> {
    let session = given.text("id").unwrap_or_default();
    let command = VerbCommand::new(&["turns", "--words", "--headings"])
        .of_project(None)
        .with("--before", given.text("before"))
        .with("--after", given.text("after"))
        .with("--limit", Some(limit(given)))
        .with("--bytes", Some(BYTES))
        .if_set(given, "all", "--all")
        .about(&[session]);
    let mut found = command.value_of_one()?;
    let first = found["turns"].get(0).map_or(Value::Null, |turn| turn["id"].clone());
    let has_earlier = found["earlier_turns"].as_u64().is_some_and(|earlier| earlier > 0);
    let next = if has_earlier { first } else { Value::Null };
    let (session, hidden) = (found["session"].take(), found["hidden_turns"].take());
    let answer =
        json!({"items": found["turns"].take(), "next": next, "session": session, "hidden_turns": hidden});
    Ok(Answer::Json(answer.to_string()))
}

/// A turn, a detail or a memory, by id.
pub fn one(given: &Given) -> Result<Answer, Refusal> {
    show(given.text("id").unwrap_or_default()).said_of_one()
}

pub fn show(id: &str) -> VerbCommand {
    VerbCommand::new(&["show"]).of_project(None).with("--bytes", Some(BYTES)).about(&[id])
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
    around(given.text("anchor").or(given.text("q")), given, "before", "after").said_of_one()
}

/// Entries around a point in time; now if there is no anchor.
pub fn around(anchor: Option<&str>, given: &Given, before: &str, after: &str) -> VerbCommand {
    let command = VerbCommand::new(&["timeline"])
        .of_project(given.text("project"))
        .with("--before", given.number(before))
        .with("--after", given.number(after));
    match anchor.filter(|anchor| !anchor.trim().is_empty()) {
        Some(anchor) => command.about(&[anchor]),
        None => command,
    }
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
    VerbCommand::new(&["bookmarks"])
        .of_project(given.text("project"))
        .with("--session", given.text("session"))
        .with("--search", given.text("search"))
        .with("--limit", Some(limit(given)))
        .said()
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

fn limit(given: &Given) -> i64 {
    given.number("limit").unwrap_or(USUAL)
}

/// A verb's list as a page. Rows are passed on unparsed, because there may be many.
fn page(command: &VerbCommand, name: &str) -> Result<Answer, Refusal> {
    let listed = command.text()?;
    let parts: BTreeMap<&str, &RawValue> = serde_json::from_str(&listed).map_err(no_json)?;
    let part = |name: &str| parts.get(name).map_or("null", |part| part.get());
    Ok(Answer::Json(format!("{{\"items\":{},\"next\":{}}}", part(name), part("next"))))
}
