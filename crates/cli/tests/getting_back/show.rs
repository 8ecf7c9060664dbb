//! `tow show`: a session, a turn, a detail, and ids that nothing or several things have.

use crate::world::{HEADLESS, claude, empty, shown, small, world};

#[test]
fn a_session_is_summed_up() {
    let env = world();
    insta::assert_snapshot!("show_session", shown(&env, &["show", HEADLESS]));
    let found = env.tow(&["show", HEADLESS, "--json"]).ok().json();
    assert_eq!((&found["kind"], &found["session"]["id"]), (&"session".into(), &HEADLESS.into()));
    assert_eq!(found["figures"]["usage"][0]["model"], "claude-opus-5-5");
    env.tow(&["show", HEADLESS, "--limit", "2"]).ok().prints("[3 earlier: `tow show 894a0f50 --limit 5`]");
}

#[test]
fn a_turn_is_shown_with_its_files_commits_and_tokens() {
    let env = world();
    insta::assert_snapshot!("show_turn", shown(&env, &["show", &format!("{HEADLESS}#3")]));
    let found = env.tow(&["show", &format!("{HEADLESS}#3"), "--json"]).ok().json();
    assert_eq!(found["turn"]["ordinal"], 3);
    let uid = found["turn"]["uid"].as_str().unwrap();
    env.tow(&["show", uid]).ok().prints(&format!("turn {HEADLESS}#3"));
}

#[test]
fn a_detail_is_shown_by_its_text() {
    let env = world();
    env.tow(&["show", &format!("{HEADLESS}#3.7")]).ok().prints("  70d7d63 Add a\n");
}

#[test]
fn an_id_that_nothing_has_is_refused_with_the_nearest() {
    let env = world();
    env.tow(&["show", "894a0f51"]).exits(2).complains("Did you mean `tow show 894a0f50`?");
    env.tow(&["show", &format!("{HEADLESS}#8")]).exits(2).complains("has the turns 1 to 7, not 8");
    env.tow(&["show", &format!("{HEADLESS}#3.10")])
        .exits(2)
        .complains("has 9 tool inputs and outputs, not 10");
    env.tow(&["show", "14:05"]).exits(2).complains("Run `tow session detail 14:05`.");
    env.tow(&["show", "x y"]).exits(2).complains("is no id");
    empty().tow(&["show", "894a0f50"]).exits(2).complains("tow data import");
}

#[test]
fn an_id_that_several_have_lists_them_with_what_tells_them_apart() {
    let env = empty();
    for (id, words) in [
        ("11111111-aaaa-4000-8000-000000000001", "one thing"),
        ("11111111-bbbb-4000-8000-000000000002", "another"),
    ] {
        claude(&env, id, &small(&env, (id, "2026-11-15T08:00:00.000Z"), words, "done"));
    }
    env.tow(&["import"]).ok();
    let run = env.tow(&["show", "11111111"]).exits(2).complains("`11111111` fits 2 sessions");
    let run = run
        .complains("claude:11111111-aaaa-4000-8000-000000000001, project, 1 turns, last 08:00:00: one thing");
    run.complains("another");
    env.tow(&["show", "11111111-bbbb"]).ok().prints("another");
}
