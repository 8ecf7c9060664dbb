//! The guard with the real clients: usage as the model reports it drives the context over the thresholds.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use towline_testkit::{
    Claude, Codex, Daemon, Gate, Kind, Model, Pane, Request, Rule, Step, TestEnv, Tmux, Usage, wait,
};

const CODEX: Codex = Codex::V0_166_0;
/// A model with the smaller window.
const SMALL: [&str; 2] = ["--model", "claude-sonnet-4-5"];

fn installed(claude: Claude, more: &[&str]) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&[&["install", "--agent", "claude"], more].concat()).ok();
    env
}

fn installed_codex(model: &Model) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    CODEX.seed(&env, model, Daemon::Off);
    env.tow(&["install", "--agent", "codex"]).ok();
    CODEX.trust_hooks(&env);
    env
}

fn usage(input: u64) -> Usage {
    Usage { input, ..Usage::default() }
}

/// Waits until the client has written down that an answer was given to so many tokens: in the tests its model answers
/// before it does.
fn wait_written(env: &TestEnv, tokens: u64) {
    let needle = format!("\"input_tokens\":{tokens}");
    let is_there = |file: &PathBuf| fs::read_to_string(file).is_ok_and(|text| text.contains(&needle));
    wait::until("the transcript to have the answer", wait::PATIENCE, || {
        files_below(&env.home().join(".claude/projects")).iter().any(is_there).then_some(())
    });
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

fn says(text: &str, input: u64) -> Step {
    Step::text(text).usage(usage(input))
}

fn reads(input: u64) -> Step {
    Step::tool("Read", json!({"file_path": "/etc/hostname"})).usage(usage(input))
}

fn runs(input: u64) -> Step {
    Step::tool("exec_command", json!({"cmd": "echo fine"})).usage(usage(input))
}

/// The requests of the main conversation for this prompt.
fn rounds(model: &Model, prompt: &str) -> Vec<Request> {
    let of_it = |request: &Request| request.kind == Kind::Main && request.prompt.contains(prompt);
    model.requests().into_iter().filter(of_it).collect()
}

fn newest(model: &Model, prompt: &str) -> Request {
    rounds(model, prompt).pop().unwrap()
}

/// Says it, and waits until the client is done with it.
fn ask(claude: Claude, pane: &Pane, (prompt, answer): (&str, &str)) {
    claude.wait_idle(pane);
    pane.say(prompt);
    pane.wait_screen(answer);
    claude.wait_idle(pane);
}

#[test]
fn each_threshold_reaches_the_model_once_and_again_after_a_compaction_in_2_1_197() {
    thresholds(Claude::V2_1_197);
}

#[test]
fn each_threshold_reaches_the_model_once_and_again_after_a_compaction_in_2_1_325() {
    thresholds(Claude::V2_1_325);
}

fn thresholds(claude: Claude) {
    let env = installed(claude, &[]);
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("first").then(says("ANSWER-1", 90_000)),
        Rule::when("second").then(says("ANSWER-2", 91_000)),
        Rule::when("third")
            .then(reads(130_000))
            .then(reads(131_000).behind(&gate))
            .then(says("ANSWER-3", 132_000)),
        Rule::when("fourth").then(says("ANSWER-4", 90_500)),
        Rule::when("fifth").then(says("ANSWER-5", 91_000)),
    ]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &SMALL);
    ask(claude, &pane, ("first", "ANSWER-1"));
    wait_written(&env, 90_000);
    assert!(!model.saw("% full"));
    ask(claude, &pane, ("second", "ANSWER-2"));
    pane.wait_screen("context is 45 % full");
    assert_eq!(newest(&model, "second").count("the context is 45 % full. Consider preparing"), 1);
    claude.wait_idle(&pane);
    pane.say("third");
    wait_written(&env, 130_000);
    gate.open();
    pane.wait_screen("ANSWER-3");
    let third = newest(&model, "third");
    assert_eq!((third.count("the context is 45 % full"), third.count("% full. Handoff strongly")), (1, 1));
    assert_eq!(third.count("% full"), 2, "nothing else was said");
    let heard: Vec<bool> =
        rounds(&model, "third").iter().map(|request| request.holds("Handoff strongly")).collect();
    let is_within_the_turn = !heard[0] && heard[2];
    assert!(is_within_the_turn, "{heard:?}");

    wait_written(&env, 132_000);
    claude.wait_idle(&pane);
    pane.say("/compact");
    wait::until_evident("the compaction to be told", wait::PATIENCE, || {
        let metered = env.tow(&["meter", "--json"]).ok().json();
        // 66, or what was known before it: this very question may fold the compaction, and reads no transcript for it.
        let known = metered["sessions"][0]["compacted_at_percent"].as_u64();
        known.filter(|percent| (65..=66).contains(percent)).ok_or_else(|| metered.to_string())
    });
    ask(claude, &pane, ("fourth", "ANSWER-4"));
    wait_written(&env, 90_500);
    ask(claude, &pane, ("fifth", "ANSWER-5"));
    assert_eq!(newest(&model, "fifth").count("the context is 45 % full. Consider preparing"), 1);
}

#[test]
fn a_turn_of_a_single_answer_was_measured_one_turn_late_in_2_1_325() {
    let claude = Claude::V2_1_325;
    let env = installed(claude, &[]);
    let model = Model::start([Rule::when("first").then(says("ANSWER-1", 90_000))]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &SMALL);
    pane.say("first");
    pane.wait_screen("context is 45 % full");
    assert!(!model.saw("% full"), "the end of a turn tells only the user");
}

#[test]
fn a_turn_of_a_single_answer_is_measured_at_its_end_in_codex() {
    let model = Model::start([Rule::when("first").then(says("ANSWER-1", 130_000))]);
    let env = installed_codex(&model);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &[]);
    pane.say("first");
    pane.wait_screen("% full");
    assert!(!model.saw("% full"), "the end of a turn tells only the user");
}

#[test]
fn a_line_of_the_users_own_and_ours_are_both_on_the_screen_of_2_1_197() {
    status_line(Claude::V2_1_197);
}

#[test]
fn a_line_of_the_users_own_and_ours_are_both_on_the_screen_of_2_1_325() {
    status_line(Claude::V2_1_325);
}

fn status_line(claude: Claude) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    let own = json!({"type": "command", "command": "sed -n 's/.*\"cwd\".*/MY-OWN-LINE/p' | head -n 1", "padding": 0});
    Claude::edit_settings(&env, |settings| settings["statusLine"] = own.clone());
    let before = fs::read(env.home().join(".claude/settings.json")).unwrap();
    env.tow(&["install", "--agent", "claude", "--statusline"]).ok();
    env.tow(&["install", "--agent", "claude"]).ok().prints("registered already");
    let model = Model::start([
        Rule::when("first").then(says("ANSWER-1", 90_000)),
        Rule::when("second").then(says("ANSWER-2", 90_500)),
        Rule::when("third").then(says("ANSWER-3", 91_000)),
    ]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &SMALL);
    pane.wait_screen("MY-OWN-LINE");
    ask(claude, &pane, ("first", "ANSWER-1"));
    pane.wait_screen_for("both lines", |screen| {
        screen.contains("MY-OWN-LINE") && screen.contains("▓░░░░░ 45%")
    });
    let metered = wait::until("the client's own number", wait::PATIENCE, || {
        let row = env.tow(&["meter", "--json"]).ok().json()["sessions"][0].clone();
        (row["source"] == "client").then_some(row)
    });
    let row = ["percent", "tokens", "window", "exact"].map(|name| metered[name].clone());
    assert_eq!(row, [json!(45), json!(90_000), json!(200_000), json!(true)]);
    ask(claude, &pane, ("second", "ANSWER-2"));
    ask(claude, &pane, ("third", "ANSWER-3"));
    pane.say("/compact");
    let metered = wait::until_evident("the compaction to be told", wait::PATIENCE, || {
        let row = env.tow(&["meter", "--json"]).ok().json()["sessions"][0].clone();
        // The file lags, and what the client may still show is no news.
        let is_told = row["compactions"] == 1 && row["percent"].is_null();
        if is_told { Ok(row) } else { Err(format!("{row}\n{}", pane.screen())) }
    });
    assert_eq!(metered["compacted_at_percent"], 45);
    // The hook tells of it before the client has taken the command out of its input.
    pane.wait_screen_for("the compaction on the screen", |screen| screen.contains("ompacted (ctrl+o"));
    claude.wait_idle(&pane);
    pane.say("/exit");
    pane.wait_end();
    env.tow(&["uninstall", "--agent", "claude"]).ok();
    let before: Value = serde_json::from_slice(&before).unwrap();
    assert_eq!(
        Claude::settings(&env)["statusLine"],
        before["statusLine"],
        "the client may have rewritten the rest"
    );
}

#[test]
fn settings_with_a_status_line_are_given_back_byte_for_byte() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let file = env.home().join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    for before in [
        "{\n\t\"statusLine\": {\"command\": \"~/l\\u0069ne.sh 'a b' | cut -c1-9\" },\n\t\"a\": 1\n}",
        "{\"a\":1}\n",
        "{}",
    ] {
        fs::write(&file, before).unwrap();
        env.tow(&["install", "--agent", "claude", "--statusline"]).ok();
        assert!(fs::read_to_string(&file).unwrap().contains("statusline"), "{before}");
        env.tow(&["uninstall", "--agent", "claude"]).ok();
        assert_eq!(fs::read_to_string(&file).unwrap(), before);
    }
}

#[test]
fn a_new_subagent_is_refused_when_the_context_is_nearly_full_in_2_1_197() {
    refused(Claude::V2_1_197);
}

#[test]
fn a_new_subagent_is_refused_when_the_context_is_nearly_full_in_2_1_325() {
    refused(Claude::V2_1_325);
}

fn refused(claude: Claude) {
    let env = installed(claude, &[]);
    let task = json!({"description": "look", "prompt": "CHILD-TASK", "subagent_type": "general-purpose",
        "run_in_background": false});
    let wants = |input| Step::tool("Agent", task.clone()).usage(usage(input));
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("CHILD-TASK").then(Step::text("CHILD-RESULT")),
        Rule::when("work")
            .then(wants(20_000))
            .then(reads(174_000))
            .then(wants(174_100).behind(&gate))
            .then(says("all done", 174_200)),
    ]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &SMALL);
    pane.say("work");
    wait_written(&env, 174_000);
    gate.open();
    pane.wait_screen("all done");
    let last = newest(&model, "work");
    assert_eq!(last.count("new helpers are refused from 85 %"), 1);
    assert!(last.holds("the context is 87 % full"));
    let helpers = model.requests().iter().filter(|request| request.kind == Kind::Subagent).count();
    assert_eq!(helpers, 1, "the first one ran, the second did not");
}

#[test]
fn codex_hears_of_it_once_within_a_turn_and_again_after_a_compaction() {
    let model = Model::start([
        Rule::when("first")
            .then(runs(5_000))
            .then(runs(120_000))
            .then(runs(121_000))
            .then(says("ANSWER-1", 122_000)),
        Rule::when("second").then(says("ANSWER-2", 123_000)),
        Rule::when("third").then(says("ANSWER-3", 120_000)),
        Rule::when("fourth").then(says("ANSWER-4", 121_000)),
    ]);
    let env = installed_codex(&model);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &[]);
    let ask = |prompt: &str, answer: &str| {
        CODEX.wait_idle(&pane);
        pane.say(prompt);
        pane.wait_screen(answer);
        CODEX.wait_idle(&pane);
    };
    ask("first", "ANSWER-1");
    let heard: Vec<usize> =
        rounds(&model, "first").iter().map(|request| request.count("% full. Consider preparing")).collect();
    assert_eq!((heard[0], heard[1], heard[3]), (0, 0, 1), "{heard:?}");
    ask("second", "ANSWER-2");
    assert_eq!(newest(&model, "second").count("% full"), 1);
    pane.say("/compact");
    wait::until("the compaction to be told", wait::PATIENCE, || {
        let metered = env.tow(&["meter", "--json"]).ok().json();
        (metered["sessions"][0]["compactions"] == 1).then_some(())
    });
    ask("third", "ANSWER-3");
    ask("fourth", "ANSWER-4");
    assert_eq!(newest(&model, "fourth").count("% full. Consider preparing"), 1);
}

#[test]
fn codex_is_refused_a_new_helper_when_the_context_is_nearly_full() {
    let spawn = json!({"message": "CHILD-TASK", "agent_type": "default"});
    let wants = Step::default().and_tool_of("multi_agent_v1", "spawn_agent", spawn).usage(usage(236_000));
    let model = Model::start([
        Rule::when("CHILD-TASK").then(Step::text("CHILD-RESULT")),
        Rule::when("work").then(runs(5_000)).then(wants).then(says("all done", 236_100)),
    ]);
    let env = installed_codex(&model);
    CODEX.headless(&env, "work", &[]).ok().prints("all done");
    assert_eq!(newest(&model, "work").count("new helpers are refused from 85 %"), 1);
    assert!(!model.requests().iter().any(|request| request.kind == Kind::Subagent));
}
