//! The real Claude Code in a tmux pane, in both pinned versions: typed to, interrupted, cleared, compacted, left.

use std::fs;

use serde_json::json;
use towline_testkit::{Claude, Gate, Kind, Model, Pane, Recorder, Rule, Step, TestEnv, Tmux, wait};

/// The bench is tested without Towline's binary: nothing here calls it.
const NO_BINARY: &str = "/bin/true";

struct Bench {
    env: TestEnv,
    recorder: Recorder,
    model: Model,
    pane: Pane,
}

#[test]
fn prompt_clear_compact_and_exit_in_2_1_197() {
    whole_life(Claude::V2_1_197);
}

#[test]
fn prompt_clear_compact_and_exit_in_2_1_325() {
    whole_life(Claude::V2_1_325);
}

#[test]
fn permission_dialog_answered_in_2_1_197() {
    permission_dialog(Claude::V2_1_197);
}

#[test]
fn permission_dialog_answered_in_2_1_325() {
    permission_dialog(Claude::V2_1_325);
}

#[test]
fn escape_while_streaming_in_2_1_197() {
    escape_while_streaming(Claude::V2_1_197);
}

#[test]
fn escape_while_streaming_in_2_1_325() {
    escape_while_streaming(Claude::V2_1_325);
}

#[test]
fn an_error_of_the_model_ends_the_turn() {
    let broken = Step::error(400, "invalid_request_error", "NO-WAY");
    let bench = started(Claude::V2_1_325, Model::start([Rule::when("break").then(broken)]));
    bench.pane.say("break");
    bench.pane.wait_screen("NO-WAY");
    bench.recorder.wait("StopFailure", 1);
    assert_eq!(bench.recorder.names(), ["SessionStart:startup", "UserPromptSubmit", "StopFailure"]);
}

#[test]
fn a_closed_pane_ends_the_session() {
    let bench = started(Claude::V2_1_325, Model::echo());
    bench.pane.say("hello");
    bench.recorder.wait("Stop", 1);
    let client = bench.pane.program_pid();
    bench.pane.close();
    bench.recorder.wait("SessionEnd:other", 1);
    wait::until("the client to end", wait::PATIENCE, || {
        bench.env.processes().iter().all(|process| process.pid != client).then_some(())
    });
}

fn whole_life(claude: Claude) {
    let Bench { env, recorder, model, pane } = started(claude, Model::echo());
    pane.say("hello\nin two lines");
    pane.wait_screen("echo: hello");
    let first = recorder.wait("Stop", 1);
    assert_eq!(model.wait_prompt("hello").prompt, "hello\nin two lines");

    // After a single turn, 2.1.197 finds too little to compact.
    pane.say("and again");
    recorder.wait("Stop", 2);

    pane.say("/compact");
    recorder.wait("PostCompact:manual", 1);
    model.wait_request("the summary", |asked| asked.kind == Kind::Compact);

    pane.say("/clear");
    let cleared = recorder.wait("SessionStart:clear", 1);
    assert_ne!(cleared["session_id"], first["session_id"]);
    pane.say("afterwards");
    recorder.wait("Stop", 3);
    assert_eq!(model.wait_prompt("afterwards").count("in two lines"), 0);

    pane.say("/exit");
    pane.wait_end();
    let expected = [
        "SessionStart:startup",
        "UserPromptSubmit",
        "Stop",
        "UserPromptSubmit",
        "Stop",
        "PreCompact:manual",
        "SubagentStop",
        "SessionStart:compact",
        "PostCompact:manual",
        "SessionEnd:clear",
        "SessionStart:clear",
        "UserPromptSubmit",
        "Stop",
        "SessionEnd:prompt_input_exit",
    ];
    assert_eq!(recorder.names(), expected);
    drop((pane, model));
    env.wait_no_process();
}

fn permission_dialog(claude: Claude) {
    let touch = json!({"command": "touch made-by-tool", "description": "make"});
    let model =
        Model::start([Rule::when("ask me").then(Step::tool("Bash", touch)).then(Step::text("all done"))]);
    let Bench { env, recorder, model: _model, pane } = started(claude, model);
    pane.say("ask me");
    pane.wait_screen("Do you want to proceed?");
    recorder.wait("PermissionRequest", 1);
    assert!(!env.project().join("made-by-tool").exists());
    pane.answer("Do you want to proceed?", &["Enter"]);
    pane.wait_screen("all done");
    recorder.wait("Stop", 1);
    assert!(fs::exists(env.project().join("made-by-tool")).unwrap_or(false));
}

fn escape_while_streaming(claude: Claude) {
    let gate = Gate::shut();
    let long = Step::text("the start of something that never ends").pausing_at(&gate);
    let model = Model::start([Rule::when("talk").then(long)]);
    let bench = started(claude, model);
    bench.pane.say("talk");
    bench.model.wait_prompt("talk");
    bench.pane.wait_screen("esc to interrupt");
    bench.pane.keys(&["Escape"]);
    claude.wait_idle(&bench.pane);
    bench.pane.say("afterwards");
    bench.recorder.wait("Stop", 1);
    let expected = ["SessionStart:startup", "UserPromptSubmit", "UserPromptSubmit", "Stop"];
    assert_eq!(bench.recorder.names(), expected);
}

fn started(claude: Claude, model: Model) -> Bench {
    let env = TestEnv::new(NO_BINARY);
    claude.seed(&env);
    let recorder = Recorder::for_claude(&env);
    let pane = claude.interactive(&Tmux::start(&env), &model, &[]);
    Bench { env, recorder, model, pane }
}
