//! HTTP operations that change data, and the one that goes to a seat.
//!
//! Changes are only reached if the server was started with write access, by a request with the user's token: they act for
//! the user, unless an agent started the server.

use super::reads::show;
use super::refusal::{bad_request, env, json_answer, not_found};
use crate::http::{Answer, Given, Refusal, Status};
use serde_json::json;
use towline_core::memory::proposal_number;
use towline_engine::curate::{self, Actor, MemoryChange, MemoryEdit, RememberRequest};
use towline_engine::erase::forget::forget_memory;
use towline_engine::ingest::goto;
use towline_engine::memory::enrich::{JobSelection, drop_jobs, retry_jobs};
use towline_engine::memory::remember::is_memory_id;
use towline_engine::runtime::env::Env;
use towline_engine::runtime::failure::Failure;
use towline_render::{change_json, forget_json, part_json, remember_json};

pub fn goto(given: &Given) -> Result<Answer, Refusal> {
    let session = given.text("session").unwrap_or_default();
    // A session key has the agent as prefix; the engine takes the id.
    let wanted =
        session.split_once(':').filter(|(agent, _)| !agent.contains('/')).map_or(session, |(_, id)| id);
    goto::goto(&env()?, wanted).map_err(not_found)?;
    Ok(json_answer(&json!({"done": true})))
}

pub fn remember(given: &Given) -> Result<Answer, Refusal> {
    let text = given.text("text").unwrap_or_default();
    // On the command line `-` means stdin, which a request does not have.
    if matches!(text.trim(), "" | "-") {
        return Err(Refusal::new(Status::Unprocessable, "there is nothing to remember in this"));
    }
    let request = RememberRequest {
        text: text.to_owned(),
        title: given.owned("title"),
        kind: given.owned("type"),
        files: all(given, "files"),
        concepts: all(given, "concepts"),
        project: given.owned("project"),
        is_pinned: given.flag("pin"),
    };
    let env = env()?;
    let actor = Actor::of_token(&env).map_err(bad_request)?;
    let remembered = curate::remember(&env, &actor, &request).map_err(bad_request)?;
    Ok(json_answer(&remember_json(&remembered)))
}

pub fn edit(given: &Given) -> Result<Answer, Refusal> {
    let id = memory(given)?;
    let some = |values: Vec<String>| (!values.is_empty()).then_some(values);
    let edit = MemoryEdit {
        kind: given.owned("type"),
        title: given.owned("title"),
        subtitle: given.owned("subtitle"),
        narrative: given.owned("narrative"),
        facts: some(all(given, "facts")),
        concepts: some(all(given, "concepts")),
        files: None,
    };
    let edited = change(given, &MemoryChange::Edit(edit), bad_request);
    // If the memory exists, the request itself was bad: keep the status.
    let is_gone = |refusal: &Refusal| refusal.status == Status::BadRequest && show(id).is_err();
    edited.map_err(|refusal| match is_gone(&refusal) {
        true => Refusal { status: Status::NotFound, ..refusal },
        false => refusal,
    })
}

pub fn supersede(given: &Given) -> Result<Answer, Refusal> {
    change_one(given, &MemoryChange::Supersede { by: given.owned("by"), because: given.owned("because") })
}

pub fn hold(given: &Given) -> Result<Answer, Refusal> {
    change_one(given, &MemoryChange::Hold { because: given.owned("because") })
}

/// A change of the memory that the request names.
pub fn change_one(given: &Given, wanted: &MemoryChange) -> Result<Answer, Refusal> {
    change(given, wanted, not_found)
}

/// The user's answer to the proposal of a teammate that the request names.
pub fn answer_proposal(given: &Given, wanted: &MemoryChange) -> Result<Answer, Refusal> {
    let id = given.text("id").unwrap_or_default();
    if proposal_number(id).is_none() {
        return Err(Refusal::new(Status::NotFound, "that is no proposal").next("Give one like p3."));
    }
    change_named(id, wanted, not_found)
}

fn change(given: &Given, wanted: &MemoryChange, refuse: fn(Failure) -> Refusal) -> Result<Answer, Refusal> {
    change_named(memory(given)?, wanted, refuse)
}

fn change_named(id: &str, wanted: &MemoryChange, refuse: fn(Failure) -> Refusal) -> Result<Answer, Refusal> {
    let env = env()?;
    let changed = curate::change(&env, &user(&env)?, &[id.to_owned()], wanted).map_err(refuse)?;
    Ok(json_answer(&change_json(wanted, &changed)))
}

/// The user; a server that an agent started has none.
fn user(env: &Env) -> Result<Actor, Refusal> {
    let actor = Actor::of_token(env).map_err(bad_request)?;
    let forbidden = |failure| Refusal { status: Status::Forbidden, ..bad_request(failure) };
    actor.require_person("change memories").map_err(forbidden)?;
    Ok(actor)
}

pub fn forget(given: &Given) -> Result<Answer, Refusal> {
    let env = env()?;
    user(&env)?;
    let id = memory(given)?;
    let others = curate::of_others(&env, &[id.to_owned()]).map_err(not_found)?;
    let mut report = forget_json(&forget_memory(&env, id).map_err(not_found)?);
    let asked = curate::propose_forgetting(&env, &others).map_err(bad_request)?;
    if !asked.is_empty() {
        report["proposals"] = asked.iter().map(part_json).collect();
    }
    Ok(json_answer(&report))
}

pub fn retry_job(given: &Given) -> Result<Answer, Refusal> {
    let retried = retry_jobs(&env()?, &job(given)?).map_err(not_found)?;
    Ok(json_answer(&json!({"retried": retried})))
}

pub fn drop_job(given: &Given) -> Result<Answer, Refusal> {
    let dropped = drop_jobs(&env()?, &job(given)?).map_err(not_found)?;
    Ok(json_answer(&json!({"dropped": dropped})))
}

fn job(given: &Given) -> Result<JobSelection, Refusal> {
    let number = given.text("id").and_then(|id| id.parse().ok());
    let number = number
        .ok_or_else(|| Refusal::new(Status::NotFound, "that is no job").next("Run `tow data jobs`."))?;
    Ok(JobSelection { numbers: vec![number], is_dead_only: false })
}

/// Accepts memory ids only.
fn memory(given: &Given) -> Result<&str, Refusal> {
    let id = given.text("id").unwrap_or_default();
    if is_memory_id(id) {
        return Ok(id);
    }
    Err(Refusal::new(Status::NotFound, "that is no memory").next("Give one like m12."))
}

fn all(given: &Given, name: &str) -> Vec<String> {
    given.texts(name).into_iter().map(str::to_owned).collect()
}
