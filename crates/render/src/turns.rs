//! A list of turns, one line each.
//!
//! The engine chooses and orders the rows.

use crate::page::{Page, head};
use crate::turn::{heading_json, messages_json, messages_text};
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_core::event::PromptOrigin;
use towline_core::time::Timestamp;
use towline_engine::query::{ListedTurn, TurnList, TurnRow, id_of};
use towline_engine::runtime::calendar;

/// `None` is a list of an archive that does not exist yet.
pub fn turns_json(list: Option<&TurnList>) -> Value {
    let Some(list) = list else { return json!({"session": null, "turns": []}) };
    json!({
        "session": list.of.as_ref().map(|of| of.session.to_string()),
        "turns": list.turns.iter().map(listed_json).collect::<Vec<_>>(),
        "earlier_turns": list.earlier, "hidden_turns": list.hidden,
    })
}

fn listed_json(listed: &ListedTurn) -> Value {
    let (of, turn) = (&listed.of, &listed.turn);
    let mut row = json!({
        "id": id_of(of, turn), "uid": turn.uid, "session": of.session, "ordinal": turn.ordinal,
        "at": turn.at.to_utc(), "until": turn.until.to_utc(), "origin": turn.origin.name(),
        "stopped": turn.stopped.map(|how| how.name()), "reverted": turn.reverted, "tools": turn.tools,
        "failures": turn.failures, "details": listed.details, "line": turn.line,
    });
    if let Some(messages) = &listed.messages {
        row["words"] = messages_json(messages);
    }
    if let Some(headings) = &listed.headings {
        row["headings"] = headings.iter().map(|detail| heading_json(of, turn, detail)).collect();
    }
    row
}

pub fn turns_text(list: Option<&TurnList>, now: Timestamp) -> String {
    let mut page = Page::default();
    let looked = list.map_or("nothing was captured yet", |list| list.looked.as_str());
    let Some((list, (first, last))) =
        list.and_then(|list| Some((list, list.turns.first().zip(list.turns.last())?)))
    else {
        page.line(&format!("no turns found; looked in: {looked}"));
        page.line(
            "next: `tow session list --all-projects` lists what was captured, `tow data import` takes in what the agents wrote",
        );
        return page.text;
    };
    if let Some(of) = &list.of {
        page.line(&format!("{}, {} turns", head(of), of.turns));
    }
    for listed in &list.turns {
        page.line(&line(listed, now));
        messages_text(&mut page, &listed.of, &listed.turn, listed.messages.as_deref().unwrap_or_default());
    }
    page.gap();
    if list.earlier > 0 {
        let (short, id) = (&first.of.short, id_of(&first.of, &first.turn));
        page.line(&format!("{} earlier turns: `tow session turns {short} --before {id}`", list.earlier));
    }
    if list.hidden > 0 {
        page.line(&format!("{} bookmarks, notifications and turns taken back: --all", list.hidden));
    }
    page.line(&format!(
        "next: `tow session detail {}` prints what was said and done, `tow show {}` sums the session up",
        id_of(&last.of, &last.turn),
        last.of.short
    ));
    page.text
}

fn line(listed: &ListedTurn, now: Timestamp) -> String {
    let ListedTurn { of, turn, .. } = listed;
    let details = match listed.details {
        0 => String::new(),
        1 => " (1 detail)".to_owned(),
        several => format!(" ({several} details)"),
    };
    let at = calendar::clock(turn.at, now);
    format!("{} {at} {} {}{details}", id_of(of, turn), turn_mark(turn), escape_for_terminal(&turn.line))
}

/// The mark for a turn's origin.
pub fn turn_mark(turn: &TurnRow) -> char {
    match turn.origin {
        _ if turn.reverted => 'x',
        PromptOrigin::Human => '>',
        PromptOrigin::Command => '/',
        PromptOrigin::Continuation => '+',
        PromptOrigin::Notification => '!',
        PromptOrigin::Bookmark => '*',
    }
}
