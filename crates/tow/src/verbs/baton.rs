//! `tow baton`: passes a session's work on to the next one, takes that back, or lists what waits to be taken.
//!
//! Who takes it is decided when the heir is first prompted, not here.

use crate::failure::Failure;
use crate::scope::Scope;
use crate::{inherit, live, whose};
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;
use towline_core::escape::for_terminal;
use towline_core::event::Happening;
use towline_core::inherit::{HOUR_MS, has_work};
use towline_core::session::Session;
use towline_core::shown::age;
use towline_store::journal::Record;
use towline_store::{KnownBaton, Store};

const EXAMPLES: &str = "\
Examples:
  tow baton                      the session of this seat passes its work on
  tow baton --session 1a2b3c4d   another one does
  tow baton --drop               not after all
  tow baton --list               what waits to be taken

Typing /tow in the agent (or $tow, where commands are skills) does the same. The baton is taken by the first real prompt of the next
session in this seat or, if it is the only one of the project, in any other, of any agent. It lives for an hour. After
clearing no baton is needed.";

/// Pass a session's work on to the next one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// How the session's id begins or ends; without it, the session that this runs in.
    #[arg(long, value_name = "ID", conflicts_with = "list")]
    session: Option<String>,
    /// Take the baton back.
    #[arg(long, conflicts_with = "list")]
    drop: bool,
    /// List the batons that wait to be taken.
    #[arg(long)]
    list: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let store = whose::store(scope)?;
    if arguments.list {
        return list(scope, &store, arguments);
    }
    let session = whose::session(&store, arguments.session.as_deref(), "tow baton --session")?;
    if !arguments.drop && !has_work(&session) {
        let what = format!("{} has nothing to pass on", session.key);
        let why = "nothing was asked of it yet, or nobody sits before it".to_owned();
        return Err(Failure { causes: vec![why], ..Failure::input(what) }.hint("Run `tow baton --list`."));
    }
    let happening = if arguments.drop { Happening::BatonDropped } else { Happening::BatonPassed };
    drop(store);
    live::accept(scope, &[Record::Event(live::event(scope, session.key.clone(), happening))])?;
    live::store(scope)?;
    say(scope, arguments, &session);
    Ok(ExitCode::SUCCESS)
}

fn say(scope: &Scope, arguments: &Arguments, session: &Session) {
    let until = scope.edge.now.plus_ms(HOUR_MS).to_utc();
    if arguments.json {
        let until = (!arguments.drop).then_some(until);
        let done = json!({"session": session.key, "passed": !arguments.drop, "until": until});
        return scope.out.line(&done.to_string());
    }
    let name = inherit::in_short(session);
    scope.out.line(&if arguments.drop {
        format!("{name} passes nothing on")
    } else {
        format!("{name} passes its work on, to whoever takes it until {until}")
    });
}

fn list(scope: &Scope, store: &Store, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let failed = |error| Failure::new(&error).hint("Run `tow doctor`.");
    let batons = store.open_batons(scope.edge.now).map_err(failed)?;
    if arguments.json {
        scope.out.line(&json!({"batons": batons.iter().map(row).collect::<Vec<_>>()}).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    if batons.is_empty() {
        scope.out.line("no baton waits; `tow baton` passes one");
    }
    for baton in &batons {
        let session = store.session(&baton.session).map_err(failed)?;
        let name = session.as_ref().map_or_else(|| baton.session.to_string(), inherit::in_short);
        let project = for_terminal(baton.project.as_deref().unwrap_or("no project"));
        let left = HOUR_MS - scope.edge.now.since_ms(baton.passed_at);
        scope.out.line(&format!("{name} in {project}, for {} more", age(left)));
    }
    Ok(ExitCode::SUCCESS)
}

fn row(baton: &KnownBaton) -> Value {
    json!({
        "session": baton.session, "seat": baton.seat, "project": baton.project,
        "passed_at": baton.passed_at.to_utc(), "until": baton.passed_at.plus_ms(HOUR_MS).to_utc(),
    })
}
