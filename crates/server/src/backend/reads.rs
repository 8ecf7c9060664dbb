//! HTTP operations that only read.
//!
//! Changes nothing. Long lists are paged: the rows, and the key of the next page.

use super::refusal::{bad_request, env, json_answer, not_found};
use crate::http::{Answer, Given, Refusal, Status};
use serde_json::{Value, json};
use towline_engine::curate::Actor;
use towline_engine::ingest::live::{self, Glance};
use towline_engine::memory::enrich::{self, JobSelection};
use towline_engine::query::usage::{By, UsageRequest};
use towline_engine::query::{
    self, BookmarksRequest, ContextRequest, MemoriesRequest, MemoryFilter, MessageLimit, ProjectScope,
    Reader, SearchRequest, SessionsRequest, ShowRequest, Shown, TeamProposals, TimelineRequest, TurnsRequest,
    WaitsRequest,
};
use towline_engine::runtime::config::effective;
use towline_render::{
    bookmarks_json, config_json, context_json, jobs_json, memories_json, proposals_json, search_json,
    sessions_json, show_json, status_json, timeline_json, turns_json, usage_json, waits_json,
};

/// Default page size.
const USUAL: usize = 50;

/// Limit of message text on a page of turns, in bytes.
const BYTES: usize = 400_000;

pub fn seats() -> Result<Answer, Refusal> {
    let seats = live::seats(&env()?, Glance::Thorough).map_err(bad_request)?;
    Ok(json_answer(&status_json(&seats)))
}

pub fn sessions(given: &Given) -> Result<Answer, Refusal> {
    let request = SessionsRequest {
        scope: project(given),
        since: given.text("from"),
        before: given.text("before"),
        agent: given.text("agent"),
        limit: limit(given),
    };
    let list = query::sessions(&env()?, &request).map_err(bad_request)?;
    Ok(page(sessions_json(&list), "sessions"))
}

pub fn turns(given: &Given) -> Result<Answer, Refusal> {
    if given.text("before").is_some() && given.text("after").is_some() {
        return Err(Refusal::new(Status::BadRequest, "`before` and `after` exclude each other"));
    }
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
    Ok(json_answer(&page))
}

/// A turn, a detail or a memory, by id.
pub fn one(given: &Given) -> Result<Answer, Refusal> {
    Ok(json_answer(&show_json(&show(given.text("id").unwrap_or_default())?)))
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
    let only = match ["pinned", "held", "proposed", "all"].map(|name| given.flag(name)) {
        [false, false, false, false] => MemoryFilter::Standing,
        [true, false, false, false] => MemoryFilter::Pinned,
        [false, true, false, false] => MemoryFilter::HeldBack,
        [false, false, true, false] => MemoryFilter::Proposed,
        [false, false, false, true] => MemoryFilter::All,
        _ => {
            let what = "`pinned`, `held`, `proposed` and `all` exclude each other";
            return Err(Refusal::new(Status::BadRequest, what));
        }
    };
    let request = MemoriesRequest {
        kind: given.owned("type"),
        concept: given.owned("concept"),
        file: given.owned("file").or(given.owned("path")),
        project: project(given),
        session: given.owned("session"),
        since: given.owned("from"),
        until: given.owned("to"),
        before: given.owned("before"),
        only,
        limit: u32::try_from(limit(given)).unwrap_or(u32::MAX),
    };
    let list = query::memories(&env()?, &request).map_err(bad_request)?;
    Ok(page(memories_json(&list), "memories"))
}

/// The texts of teammates only to the user: an agent that started the server must not read them.
pub fn proposals(given: &Given) -> Result<Answer, Refusal> {
    const MOST: u32 = 1_000;
    let env = env()?;
    let team = match Actor::of_token(&env).map_err(bad_request)? {
        Actor::Person => query::team_proposals(&env, &project(given)).map_err(bad_request)?,
        Actor::Agent { .. } => TeamProposals::default(),
    };
    let request = MemoriesRequest {
        project: project(given),
        only: MemoryFilter::Proposed,
        limit: MOST,
        ..Default::default()
    };
    let list = query::memories(&env, &request).map_err(bad_request)?;
    Ok(json_answer(&proposals_json(&list, &team)))
}

/// The most text that a deep search reads while a client waits.
pub const DEEP_BYTES: u64 = 1 << 30;

pub fn search(given: &Given) -> Result<Answer, Refusal> {
    let all = |name: &str| given.owned(name).into_iter().collect();
    let request = SearchRequest {
        kinds: all("kind"),
        types: all("type"),
        concepts: all("concept"),
        files: all("file"),
        agent: given.owned("agent"),
        branch: given.owned("branch"),
        session: given.owned("session"),
        since: given.owned("from"),
        until: given.owned("to"),
        deep: given.flag("deep").then_some(DEEP_BYTES),
        ..SearchRequest::of(given.owned("q").unwrap_or_default(), project(given), limit(given))
    };
    Ok(json_answer(&search_json(&query::search(&env()?, &request).map_err(bad_request)?)))
}

pub fn timeline(given: &Given) -> Result<Answer, Refusal> {
    let found = around(given.text("anchor").or(given.text("q")), given, "before", "after")?;
    Ok(json_answer(&found))
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

pub fn context(given: &Given) -> Result<Answer, Refusal> {
    let request = ContextRequest {
        session: given.owned("session"),
        prompt: given.owned("prompt"),
        project: given.owned("project"),
        agent: given.owned("agent"),
        ..ContextRequest::default()
    };
    let refused = if request.session.is_some() { not_found } else { bad_request };
    Ok(json_answer(&context_json(&query::context(&env()?, &request).map_err(refused)?)))
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
    Ok(json_answer(&bookmarks_json(&list)))
}

pub fn jobs(given: &Given) -> Result<Answer, Refusal> {
    let selection = JobSelection { numbers: vec![], is_dead_only: given.flag("dead") };
    let limit = u32::try_from(limit(given)).unwrap_or(u32::MAX);
    let list = enrich::jobs(&env()?, &selection, limit).map_err(bad_request)?;
    let work = query::background_work(&env()?).map_err(|error| bad_request(error.into()))?;
    Ok(json_answer(&jobs_json(&list, &work)))
}

pub fn report(given: &Given) -> Result<Answer, Refusal> {
    let days = given.number("days").and_then(|days| u32::try_from(days).ok()).unwrap_or(7);
    let request = WaitsRequest { days, project: given.owned("project"), agent: given.owned("agent") };
    Ok(json_answer(&waits_json(&query::waits(&env()?, &request).map_err(bad_request)?)))
}

pub fn usage(given: &Given) -> Result<Answer, Refusal> {
    let request = UsageRequest {
        by: given.text("by").and_then(By::from_name).or(Some(By::Day)),
        since: given.text("from").unwrap_or("7d"),
        project: given.owned("project"),
        agent: given.owned("agent"),
    };
    Ok(json_answer(&usage_json(&query::usage::report(&env()?, &request).map_err(bad_request)?)))
}

pub fn config() -> Result<Answer, Refusal> {
    Ok(json_answer(&config_json(&effective(&env()?).map_err(bad_request)?)))
}

fn limit(given: &Given) -> usize {
    given.number("limit").and_then(|limit| usize::try_from(limit).ok()).unwrap_or(USUAL)
}

/// All projects if none is given.
pub fn project(given: &Given) -> ProjectScope {
    match given.text("project") {
        None | Some("" | "*") => ProjectScope::All,
        Some(project) => ProjectScope::Named(project.to_owned()),
    }
}

/// The list `name` of a result as a page.
fn page(mut listed: Value, name: &str) -> Answer {
    json_answer(&json!({"items": listed[name].take(), "next": listed["next"].take()}))
}
