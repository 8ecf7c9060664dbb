//! HTTP operations that change data: each runs the command that a user would type.
//!
//! Only reached if the server was started with write access.

use super::command::{VerbCommand, env, not_found};
use super::reads::show;
use crate::http::{Answer, Given, Refusal, Status};
use towline_engine::ingest::goto;
use towline_engine::memory::remember::is_memory_id;

pub fn goto(given: &Given) -> Result<Answer, Refusal> {
    let session = given.text("session").unwrap_or_default();
    // A session key has the agent as prefix; `tow goto` takes the id.
    let wanted =
        session.split_once(':').filter(|(agent, _)| !agent.contains('/')).map_or(session, |(_, id)| id);
    goto::goto(&env()?, wanted).map_err(not_found)?;
    Ok(Answer::Json("{\"done\":true}".to_owned()))
}

pub fn remember(given: &Given) -> Result<Answer, Refusal> {
    let text = given.text("text").unwrap_or_default();
    // On the command line `-` means stdin, which a request does not have.
    if matches!(text.trim(), "" | "-") {
        return Err(Refusal::new(Status::Unprocessable, "there is nothing to remember in this"));
    }
    VerbCommand::new(&["remember"])
        .with("--title", given.text("title"))
        .with("--type", given.text("type"))
        .with("--project", given.text("project"))
        .with_each("--file", &given.texts("files"))
        .with_each("--concept", &given.texts("concepts"))
        .if_set(given, "pin", "--pin")
        .about(&[text])
        .said()
}

pub fn edit(given: &Given) -> Result<Answer, Refusal> {
    let id = memory(given)?;
    let edit = VerbCommand::new(&["edit"])
        .with("--title", given.text("title"))
        .with("--subtitle", given.text("subtitle"))
        .with("--narrative", given.text("narrative"))
        .with("--type", given.text("type"))
        .with_each("--fact", &given.texts("facts"))
        .with_each("--concept", &given.texts("concepts"))
        .about(&[id]);
    // If the memory exists, the request itself was bad: keep the status.
    let is_gone = |refusal: &Refusal| refusal.status == Status::BadRequest && show(id).is_err();
    edit.said().map_err(|refusal| match is_gone(&refusal) {
        true => Refusal { status: Status::NotFound, ..refusal },
        false => refusal,
    })
}

pub fn supersede(given: &Given) -> Result<Answer, Refusal> {
    VerbCommand::new(&["supersede"])
        .with("--by", given.text("by"))
        .with("--because", given.text("because"))
        .about(&[memory(given)?])
        .said_of_one()
}

pub fn hold(given: &Given) -> Result<Answer, Refusal> {
    VerbCommand::new(&["hold"])
        .with("--because", given.text("because"))
        .about(&[memory(given)?])
        .said_of_one()
}

/// Operations that take only the memory's id.
pub fn of_memory(verb: &[&str], given: &Given) -> Result<Answer, Refusal> {
    VerbCommand::new(verb).about(&[memory(given)?]).said_of_one()
}

pub fn job(action: &str, given: &Given) -> Result<Answer, Refusal> {
    let number = given.text("id").unwrap_or_default();
    VerbCommand::new(&["jobs", action]).about(&[number]).said_of_one()
}

/// Accepts memory ids only: `tow forget` would also take a time or a session.
fn memory(given: &Given) -> Result<&str, Refusal> {
    let id = given.text("id").unwrap_or_default();
    if is_memory_id(id) {
        return Ok(id);
    }
    Err(Refusal::new(Status::NotFound, "that is no memory").next("Give one like m12."))
}
