//! Bookmarks and a list of them.
//!
//! The engine computes the labels.

use serde_json::{Value, json};
use towline_core::bookmark::CountPrecision;
use towline_core::escape::{escape_for_terminal, fit_to_width, pad};
use towline_core::shown::age;
use towline_core::time::Timestamp;
use towline_engine::index::labels::short;
use towline_engine::query::{BookmarkList, BookmarkRow, LabelledBookmark, bookmark_reason};

pub fn bookmarks_json(list: &BookmarkList) -> Value {
    let rows: Vec<Value> = list.bookmarks.iter().map(bookmark_json).collect();
    json!({"bookmarks": rows, "more": list.has_more})
}

/// One line of at most this many columns, and the details that belong below it.
pub fn bookmark_text(bookmark: &LabelledBookmark, now: Timestamp, columns: usize) -> (String, String) {
    let known = &bookmark.row;
    let age = age(now.since_ms(known.bookmark.at));
    let age = if age.is_empty() { "now" } else { &age };
    let head =
        format!("{} {} {}", short(known.bookmark.uid), pad(age, 4), escape_for_terminal(&bookmark.label));
    let about = format!("{} {} {}", known.session.agent, known.session.short(), details(known));
    (fit_to_width(&head, columns).trim_end().to_owned(), format!("              {}", about.trim_end()))
}

fn details(known: &BookmarkRow) -> String {
    let context = known.bookmark.context_tokens.map(|tokens| format!("context {tokens} tokens"));
    let deleted = known.deleted_at.map(|_| "deleted".to_owned());
    let parts = [Some(bookmark_reason(known)), bookmark_code(known), context, deleted];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The abbreviated commit, its branch, and whether there were uncommitted changes.
pub fn bookmark_code(known: &BookmarkRow) -> Option<String> {
    let code = known.code.as_ref().filter(|code| !code.commit.is_blank())?;
    let commit: String = code.commit.as_str().chars().take(10).collect();
    let branch = code
        .branch
        .as_ref()
        .map_or(String::new(), |name| format!(" on {}", escape_for_terminal(name.as_str())));
    let dirty = if code.dirty == Some(true) { ", with changes" } else { "" };
    Some(format!("{}{branch}{dirty}", escape_for_terminal(&commit)))
}

pub fn bookmark_json(LabelledBookmark { row: known, label }: &LabelledBookmark) -> Value {
    let (bookmark, set) = (&known.bookmark, &known.bookmark.set);
    let time = |at: Option<Timestamp>| at.map(Timestamp::to_utc);
    let code = known.code.as_ref();
    json!({
        "id": short(bookmark.uid), "uid": bookmark.uid, "session": known.session, "project": known.project,
        "at": bookmark.at.to_utc(), "label": label, "named": set.label.is_some(), "how": set.how.name(),
        "reason": bookmark_reason(known), "threshold": set.reason.map(|reason| reason.threshold.name()),
        "count": set.reason.map(|reason| reason.count),
        "estimated": set.reason.map(|reason| reason.counted == CountPrecision::Estimated),
        "after_turn": set.after_turn, "turn": bookmark.turn.as_ref().map(|turn| turn.as_str().to_owned()),
        "commit": code.map(|code| code.commit.as_str()),
        "branch": code.and_then(|code| code.branch.as_ref()).map(|branch| branch.as_str()),
        "dirty": code.and_then(|code| code.dirty), "context_tokens": bookmark.context_tokens,
        "placed_at": time(known.placed_at), "deleted_at": time(known.deleted_at),
    })
}
