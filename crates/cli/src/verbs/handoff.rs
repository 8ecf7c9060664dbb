//! `tow session handoff`: shows, edits and sends the handoffs of continued sessions.
//!
//! Types nothing itself: sending records a typing intent, or prints the text for the user to paste.

use crate::output::Tone;
use crate::scope::Scope;
use crate::verbs::config::edit_file;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use towline_core::continuing::{HandoffAuthor, Hop, HopStage, form};
use towline_core::escape::{escape_for_terminal, fit_to_width, pad};
use towline_core::event::EventKind;
use towline_core::session::Session;
use towline_core::typing::{IntentPurpose, IntentRequest};
use towline_engine::curate::Actor;
use towline_engine::handoff::continuing::{is_allowed, kept};
use towline_engine::handoff::typing;
use towline_engine::index::labels::{AmbiguousName, only_named};
use towline_engine::ingest::live;
use towline_engine::query::ownership;
use towline_engine::runtime::calendar::clock;
use towline_engine::runtime::{Failure, record, settings};
use towline_store::home::replace_file;
use towline_store::{HopFilter, Store, StoreError};

const EXAMPLES: &str = "\
Examples:
  tow session handoff list                 the last ones, and how each ended
  tow session handoff show                 the newest
  tow session handoff show 9f3c1a2b        one, by how its id begins or ends
  tow session handoff edit 9f3c1a2b        change it in $EDITOR
  tow session handoff send 9f3c1a2b        give it to the session that sits here
  tow session handoff list --json | jq '.hops[] | select(.state == \"failed\")'

States: asked, written, clearing (/clear is typed), continuing (the successor is prompted), done, failed, stopped.";

/// Show, change and send handoffs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    what: HandoffAction,
}

#[derive(Debug, Subcommand)]
enum HandoffAction {
    /// Print one.
    Show {
        /// How its id begins or ends, or the id of its session ends; without it, the newest.
        id: Option<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// List them, newest first.
    List {
        /// How many at most.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Change one, in $VISUAL or $EDITOR.
    Edit {
        /// How its id begins or ends, or the id of its session ends; without it, the newest.
        id: Option<String>,
        /// Take the new text from this file instead; - is the standard input.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Give one to the session that sits here: typed if typing is on, else printed to be pasted.
    Send {
        /// How its id begins or ends, or the id of its session ends; without it, the newest.
        id: Option<String>,
        /// To the session in this pane.
        #[arg(long = "in", value_name = "SEAT")]
        seat: Option<String>,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    if let (HandoffAction::List { json, .. }, None) = (&arguments.what, live::store(&scope.env)?) {
        scope.out.say(*json, &json!({"hops": []}), NOTHING);
        return Ok(());
    }
    let store = ownership::store(&scope.env)?;
    match &arguments.what {
        HandoffAction::Show { id, json } => show(scope, &named(&store, id.as_deref())?, *json),
        HandoffAction::List { limit, json } => list(scope, &store, *limit, *json)?,
        HandoffAction::Edit { id, from, json } => {
            edit(scope, &named(&store, id.as_deref())?, from.as_deref(), *json)?;
        }
        HandoffAction::Send { id, seat, json } => {
            let hop = named(&store, id.as_deref())?;
            let session = receiver(scope, &store, seat.as_deref())?;
            send(scope, &hop, &session, *json)?;
        }
    }
    Ok(())
}

const NOTHING: &str =
    "nothing went on by itself yet; `tow session continue` makes it, `guard.strategy` lets it";

fn show(scope: &Scope, hop: &Hop, as_json: bool) {
    if as_json {
        return scope.out.json(&row(hop));
    }
    scope.out.line(&heading(scope, hop));
    match hop.text() {
        Some(text) => text.lines().for_each(|line| scope.out.line(&escape_for_terminal(line))),
        None => scope.out.line("there is no handoff: it was not written, or was forgotten"),
    }
}

fn list(scope: &Scope, store: &Store, limit: u32, as_json: bool) -> Result<(), StoreError> {
    let hops = store.hops(&HopFilter { limit, ..HopFilter::default() })?;
    if as_json {
        scope.out.json(&json!({"hops": hops.iter().map(row).collect::<Vec<_>>()}));
        return Ok(());
    }
    if hops.is_empty() {
        scope.out.line(NOTHING);
    }
    for hop in &hops {
        scope.out.line(&heading(scope, hop));
        if let Some(why) = &hop.why {
            scope.out.line(&format!("{:28}{}", "", scope.out.tint(Tone::Faint, &escape_for_terminal(why))));
        }
    }
    Ok(())
}

fn edit(scope: &Scope, hop: &Hop, from: Option<&Path>, as_json: bool) -> Result<(), Failure> {
    Actor::of_caller(&scope.env)?.may_keep_text(&scope.env)?;
    let text = match from {
        Some(path) => read(path)?,
        None => edited(scope, hop)?,
    };
    let handoff = form::parts(&text);
    if let Some(flaw) = form::validation_error(&handoff) {
        return Err(
            Failure::input(flaw.to_string()).hint("It needs the headings `## Task` and `## Remaining`.")
        );
    }
    let text = kept(&form::render(&handoff));
    let written = EventKind::HandoffWritten { hop: hop.uid, text: text.clone(), by: HandoffAuthor::Person };
    record::accept(&scope.env, [record::event(&scope.env, &hop.session, written)])?;
    live::apply(&scope.env)?;
    let changed = Hop { handoff: Some((text, HandoffAuthor::Person)), ..hop.clone() };
    scope.out.say(as_json, &row(&changed), &format!("the handoff {} is changed", hop.short()));
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let done = match path.to_str() {
        Some("-") => std::io::stdin().read_to_string(&mut text).map(drop),
        _ => fs::read_to_string(path).map(|read| text = read),
    };
    done.map_err(|error| Failure::about(format!("could not read {}", path.display()), &error))?;
    Ok(text)
}

/// Opens the handoff in the user's editor, through a temporary file.
fn edited(scope: &Scope, hop: &Hop) -> Result<String, Failure> {
    let file = scope.env.home.folder().join(format!("handoff-{}.md", hop.short()));
    let failed = |error: &std::io::Error| Failure::about(format!("could not use {}", file.display()), error);
    replace_file(&file, hop.text().unwrap_or("## Task\n\n## Remaining\n").as_bytes())
        .map_err(|error| failed(&error))?;
    let text = edit_file(&file).and_then(|_| fs::read_to_string(&file).map_err(|error| failed(&error)));
    let _ = fs::remove_file(&file);
    text
}

fn receiver(scope: &Scope, store: &Store, seat: Option<&str>) -> Result<Session, Failure> {
    match seat {
        Some(seat) => Ok(live::session_in_seat(&scope.env, seat)?.0),
        None => ownership::current_session(store, "tow session handoff send --in SEAT #"),
    }
}

fn send(scope: &Scope, hop: &Hop, session: &Session, as_json: bool) -> Result<(), Failure> {
    let Some(text) = hop.text() else {
        return Err(
            Failure::input(format!("{} has no handoff", hop.short())).hint("Run `tow session handoff list`.")
        );
    };
    let text = form::sent(text);
    let config = settings(&scope.env);
    let seat = session.seat.as_deref().filter(|_| is_allowed(&scope.env, &config));
    let Some(seat) = seat else {
        let why = "nothing is typed here (typing is off or paused); paste this:";
        let lines = format!("{}\n{text}", scope.out.tint(Tone::Faint, why));
        scope.out.say(as_json, &json!({"typed": null, "paste": text}), &lines);
        return Ok(());
    };
    let expires_at = scope.env.now.plus_ms(config.typing.limit_ms);
    let wish = IntentRequest::new(seat, IntentPurpose::Continue, &text, expires_at).map_err(|bad| {
        Failure::input(format!("the handoff cannot be typed: {bad}")).hint("Run `tow session handoff show`.")
    })?;
    let typed = typing::make(&scope.env, &session.key, wish)?;
    let (handoff, name) = (hop.short(), session.key.short());
    let line =
        format!("the handoff {handoff} is typed into {name}; `tow typing list` shows what comes of it");
    scope.out.say(as_json, &json!({"typed": typed, "session": session.key, "seat": seat}), &line);
    Ok(())
}

fn named(store: &Store, part: Option<&str>) -> Result<Hop, Failure> {
    let all = store.hops(&HopFilter { limit: u32::MAX, ..HopFilter::default() })?;
    let nothing = |what: String| Failure::input(what).hint("Run `tow session handoff list`.");
    let Some(part) = part else {
        let newest = all.into_iter().find(|hop| hop.text().is_some());
        return newest.ok_or_else(|| nothing("there is no handoff yet".to_owned()));
    };
    let of_session = |hop: &&Hop| part.len() >= SHORTEST && hop.session.id.as_str().ends_with(part);
    if let Some(hop) = all.iter().find(of_session) {
        return Ok(hop.clone());
    }
    only_named(all, part, |hop| hop.uid).map_err(|fault| match fault {
        AmbiguousName::Several => nothing(format!("`{part}` fits several handoffs")),
        AmbiguousName::None => nothing(format!("no handoff's id begins or ends with `{part}`")),
    })
}

/// The number of characters of a session's id that turn names use.
const SHORTEST: usize = 8;

fn heading(scope: &Scope, hop: &Hop) -> String {
    let tone = match hop.stage {
        HopStage::Done => Tone::Good,
        HopStage::Asked | HopStage::Written | HopStage::Clearing | HopStage::Continuing => Tone::Faint,
        HopStage::Failed | HopStage::Stopped => Tone::Warning,
    };
    let when = clock(hop.began_at, scope.env.now);
    let stage = scope.out.tint(tone, &pad(hop.stage.name(), 10));
    let session = format!("{}:{}", hop.session.agent, hop.session.short());
    let task = fit_to_width(&escape_for_terminal(form::parts(hop.text().unwrap_or("")).task.trim()), 40);
    format!("{when:>16}  {}  {stage}  {session}  {task}", hop.short())
}

fn row(hop: &Hop) -> Value {
    json!({
        "id": hop.uid, "short": hop.short(), "seat": hop.asking.seat, "session": hop.session,
        "ordinal": hop.asking.ordinal, "percent": hop.asking.percent, "state": hop.stage.name(), "why": hop.why,
        "by": hop.handoff.as_ref().map(|(_, by)| by.name()), "text": hop.text(),
        "began_at": hop.began_at.to_utc(), "moved_at": hop.moved_at.to_utc(), "successor": hop.successor,
        "given_to": hop.given.as_ref().map(|(to, _)| to),
    })
}
