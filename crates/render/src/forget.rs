//! The report of a forget command, or of its preview.
//!
//! Never prints the text that was searched for.

use crate::{Style, Tone};
use serde_json::{Value, json};
use towline_core::escape::escape_for_terminal;
use towline_core::time::Timestamp;
use towline_engine::erase::forget::{AsideFate, ForgetReport, Tally};
use towline_engine::runtime::text::size;

pub fn forget_json(report: &ForgetReport) -> Value {
    let Tally { archive, hot, aside, holding } = &report.tally;
    let aside: Vec<_> = aside.iter().map(|aside| json!({"path": aside.path, "bytes": aside.bytes})).collect();
    json!({
        "forgotten": report.is_done,
        "archive": {
            "sessions": archive.conversations, "turns": archive.turns, "bodies": archive.bodies,
            "details": archive.details, "memories": archive.memories, "others": archive.others,
        },
        "database": {
            "sessions": hot.rows.sessions, "turns": hot.rows.heard_turns, "events": hot.rows.events,
            "others": hot.rows.others,
        },
        "journal": {"erased": hot.journal.gone, "changed": hot.journal.changed},
        "aside": {"files": aside, "deleted": report.is_done && report.aside_fate == AsideFate::Deleted},
        "holding": holding,
    })
}

pub fn forget_text(report: &ForgetReport, now: Timestamp, style: Style) -> String {
    let Tally { archive, hot, aside, holding } = &report.tally;
    if report.tally.is_nothing() && aside.is_empty() {
        return "nothing of it is kept\n".to_owned();
    }
    let verb = if report.is_done { "forgot" } else { "would forget" };
    let mut text = format!("{verb} {}:\n", escape_for_terminal(&report.target.describe(now)));
    text += &format!(
        "  archive: {} turns, {} messages, {} tool inputs and outputs, {} memories and summaries, {} lines, names and notes, {} whole sessions\n",
        archive.turns,
        archive.bodies,
        archive.details,
        archive.memories,
        archive.others,
        archive.conversations
    );
    text += &format!(
        "  database: {} sessions, {} turns, {} events, {} other texts; journal: {} records erased, {} changed\n",
        hot.rows.sessions,
        hot.rows.heard_turns,
        hot.rows.events,
        hot.rows.others,
        hot.journal.gone,
        hot.journal.changed
    );
    for one in aside {
        let name = escape_for_terminal(&one.path.to_string_lossy());
        let fate = if report.is_done { "deleted" } else { "to be deleted, since it cannot be cleaned" };
        text += &format!("  set aside: {name} ({}), {fate}\n", size(one.bytes));
    }
    for path in holding {
        let (tone, line) = match report.is_done {
            false => (Tone::Faint, format!("  in the bytes of {}", path.display())),
            true => (Tone::Bad, format!("  still in the bytes of {}: run it again", path.display())),
        };
        text += &(style.tint(tone, &line) + "\n");
    }
    if report.is_done && report.aside_fate == AsideFate::Kept && !aside.is_empty() {
        let line =
            "the databases that were set aside may hold it still; without `--keep-aside` they are deleted";
        text += &(style.tint(Tone::Warning, line) + "\n");
    }
    text
}
