//! The real Codex with hooks as `tow install` writes them, with its daemon and without: what the store then tells.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod told;

use serde_json::json;
use told::{told, wait_told};
use towline_testkit::{Codex, Daemon, Gate, Model, Rule, Step, TestEnv, Tmux, wait};

const CODEX: Codex = Codex::V0_166_0;

fn installed(model: &Model, daemon: Daemon) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    CODEX.seed(&env, model, daemon);
    env.tow(&["install", "--agent", "codex"]).ok().prints("Trust all and continue");
    CODEX.trust_hooks(&env);
    env
}

#[test]
fn headless_session_with_tools_and_a_subagent() {
    let wait = json!({"targets": ["@LAST_AGENT@"], "timeout_ms": 15000});
    let spawn = json!({"message": "CHILD-TASK", "agent_type": "default"});
    let model = Model::start([
        Rule::when("CHILD-TASK").then(Step::text("CHILD-RESULT")),
        Rule::when("work")
            .then(Step::tool("exec_command", json!({"cmd": "echo fine"})))
            .then(Step::tool("exec_command", json!({"cmd": "exit 3"})))
            .then(Step::default().and_tool_of("multi_agent_v1", "spawn_agent", spawn))
            .then(Step::default().and_tool_of("multi_agent_v1", "wait_agent", wait))
            .then(Step::text("all done")),
    ]);
    let env = installed(&model, Daemon::Off);
    CODEX.headless(&env, "work", &[]).ok().prints("all done");
    insta::assert_snapshot!(told(&env, &[]));
}

#[test]
fn a_thread_that_was_not_captured_was_no_matter_for_the_doctor() {
    let model = Model::start([Rule::when("").then(Step::text("done"))]);
    let env = installed(&model, Daemon::Off);
    CODEX.headless(&env, "first", &[]).ok();
    wait::until_evident("the thread to be captured", wait::PATIENCE, || {
        let told = env.tow(&["doctor"]).stdout;
        if told.contains("the current session") && told.contains(" is captured") { Ok(()) } else { Err(told) }
    });
    let captured = env.tow(&["sessions", "--json"]).ok().json();
    let captured = captured["sessions"][0]["id"].as_str().unwrap().to_owned();
    // A thread whose hooks did not run, a minute later.
    env.tow(&["uninstall", "--agent", "codex"]).ok();
    CODEX.headless(&env, "second", &[]).ok();
    env.set_now(4_000_000_000_000);
    let told = env.tow(&["doctor"]);
    told.prints("are not captured")
        .prints(&format!("the last captured one is {captured}"))
        .prints("tow data import");
    env.unset("TOWLINE_NOW");
    env.tow(&["import"]).ok();
    env.tow(&["doctor"]).prints(" is captured");
}

#[test]
fn a_seat_through_permission_clear_compact_escape_and_quit() {
    let gate = Gate::shut();
    let mut touch = json!({"cmd": "touch made-by-tool", "justification": "to see"});
    touch["sandbox_permissions"] = json!("require_escalated");
    let model = Model::start([
        Rule::when("talk").then(Step::text("the start of something that never ends").pausing_at(&gate)),
        Rule::when("ask me").then(Step::tool("exec_command", touch)).then(Step::text("it is made")),
    ]);
    let env = installed(&model, Daemon::Off);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &["-a", "on-request", "-s", "read-only"]);
    let seats = [("the pane", &pane)];

    pane.say("hello");
    wait_told(&env, &seats, |text| text.contains("turn_ended"));
    CODEX.wait_idle(&pane);
    pane.say("ask me");
    wait_told(&env, &seats, |text| text.contains(": blocked"));
    pane.answer("Would you like to run", &["Enter"]);
    wait_told(&env, &seats, |text| text.matches("turn_ended").count() == 2);
    CODEX.wait_idle(&pane);
    pane.say("/compact");
    wait_told(&env, &seats, |text| text.contains("1 compactions"));
    CODEX.wait_idle(&pane);
    pane.say("/clear");
    pane.wait_screen_for("a cleared screen", |screen| !screen.contains("ask me"));
    pane.say("talk");
    wait_told(&env, &seats, |text| text.contains("#2"));
    pane.wait_screen("• the");
    pane.keys(&["Escape"]);
    wait_told(&env, &seats, |text| text.contains(": interrupted"));
    CODEX.wait_idle(&pane);
    pane.say("/quit");
    pane.wait_end();
    insta::assert_snapshot!(wait_told(&env, &seats, |text| text.matches(": ended").count() == 2));
}

#[test]
fn two_panes_behind_one_daemon_are_told_apart() {
    let model = Model::echo();
    let env = installed(&model, Daemon::On);
    let tmux = Tmux::start(&env);
    let left = CODEX.interactive(&tmux, &[]);
    CODEX.wait_daemon(&env);
    let right = CODEX.interactive(&tmux, &[]);
    let seats = [("left", &left), ("right", &right)];

    right.say("typed on the right");
    wait_told(&env, &seats, |text| text.matches("turn_ended").count() == 1);
    left.say("typed on the left");
    wait_told(&env, &seats, |text| text.matches("turn_ended").count() == 2);
    CODEX.wait_idle(&left);
    left.say("/clear");
    left.wait_screen_for("a cleared screen", |screen| !screen.contains("typed on the left"));
    left.say("on the left once more");
    let text = wait_told(&env, &seats, |text| text.matches("turn_ended").count() == 3);
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        heads,
        [
            "#1 codex Terminal by Startup in right: completed, project, 0 compactions",
            "#2 codex Terminal by Startup in left: completed, project, 0 compactions",
            "#3 codex Terminal by Clear in left after #2: completed, project, 0 compactions",
        ],
        "{text}"
    );
}
