//! Messages and tool calls of turns, grouped by session.
//!
//! The engine selects and clips the texts.

use crate::page::{Page, distinct, head};
use crate::turn::{one_detail_json, one_detail_text, turn_json, turn_text};
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_core::time::Timestamp;
use towline_engine::capture::Caught;
use towline_engine::query::{DetailView, Details, TurnView, id_of};

pub fn detail_json(details: &Details) -> Value {
    match details {
        Details::Nothing { looked, .. } => json!({"turns": [], "looked": looked, "left_out_turns": 0}),
        Details::One(view) => {
            let mut turn = turn_json(view);
            turn["details"] = json!([one_detail_json(view)]);
            json!({"turns": [turn]})
        }
        Details::Turns { views, looked, left_out, .. } => {
            let turns: Vec<Value> = views.iter().map(turn_json).collect();
            json!({"turns": turns, "looked": looked, "left_out_turns": left_out})
        }
    }
}

pub fn detail_text(details: &Details, now: Timestamp) -> String {
    let mut page = Page::default();
    match details {
        Details::Nothing { asked, looked } => {
            page.line(&format!("nothing found for {}", escape_for_terminal(asked)));
            page.line(&format!("looked in: {looked}"));
            page.line(
                "next: `tow session list` lists what was captured, --all-projects looks everywhere, `tow data import` takes in \
                 what the agents wrote before Towline was installed",
            );
        }
        Details::One(view) => {
            one_detail_text(&mut page, view, now);
            page.gap();
            let id = id_of(&view.of, &view.turn);
            page.line(&format!("next: `tow session detail {id}` prints the whole turn"));
        }
        Details::Turns { views, left_out, caught, .. } => {
            by_session(&mut page, views, now);
            page.gap();
            if *left_out > 0 {
                page.line(&format!(
                    "{left_out} more turns are not shown: --limit {}",
                    views.len() + left_out
                ));
            }
            if *caught == Caught::Behind {
                page.line("not everything is captured yet: run the same command again");
            }
            let detail = views.iter().rev().find_map(worth_opening);
            let detail = detail.map_or(String::new(), |id| {
                format!("`tow session detail {id}` prints one tool input or output whole, ")
            });
            if let Some(last) = views.last() {
                page.line(&format!(
                    "next: {detail}`tow session turns {}` lists the session's turns",
                    last.of.short
                ));
            }
        }
    }
    page.text
}

/// The turns under a heading for each session.
fn by_session(page: &mut Page, views: &[TurnView], now: Timestamp) {
    for session in distinct(views.iter().map(|view| &view.of.session)) {
        let mut of_session = views.iter().filter(|view| view.of.session == *session).peekable();
        if let Some(first) = of_session.peek() {
            page.gap();
            page.line(&head(&first.of));
        }
        of_session.for_each(|view| turn_text(page, view, now));
    }
}

/// The id of the first clipped detail, else of the first.
fn worth_opening(view: &TurnView) -> Option<String> {
    let is_clipped = |detail: &&DetailView| detail.text.left_out > 0;
    let detail = view.details.iter().find(is_clipped).or(view.details.first())?;
    Some(format!("{}.{}", id_of(&view.of, &view.turn), detail.row.number))
}
