//! `tow session inherit`: lists inheritance decisions, and lets the user choose a predecessor.
//!
//! Decides nothing itself: the projection decides, and the user's choice is an event in the journal.

use crate::output::Tone;
use crate::scope::Scope;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_core::event::EventKind;
use towline_core::id::SessionKey;
use towline_core::inherit::taken;
use towline_core::session::Session;
use towline_engine::handoff::inherit;
use towline_engine::ingest::live;
use towline_engine::query::ownership;
use towline_engine::runtime::Failure;
use towline_store::{Inheritance, InheritanceFilter, Store};

const EXAMPLES: &str = "\
Examples:
  tow session inherit log                       what the sessions of this project went on with, and why
  tow session inherit log --all-projects --json
  tow session inherit take 1a2b3c4d             this session goes on with that one's work, from its next prompt on";

const LOG_EXAMPLES: &str = "\
Examples:
  tow session inherit log --limit 5
  tow session inherit log --session 1a2b3c4d
  tow session inherit log --project app --json | jq '.decisions[].way'

Ways: baton (it was passed on), clear (cleared in the same pane), fallback (the only one that can have been cleared),
taken (a person chose it); and with nothing inherited: fresh, asked, ambiguous, off, none.";

const TAKE_EXAMPLES: &str = "\
Examples:
  tow session inherit take 1a2b3c4d                      the session of this seat goes on with that one's work
  tow session inherit take 1a2b3c4d --session 99aa00bb   another one does

It is given with the next prompt. For when several could be meant, or inherit.on_clear is `ask`.";

/// See which session each one inherited from, and choose.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: InheritAction,
}

#[derive(Debug, Subcommand)]
enum InheritAction {
    Log(Log),
    Take(TakeArgs),
}

/// List every decision: when, heir, predecessor, rule and reason.
#[derive(Debug, Args)]
#[command(after_help = LOG_EXAMPLES)]
struct Log {
    /// Only of this session, as heir or as predecessor: how its id begins or ends.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only of this project; without it, of the one that this folder belongs to.
    #[arg(long, conflicts_with = "all_projects")]
    project: Option<String>,
    /// Of all projects.
    #[arg(long)]
    all_projects: bool,
    /// Show at most this many, newest first.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Continue a session's work, from the next prompt on.
#[derive(Debug, Args)]
#[command(after_help = TAKE_EXAMPLES)]
struct TakeArgs {
    /// The session to inherit from: how its id begins or ends.
    #[arg(value_name = "SESSION")]
    from: String,
    /// The session that inherits; without it, the session that this runs in.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.what {
        InheritAction::Log(log) => show(scope, log),
        InheritAction::Take(take) => choose(scope, take),
    }
}

fn show(scope: &Scope, log: &Log) -> Result<(), Failure> {
    let store = ownership::store(&scope.env)?;
    let session = log.session.as_deref().map(|name| ownership::named(&store, name)).transpose()?;
    let is_everywhere = log.all_projects || session.is_some();
    let named = log.project.as_deref();
    let project = ownership::project_or_all(&store, named, is_everywhere, "tow session inherit log")?;
    let wanted = InheritanceFilter {
        session: session.as_ref().map(|session| &session.key),
        project: project.as_deref(),
        limit: log.limit,
    };
    let decisions = store.inheritances(&wanted)?;
    if log.json {
        scope.out.json(&json!({"decisions": decisions.iter().map(row).collect::<Vec<_>>()}));
    } else if decisions.is_empty() {
        scope.out.line("nothing was decided yet; `tow session inherit log --all-projects` looks everywhere");
    }
    for decision in decisions.iter().filter(|_| !log.json) {
        scope.out.line(&line(decision));
        scope.out.line(&scope.out.tint(Tone::Faint, &format!("  {}", escape_for_terminal(&decision.reason))));
    }
    Ok(())
}

fn row(decision: &Inheritance) -> Value {
    json!({
        "at": decision.decided_at.to_utc(), "heir": decision.heir, "from": decision.from, "way": decision.way.name(),
        "reason": decision.reason, "candidates": decision.candidates, "project": decision.project,
        "given_at": decision.given_at.map(|at| at.to_utc()), "id": decision.uid.to_string(),
        "machine": decision.machine,
    })
}

/// One decision in one line, in plain text because models read it too.
fn line(decision: &Inheritance) -> String {
    let short = |key: &SessionKey| format!("{} {}", key.agent, key.short());
    let from = decision.from.as_ref().map_or_else(|| "nothing".to_owned(), short);
    let on = decision.machine.as_ref().map(|machine| format!(" on {}", escape_for_terminal(machine)));
    let given = match (decision.given_at, &decision.from, decision.way.is_to_be_given()) {
        (Some(at), Some(_), _) => format!(", given {}", at.to_utc()),
        (Some(at), None, _) => format!(", told {}", at.to_utc()),
        (None, Some(_), _) => ", not given yet".to_owned(),
        (None, None, true) => ", not told yet".to_owned(),
        (None, None, false) => String::new(),
    };
    format!(
        "{} {} ← {from}{} ({}{given})",
        decision.decided_at.to_utc(),
        short(&decision.heir),
        on.unwrap_or_default(),
        decision.way.name()
    )
}

fn choose(scope: &Scope, take: &TakeArgs) -> Result<(), Failure> {
    let store = ownership::store(&scope.env)?;
    let verb = format!("tow session inherit take {} --session", take.from);
    let heir = ownership::session(&store, take.session.as_deref(), &verb)?;
    let (from, name) = chosen(&store, &take.from, &heir)?;
    drop(store);
    live::record(&scope.env, &heir.key, EventKind::InheritanceTaken { from: from.clone() })?;
    let line = format!("{} goes on with {name}, from its next prompt on", inherit::session_label(&heir));
    scope.out.say(take.json, &json!({"heir": heir.key, "from": from}), &line);
    Ok(())
}

/// The predecessor and its name: a session of this machine, or one of another that passed its baton.
fn chosen(store: &Store, called: &str, heir: &Session) -> Result<(SessionKey, String), Failure> {
    let from = match ownership::named(store, called) {
        Ok(from) => from,
        Err(failure) => {
            return match store.remote_sessions_named(called)?.as_slice() {
                [far] => Ok((far.clone(), format!("{} {}", far.agent, far.short()))),
                _ => Err(failure),
            };
        }
    };
    if taken(heir, &from).is_none() {
        let what = format!("{} cannot go on with the work of {}", heir.key, from.key);
        let why = "a session goes on with an older one's work".to_owned();
        return Err(Failure { causes: vec![why], ..Failure::input(what) }.hint("Run `tow status`."));
    }
    Ok((from.key.clone(), inherit::session_label(&from)))
}
