//! `tow bookmark set`: sets a bookmark by hand.
//!
//! Types nothing into the terminal, so the agent does not learn of it.

use crate::scope::Scope;
use clap::Args;
use serde_json::json;
use towline_core::bookmark::{BookmarkOrigin, CodeState, NewBookmark};
use towline_core::event::{Event, EventKind};
use towline_core::session::Session;
use towline_core::text::{SafeText, TextPolicy};
use towline_engine::curate::Actor;
use towline_engine::handoff::bookmarks::code_in;
use towline_engine::handoff::inherit;
use towline_engine::index::labels::short;
use towline_engine::ingest::live;
use towline_engine::query::ownership;
use towline_engine::runtime::{Failure, record, settings};
use towline_engine::status::probe;

const EXAMPLES: &str = "\
Examples:
  tow bookmark set                       here, called by what was done since the last one
  tow bookmark set before the big change
  tow bookmark set --session 1a2b3c4d works

`tow bookmark list` lists them, `tow bookmark rewind ID` says how to get back. Most are set by themselves: see [bookmarks] in
`tow config`.";

/// Set a point to come back to.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The bookmark's label.
    label: Vec<String>,
    /// How the session's id begins or ends; without it, the session that this runs in.
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// In bytes: about one line of a list.
const LONGEST_LABEL: usize = 200;

pub fn run(scope: &Scope, arguments: &Arguments) -> Result<(), Failure> {
    let store = ownership::store(&scope.env)?;
    let session = ownership::session(&store, arguments.session.as_deref(), "tow bookmark set --session")?;
    drop(store);
    if !arguments.label.is_empty() {
        Actor::of_caller(&scope.env)?.may_keep_text(&scope.env)?;
    }
    let code = code_in(session.folder.as_deref());
    let [set, placed] = events(scope, arguments, &session, code.clone());
    let id = set.uid;
    record::accept(&scope.env, [set, placed])?;
    live::store(&scope.env)?;
    let (short, label) = (short(id), inherit::session_label(&session));
    let commit = code.as_ref().map(|code| code.commit.as_str().chars().take(10).collect::<String>());
    let at = commit.map_or(String::new(), |commit| format!(" at {commit}"));
    let lines = format!(
        "bookmark {short} in {label}{at}\nnext: `tow bookmark rewind {short}` says how to get back here"
    );
    let set = json!({"id": short, "uid": id, "session": session.key, "code": code});
    scope.out.say(arguments.json, &set, &lines);
    Ok(())
}

/// The event that sets the bookmark, and the one that records the state of the code there.
fn events(scope: &Scope, arguments: &Arguments, session: &Session, code: Option<CodeState>) -> [Event; 2] {
    let secrets = settings(&scope.env).secrets;
    let label =
        SafeText::new(&arguments.label.join(" "), TextPolicy { longest_bytes: LONGEST_LABEL, secrets });
    let setting = NewBookmark {
        how: BookmarkOrigin::Manual,
        after_turn: session.turns,
        reason: None,
        label: (!label.is_blank()).then_some(label),
    };
    let turn = session.open_turn.as_ref().and_then(|turn| turn.id.clone());
    let event = |happening| record::event(&scope.env, &session.key, happening);
    let set = Event { turn, scene: Some(session.scene()), ..event(EventKind::BookmarkSet(setting)) };
    let context_tokens = probe::reported_context(session).map(|fill| fill.tokens);
    let placed = event(EventKind::BookmarkPlaced { bookmark: set.uid, code, context_tokens });
    [set, placed]
}
