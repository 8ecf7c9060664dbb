//! The real Qwen Code with hooks as `tow install` writes them: tracking, inheritance, memory and removal.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod told;

use serde_json::json;
use std::fs;
use told::{told, wait_told};
use towline_testkit::{Claude, Client, Gate, Model, Process, Rule, Step, TestEnv, Tmux, Usage, wait};

const QWEN: Client = Client::QWEN;

fn installed(model: &Model) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    QWEN.seed(&env, model);
    env.tow(&["install", "--agent", "qwen"]).ok();
    env
}

#[test]
fn a_headless_session_with_tools() {
    let model = Model::echo();
    let env = installed(&model);
    let file = |name: &str| json!({"file_path": env.project().join(name)});
    fs::write(env.project().join("chart.txt"), "north is up").unwrap();
    model.add(
        Rule::when("work")
            .then(Step::tool("read_file", file("chart.txt")))
            .then(Step::tool("read_file", file("missing.txt")))
            .then(Step::text("all done")),
    );
    QWEN.headless(&env, &model, "work", &[]).ok().prints("all done");
    insta::assert_snapshot!(told(&env, &[]));
}

#[test]
fn a_seat_through_permission_escape_clear_and_quit() {
    let gate = Gate::shut();
    let touch =
        json!({"command": "touch made-by-tool", "description": "make a file", "is_background": false});
    let model = Model::start([
        Rule::when("talk").then(Step::text("the start of something that never ends").pausing_at(&gate)),
        Rule::when("ask me").then(Step::tool("run_shell_command", touch)).then(Step::text("it is made")),
    ]);
    let env = installed(&model);
    let tmux = Tmux::start(&env);
    let pane = QWEN.interactive(&tmux, &model, &[]);
    let seats = [("the pane", &pane)];

    pane.say("hello");
    wait_told(&env, &seats, |text| text.contains("turn_ended"));
    QWEN.wait_idle(&pane);
    pane.say("ask me");
    wait_told(&env, &seats, |text| text.contains(": blocked"));
    pane.answer("Allow execution of", &["Enter"]);
    wait_told(&env, &seats, |text| text.matches("turn_ended").count() == 2);
    QWEN.wait_idle(&pane);
    pane.say("talk");
    wait_told(&env, &seats, |text| text.contains(": working"));
    pane.wait_screen("◆︎ the");
    pane.keys(&["Escape"]);
    wait_told(&env, &seats, |text| text.contains(": interrupted"));
    pane.keys(&["C-u"]);
    QWEN.wait_idle(&pane);
    pane.say("/clear");
    wait_told(&env, &seats, |text| text.contains("#2"));
    QWEN.wait_idle(&pane);
    pane.say("/quit");
    pane.wait_end();
    insta::assert_snapshot!(wait_told(&env, &seats, |text| text.matches(": ended").count() == 2));
}

#[test]
fn the_next_session_goes_on_after_a_clear_and_in_another_agent_and_back() {
    let model = Model::start([
        Rule::when("rig the mast").then(Step::text("I rigged it with two stays.")),
        Rule::when("paint the hull").then(Step::text("The hull is green now.")),
    ]);
    let env = installed(&model);
    let claude = Claude::V2_1_325;
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    let tmux = Tmux::start(&env);

    let pane = QWEN.interactive(&tmux, &model, &[]);
    pane.say("rig the mast");
    pane.wait_screen("two stays");
    QWEN.wait_idle(&pane);
    pane.say("/clear");
    pane.wait_screen_for("a cleared screen", |screen| !screen.contains("two stays"));
    QWEN.wait_idle(&pane);
    pane.say("what was I doing");
    inherits(&model, "what was I doing", &["rig the mast", "two stays"]);

    // Another agent takes the work over by a baton, and this one takes it back.
    pass_baton(&env);
    let other = claude.interactive(&tmux, &model, &[]);
    other.say("and here");
    inherits(&model, "and here", &["from session qwen:", "rig the mast"]);
    claude.wait_idle(&other);
    other.say("paint the hull");
    other.wait_screen("green now");
    claude.wait_idle(&other);
    pass_baton(&env);
    let back = QWEN.interactive(&tmux, &model, &[]);
    back.say("here again");
    inherits(&model, "here again", &["from session claude:", "paint the hull", "green now"]);
}

/// The model is given all of this with the prompt.
#[track_caller]
fn inherits(model: &Model, prompt: &str, expected: &[&str]) {
    let asked = model.wait_prompt(prompt);
    for text in expected {
        assert!(asked.holds(text), "no {text:?} in {:#}", asked.body["messages"]);
    }
}

/// The session that was active last passes its work on.
#[track_caller]
fn pass_baton(env: &TestEnv) {
    let listed = env.tow(&["sessions", "--json"]).ok().json();
    let last = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    env.person(&["session", "baton", "--session", &last]).ok();
}

#[test]
fn a_memory_is_given_and_found_by_its_tool() {
    let model = Model::start([Rule::when("look it up")
        .then(Step::tool("mcp__towline__search", json!({"query": "keel leak"})))
        .then(Step::text("found"))]);
    let env = installed(&model);
    env.person(&["remember", "The keel leaks at frame seven"]).ok();
    QWEN.headless(&env, &model, "look it up", &["--approval-mode", "yolo"]).ok().prints("found");
    let asked = model.wait_request("the tool's answer", |request| request.step == 1);
    let first = model.wait_prompt("look it up");
    assert!(first.holds("The keel leaks at frame seven"), "{:#}", first.body["messages"]);
    let messages = asked.body["messages"].as_array().unwrap();
    let answer = messages.iter().find(|message| message["role"] == "tool").unwrap().to_string();
    assert!(answer.contains("The keel leaks at frame seven"), "{answer}");
}

#[test]
fn a_killed_client_leaves_an_ended_session() {
    let model = Model::echo();
    let env = installed(&model);
    let tmux = Tmux::start(&env);
    let pane = QWEN.interactive(&tmux, &model, &[]);
    pane.say("hello");
    env.wait_states(&["completed"]);
    // The client starts itself a second time; the session runs in the child.
    let own = |process: &Process| process.command.contains("/qwen");
    let pids: Vec<String> = env
        .processes()
        .iter()
        .filter(|process| own(process))
        .map(|process| process.pid.to_string())
        .collect();
    assert!(pids.len() >= 2, "{pids:?}");
    env.command("kill").arg("-9").args(&pids).status().unwrap();
    env.wait_states(&[]);
}

/// By typing: the client confirms each step by a hook.
#[test]
fn the_work_goes_on_in_a_fresh_session() {
    let full = Usage { input: 190_000, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };
    let model = Model::start([
        Rule::when("Go on with the work as the handoff").then(Step::text("The right wing is painted.")),
        Rule::when("paint the heron").then(Step::text("I have painted a wing.").usage(full)),
    ]);
    let env = installed(&model);
    let settings = [
        ("typing.enabled", "true"),
        ("typing.quiet_s", "0"),
        ("guard.strategy", "handoff"),
        ("continue.handoff", "mechanical"),
    ];
    for (key, value) in settings {
        env.tow(&["config", "set", key, value]).ok();
    }
    let tmux = Tmux::start(&env);
    let pane = QWEN.interactive(&tmux, &model, &[]);
    pane.say("paint the heron");
    let typed = || format!("{:#}\n{}", env.tow(&["typed", "--json"]).ok().json(), pane.screen());
    let asked = wait::until_evident("the successor's prompt", wait::PATIENCE, || {
        let requests = model.requests();
        let found =
            requests.iter().find(|request| request.prompt.contains("Go on with the work as the handoff"));
        found.cloned().ok_or_else(typed)
    });
    assert!(asked.holds("Handoff of that session") && asked.holds("paint the heron"));
    pane.wait_screen("The right wing is painted.");
}

#[test]
fn settings_are_as_before_once_it_is_uninstalled() {
    let model = Model::echo();
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    QWEN.seed(&env, &model);
    let file = env.home().join(".qwen/settings.json");
    let before = fs::read(&file).unwrap();
    env.tow(&["install", "--agent", "qwen"]).ok().prints("Qwen Code");
    assert_ne!(fs::read(&file).unwrap(), before);
    env.tow(&["doctor"]).prints("15 events registered").prints("registered in");
    env.tow(&["uninstall", "--agent", "qwen"]).ok();
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(!env.home().join(".qwen/skills").exists());
}
