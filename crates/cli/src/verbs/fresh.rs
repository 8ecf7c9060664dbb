//! `tow session fresh`: the next session in this seat inherits nothing from the current one.
//!
//! Erases nothing: the current session's work stays searchable.

use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_core::event::EventKind;
use towline_engine::handoff::inherit;
use towline_engine::ingest::live;
use towline_engine::query::ownership;
use towline_engine::runtime::Failure;

const EXAMPLES: &str = "\
Examples:
  tow session fresh            then clear: the new session starts with nothing
  tow session fresh --undo     it inherits after all

Typing `/tow fresh` in the agent (or `$tow fresh`, where commands are skills) does the same. It holds until the session is asked for
something again. To inherit nothing ever: `tow config set inherit.on_clear never`.";

/// Let the next session here start with nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// How the session's id begins or ends; without it, the session that this runs in.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Let the next session inherit after all.
    #[arg(long)]
    undo: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let store = ownership::store(&scope.env)?;
    let session = ownership::session(&store, arguments.session.as_deref(), "tow session fresh --session")?;
    drop(store);
    let happening = if arguments.undo { EventKind::FreshTakenBack } else { EventKind::FreshAsked };
    live::record(&scope.env, &session.key, happening)?;
    let how = if arguments.undo { "inherits as usual" } else { "starts afresh" };
    let line = format!("whoever comes after {} {how}", inherit::session_label(&session));
    scope.out.say(arguments.json, &json!({"session": session.key, "fresh": !arguments.undo}), &line);
    Ok(())
}
