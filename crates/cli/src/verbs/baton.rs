//! `tow session baton`: passes a session's work on to the next one, takes that back, or lists open batons.
//!
//! Does not choose the heir: that is decided at the heir's first prompt.

use crate::scope::Scope;
use clap::Args;
use serde_json::{Value, json};
use std::time::Duration;
use towline_core::escape::escape_for_terminal;
use towline_core::event::{Event, EventKind};
use towline_core::id::SessionKey;
use towline_core::inherit::{BatonFate, HOUR_MS, has_work};
use towline_core::session::Session;
use towline_core::share::RowKind;
use towline_core::shown::age;
use towline_core::time::Timestamp;
use towline_engine::handoff::inherit;
use towline_engine::ingest::live;
use towline_engine::query::ownership;
use towline_engine::runtime::{Failure, record};
use towline_engine::sync;
use towline_store::{Archive, BatonRow, Store, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow session baton                      hand the work of the session in this terminal on
  tow session baton --session 1a2b3c4d   another one does
  tow session baton --drop               not after all
  tow session baton --list               what waits to be taken over

Typing /tow in the agent (or $tow, where commands are skills) does the same. The work is taken over by the first real prompt of the next
session in this terminal or, if it is the only one of the project, in any other, of any agent, and on any of your machines that
share the project (see `tow hub`). It waits for an hour. After clearing, the next session takes it over without this.";

/// Pass a session's work on to the next one.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// How the session's id begins or ends; without it, the session that this runs in.
    #[arg(long, value_name = "ID", conflicts_with = "list")]
    session: Option<String>,
    /// Take it back.
    #[arg(long, conflicts_with = "list")]
    drop: bool,
    /// List the work that waits to be taken over.
    #[arg(long)]
    list: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let store = ownership::store(&scope.env)?;
    if arguments.list {
        return list(scope, &store, arguments);
    }
    let session = ownership::session(&store, arguments.session.as_deref(), "tow session baton --session")?;
    drop(store);
    match arguments.drop {
        true => record_baton(scope, &session, EventKind::BatonDropped)?,
        false => pass_from(scope, &session)?,
    }
    sync::nudge(&scope.env);
    let until = (!arguments.drop).then(|| scope.env.now.plus_ms(HOUR_MS).to_utc());
    let name = inherit::session_label(&session);
    let line = match &until {
        Some(until) => format!("{name} passes its work on, to whoever takes it until {until}"),
        None => format!("{name} passes nothing on"),
    };
    let done = json!({"session": session.key, "passed": !arguments.drop, "until": until});
    scope.out.say(arguments.json, &done, &line);
    Ok(())
}

/// Passes the work of the named session on to the next one in its project.
pub fn pass(scope: &Scope, name: &str) -> Result<(), Failure> {
    let session = ownership::named(&ownership::store(&scope.env)?, name)?;
    pass_from(scope, &session)
}

fn pass_from(scope: &Scope, session: &Session) -> Result<(), Failure> {
    if has_work(session) {
        return record_baton(scope, session, EventKind::BatonPassed);
    }
    let what = format!("{} has nothing to pass on", session.key);
    let why = "nothing was asked of it yet, or nobody sits before it".to_owned();
    Err(Failure { causes: vec![why], ..Failure::input(what) }.hint("Run `tow session baton --list`."))
}

fn record_baton(scope: &Scope, session: &Session, happening: EventKind) -> Result<(), Failure> {
    let event = record::event(&scope.env, &session.key, happening);
    record::accept(&scope.env, [Event { scene: Some(session.scene()), ..event }])?;
    live::store(&scope.env)?;
    Ok(())
}

fn list(scope: &Scope, store: &Store, arguments: &Arguments) -> Result<(), Failure> {
    let batons = store.open_batons(scope.env.now)?;
    let others = others(scope)?;
    if arguments.json {
        let all: Vec<Value> = batons.iter().map(row).chain(others.iter().map(other_row)).collect();
        scope.out.json(&json!({"batons": all}));
        return Ok(());
    }
    if batons.is_empty() && others.is_empty() {
        scope.out.line("no work waits to be taken over; `tow session baton` hands it on");
    }
    for baton in &batons {
        let session = store.session(&baton.session)?;
        let bare = || format!("{} {}", baton.session.agent, baton.session.short());
        let name = session.as_ref().map_or_else(bare, inherit::session_label);
        let project = escape_for_terminal(baton.project.as_deref().unwrap_or("no project"));
        let on = baton.afar.as_ref().map(|afar| format!(" on {}", escape_for_terminal(&afar.machine)));
        let left = baton.until().since_ms(scope.env.now);
        let on = on.unwrap_or_default();
        scope.out.line(&format!("{name} in {project}{on}, for {} more", age(left)));
    }
    for other in &others {
        let person = escape_for_terminal(other.person.as_deref().unwrap_or_default());
        let name = format!("{} {}", other.session.agent, other.session.short());
        let project = escape_for_terminal(&other.project);
        scope.out.line(&format!("{name} in {project} of {person}, which is theirs to take"));
    }
    Ok(())
}

/// A teammate's baton: listed, but never taken automatically.
struct Other {
    session: SessionKey,
    person: Option<String>,
    project: String,
    passed_at: Timestamp,
}

fn others(scope: &Scope) -> Result<Vec<Other>, StoreError> {
    const MOST: u32 = 50;
    const PATIENCE: Duration = Duration::from_millis(300);
    let Some(archive) = Archive::read(&scope.env.home, PATIENCE)? else { return Ok(vec![]) };
    let projects = archive.shared_projects()?;
    let others = archive.remote_rows(RowKind::Baton, None, MOST)?.into_iter();
    let open = others.filter_map(|note| {
        let is_young = scope.env.now.since_ms(note.made_at) <= HOUR_MS;
        let is_open = sync::batons::fate(&note.words) == Some(BatonFate::Waits);
        let project = projects.iter().find(|project| project.row == note.project)?.name.clone();
        let other = Other { session: note.session?, person: note.person, project, passed_at: note.made_at };
        (is_young && is_open && other.person.is_some()).then_some(other)
    });
    Ok(open.collect())
}

fn row(baton: &BatonRow) -> Value {
    json!({
        "session": baton.session, "seat": baton.seat, "project": baton.project,
        "passed_at": baton.passed_at.to_utc(), "until": baton.until().to_utc(),
        "machine": baton.afar.as_ref().map(|afar| &afar.machine), "person": null,
    })
}

fn other_row(other: &Other) -> Value {
    json!({
        "session": other.session, "seat": null, "project": other.project, "passed_at": other.passed_at.to_utc(),
        "until": null, "machine": null, "person": other.person,
    })
}
