//! A list of sessions, and a session in it.
//!
//! The engine chooses and orders the rows.

use crate::page::{Page, spanned};
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_core::time::Timestamp;
use towline_engine::query::{Conversation, SessionLine, SessionList};

pub fn sessions_json(list: &SessionList) -> Value {
    let row = |session: &SessionLine| {
        let mut row = session_json(&session.of);
        (row["first_line"], row["last_line"]) = (json!(session.first), json!(session.last));
        row
    };
    let sessions: Vec<Value> = list.sessions.iter().map(row).collect();
    json!({"sessions": sessions, "more": list.has_more, "next": list.next()})
}

pub fn session_json(of: &Conversation) -> Value {
    json!({
        "id": of.short, "uid": of.uid, "session": of.session, "agent": of.session.agent.as_str(),
        "project": of.project, "branch": of.branch, "folder": of.folder, "forked_from": of.base,
        "first_at": of.first_at.to_utc(), "last_at": of.last_at.to_utc(), "turns": of.turns,
    })
}

pub fn sessions_text(list: &SessionList, now: Timestamp) -> String {
    let mut page = Page::default();
    list.sessions.iter().for_each(|session| session_text(&mut page, session, now));
    if list.has_more {
        page.line(&format!("there are older ones: --limit {}", list.sessions.len().saturating_mul(5)));
    }
    match list.sessions.first() {
        Some(latest) => page.line(&format!(
            "next: `tow session turns {short}` lists a session's turns, `tow show {short}` sums it up",
            short = latest.of.short
        )),
        None => {
            page.line(&format!("no sessions found; looked in: {}", list.looked));
            page.line(
                "next: --all-projects looks everywhere, `tow data import` takes in what the agents wrote",
            );
        }
    }
    page.text
}

fn session_text(page: &mut Page, session: &SessionLine, now: Timestamp) {
    let of = &session.of;
    let or_none = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), escape_for_terminal);
    page.line(&format!(
        "{} {} {} {} {}, {} turns",
        of.short,
        of.session.agent,
        or_none(&of.project),
        or_none(&of.branch),
        spanned(of.first_at, of.last_at, now),
        of.turns
    ));
    if let Some(first) = &session.first {
        page.line(&format!("  first: {}", escape_for_terminal(first)));
    }
    if let Some(last) = session.last.as_ref().filter(|last| Some(*last) != session.first.as_ref()) {
        page.line(&format!("  last: {}", escape_for_terminal(last)));
    }
}
