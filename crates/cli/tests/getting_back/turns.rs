//! `tow session turns` (TL-19): the lines and the words of turns, before a turn or a time, so many of them.

use crate::world::{CODEX, HEADLESS, WORDS, empty, shown, world};
use serde_json::{Value, json};
use towline_testkit::TestEnv;

fn ids(env: &TestEnv, arguments: &[&str]) -> Vec<String> {
    let found = env.tow(&[&["turns", "--json"], arguments].concat()).ok().json();
    let id = |turn: &Value| turn["id"].as_str().unwrap().to_owned();
    found["turns"].as_array().unwrap().iter().map(id).collect()
}

#[test]
fn tl19_the_lines_of_the_latest_session_are_listed_oldest_first() {
    let env = world();
    insta::assert_snapshot!("turns", shown(&env, &["turns"]));
    insta::assert_snapshot!("turns_of_a_session_with_all", shown(&env, &["turns", HEADLESS, "--all"]));
}

#[test]
fn tl19_the_last_so_many_before_a_turn_or_a_time_that_is_not_included() {
    let env = world();
    let last = ids(&env, &[WORDS, "--last", "3"]);
    assert_eq!(last, [format!("{WORDS}#19"), format!("{WORDS}#20"), format!("{WORDS}#22")]);
    let before = ids(&env, &["--before", &format!("{WORDS}#5"), "--limit", "9"]);
    assert_eq!(before, [format!("{WORDS}#1"), format!("{WORDS}#3"), format!("{WORDS}#4")]);
    let before = ids(&env, &[WORDS, "--before", "2026-11-15T06:38:25Z"]);
    assert_eq!(before, [format!("{WORDS}#1"), format!("{WORDS}#3")]);
    let run = env.tow(&["turns", WORDS, "--last", "3"]).ok();
    run.prints(&format!("16 earlier turns: `tow session turns {WORDS} --before {WORDS}#19`"));
}

#[test]
fn turns_since_a_time_are_those_of_all_sessions_in_the_order_of_time() {
    let env = world();
    let since = ids(&env, &["--since", "06:36", "--limit", "100"]);
    let of = |short: &str| since.iter().filter(|id| id.starts_with(short)).count();
    assert_eq!((of(HEADLESS), of(WORDS)), (5, 19));
    assert!(of(CODEX) > 10 && since[0] == format!("{HEADLESS}#1"), "{since:?}");
    let before = ids(&env, &["--before", "06:36:03", "--limit", "100"]);
    assert_eq!(before, [format!("{HEADLESS}#1"), format!("{HEADLESS}#3")]);
}

#[test]
fn tl19_words_are_printed_whole_within_bounds() {
    let env = world();
    insta::assert_snapshot!("turns_with_words", shown(&env, &["turns", HEADLESS, "--last", "2", "--words"]));
    let found = env.tow(&["turns", HEADLESS, "--last", "1", "--words", "--json"]).ok().json();
    assert_eq!(found["turns"][0]["words"][0]["text"], "/init");
    env.tow(&["turns", HEADLESS, "--words", "--bytes", "10"]).ok().prints("more bytes: `tow session detail");
}

#[test]
fn json_has_a_row_for_each_turn() {
    let env = world();
    let found = env.tow(&["turns", HEADLESS, "--last", "2", "--json"]).ok().json();
    insta::assert_snapshot!("turns_json", serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn tl19_looking_never_makes_anything() {
    let env = empty();
    env.tow(&["turns"]).ok().prints("nothing was captured yet");
    assert_eq!(env.tow(&["turns", "--json"]).ok().json()["turns"], json!([]));
    env.tow(&["sessions"]).ok().prints("no sessions found");
    assert!(!env.data_dir().exists());
}

#[test]
fn a_session_that_is_none_is_refused() {
    let env = world();
    env.tow(&["turns", "ffffffff"])
        .exits(2)
        .complains("no session has an id that begins or ends with `ffffffff`");
    env.tow(&["turns", "14:05"]).exits(2).complains("is a time, not a session");
    env.tow(&["turns", "--since", WORDS]).exits(2).complains("is no time");
}
