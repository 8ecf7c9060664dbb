//! `tow session continue`: moves a session's work to a fresh session now, with a handoff composed from the archive.
//!
//! Types nothing itself and waits for nothing: intents and their outcome are rows of the database.

use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_core::continuing::{HandoffAuthor, HopRequest, form};
use towline_core::session::{Session, SessionState};
use towline_engine::handoff::continuing::{begin, is_allowed, overdue};
use towline_engine::ingest::live;
use towline_engine::query::ownership;
use towline_engine::runtime::{Failure, record, settings, spawn};
use towline_store::Store;

const EXAMPLES: &str = "\
Examples:
  tow session continue                       the session that sits here goes on in a fresh one
  tow session continue --in tmux:4242:%3     the one in that seat; `tow status --json` names the seats
  tow session handoff list                   what came of it

/clear is typed, and a prompt behind it; so typing must be on (`tow config set typing.enabled true`). The successor is given
the handoff and whatever it inherits anyway.";

/// Go on with a session's work in a fresh one, now.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The session in this pane; without it, the one that this runs in.
    #[arg(long = "in", value_name = "SEAT")]
    seat: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let store = ownership::store(&scope.env)?;
    let config = settings(&scope.env);
    if !is_allowed(&scope.env, &config) {
        return Err(Failure::input("nothing is typed: typing is off or paused")
            .hint("Run `tow config set typing.enabled true`, or `tow typing resume`."));
    }
    let session = match &arguments.seat {
        Some(seat) => live::session_in_seat(&scope.env, seat)?.0,
        None => ownership::current_session(&store, "tow session continue --in SEAT #")?,
    };
    let seat = ready(scope, &store, &session)?;
    let asking =
        HopRequest { seat: seat.clone(), author: HandoffAuthor::Mechanical, ordinal: 1, percent: None };
    let (hop, events) = begin(&scope.env, &config, &store, &session, asking)?;
    record::accept(&scope.env, events)?;
    spawn::type_detached(&seat);
    let short = form::id(hop);
    let done = json!({"hop": hop, "short": short, "session": session.key, "seat": seat});
    let name = session.key.short();
    let line = format!(
        "{name} goes on in a fresh session; `tow session handoff show {short}` shows what is handed over"
    );
    scope.out.say(arguments.json, &done, &line);
    Ok(())
}

/// The seat of the session, if it can be cleared now.
fn ready(scope: &Scope, store: &Store, session: &Session) -> Result<String, Failure> {
    let name = session.key.short();
    let refused = |why: String| Failure::input(format!("{name} cannot go on in a fresh session: {why}"));
    let Some(seat) = session.seat.clone() else {
        return Err(refused("it sits nowhere".to_owned()).hint("Run `tow status`."));
    };
    if !matches!(session.state, SessionState::Idle | SessionState::Completed) {
        let why = format!("it is {}", session.state.name());
        return Err(refused(why).hint("Wait until its turn has ended."));
    }
    let open = overdue(&scope.env, store.open_hops()?);
    match open.iter().find(|hop| hop.asking.seat == seat) {
        None => Ok(seat),
        Some(hop) => {
            let why = format!("{} is on its way already", hop.short());
            Err(refused(why).hint("Run `tow session handoff list`."))
        }
    }
}
