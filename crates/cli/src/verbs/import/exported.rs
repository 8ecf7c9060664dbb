//! Reports the import of a file that `tow data export` wrote. Only formats: it imports nothing.

use crate::scope::Scope;
use serde_json::{Value, json};
use towline_engine::sync::export::{Done, Errand};
use towline_store::archive::ImportCounts;

pub fn as_json(done: &Done, errand: Errand) -> Value {
    let ImportCounts { conversations, turns, bodies, details, memories, summaries } = done.restored;
    json!({
        "dry_run": errand == Errand::Try, "lines": done.lines, "sessions": conversations, "turns": turns,
        "bodies": bodies, "details": details, "memories": memories, "summaries": summaries,
        "unknown_lines": done.unknown, "excluded_sessions": done.excluded,
    })
}

pub fn report(scope: &Scope, done: &Done, errand: Errand) {
    let Done { lines, unknown, excluded, restored } = done;
    let ImportCounts { conversations, turns, bodies, details, memories, summaries } = restored;
    scope.out.line(&match errand {
        Errand::Try => format!("{lines} lines can be taken in; nothing was kept"),
        Errand::TakeIn => {
            format!(
                "{conversations} sessions; new: {turns} turns, {bodies} messages, {details} tool inputs and outputs, {memories} memories, \
                 {summaries} summaries"
            )
        }
    });
    if *unknown > 0 {
        scope.out.line(&format!("{unknown} lines are of kinds that this version does not know"));
    }
    if *excluded > 0 {
        scope.out.line(&format!("{excluded} sessions worked in folders that are excluded"));
    }
}
