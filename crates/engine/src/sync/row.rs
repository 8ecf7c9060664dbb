//! A hub row as one line of JSON.
//!
//! A forgotten row shows only that it was forgotten.

use serde_json::{Value, json};
use towline_core::share::{Registers, RowLife, SharedRow, Visibility};

/// Everything known of a row. `key` is its project's key.
pub fn row_json(row: &SharedRow, key: &str) -> Value {
    let from = &row.from;
    let mut all = json!({
        "uid": row.uid, "kind": row.kind.name(), "project": key, "person": from.person, "machine": from.machine,
        "session": from.session, "turn": from.turn, "made_at": from.made_at.to_utc(),
    });
    match &row.life {
        RowLife::Forgotten { at, by } => {
            all["forgotten"] = json!({"at": at.to_utc(), "by": by});
        }
        RowLife::Lives(registers) => add(&mut all, registers),
    }
    all
}

fn add(all: &mut Value, registers: &Registers) {
    let words = &registers.words.value;
    // Content that is not JSON comes from another version: pass it on unchanged.
    all["words"] = serde_json::from_str(words).unwrap_or_else(|_| json!(words));
    all["withdrawn"] = json!(registers.presence.value == Visibility::Withdrawn);
    all["pinned_at"] = json!(registers.pin.value.map(|at| at.to_utc()));
    all["held_back"] = json!(registers.hold.value);
    all["found"] = json!(registers.found);
    all["superseded"] =
        json!(
            registers.standing.value.as_ref().map(|replaced| {
                json!({"by": replaced.by, "at": replaced.at.to_utc(), "why": replaced.why})
            })
        );
}

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::id::Uid;
    use towline_core::share::{RowKind, RowProvenance, WriteStamp};
    use towline_core::time::Timestamp;

    fn row(life: RowLife) -> SharedRow {
        let from = RowProvenance {
            person: "ann".into(),
            machine: Uid([2; 16]),
            session: None,
            turn: Some(3),
            made_at: Timestamp(0),
        };
        SharedRow { uid: Uid([1; 16]), kind: RowKind::Memory, project: Uid([3; 16]), from, life }
    }

    #[test]
    fn a_row_that_lives_has_its_words_and_one_that_was_forgotten_has_none() {
        let words = Registers::of_words(r#"{"title":"Ports"}"#.into(), WriteStamp::NEVER);
        let lives = row_json(&row(RowLife::Lives(Box::new(words))), "host/app");
        assert_eq!((&lives["words"]["title"], &lives["project"]), (&json!("Ports"), &json!("host/app")));
        let gone = row_json(&row(RowLife::Forgotten { at: Timestamp(0), by: "bob".into() }), "host/app");
        assert_eq!((gone.get("words"), &gone["forgotten"]["by"]), (None, &json!("bob")));
    }
}
