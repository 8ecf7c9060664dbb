//! The status line as the recorded clients would get it.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use towline_testkit::{Run, TestEnv};

fn recorded(name: &str) -> Value {
    let file = format!("{}/../agents/status/claude-{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
}

fn env() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.set("NO_COLOR", "1");
    env.set("COLUMNS", "200");
    env.set_now(1_794_744_000_000);
    env
}

fn draw(env: &TestEnv, payload: &Value) -> String {
    let mut command = env.command(env!("CARGO_BIN_EXE_tow"));
    Run::of(command.arg("statusline"), payload.to_string().as_bytes()).ok().stdout
}

fn configure(env: &TestEnv, text: &str) {
    let folder = env.home().join(".config/towline");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

#[test]
fn what_both_recorded_clients_say_is_drawn() {
    let env = env();
    assert_eq!(draw(&env, &recorded("2.1.325")), "Opus 5.5  ░░░░░░░░░░ 0%  project  $0.0053\n");
    assert_eq!(draw(&env, &recorded("2.1.325-before-first-turn")), "Opus 5.5  project\n");
    assert!(draw(&env, &recorded("2.1.197")).ends_with("project  $0.0066\n"));
}

#[test]
fn limits_are_drawn_with_the_time_that_is_left_and_go_where_there_is_no_room() {
    let env = env();
    let mut payload = recorded("2.1.325");
    payload["rate_limits"] = json!({
        "five_hour": {"used_percentage": 23.4, "resets_at": 1_794_744_000 + 7_980},
        "seven_day": {"used_percentage": 41, "resets_at": 1_794_744_000 + 200_000},
    });
    assert!(draw(&env, &payload).ends_with("$0.0053  5h 23% ↻2h13m 7d 41% ↻2d7h\n"));
    env.set("COLUMNS", "50");
    assert_eq!(draw(&env, &payload), "Opus 5.5  ░░░░░░░░░░ 0%  project  $0.0053\n");
    env.set("COLUMNS", "20");
    assert_eq!(draw(&env, &payload), "Opus 5.5\n");
}

#[test]
fn a_template_decides_what_is_drawn_and_a_wrong_one_does_not() {
    let env = env();
    configure(&env, "[statusline]\ntemplate = '{percent} of {model}[ for {cost}][, {agents}]'\n");
    assert_eq!(draw(&env, &recorded("2.1.325")), "0% of Opus 5.5 for $0.0053\n");
    env.unset("NO_COLOR");
    configure(&env, "[statusline]\ntemplate = '{model:cyan}'\n");
    assert_eq!(draw(&env, &recorded("2.1.325")), "\u{1b}[36mOpus 5.5\u{1b}[0m\n");
    configure(&env, "[statusline]\ntemplate = '{modle}'\n");
    assert!(draw(&env, &recorded("2.1.325")).contains("Opus 5.5"));
    env.tow(&["statusline", "--preview"]).ok().prints("80 columns:");
}
