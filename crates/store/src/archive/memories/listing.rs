//! A question about memories, put into SQL: pages of a list whose order an index has.
//!
//! Asks nothing itself.

use super::{MEMORY, MemoriesAsked, Only};
use rusqlite::types::Value;
use towline_core::time::Timestamp;

/// The question in SQL, with its values. Few are read however many there are: both orders are an index's own.
pub fn listing(asked: &MemoriesAsked<'_>) -> (String, Vec<Value>) {
    let (conditions, values) = conditions(asked);
    let order = if asked.project.is_some() { "m.made_at desc, m.id desc" } else { "m.id desc" };
    (format!("{MEMORY} {conditions} order by {order} limit {}", asked.limit), values)
}

/// Behind one that may be gone: then behind the next older one.
const BEHIND: &str =
    "(m.made_at, m.id) < (select made_at, id from memories where id <= ? order by id desc limit 1)";

/// What a question says, as conditions and their values.
fn conditions(asked: &MemoriesAsked<'_>) -> (String, Vec<Value>) {
    let text = |text: &str| Value::Text(text.to_owned());
    let time = |at: Timestamp| Value::Integer(at.0);
    let by_file = "m.id in (select memory from memory_files f
        where f.path = ? or substr(f.path, -length(?)) = ?)";
    let mut found: Vec<(&str, Vec<Value>)> = vec![];
    let mut given = |condition: &'static str, value: Option<Value>| {
        found.extend(value.map(|value| (condition, vec![value])));
    };
    given("m.project = ?", asked.project.map(Value::Integer));
    given("m.type = ?", asked.kind.map(|kind| text(kind.as_str())));
    given(
        "m.id in (select memory from memory_concepts c where c.concept = ?)",
        asked.concept.map(|concept| text(&concept.to_lowercase())),
    );
    given("m.session = ?", asked.session.map(|session| text(&session.to_string())));
    given("m.turn = ?", asked.turn.map(|turn| Value::Integer(turn.into())));
    given("m.branch = ?", asked.branch.map(text));
    given("m.made_at >= ?", asked.from.map(time));
    given("m.made_at <= ?", asked.until.map(time));
    let behind = if asked.project.is_some() { BEHIND } else { "m.id < ?" };
    given(behind, asked.before.map(Value::Integer));
    found.extend(asked.file.map(|file| {
        let end = format!("/{}", file.trim_start_matches('/'));
        (by_file, vec![text(file), text(&end), text(&end)])
    }));
    let mut conditions: Vec<&str> = found.iter().map(|(condition, _)| *condition).collect();
    conditions.extend(match asked.only {
        Only::All => None,
        Only::Standing => Some("m.superseded_at is null and m.quarantine is null"),
        Only::Pinned => Some("m.pinned_at is not null and m.superseded_at is null and m.quarantine is null"),
        Only::HeldBack => Some("m.quarantine is not null"),
    });
    let values = found.iter().flat_map(|(_, values)| values.clone()).collect();
    if conditions.is_empty() {
        return (String::new(), values);
    }
    (format!("where {}", conditions.join(" and ")), values)
}
