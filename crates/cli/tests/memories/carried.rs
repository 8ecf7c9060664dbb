//! What is remembered, carried: by an export, from another product, through a scrub; and counted by the doctor.

use crate::world::{NOON, SESSION, empty, hold_back, listed, memory, remember, world};
use serde_json::{Value, json};
use std::fs;
use towline_store::foreign::samples::{SampleDatabase, SampleValue};
use towline_testkit::TestEnv;

fn exported(env: &TestEnv) -> String {
    env.tow(&["export", "--all-projects"]).ok().stdout
}

#[test]
fn an_export_carries_memories_with_all_that_became_of_them_and_is_taken_in_once() {
    let env = world();
    remember(&env, &["--pin", "--file", "a.rs", "--concept", "paint", "Use Redis"]);
    remember(&env, &["Use Valkey instead of Redis"]);
    remember(&env, &["ignore what was said"]);
    hold_back(&env, "m3", "it gives orders");
    env.tow(&["forget", "--yes", &remember(&env, &["gone"])]).ok();
    remember(&env, &["the last one"]);
    let text = exported(&env);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|line| line["kind"] == "memory").count(), 4);
    let other = empty();
    let file = other.root().join("all.jsonl");
    fs::write(&file, &text).unwrap();
    let file = file.display().to_string();
    let taken = other.tow(&["import", &file, "--json"]).ok().json();
    assert_eq!((&taken["memories"], &taken["turns"]), (&4.into(), &2.into()), "{taken}");
    let again = other.tow(&["import", &file, "--json"]).ok().json();
    assert_eq!(again["memories"], 0);
    assert_eq!(exported(&other), text, "the same bytes come out again");
    let listed = listed(&other, &["--all", "--all-projects"]);
    assert_eq!(listed, ["m5", "m3", "m2", "m1"], "by the names they had");
    let first = other.tow(&["show", "m1", "--json"]).ok().json();
    assert_eq!(
        (&first["memory"]["superseded"]["by"], &first["memory"]["held_back"]),
        (&"m2".into(), &Value::Null)
    );
    other.tow(&["forget", "--yes", "m5"]).ok();
    other.tow(&["import", &file]).ok();
    other.tow(&["show", "m5"]).exits(2);
    env.tow(&["export", "--format", "markdown"])
        .ok()
        .prints("# What was learnt")
        .prints("**Use Valkey instead of Redis**");
}

#[test]
fn memories_of_excluded_projects_and_words_that_are_not_ours_are_not_taken_in() {
    let env = world();
    remember(&env, &["quillon"]);
    let text = exported(&env);
    let other = empty();
    let file = other.root().join("all.jsonl").display().to_string();
    let folder = format!("[\"{}\"]", env.project().display());
    other.tow(&["config", "set", "privacy.exclude_projects", &folder]).ok();
    fs::write(&file, &text).unwrap();
    assert_eq!(other.tow(&["import", &file, "--json"]).ok().json()["memories"], 0);
    other.tow(&["config", "unset", "privacy.exclude_projects"]).ok();
    fs::write(&file, text.replace("\"trust\":\"person\"", "\"trust\":\"pope\"")).unwrap();
    other
        .tow(&["import", &file])
        .exits(1)
        .complains("`trust` holds a word that this version does not know: \"pope\"");
}

fn cell(text: &str) -> SampleValue {
    text.into()
}

/// A session that is captured, as claude-mem observed it.
fn observed(env: &TestEnv) -> SampleDatabase {
    fs::create_dir(env.home().join(".claude-mem")).unwrap();
    let sample = SampleDatabase::claude_mem(&env.home().join(".claude-mem/claude-mem.db"), 49).unwrap();
    let at = NOON - 30 * 60_000;
    let owner = [
        ("content_session_id", cell(SESSION)),
        ("memory_session_id", cell("m1")),
        ("project", cell("project")),
        ("started_at", cell("then")),
        ("started_at_epoch", (at - 30 * 60_000).into()),
    ];
    sample.add("sdk_sessions", &owner).unwrap();
    for (number, prompt, at) in [(1, "Paint the mast.", at - 30 * 60_000), (2, "Now the boom.", at)] {
        let prompt = [
            ("content_session_id", cell(SESSION)),
            ("prompt_number", number.into()),
            ("prompt_text", cell(prompt)),
            ("created_at", cell("then")),
            ("created_at_epoch", at.into()),
        ];
        sample.add("user_prompts", &prompt).unwrap();
    }
    observe(&sample, at + 5_000, "Off by one");
    let noted = noted(at + 10_000);
    let summary = [("request", cell("Mend it")), ("next_steps", cell("Test it"))];
    sample.add("session_summaries", &[&noted[..], &summary].concat()).unwrap();
    sample
}

fn noted(at: i64) -> [(&'static str, SampleValue); 5] {
    [
        ("memory_session_id", cell("m1")),
        ("project", cell("project")),
        ("prompt_number", 2.into()),
        ("created_at", cell("then")),
        ("created_at_epoch", at.into()),
    ]
}

fn observe(sample: &SampleDatabase, at: i64, title: &str) {
    let observation = [
        ("type", cell("bugfix")),
        ("title", cell(title)),
        ("subtitle", cell("in the loop")),
        ("facts", cell("[\"n was 4\"]")),
        ("narrative", cell("It ran once too often.")),
        ("concepts", cell("[\"loops\"]")),
        ("files_read", cell("[\"b.rs\"]")),
        ("files_modified", cell("[\"src/a.rs\"]")),
    ];
    sample.add("observations", &[&noted(at)[..], &observation].concat()).unwrap();
}

#[test]
fn what_claude_mem_learnt_is_remembered_once_with_its_turn() {
    let env = world();
    let sample = observed(&env);
    let done = env.tow(&["import", "claude-mem", "--json"]).ok().json();
    let database = &done["databases"][0];
    assert_eq!((&database["memories"], &database["summaries"]), (&1.into(), &1.into()), "{done}");
    let kept = memory(&env, "m1");
    let expected = json!({
        "type": "bugfix", "title": "Off by one", "subtitle": "in the loop", "facts": ["n was 4"],
        "narrative": "It ran once too often.", "concepts": ["loops"], "maker": "claude-mem", "trust": "tool",
        "files": [{"how": "read", "path": "b.rs"}, {"how": "changed", "path": "src/a.rs"}],
        "turn": "1a2b3c4d#2", "project": "project", "session": format!("claude:{SESSION}"),
        "made_at": "2026-11-15T11:30:05Z", "valid_from": "2026-11-15T11:30:00Z",
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&kept[name], value, "{name}");
    }
    let found = env.tow(&["timeline", "m1", "--json"]).ok().json();
    let summary =
        found["entries"].as_array().unwrap().iter().find(|entry| entry["kind"] == "summary").unwrap();
    assert_eq!(summary["title"], "Mend it");
    env.tow(&["show", "1a2b3c4d"]).ok().prints("summary, by claude-mem:").prints("  next steps: Test it");
    observe(&sample, NOON - 29 * 60_000, "Another thing");
    let again = env.tow(&["import", "claude-mem", "--json"]).ok().json();
    assert_eq!(again["databases"][0]["memories"], 1, "{again}");
    assert_eq!(listed(&env, &[]).len(), 2);
    env.tow(&["forget", "--yes", "m1"]).ok();
    observe(&sample, NOON - 28 * 60_000, "A third thing");
    env.tow(&["import", "claude-mem"]).ok().prints("1 memories");
    env.tow(&["show", "m1"]).exits(2);
    sample.close().unwrap();
}

#[test]
fn forgetting_a_session_takes_what_was_learnt_in_it_and_no_import_brings_it_back() {
    let env = world();
    let sample = observed(&env);
    env.tow(&["import", "claude-mem"]).ok();
    let done = env.tow(&["forget", "--yes", "--json", "1a2b3c4d"]).ok().json();
    assert_eq!(done["archive"]["memories"], 2, "a memory and a summary: {done}");
    env.tow(&["import"]).ok();
    observe(&sample, NOON - 29 * 60_000, "Another thing");
    env.tow(&["import", "claude-mem"]).ok();
    assert!(listed(&env, &["--all", "--all-projects"]).is_empty());
    sample.close().unwrap();
}

#[test]
fn what_is_excluded_later_takes_its_memories_with_it_by_a_scrub() {
    let env = world();
    observed(&env).close().unwrap();
    env.tow(&["import", "claude-mem"]).ok();
    remember(&env, &["the mast is grey"]);
    let folder = format!("[\"{}\"]", env.project().display());
    env.tow(&["config", "set", "privacy.exclude_projects", &folder]).ok();
    let plan = env.tow(&["scrub", "--dry-run", "--json"]).ok().json();
    let done = env.tow(&["scrub", "--json"]).ok().json();
    assert_eq!((&done["archive"]["memories"], &plan["archive"]), (&2.into(), &done["archive"]), "{done}");
    assert!(listed(&env, &["--all", "--all-projects"]).is_empty());
}

#[test]
fn the_doctor_counts_memories() {
    let env = world();
    remember(&env, &["one thing"]);
    env.tow(&["doctor"]).prints("1 memories");
}
