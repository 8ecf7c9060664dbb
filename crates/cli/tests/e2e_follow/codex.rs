//! Codex, with its daemon and without.

use crate::{BLOCKED, Desk, STOPPED, WAITING_TOOL, WORKING};
use serde_json::{Value, json};
use towline_core::seat::SeatProof;
use towline_testkit::{Codex, Daemon, Gate, Model, Pane, Rule, Step, TestEnv};

const CODEX: Codex = Codex::V0_166_0;

fn desk(model: &Model, daemon: Daemon) -> Desk {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    CODEX.seed(&env, model, daemon);
    let desk = Desk::set_up(&env);
    CODEX.trust_hooks(&env);
    desk
}

fn client(desk: &Desk, daemon: Daemon) -> Pane {
    let pane = CODEX.interactive(&desk.tmux, &["-a", "on-request", "-s", "read-only"]);
    if daemon == Daemon::On {
        CODEX.wait_daemon(&desk.env);
    }
    pane
}

/// Behind the daemon, the hooks are not run by what sits in the pane.
#[track_caller]
fn check_seat(desk: &Desk, seat: &Value, daemon: Daemon) {
    let found = desk.store().seat(seat["seat"].as_str().unwrap()).unwrap().unwrap();
    let expected = match daemon {
        Daemon::On => SeatProof::Evidence,
        Daemon::Off => SeatProof::Terminal,
    };
    assert_eq!(found.place.proof, expected);
}

/// Asks for a permission, and then does what the test lets end; the client goes on without it after a while.
pub fn tool() -> Step {
    let mut input = json!({"cmd": WAITING_TOOL, "justification": "to see", "yield_time_ms": 30_000});
    input["sandbox_permissions"] = json!("require_escalated");
    Step::tool("exec_command", input)
}

pub const DIALOG: &str = "Would you like to run";

#[test]
fn the_bar_goes_from_the_prompt_to_the_look_at_what_finished_without_the_daemon() {
    from_prompt_to_look(Daemon::Off);
}

#[test]
fn the_bar_goes_from_the_prompt_to_the_look_at_what_finished_behind_the_daemon() {
    from_prompt_to_look(Daemon::On);
}

fn from_prompt_to_look(daemon: Daemon) {
    let gate = Gate::shut();
    let model =
        Model::start([Rule::when("ask me").then(tool().behind(&gate)).then(Step::text("it is over"))]);
    let desk = desk(&model, daemon);
    let pane = client(&desk, daemon);
    pane.say("ask me");
    desk.wait_shown(WORKING, "working");
    gate.open();
    let seat = desk.wait_shown(BLOCKED, "blocked");
    assert_eq!((&seat["reason"], &seat["pane"]), (&json!("permission"), &json!(pane.id)));
    check_seat(&desk, &seat, daemon);

    pane.answer(DIALOG, &["Enter"]);
    desk.follow_to_the_look();
}

#[test]
fn escape_clear_and_a_kill_are_in_the_bar_without_the_daemon() {
    escape_clear_and_kill(Daemon::Off);
}

#[test]
fn escape_clear_and_a_kill_are_in_the_bar_behind_the_daemon() {
    escape_clear_and_kill(Daemon::On);
}

fn escape_clear_and_kill(daemon: Daemon) {
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("talk").then(Step::text("the start of something that never ends").pausing_at(&gate)),
        Rule::when("ask me").then(tool()),
    ]);
    let desk = desk(&model, daemon);
    let pane = client(&desk, daemon);
    desk.turn_to("0");
    pane.say("talk");
    desk.wait_bar(WORKING);
    pane.wait_screen("• the");
    pane.keys(&["Escape"]);
    desk.wait_shown(STOPPED, "interrupted");

    CODEX.wait_idle(&pane);
    pane.say("ask me");
    desk.wait_bar(BLOCKED);
    pane.answer(DIALOG, &["Escape"]);
    let before = desk.wait_shown(STOPPED, "interrupted");

    CODEX.wait_idle(&pane);
    pane.say("/clear");
    pane.wait_screen_for("a cleared screen", |screen| !screen.contains("ask me"));
    pane.say("talk");
    desk.wait_shown(WORKING, "working");
    desk.wait_cleared(&before);
    desk.kill(&pane);
    desk.wait_no_bar();
    assert_eq!(desk.env.states(), [""; 0]);
}
