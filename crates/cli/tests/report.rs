//! The ledger of waiting, as a person and a script meet it: the whole way from hooks to the chart, under a fixed clock.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use std::path::Path;
use towline_testkit::{TestEnv, Tmux, wait};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// Sunday, 15 November 2026, 00:00 in universal time.
const SUNDAY: i64 = 1_794_700_800_000;

fn bench() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("TZ", "UTC");
    env
}

fn payload(event: &str, session: &str, folder: &Path) -> String {
    let fields = json!({
        "hook_event_name": event, "session_id": session, "cwd": folder, "source": "startup", "prompt": "do it",
        "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_response": {"stdout": ""},
    });
    fields.to_string()
}

/// A hook at a time, in a project that a file names.
fn hook(env: &TestEnv, at: i64, event: &str, session: &str, project: &str) {
    let folder = env.root().join(project);
    if !folder.exists() {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(".towline.toml"), format!("[project]\nname = {project:?}\n")).unwrap();
    }
    let (agent, id) = session.split_once(':').unwrap();
    env.set_now(at);
    env.hook(agent, payload(event, id, &folder)).ok();
}

/// A dialog that was open from `from` on, for so many minutes.
fn waited(env: &TestEnv, (session, project): (&str, &str), from: i64, minutes: i64) {
    hook(env, from - 1000, "UserPromptSubmit", session, project);
    hook(env, from, "PermissionRequest", session, project);
    hook(env, from + minutes * MINUTE, "PostToolUse", session, project);
}

/// Some days of two projects and two agents; one wait goes over midnight, two happen at the same time.
fn some_days() -> TestEnv {
    let env = bench();
    waited(&env, ("claude:1", "app"), SUNDAY - 30 * HOUR, 42);
    waited(&env, ("claude:1", "app"), SUNDAY - 10 * MINUTE, 25);
    waited(&env, ("codex:2", "site"), SUNDAY + 9 * HOUR, 3);
    waited(&env, ("claude:1", "app"), SUNDAY + 9 * HOUR, 4);
    env.set_now(SUNDAY + 12 * HOUR);
    env
}

#[test]
fn waits_are_shown_by_day_project_and_reason() {
    let env = some_days();
    insta::assert_snapshot!("four_days", env.tow(&["report", "--days", "4"]).ok().stdout);
    insta::assert_snapshot!(
        "one_project",
        env.tow(&["report", "--days", "2", "--project", "site"]).ok().stdout
    );
    env.tow(&["report", "--agent", "codex"]).ok().prints("waited 3 min for you, once in site");
}

#[test]
fn a_terminal_without_blocks_gets_letters() {
    let env = some_days();
    env.set("TERM", "dumb");
    assert!(env.tow(&["report"]).ok().prints("###").stdout.is_ascii());
    env.set("TERM", "xterm");
    env.set("LANG", "C");
    assert!(env.tow(&["report"]).ok().stdout.is_ascii());
    env.set("LC_ALL", "en_GB.utf8");
    env.tow(&["report"]).ok().prints("█");
}

#[test]
fn json_has_the_same_figures_for_scripts() {
    let env = some_days();
    let sum = |waited: i64, times: i64, longest: i64, median: i64| json!({"waited_ms": waited * MINUTE, "times": times, "longest_ms": longest * MINUTE, "median_ms": median * MINUTE});
    let with = |mut sum: serde_json::Value, name: &str, value: serde_json::Value| {
        sum[name] = value;
        sum
    };
    let day =
        |date: &str, sum| with(with(sum, "day", json!(date)), "begins", json!(format!("{date}T00:00:00Z")));
    let mut expected = with(sum(32, 3, 25, 4), "lasting", json!(0));
    expected["longest_in"] = json!("app");
    expected["days"] = json!([day("2026-11-14", sum(10, 1, 10, 10)), day("2026-11-15", sum(22, 2, 15, 4))]);
    expected["projects"] = json!([
        with(
            json!({"waited_ms": 29 * MINUTE, "times": 2, "longest_ms": 25 * MINUTE, "median_ms": 29 * MINUTE / 2}),
            "project",
            json!("app")
        ),
        with(sum(3, 1, 3, 3), "project", json!("site")),
    ]);
    expected["reasons"] = json!([with(sum(32, 3, 25, 4), "reason", json!("permission"))]);
    assert_eq!(env.tow(&["report", "--days", "2", "--json"]).ok().json(), expected);
}

#[test]
fn days_are_those_of_the_persons_own_clock() {
    let env = some_days();
    env.set("TZ", "Asia/Tokyo");
    let days = env.tow(&["report", "--days", "2", "--json"]).ok().json()["days"].clone();
    let of = |day: usize| (days[day]["day"].clone(), days[day]["begins"].clone(), days[day]["times"].clone());
    assert_eq!(of(0), (json!("2026-11-14"), json!("2026-11-13T15:00:00Z"), json!(1)));
    assert_eq!(of(1), (json!("2026-11-15"), json!("2026-11-14T15:00:00Z"), json!(3)));
    env.set("TZ", "WEST+11");
    let day = &env.tow(&["report", "--days", "1", "--json"]).ok().json()["days"][0];
    assert_eq!(day["begins"], "2026-11-15T11:00:00Z", "{day}");
}

#[test]
fn without_waits_there_is_a_word_on_what_to_do() {
    let env = bench();
    env.tow(&["report"]).ok().prints("run `tow install`");
    assert!(!env.data_dir().exists(), "looking leaves no trace");
    env.set_now(SUNDAY);
    env.hook("claude", payload("SessionStart", "1", &env.project())).ok();
    env.tow(&["report"]).ok().prints("no agent has waited for you in the last 7 days");
    env.tow(&["report", "--project", "a\u{1b}[31m", "--days", "1"]).ok().prints("in `a[31m` today");
    assert_eq!(env.tow(&["report", "--json"]).ok().json()["times"], 0);
    env.tow(&["report", "--days", "0"]).exits(2).complains("1..=366");
}

#[test]
fn names_are_shown_harmlessly() {
    let env = bench();
    let hostile = "a\u{1b}[31m漢字\u{202e}";
    let folder = env.root().join("odd");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(".towline.toml"), "[project]\nname = \"a\\u001b[31m漢字\\u202e\"\n").unwrap();
    waited(&env, ("claude:1", "odd"), SUNDAY, 5);
    let shown = env.tow(&["report", "--days", "1"]).ok().prints("in a[31m漢字").stdout;
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
    let projects = &env.tow(&["report", "--json"]).ok().json()["projects"];
    assert_eq!(projects[0]["project"], hostile, "a script gets the name as it is");
}

#[test]
fn a_wait_that_still_lasts_counts_up_to_now() {
    let env = bench();
    env.link("claude", "/bin/bash");
    let root = env.root().display().to_string();
    for event in ["SessionStart", "UserPromptSubmit", "PermissionRequest"] {
        std::fs::write(env.root().join(event), payload(event, "1", &env.project())).unwrap();
    }
    let hook = |event: &str| format!("tow hook claude < {root}/{event};");
    let events = ["SessionStart", "UserPromptSubmit", "PermissionRequest"].map(hook).concat();
    let script = env.script("session", &format!("{events} read\n"));
    env.set_now(SUNDAY - 20 * MINUTE);
    let tmux = Tmux::start(&env);
    tmux.open(&["claude", script.to_str().unwrap()], &[]);
    let asked = || env.tow(&["report", "--json", "--days", "2"]).ok().json();
    env.set_now(SUNDAY + 30 * MINUTE);
    let found =
        wait::until("the wait", wait::PATIENCE, || Some(asked()).filter(|found| found["lasting"] == 1));
    assert_eq!((&found["times"], &found["waited_ms"]), (&json!(1), &json!(50 * MINUTE)));
    assert_eq!(found["days"][1]["waited_ms"], 30 * MINUTE);
    env.tow(&["report"]).ok().prints("one still waits: `tow next` leads to it");
}
