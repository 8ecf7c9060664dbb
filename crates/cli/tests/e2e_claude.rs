//! The real Claude Code, both pinned versions, with hooks as `tow install` writes them: what the store then tells.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod told;

use serde_json::json;
use told::{told, wait_told};
use towline_testkit::{Claude, Gate, Model, Pane, Rule, Step, TestEnv, Tmux};

fn installed(claude: Claude) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    env
}

#[test]
fn headless_session_with_tools_and_a_subagent_in_2_1_197() {
    headless(Claude::V2_1_197);
}

#[test]
fn headless_session_with_tools_and_a_subagent_in_2_1_325() {
    headless(Claude::V2_1_325);
}

fn headless(claude: Claude) {
    let env = installed(claude);
    let task = json!({
        "description": "look",
        "prompt": "CHILD-TASK",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let model = Model::start([
        Rule::when("CHILD-TASK").then(Step::text("CHILD-RESULT")),
        Rule::when("work")
            .then(Step::tool("Bash", json!({"command": "echo fine", "description": "say"})))
            .then(Step::tool("Read", json!({"file_path": "/nonexistent/file"})))
            .then(Step::tool("Agent", task))
            .then(Step::text("all done")),
    ]);
    claude.headless(&env, &model, "work", &[]).ok();
    insta::assert_snapshot!(format!("headless_{}", claude.version), told(&env, &[]));
}

#[test]
fn a_seat_through_clear_compact_escape_and_exit_in_2_1_197() {
    a_whole_day(Claude::V2_1_197);
}

#[test]
fn a_seat_through_clear_compact_escape_and_exit_in_2_1_325() {
    a_whole_day(Claude::V2_1_325);
}

fn a_whole_day(claude: Claude) {
    let env = installed(claude);
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("talk").then(Step::text("start\n\nof something that never ends").pausing_at(&gate)),
        Rule::when("ask me")
            .then(Step::tool("Bash", json!({"command": "touch made-by-tool", "description": "make"})))
            .then(Step::text("it is made")),
    ]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    let seats = [("the pane", &pane)];
    let tells = |text: &str, needle: &str, count: usize| text.matches(needle).count() == count;

    pane.say("hello");
    wait_told(&env, &seats, |text| tells(text, "turn_ended", 1));
    // The hook of the end may still wait for the transcript, and what is typed meanwhile is queued.
    claude.wait_idle(&pane);
    pane.say("ask me");
    wait_told(&env, &seats, |text| text.contains(": blocked"));
    pane.answer("Do you want to proceed?", &["Enter"]);
    wait_told(&env, &seats, |text| tells(text, "turn_ended", 2) && text.contains(": completed"));
    claude.wait_idle(&pane);
    pane.say("/compact");
    wait_told(&env, &seats, |text| text.contains("1 compactions"));
    claude.wait_idle(&pane);
    pane.say("/clear");
    wait_told(&env, &seats, |text| text.contains("#2"));
    claude.wait_idle(&pane);
    pane.say("talk");
    wait_told(&env, &seats, |text| text.contains("Human open"));
    // Before the first word is there, Escape would put the prompt back into the input box.
    pane.wait_screen("● start");
    pane.keys(&["Escape"]);
    claude.wait_idle(&pane);
    pane.say("afterwards");
    wait_told(&env, &seats, |text| tells(text, "turn_ended", 3));
    claude.wait_idle(&pane);
    pane.say("/exit");
    pane.wait_end();
    insta::assert_snapshot!(format!("a_whole_day_{}", claude.version), told(&env, &seats));
}

#[test]
fn two_panes_are_two_seats_and_a_killed_client_leaves_its_session_as_it_was_in_2_1_197() {
    two_panes(Claude::V2_1_197);
}

#[test]
fn two_panes_are_two_seats_and_a_killed_client_leaves_its_session_as_it_was_in_2_1_325() {
    two_panes(Claude::V2_1_325);
}

fn two_panes(claude: Claude) {
    let env = installed(claude);
    let model = Model::echo();
    let tmux = Tmux::start(&env);
    let panes: Vec<Pane> = (0..2).map(|_| claude.interactive(&tmux, &model, &[])).collect();
    let seats = [("left", &panes[0]), ("right", &panes[1])];
    panes[0].say("from the left");
    panes[1].say("from the right");
    wait_told(&env, &seats, |text| text.matches("turn_ended").count() == 2);
    let before = told(&env, &seats);
    assert!(before.contains("in left:") && before.contains("in right:"), "{before}");

    env.command("kill").args(["-9", &panes[0].program_pid().to_string()]).status().unwrap();
    panes[0].wait_end();
    assert_eq!(told(&env, &seats), before, "no hook fires when a client is killed");

    panes[1].close();
    let after = wait_told(&env, &seats, |text| text.contains(": ended"));
    assert_eq!(after.matches(": ended (Other)").count(), 1, "{after}");
}
