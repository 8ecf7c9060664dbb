//! Context usage of recorded rollouts.

use super::*;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn recorded(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tails");
    fs::read_to_string(folder.join(format!("codex-0.166.0-{name}.jsonl"))).unwrap()
}

#[track_caller]
fn check(text: &str, tokens: Option<u64>) {
    let found = context(text.as_bytes());
    assert!(found.is_none_or(|said| said.at.is_some()), "every count has its time");
    assert_eq!(found.map(|said| (said.tokens, said.window)), tokens.map(|tokens| (tokens, Some(258_400))));
}

#[test]
fn the_newest_request_counts_and_not_the_sum_of_all() {
    check(&recorded("end"), Some(1312));
    check(&recorded("compacted"), Some(1020));
}

#[test]
fn a_compaction_leaves_what_the_client_says_it_left() {
    let text = recorded("compacted");
    let lines: Vec<&str> = text.lines().collect();
    let compacted = lines.iter().position(|line| line.contains(r#""type":"compacted""#)).unwrap();
    check(&lines[..compacted].join("\n"), Some(2030));
    check(&lines[..=compacted].join("\n"), None);
    check(&lines[..=compacted + 1].join("\n"), Some(6963));
}

#[test]
fn a_turn_that_was_refused_has_no_numbers_of_its_own() {
    check(&recorded("limit"), None);
    check(&format!("{}{}", recorded("end"), recorded("limit")), Some(1312));
}

proptest! {
    #[test]
    fn no_file_is_too_damaged_to_be_read(from in 0usize..9000, cut in 0usize..9000, junk in any::<Vec<u8>>()) {
        let mut text = recorded("compacted").into_bytes();
        text.truncate(text.len().saturating_sub(cut));
        text.drain(..from.min(text.len()));
        text.extend_from_slice(&junk);
        let _ = context(&text);
    }
}

#[test]
fn what_was_said_is_counted_once_a_count_follows_it() {
    let words = "The tool printed hello-from-tool.";
    for name in ["end", "legacy-end"] {
        let text = recorded(name);
        assert!(holds_counted(text.as_bytes(), words), "{name}");
        let before: String = text.lines().take_while(|line| !line.contains("token_count")).collect();
        assert!(!holds_counted(before.as_bytes(), words), "{name}");
    }
    assert!(!holds_counted(recorded("mid-tool").as_bytes(), words));
}

#[test]
fn a_rollout_without_the_new_turn_was_taken_for_counted() {
    assert!(!holds_counted(recorded("end").as_bytes(), "I have painted a wing."));
}
