//! What only a look at the screen tells of the real clients: that a permission was granted while the tool still runs, and
//! that a prompt was taken back before the first word of an answer.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use std::fs;
use std::time::Duration;
use towline_agents::Agent;
use towline_core::arbiter::ScreenProbe;
use towline_core::time::Timestamp;
use towline_testkit::{Claude, Codex, Daemon, Gate, Model, Pane, Rule, Step, TestEnv, Tmux, wait};

/// Runs until the test makes the file `go`, and does not run unasked.
const WAITING_TOOL: &str = "touch begun; until [ -e go ]; do sleep 0.2; done";

const CODEX: Codex = Codex::V0_166_0;

#[track_caller]
fn wait_screen(pane: &Pane, agent: Agent, expected: ScreenProbe) {
    pane.wait_screen_for(&format!("{expected:?}"), |screen| agent.screen(screen) == expected);
}

/// Looks again and again, as if an hour had passed since the state began: it stays.
#[track_caller]
fn check_stays(env: &TestEnv, state: &str) {
    let since = Timestamp::parse_utc(env.only_seat()["since"].as_str().unwrap()).unwrap();
    for minutes in [60, 61, 62] {
        env.set_now(since.plus_ms(minutes * 60_000).0);
        assert_eq!(env.only_seat()["state"], state);
    }
    env.unset("TOWLINE_NOW");
}

fn claude_installed(claude: Claude) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    env
}

fn codex_installed(model: &Model, daemon: Daemon) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    CODEX.seed(&env, model, daemon);
    env.tow(&["install", "--agent", "codex"]).ok();
    CODEX.trust_hooks(&env);
    env
}

#[test]
fn a_granted_permission_is_work_while_the_tool_runs_in_2_1_197() {
    a_granted_permission(Claude::V2_1_197);
}

#[test]
fn a_granted_permission_is_work_while_the_tool_runs_in_2_1_325() {
    a_granted_permission(Claude::V2_1_325);
}

fn a_granted_permission(claude: Claude) {
    let env = claude_installed(claude);
    let tool = json!({"command": WAITING_TOOL, "description": "wait"});
    let model =
        Model::start([Rule::when("ask me").then(Step::tool("Bash", tool)).then(Step::text("it is over"))]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    pane.say("ask me");
    env.wait_states(&["blocked"]);
    wait_screen(&pane, Agent::Claude, ScreenProbe::Dialog);
    check_stays(&env, "blocked");
    env.tow(&["why", &pane.id]).ok().prints("screen: shows a dialog");

    pane.answer("Do you want to proceed?", &["Enter"]);
    env.wait_states(&["working"]);
    assert!(env.project().join("begun").exists() && !env.project().join("go").exists());
    let why = env.tow(&["why", &pane.id]).ok();
    why.prints("screen: shows work").prints("children: the youngest started").prints("(certain)");
    check_stays(&env, "working");
    fs::write(env.project().join("go"), "").unwrap();
    env.wait_states(&["completed"]);
}

#[test]
fn a_granted_permission_is_seen_by_the_refresh_of_a_bar() {
    let claude = Claude::V2_1_325;
    let env = claude_installed(claude);
    let tool = json!({"command": WAITING_TOOL, "description": "wait"});
    let model =
        Model::start([Rule::when("ask me").then(Step::tool("Bash", tool)).then(Step::text("it is over"))]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    pane.say("ask me");
    let wait_bar = |text: &str| {
        wait::until_evident(text, wait::PATIENCE, || {
            env.tow(&["bar", "--refresh"]).ok();
            let bar = tmux.run(&["show-options", "-gqv", "@towline-status"]);
            if bar.contains(text) { Ok(()) } else { Err(bar) }
        });
    };
    wait_bar("1!");
    pane.answer("Do you want to proceed?", &["Enter"]);
    wait_bar("1*");
    assert!(!env.project().join("go").exists());
}

#[test]
fn a_prompt_taken_back_before_the_first_byte_is_interrupted_in_2_1_197() {
    a_prompt_taken_back(Claude::V2_1_197);
}

#[test]
fn a_prompt_taken_back_before_the_first_byte_is_interrupted_in_2_1_325() {
    a_prompt_taken_back(Claude::V2_1_325);
}

#[track_caller]
fn wait_interrupted(env: &TestEnv) {
    wait::until_evident("a look that notices it within three seconds", Duration::from_secs(3), || {
        let seat = env.only_seat();
        if seat["state"] == "interrupted" { Ok(()) } else { Err(seat.to_string()) }
    });
}

fn a_prompt_taken_back(claude: Claude) {
    let env = claude_installed(claude);
    let gate = Gate::shut();
    let model = Model::start([Rule::when("think").then(Step::text("thought").behind(&gate))]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    pane.say("think");
    env.wait_states(&["working"]);
    wait_screen(&pane, Agent::Claude, ScreenProbe::Busy);
    check_stays(&env, "working");
    pane.half_type("half a thought");
    pane.wait_screen("half a thought");
    check_stays(&env, "working");
    pane.keys(&["C-u"]);
    pane.wait_screen_for("an empty input box", |screen| !screen.contains("half a thought"));

    pane.keys(&["Escape"]);
    wait_screen(&pane, Agent::Claude, ScreenProbe::Prompt);
    wait_interrupted(&env);
    env.tow(&["why", &pane.id]).ok().prints("is interrupted");
    let transcripts =
        env.command("grep").args(["-rl", "interrupted by user"]).arg(env.home()).output().unwrap();
    assert!(transcripts.stdout.is_empty(), "the transcript tells it as well: {transcripts:?}");
}

#[test]
fn a_tool_that_was_stopped_is_interrupted_in_2_1_197() {
    a_stopped_tool(Claude::V2_1_197);
}

#[test]
fn a_tool_that_was_stopped_is_interrupted_in_2_1_325() {
    a_stopped_tool(Claude::V2_1_325);
}

fn a_stopped_tool(claude: Claude) {
    let env = claude_installed(claude);
    let tool = json!({"command": WAITING_TOOL, "description": "wait"});
    let model = Model::start([Rule::when("ask me").then(Step::tool("Bash", tool))]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    pane.say("ask me");
    env.wait_states(&["blocked"]);
    pane.answer("Do you want to proceed?", &["Enter"]);
    env.wait_states(&["working"]);
    pane.keys(&["Escape"]);
    env.wait_states(&["interrupted"]);
}

#[test]
fn a_helper_in_the_background_works_on_behind_a_waiting_input_box() {
    let claude = Claude::V2_1_325;
    let env = claude_installed(claude);
    let gate = Gate::shut();
    let helper = json!({"description": "help", "prompt": "CHILD-TASK", "subagent_type": "general-purpose"});
    let model = Model::start([
        Rule::when("CHILD-TASK").then(Step::text("helped").behind(&gate)),
        Rule::when("delegate").then(Step::tool("Agent", helper)).then(Step::text("it is on its way")),
    ]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    pane.say("delegate");
    pane.wait_screen("Waiting for 1 background agent");
    env.wait_states(&["working"]);
    check_stays(&env, "working");
    gate.open();
    env.wait_states(&["completed"]);
}

#[test]
fn a_permission_granted_to_codex_is_work_while_the_tool_runs() {
    a_permission_granted_to_codex(Daemon::Off);
}

#[test]
fn a_permission_granted_to_codex_behind_its_daemon_is_work_while_the_tool_runs() {
    a_permission_granted_to_codex(Daemon::On);
}

fn a_permission_granted_to_codex(daemon: Daemon) {
    let mut tool = json!({"cmd": WAITING_TOOL, "justification": "to see"});
    tool["sandbox_permissions"] = json!("require_escalated");
    let model = Model::start([Rule::when("ask me")
        .then(Step::tool("exec_command", tool))
        .then(Step::text("it is over"))]);
    let env = codex_installed(&model, daemon);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &["-a", "on-request", "-s", "read-only"]);
    if daemon == Daemon::On {
        CODEX.wait_daemon(&env);
    }
    pane.say("ask me");
    env.wait_states(&["blocked"]);
    wait_screen(&pane, Agent::Codex, ScreenProbe::Dialog);
    check_stays(&env, "blocked");
    pane.answer("Would you like to run", &["Enter"]);
    env.wait_states(&["working"]);
    assert!(!env.project().join("go").exists());
    fs::write(env.project().join("go"), "").unwrap();
    env.wait_states(&["completed"]);
    wait_screen(&pane, Agent::Codex, ScreenProbe::Prompt);
}

#[test]
fn a_prompt_to_codex_that_is_taken_back_before_the_first_byte_is_interrupted() {
    let gate = Gate::shut();
    let model = Model::start([Rule::when("think").then(Step::text("thought").behind(&gate))]);
    let env = codex_installed(&model, Daemon::Off);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &[]);
    pane.say("think");
    wait_screen(&pane, Agent::Codex, ScreenProbe::Busy);
    env.wait_states(&["working"]);
    check_stays(&env, "working");
    pane.keys(&["Escape"]);
    wait_screen(&pane, Agent::Codex, ScreenProbe::Prompt);
    wait_interrupted(&env);
}

/// A program that counts as the agent by its name, and says what the test has it say.
fn talks(env: &TestEnv, tmux: &Tmux, session: &str, events: &[&str]) -> Pane {
    let root = env.root().display().to_string();
    let mut script = String::new();
    for name in events {
        let event = json!({"hook_event_name": name, "session_id": session, "cwd": "/", "source": "startup",
            "prompt": "p", "tool_name": "Bash", "tool_input": {}});
        fs::write(env.root().join(format!("{session}.{name}.json")), event.to_string()).unwrap();
        script += &format!("tow hook claude < {root}/{session}.{name}.json\n");
    }
    script += &format!("touch {root}/{session}.said\nread\n");
    let script = env.script(&format!("script-{session}"), &script);
    let pane = tmux.open(&["bash"], &[]);
    pane.say(&format!("claude {}", script.display()));
    let said = env.root().join(format!("{session}.said"));
    wait::until("the events", wait::PATIENCE, || said.exists().then_some(()));
    pane
}

/// Puts a tmux before the real one that notes what it is asked.
fn with_noted_tmux() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.link("claude", "/bin/bash");
    let real = fs::read_link(env.root().join("bin/tmux")).unwrap();
    let noted = env.root().join("noted");
    let script = format!("#!/bin/sh\necho \"$*\" >> {}\nexec {} \"$@\"\n", noted.display(), real.display());
    env.script("tmux", &script);
    env
}

/// The questions for screens as we ask them.
fn looks(env: &TestEnv) -> Vec<String> {
    let noted = fs::read_to_string(env.root().join("noted")).unwrap();
    noted.lines().filter(|line| line.contains("capture-pane -p -J")).map(str::to_owned).collect()
}

#[test]
fn a_refresh_looks_at_screens_only_if_something_suggests_it_and_not_all_the_time() {
    let env = with_noted_tmux();
    let tmux = Tmux::start(&env);
    let pane = talks(&env, &tmux, "one", &["SessionStart", "UserPromptSubmit", "PostToolUse"]);
    let begun = Timestamp::parse_utc(
        env.tow(&["status", "--json"]).ok().json()["seats"][0]["since"].as_str().unwrap(),
    );
    let at_first = looks(&env).len();
    assert_eq!(at_first, 1, "a person who asks is worth a look");
    fs::remove_file(env.data_dir().join("bars/looked")).unwrap();
    let refresh = |second: i64| {
        env.set_now(begun.unwrap().plus_ms(second * 1000).0);
        env.tow(&["bar", "--refresh"]).ok();
        looks(&env).len() - at_first
    };
    assert_eq!([refresh(1), refresh(5), refresh(9)], [0, 0, 0], "it has just begun");
    assert_eq!([refresh(12), refresh(15), refresh(30)], [1, 1, 1], "it is silent");
    assert_eq!([refresh(40), refresh(41)], [2, 2]);
    let asked = looks(&env).pop().unwrap();
    assert!(asked.contains(&pane.id), "{asked}");
}

#[test]
fn a_refresh_looks_at_the_screen_of_a_prompt_that_nothing_has_followed_for_a_minute() {
    let env = with_noted_tmux();
    let tmux = Tmux::start(&env);
    talks(&env, &tmux, "one", &["SessionStart", "UserPromptSubmit"]);
    let begun = Timestamp::parse_utc(
        env.tow(&["status", "--json"]).ok().json()["seats"][0]["since"].as_str().unwrap(),
    );
    let at_first = looks(&env).len();
    let refresh = |second: i64| {
        env.set_now(begun.unwrap().plus_ms(second * 1000).0);
        env.tow(&["bar", "--refresh"]).ok();
        looks(&env).len() - at_first
    };
    assert_eq!([refresh(1), refresh(3), refresh(4), refresh(6)], [0, 1, 1, 2], "it may have been taken back");
    assert_eq!([refresh(58), refresh(61), refresh(64)], [3, 4, 4], "from then on now and then");
}

#[test]
fn one_question_is_asked_for_all_screens_of_a_server_and_none_for_a_pane_that_is_elsewhere() {
    let env = with_noted_tmux();
    let tmux = Tmux::start(&env);
    let first = talks(&env, &tmux, "one", &["SessionStart", "UserPromptSubmit"]);
    let second = talks(&env, &tmux, "two", &["SessionStart", "UserPromptSubmit", "PermissionRequest"]);
    let idle = talks(&env, &tmux, "three", &["SessionStart"]);
    let before = looks(&env).len();
    let seats = env.tow(&["status", "--json"]).ok().json();
    assert_eq!(seats["seats"].as_array().unwrap().len(), 3);
    let asked = looks(&env).split_off(before);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].contains(&format!("-t {} ", first.id)) && asked[0].contains(&second.id), "{asked:?}");
    assert!(!asked[0].contains(&format!("-t {} ", idle.id)), "{asked:?}");

    second.keys(&["C-z"]);
    second.wait_screen("Stopped");
    env.tow(&["status"]).ok();
    let asked = looks(&env).pop().unwrap();
    assert!(!asked.contains(&second.id), "what is in the background is not on the screen: {asked}");
}
