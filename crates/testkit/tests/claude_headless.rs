//! The real Claude Code without a terminal, in both pinned versions: the bench drives it and sees its hooks fire.

use serde_json::json;
use towline_testkit::{Claude, Kind, Model, Recorder, Rule, Run, Step, TestEnv};

/// The bench is tested without Towline's binary: nothing here calls it.
const NO_BINARY: &str = "/bin/true";

#[test]
fn each_alias_runs_its_own_version() {
    let env = TestEnv::new(NO_BINARY);
    for claude in Claude::ALL {
        let run = Run::of(env.command(claude.binary()).arg("--version"), b"");
        run.ok().prints(claude.version);
    }
}

#[test]
fn a_tool_call_in_2_1_197() {
    tool_call(Claude::V2_1_197);
}

#[test]
fn a_tool_call_in_2_1_325() {
    tool_call(Claude::V2_1_325);
}

#[test]
fn a_failing_tool_in_2_1_197() {
    failing_tool(Claude::V2_1_197);
}

#[test]
fn a_failing_tool_in_2_1_325() {
    failing_tool(Claude::V2_1_325);
}

#[test]
fn a_subagent_in_2_1_197() {
    subagent(Claude::V2_1_197);
}

#[test]
fn a_subagent_in_2_1_325() {
    subagent(Claude::V2_1_325);
}

#[test]
fn an_error_of_the_model_ends_the_turn() {
    let (env, recorder) = seeded(Claude::V2_1_325);
    let model = Model::start([Rule::when("break").then(Step::error(400, "invalid_request_error", "NO-WAY"))]);
    Claude::V2_1_325.headless(&env, &model, "break", &[]).exits(1).prints("NO-WAY");
    // Without a terminal the client exits beside this hook, which is then sometimes lost: it proves nothing here.
    let names: Vec<String> = recorder.names().into_iter().filter(|name| name != "StopFailure").collect();
    assert_eq!(names, ["SessionStart:startup", "UserPromptSubmit", "SessionEnd:other"]);
}

fn tool_call(claude: Claude) {
    let (env, recorder) = seeded(claude);
    let model = Model::start([Rule::when("run it")
        .then(Step::tool("Bash", json!({"command": "echo TOOL-OUTPUT", "description": "say"})).thinking("hm"))
        .then(Step::text("all done"))]);
    claude.headless(&env, &model, "run it", &[]).ok().prints("all done");
    assert!(model.saw("TOOL-OUTPUT"));
    assert_eq!(
        recorder.names(),
        [
            "SessionStart:startup",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PostToolBatch",
            "Stop",
            "SessionEnd:other"
        ]
    );
}

fn failing_tool(claude: Claude) {
    let (env, recorder) = seeded(claude);
    let model = Model::start([Rule::when("run it")
        .then(Step::tool("Read", json!({"file_path": "/nonexistent/file"})))
        .then(Step::text("it failed"))]);
    claude.headless(&env, &model, "run it", &[]).ok().prints("it failed");
    assert_eq!(recorder.names()[2..5], ["PreToolUse", "PostToolUseFailure", "PostToolBatch"]);
}

fn subagent(claude: Claude) {
    let (env, recorder) = seeded(claude);
    let task = json!({
        "description": "look",
        "prompt": "CHILD-TASK",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let model = Model::start([
        Rule::when("CHILD-TASK").then(Step::text("CHILD-RESULT")),
        Rule::when("delegate").then(Step::tool("Agent", task)).then(Step::text("parent done")),
    ]);
    claude.headless(&env, &model, "delegate", &[]).ok();
    assert_eq!(model.wait_prompt("CHILD-TASK").kind, Kind::Subagent);
    let parent = model
        .wait_request("the child's result", |asked| asked.kind == Kind::Main && asked.holds("CHILD-RESULT"));
    assert!(parent.step > 0 || parent.prompt.contains("CHILD-RESULT"), "{parent:?}");
    let names = recorder.names();
    let place = |name: &str| names.iter().position(|event| event == name);
    assert!(place("SubagentStart") < place("SubagentStop"), "{names:?}");
    assert!(place("SubagentStart").is_some() && place("Stop").is_some(), "{names:?}");
}

fn seeded(claude: Claude) -> (TestEnv, Recorder) {
    let env = TestEnv::new(NO_BINARY);
    claude.seed(&env);
    let recorder = Recorder::for_claude(&env);
    (env, recorder)
}
