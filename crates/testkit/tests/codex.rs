//! The real Codex, headless and in tmux panes, with its background daemon and without.

use serde_json::json;
use towline_testkit::{Codex, Daemon, Gate, Kind, Model, Recorder, Rule, Step, TestEnv, Tmux};

/// The bench is tested without Towline's binary: nothing here calls it.
const NO_BINARY: &str = "/bin/true";
const CODEX: Codex = Codex::V0_166_0;

#[test]
fn headless_tool_calls() {
    let patch = "*** Begin Patch\n*** Add File: patched.txt\n+hello patch\n*** End Patch\n";
    let model = Model::start([Rule::when("run it")
        .then(Step::tool("exec_command", json!({"cmd": "echo TOOL-OUTPUT"})).thinking("**Hm**"))
        .then(Step::custom_tool("apply_patch", patch))
        .then(Step::text("all done"))]);
    let (env, recorder) = seeded(&model, Daemon::Off);
    CODEX.headless(&env, "run it", &[]).ok().prints("all done");
    assert!(model.saw("TOOL-OUTPUT"));
    assert!(env.project().join("patched.txt").exists());
    assert_eq!(
        recorder.names(),
        [
            "SessionStart:startup",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PreToolUse",
            "PostToolUse",
            "Stop",
            "SessionEnd:other"
        ]
    );
}

#[test]
fn headless_subagent() {
    let wait = json!({"targets": ["@LAST_AGENT@"], "timeout_ms": 15000});
    let spawn = json!({"message": "CHILD-TASK", "agent_type": "default"});
    let model = Model::start([
        Rule::when("CHILD-TASK").then(Step::text("CHILD-RESULT")),
        Rule::when("delegate")
            .then(Step::default().and_tool_of("multi_agent_v1", "spawn_agent", spawn))
            .then(Step::default().and_tool_of("multi_agent_v1", "wait_agent", wait))
            .then(Step::text("parent done")),
    ]);
    let (env, recorder) = seeded(&model, Daemon::Off);
    CODEX.headless(&env, "delegate", &[]).ok().prints("parent done");
    assert_eq!(model.wait_prompt("CHILD-TASK").kind, Kind::Subagent);
    let names = recorder.names();
    assert!(names.contains(&"SubagentStart".into()) && names.contains(&"SubagentStop".into()), "{names:?}");
}

#[test]
fn headless_through_node_and_with_an_error_of_the_model() {
    let model = Model::start([Rule::when("break").then(Step::error(400, "invalid_request_error", "NO-WAY"))]);
    let env = TestEnv::new(NO_BINARY);
    CODEX.seed(&env, &model, Daemon::Off);
    CODEX.through_node().headless(&env, "break", &[]).exits(1).prints("NO-WAY");
}

#[test]
fn terminal_without_daemon() {
    let gate = Gate::shut();
    let long = Step::text("the start of something that never ends").pausing_at(&gate);
    let model = Model::start([Rule::when("talk").then(long)]);
    let (env, recorder) = seeded(&model, Daemon::Off);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &[]);
    pane.say("hello\nin two lines");
    let first = recorder.wait("Stop", 1);
    assert_eq!(model.wait_prompt("hello").prompt, "hello\nin two lines");

    CODEX.wait_idle(&pane);
    pane.say("/clear");
    pane.wait_screen_for("a cleared screen", |screen| !screen.contains("hello"));
    pane.say("talk");
    let cleared = recorder.wait("SessionStart:clear", 1);
    assert_ne!(cleared["session_id"], first["session_id"]);
    pane.wait_screen("• the");
    pane.keys(&["Escape"]);
    recorder.wait("Interrupt", 1);
    CODEX.wait_idle(&pane);

    pane.say("/quit");
    pane.wait_end();
    recorder.wait("SessionEnd:other", 1);
    drop((tmux, pane));
    env.wait_no_process();
}

#[test]
fn permission_dialog_answered() {
    let mut touch = json!({"cmd": "touch made-by-tool", "justification": "to see"});
    touch["sandbox_permissions"] = json!("require_escalated");
    let model = Model::start([Rule::when("ask me")
        .then(Step::tool("exec_command", touch))
        .then(Step::text("all done"))]);
    let (env, recorder) = seeded(&model, Daemon::Off);
    let pane = CODEX.interactive(&Tmux::start(&env), &["-a", "on-request", "-s", "read-only"]);
    pane.say("ask me");
    recorder.wait("PermissionRequest", 1);
    pane.answer("Would you like to run", &["Enter"]);
    pane.wait_screen("all done");
    recorder.wait("Stop", 1);
    assert!(env.project().join("made-by-tool").exists());
}

#[test]
fn compaction_in_a_terminal() {
    let model = Model::echo();
    let (env, recorder) = seeded(&model, Daemon::Off);
    let pane = CODEX.interactive(&Tmux::start(&env), &[]);
    pane.say("hello");
    recorder.wait("Stop", 1);
    CODEX.wait_idle(&pane);
    pane.say("/compact");
    recorder.wait("PostCompact:manual", 1);
    model.wait_request("the summary", |asked| asked.kind == Kind::Compact);
    CODEX.wait_idle(&pane);
    pane.say("afterwards");
    recorder.wait("SessionStart:compact", 1);
    recorder.wait("Stop", 2);
}

#[test]
fn two_terminals_with_the_daemon_get_each_their_answer() {
    let model = Model::echo();
    let (env, recorder) = seeded(&model, Daemon::On);
    let tmux = Tmux::start(&env);
    let left = CODEX.interactive(&tmux, &[]);
    CODEX.wait_daemon(&env);
    let right = CODEX.interactive(&tmux, &[]);
    left.say("from the left");
    left.wait_screen("echo: from the left");
    right.say("from the right");
    right.wait_screen("echo: from the right");
    recorder.wait("Stop", 2);
    let sessions: Vec<_> =
        recorder.payloads().iter().map(|payload| payload["session_id"].to_string()).collect();
    assert_ne!(sessions.first(), sessions.last());
    // What makes the daemon hard to track: its hooks carry the pane of whoever started it.
    assert!(recorder.panes().iter().all(|pane| *pane == left.id), "{:?}", recorder.panes());
    assert!(!left.screen().contains("right"));

    for pane in [&left, &right] {
        pane.say("/quit");
        pane.wait_end();
    }
    CODEX.stop_daemon(&env);
    drop((tmux, left, right));
    env.wait_no_process();
}

fn seeded(model: &Model, daemon: Daemon) -> (TestEnv, Recorder) {
    let env = TestEnv::new(NO_BINARY);
    CODEX.seed(&env, model, daemon);
    let recorder = Recorder::for_codex(&env);
    CODEX.trust_hooks(&env);
    (env, recorder)
}
