//! Builds the SQL of a memory listing: pages in the order of an index.
//!
//! Runs no query.

use super::{MEMORY, MemoryFilter, MemoryQuery};
use rusqlite::types::Value;
use towline_core::time::Timestamp;

/// The query and its values. A page reads few rows of any number: each is found or ordered by an index.
pub fn listing(asked: &MemoryQuery<'_>) -> (String, Vec<Value>) {
    let (conditions, values) = conditions(asked);
    // Few rows are pinned or proposed, and an index lists them; without the plus sign all rows would be read in order.
    let has_own_index = matches!(asked.only, MemoryFilter::Pinned | MemoryFilter::Proposed);
    let order = match asked.project {
        None if has_own_index => "+m.id desc",
        None => "m.id desc",
        Some(_) => "m.made_at desc, m.id desc",
    };
    (format!("{MEMORY} {conditions} order by {order} limit {}", asked.limit), values)
}

/// Behind a memory that may be deleted: then behind the next older one.
const BEHIND: &str =
    "(m.made_at, m.id) < (select made_at, id from memories where id <= ? order by id desc limit 1)";

fn conditions(asked: &MemoryQuery<'_>) -> (String, Vec<Value>) {
    let text = |text: &str| Value::Text(text.to_owned());
    let time = |at: Timestamp| Value::Integer(at.0);
    let by_file = "m.id in (select memory from memory_files f
        where f.path = ? or substr(f.path, -length(?)) = ?)";
    let mut clauses: Vec<(&str, Vec<Value>)> = vec![];
    let mut add = |condition: &'static str, value: Option<Value>| {
        clauses.extend(value.map(|value| (condition, vec![value])));
    };
    add("m.project = ?", asked.project.map(Value::Integer));
    add("m.type = ?", asked.kind.map(|kind| text(kind.as_str())));
    add(
        "m.id in (select memory from memory_concepts c where c.concept = ?)",
        asked.concept.map(|concept| text(&concept.to_lowercase())),
    );
    add("m.session = ?", asked.session.map(|session| text(&session.to_string())));
    add("m.turn = ?", asked.turn.map(|turn| Value::Integer(turn.into())));
    add("m.branch = ?", asked.branch.map(text));
    add("m.made_at >= ?", asked.from.map(time));
    add("m.made_at <= ?", asked.until.map(time));
    let behind = if asked.project.is_some() { BEHIND } else { "m.id < ?" };
    add(behind, asked.before.map(Value::Integer));
    clauses.extend(asked.file.map(|file| {
        let end = format!("/{}", file.trim_start_matches('/'));
        (by_file, vec![text(file), text(&end), text(&end)])
    }));
    let mut conditions: Vec<&str> = clauses.iter().map(|(condition, _)| *condition).collect();
    conditions.extend(match asked.only {
        MemoryFilter::All => None,
        MemoryFilter::Standing => Some("m.superseded_at is null and m.quarantine is null"),
        MemoryFilter::Pinned => {
            Some("m.pinned_at is not null and m.superseded_at is null and m.quarantine is null")
        }
        MemoryFilter::HeldBack => Some("m.quarantine is not null"),
        MemoryFilter::Proposed => {
            Some("m.proposed_at is not null and m.superseded_at is null and m.pinned_at is null")
        }
    });
    let values = clauses.iter().flat_map(|(_, values)| values.clone()).collect();
    if conditions.is_empty() {
        return (String::new(), values);
    }
    (format!("where {}", conditions.join(" and ")), values)
}
