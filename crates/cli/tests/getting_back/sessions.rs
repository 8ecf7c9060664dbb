//! `tow session list` (TL-20): what was captured, the latest first.

use crate::world::{CODEX, HEADLESS, WORDS, shown, world};
use serde_json::Value;

#[test]
fn tl20_the_latest_sessions_are_listed_with_how_they_began_and_ended() {
    let env = world();
    insta::assert_snapshot!("sessions", shown(&env, &["sessions"]));
}

#[test]
fn tl20_counts_and_ids_are_there_for_programs() {
    let env = world();
    let found = env.tow(&["sessions", "--json"]).ok().json();
    let rows = found["sessions"].as_array().unwrap();
    let column = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<Value>>();
    assert_eq!(column("id"), [WORDS, CODEX, HEADLESS]);
    assert_eq!(column("turns"), [22, 17, 7]);
    assert_eq!(column("project"), ["project"; 3]);
    assert_eq!(column("branch"), ["main"; 3]);
    assert_eq!(rows[2]["session"], "claude:cc06f37d-ba7c-4eae-9315-4088894a0f50");
    assert_eq!(rows[2]["first_at"], "2026-11-15T06:36:00Z");
    assert_eq!(found["more"], false);
}

#[test]
fn sessions_are_chosen_by_agent_time_and_number() {
    let env = world();
    let ids = |arguments: &[&str]| -> Vec<String> {
        let found = env.tow(&[&["sessions", "--json"], arguments].concat()).ok().json();
        found["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&["--agent", "codex"]), [CODEX]);
    assert_eq!(ids(&["--since", "06:37"]), [WORDS, CODEX]);
    assert_eq!(ids(&["--limit", "1"]), [WORDS]);
    assert_eq!(ids(&["--project", "project", "--since", "yesterday"]), [WORDS, CODEX, HEADLESS]);
    env.tow(&["sessions", "--limit", "1"]).ok().prints("there are older ones: --limit 5");
}
