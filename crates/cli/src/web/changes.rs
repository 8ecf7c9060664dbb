//! Changes that a verb makes: each is put as its command, as a person would type it.
//!
//! Only reached where the server was allowed to change anything.

use super::command::{Command, carried_out};
use super::reads::show;
use towline_engine::memory::remember::is_memory_id;
use towline_server::http::{Answer, Given, Refusal, Status};

pub fn goto(given: &Given) -> Result<Answer, Refusal> {
    let session = given.text("session").unwrap_or_default();
    // A session's whole name has its agent before it; `tow goto` takes the id.
    let wanted =
        session.split_once(':').filter(|(agent, _)| !agent.contains('/')).map_or(session, |(_, id)| id);
    carried_out(&["goto", "--", wanted])
}

pub fn remember(given: &Given) -> Result<Answer, Refusal> {
    let text = given.text("text").unwrap_or_default();
    // On the command line this means standard input, which is nobody's here.
    if matches!(text.trim(), "" | "-") {
        return Err(Refusal::new(Status::Unprocessable, "there is nothing to remember in this"));
    }
    Command::new(&["remember"])
        .with("--title", given.text("title"))
        .with("--type", given.text("type"))
        .with("--project", given.text("project"))
        .with_each("--file", &given.texts("files"))
        .with_each("--concept", &given.texts("concepts"))
        .if_set(given, ("pin", "--pin"))
        .about(&[text])
        .said()
}

pub fn edit(given: &Given) -> Result<Answer, Refusal> {
    let id = memory(given)?;
    let edit = Command::new(&["edit"])
        .with("--title", given.text("title"))
        .with("--subtitle", given.text("subtitle"))
        .with("--narrative", given.text("narrative"))
        .with("--type", given.text("type"))
        .with_each("--fact", &given.texts("facts"))
        .with_each("--concept", &given.texts("concepts"))
        .about(&[id]);
    // Of a memory that is there it is what was sent that cannot be taken.
    let is_gone = |refusal: &Refusal| refusal.status == Status::BadRequest && show(id).said_of_one().is_err();
    edit.said().map_err(|refusal| match is_gone(&refusal) {
        true => Refusal { status: Status::NotFound, ..refusal },
        false => refusal,
    })
}

pub fn supersede(given: &Given) -> Result<Answer, Refusal> {
    Command::new(&["supersede"])
        .with("--by", given.text("by"))
        .with("--because", given.text("because"))
        .about(&[memory(given)?])
        .said_of_one()
}

pub fn hold(given: &Given) -> Result<Answer, Refusal> {
    Command::new(&["hold"]).with("--because", given.text("because")).about(&[memory(given)?]).said_of_one()
}

/// What needs nothing but the memory.
pub fn of_memory(verb: &[&str], given: &Given) -> Result<Answer, Refusal> {
    Command::new(verb).about(&[memory(given)?]).said_of_one()
}

pub fn job(action: &str, given: &Given) -> Result<Answer, Refusal> {
    let number = given.text("id").unwrap_or_default();
    Command::new(&["jobs", action]).about(&[number]).said_of_one()
}

/// Nothing but memories is changed here: `tow forget` would take a time or a session, too.
fn memory(given: &Given) -> Result<&str, Refusal> {
    let id = given.text("id").unwrap_or_default();
    if is_memory_id(id) {
        return Ok(id);
    }
    Err(Refusal::new(Status::NotFound, "that is no memory").next("Give one like m12."))
}
