//! Claude Code, both pinned versions.

use crate::{BLOCKED, COMPLETED, Desk, IDLE, STOPPED, WAITING_TOOL, WORKING};
use serde_json::json;
use towline_testkit::{Claude, Gate, Model, Rule, Step, TestEnv, wait};

fn desk(claude: Claude) -> Desk {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    Desk::set_up(&env)
}

/// Asks for a permission, and then does what the test lets end.
fn tool() -> Step {
    Step::tool("Bash", json!({"command": WAITING_TOOL, "description": "wait"}))
}

const DIALOG: &str = "Do you want to proceed?";

#[test]
fn the_bar_goes_from_the_prompt_to_the_look_at_what_finished_in_2_1_197() {
    from_prompt_to_look(Claude::V2_1_197);
}

#[test]
fn the_bar_goes_from_the_prompt_to_the_look_at_what_finished_in_2_1_325() {
    from_prompt_to_look(Claude::V2_1_325);
}

fn from_prompt_to_look(claude: Claude) {
    let desk = desk(claude);
    let gate = Gate::shut();
    let model =
        Model::start([Rule::when("ask me").then(tool().behind(&gate)).then(Step::text("it is over"))]);
    let pane = claude.interactive(&desk.tmux, &model, &[]);
    desk.wait_shown(IDLE, "idle");
    pane.say("ask me");
    desk.wait_shown(WORKING, "working");

    gate.open();
    let seat = desk.wait_shown(BLOCKED, "blocked");
    assert_eq!(seat["reason"], "permission");
    assert_eq!(desk.count(&seat, "attention_asked"), 0, "the client's own notification came first");
    // It comes in the end, hence nothing was in its way.
    wait::until("the client's own notification", wait::PATIENCE, || {
        (desk.env.states() == ["blocked"] && desk.count(&seat, "attention_asked") == 1).then_some(())
    });

    pane.answer(DIALOG, &["Enter"]);
    desk.follow_to_the_look();
}

#[test]
fn the_bar_sees_every_escape_at_its_next_refresh_in_2_1_197() {
    every_escape(Claude::V2_1_197);
}

#[test]
fn the_bar_sees_every_escape_at_its_next_refresh_in_2_1_325() {
    every_escape(Claude::V2_1_325);
}

/// No hook tells, and nobody asks for the list before the bar shows it.
fn every_escape(claude: Claude) {
    let desk = desk(claude);
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("talk").then(Step::text("start\n\nof something that never ends").pausing_at(&gate)),
        Rule::when("ask me").then(tool()),
    ]);
    let pane = claude.interactive(&desk.tmux, &model, &[]);
    desk.turn_to("0");
    pane.say("talk");
    desk.wait_bar(WORKING);
    pane.wait_screen("● start");
    pane.keys(&["Escape"]);
    desk.wait_shown(STOPPED, "interrupted");

    claude.wait_idle(&pane);
    pane.say("ask me");
    desk.wait_bar(BLOCKED);
    pane.answer(DIALOG, &["Escape"]);
    desk.wait_shown(STOPPED, "interrupted");

    claude.wait_idle(&pane);
    pane.say("ask me");
    desk.wait_bar(BLOCKED);
    pane.answer(DIALOG, &["Enter"]);
    desk.wait_bar(WORKING);
    pane.keys(&["Escape"]);
    desk.wait_shown(STOPPED, "interrupted");
}

#[test]
fn a_helper_in_the_background_a_clear_and_a_kill_are_in_the_bar_in_2_1_197() {
    helper_clear_and_kill(Claude::V2_1_197);
}

#[test]
fn a_helper_in_the_background_a_clear_and_a_kill_are_in_the_bar_in_2_1_325() {
    helper_clear_and_kill(Claude::V2_1_325);
}

fn helper_clear_and_kill(claude: Claude) {
    let desk = desk(claude);
    let gate = Gate::shut();
    let helper = json!({
        "description": "help", "prompt": "CHILD-TASK", "subagent_type": "general-purpose", "run_in_background": true,
    });
    let model = Model::start([
        Rule::when("CHILD-TASK").then(Step::text("helped").behind(&gate)),
        Rule::when("delegate").then(Step::tool("Agent", helper)).then(Step::text("it is on its way")),
    ]);
    let pane = claude.interactive(&desk.tmux, &model, &[]);
    desk.turn_to("0");
    pane.say("delegate");
    desk.wait_bar(WORKING);
    let seat = wait::until_evident("the end of the turn itself", wait::PATIENCE, || {
        let seat = desk.env.only_seat();
        if desk.count(&seat, "turn_ended") == 1 { Ok(seat) } else { Err(seat.to_string()) }
    });
    assert_eq!((&seat["state"], &seat["helpers"]), (&json!("working"), &json!(1)));
    desk.wait_bar(WORKING);
    gate.open();
    let before = desk.wait_shown(COMPLETED, "completed");
    assert_eq!(before["helpers"], 0);

    claude.wait_idle(&pane);
    pane.say("/clear");
    desk.wait_cleared(&before);
    desk.wait_shown(IDLE, "idle");
    desk.kill(&pane);
    desk.wait_no_bar();
    assert_eq!(desk.env.states(), [""; 0]);
}
