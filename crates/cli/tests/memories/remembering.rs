//! `tow remember`: every word is kept, once, with where it was said.

use crate::world::{SESSION, empty, holds, listed, memory, remember, with_input, world};

#[test]
fn what_a_person_says_is_kept_in_their_words_for_the_project() {
    let env = empty();
    env.tow(&["remember", "Deploy", "on", "Tuesdays", "only."])
        .ok()
        .prints("m1 discovery in project: Deploy on Tuesdays only.");
    let kept = memory(&env, "m1");
    assert_eq!(
        (&kept["title"], &kept["maker"], &kept["trust"]),
        (&"Deploy on Tuesdays only.".into(), &"person".into(), &"person".into())
    );
    assert_eq!((&kept["confidence"], &kept["project"]), (&100.into(), &"project".into()));
    let options =
        ["--pin", "--type", "gotcha", "--title", "Paint", "--file", "src/paint.rs", "--concept", "colour"];
    let id = remember(&env, &[&options[..], &["It dries\n\n  in two hours."]].concat());
    let kept = memory(&env, &id);
    assert_eq!(
        (&kept["title"], &kept["narrative"]),
        (&"Paint".into(), &"It dries\n\n  in two hours.".into())
    );
    assert_eq!(
        (&kept["type"], &kept["files"][0]["path"], &kept["concepts"][0]),
        (&"gotcha".into(), &"src/paint.rs".into(), &"colour".into())
    );
    assert!(kept["pinned_at"].is_string());
}

#[test]
fn a_text_comes_from_standard_input_too() {
    let env = empty();
    let text = "How we deploy:\n1. build\n2. push\n";
    with_input(&env, &["remember", "-"], text.as_bytes()).ok().prints("How we deploy:");
    assert_eq!(memory(&env, "m1")["narrative"], text.trim());
    with_input(&env, &["remember", "-"], b" \n").exits(2).complains("there is nothing to remember");
}

#[test]
fn what_is_known_is_told_and_what_is_replaced_too() {
    let env = empty();
    remember(&env, &["Use Redis"]);
    env.tow(&["remember", "--pin", "use redis"]).ok().prints("m1 says this already, pinned: Use Redis");
    let run = env.tow(&["remember", "Use Valkey instead of Redis"]).ok();
    run.prints("it replaces m1").prints("`tow memory undo m1` lets both stand");
    assert_eq!(listed(&env, &[]), ["m2"]);
    assert!(memory(&env, "m2")["pinned_at"].is_string(), "the pin goes on");
    assert_eq!(memory(&env, "m1")["superseded"]["by"], "m2");
    let again = env.tow(&["remember", "--json", "Use Dragonfly instead of Valkey"]).ok().json();
    assert_eq!((&again["outcome"], &again["replaced"][0]["id"]), (&"replaced".into(), &"m2".into()));
    env.tow(&["undo", "m2"]).ok().prints("m2 is no longer \"replaced\"");
    assert_eq!(listed(&env, &[]), ["m3", "m2"]);
    env.tow(&["show", "m1"]).ok().prints("one after the other: m1 → m2");
}

#[test]
fn the_session_of_the_agent_that_runs_it_is_where_it_came_from() {
    let env = world();
    assert_eq!(memory(&env, &remember(&env, &["one"]))["session"], serde_json::Value::Null);
    let start = format!(
        r#"{{"hook_event_name":"SessionStart","source":"startup","session_id":"{SESSION}","cwd":"{}"}}"#,
        env.project().display()
    );
    env.hook("claude", start).ok();
    env.set("CLAUDE_CODE_SESSION_ID", SESSION);
    let kept = memory(&env, &remember(&env, &["another thing"]));
    assert_eq!(kept["session"], format!("claude:{SESSION}"));
    assert_eq!(kept["trust"], "agent", "what an agent runs are its own words");
    assert_eq!(listed(&env, &["--session", "1a2b3c4d"]), ["m2"]);
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let env = empty();
    env.tow(&["remember", &"x".repeat(4000)]).exits(2).complains("4000 bytes, and a memory holds 3000");
    env.tow(&["remember", "--type", "a;b", "x"]).exits(2).complains("`a;b` is no type").complains("gotcha");
    env.tow(&["remember", "--project", "nowhere", "x"]).exits(2).complains("a project called `nowhere`");
    env.tow(&["remember", "--project", "./nowhere", "x"]).exits(2).complains("there is no such folder");
    env.tow(&["remember"]).exits(2).complains("<TEXT>");
    let folder = format!("[\"{}\"]", env.project().display());
    env.tow(&["config", "set", "privacy.exclude_projects", &folder]).ok();
    env.tow(&["remember", "quillon"]).exits(2).complains("this folder is excluded");
    assert!(!holds(&env, "quillon"));
}

#[test]
fn a_secret_is_left_out_and_told_so() {
    let env = empty();
    let key = format!("{}{}", "sk-ant-", "a1b2".repeat(10));
    env.tow(&["remember", &format!("the key is {key}")]).ok().prints("a secret in it was left out");
    assert!(!holds(&env, &key));
}
