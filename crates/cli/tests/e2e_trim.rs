//! `tow session trim` on real threads of the real Codex: what the model is asked with after it.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::Value;
use std::fs;
use std::os::unix::net::UnixListener;
use towline_testkit::{
    Codex, Daemon, Gate, Kind, Model, Pane, Request, Rule, Run, Step, TestEnv, Tmux, Usage, wait,
};

const CODEX: Codex = Codex::V0_166_0;

/// Three turns: the first leaves little in the window, the last most of it.
fn scripted() -> Model {
    let step = |text: &str, input| Step::text(text).usage(Usage { input, ..Usage::default() });
    Model::start([
        Rule::when("build the mast").then(step("the mast stands", 12_000)),
        Rule::when("paint the HULL-BLUE").then(step("the hull is ANSWER-BLUE now", 100_000)),
        Rule::when("caulk the DECK-SEAMS").then(step("the seams are tight", 200_000)),
        Rule::when("how far are we").then(step("nearly done", 13_000)),
    ])
}

fn installed(model: &Model, daemon: Daemon) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    CODEX.seed(&env, model, daemon);
    env.tow(&["install", "--agent", "codex"]).ok();
    CODEX.trust_hooks(&env);
    env
}

#[track_caller]
fn work(pane: &Pane) {
    let asked = [
        ("build the mast", "the mast stands"),
        ("paint the HULL-BLUE", "ANSWER-BLUE"),
        ("caulk the DECK-SEAMS", "the seams are tight"),
    ];
    for (prompt, answer) in asked {
        pane.say(prompt);
        pane.wait_screen(answer);
        CODEX.wait_idle(pane);
    }
}

/// What the model of the conversation was asked with; a title may be asked for with the same words.
#[track_caller]
fn asked(model: &Model, prompt: &str) -> Request {
    model.wait_request(prompt, |request| request.kind == Kind::Main && request.prompt.contains(prompt))
}

/// The names of the checks that do not hold.
fn refused(report: &Value) -> Vec<&str> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["ok"] == false).map(|check| check["check"].as_str().unwrap()).collect()
}

fn trim(env: &TestEnv, arguments: &[&str]) -> Run {
    env.tow(&[&["trim"], arguments].concat())
}

#[test]
fn a_nearly_full_thread_behind_the_daemon_goes_on_with_the_memory_of_what_was_cut() {
    let model = scripted();
    let env = installed(&model, Daemon::On);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &[]);
    CODEX.wait_daemon(&env);
    work(&pane);

    let shown = trim(&env, &["--json"]).ok().json();
    assert_eq!((&shown["cut"]["turns"], &shown["cut"]["kept"]), (&2.into(), &1.into()), "{shown}");
    assert_eq!(shown["usage"]["tokens"], 200_025, "{shown}");
    assert_eq!(shown["cut"]["tokens_kept"], 12_025, "{shown}");
    assert_eq!((refused(&shown), &shown["outcome"]), (vec![], &Value::Null), "{shown}");
    let memory = shown["memory"].as_str().unwrap();
    assert!(memory.contains("HULL-BLUE") && memory.contains("DECK-SEAMS"), "{memory}");
    assert!(!memory.contains("build the mast"), "what stays is not said twice: {memory}");
    trim(&env, &["--preflight"]).ok().prints("nothing is being worked on");
    trim(&env, &[]).ok().prints("would go:   2 turns").prints("nothing was changed");

    let done = trim(&env, &["--execute", "--json"]).ok().json();
    assert_eq!(done["outcome"]["done"], true, "{done}");
    let file = fs::read_to_string(done["outcome"]["file"].as_str().unwrap()).unwrap();
    assert!(file.contains("towline-context") && !file.contains("caulk the DECK-SEAMS\"}]"), "{file}");

    pane.say("how far are we");
    let request = asked(&model, "how far are we");
    assert_eq!(request.count("build the mast"), 1, "the first turn stays");
    assert_eq!(request.count("<towline-context>"), 1);
    assert_eq!(request.count("HULL-BLUE"), 1, "only in the memory");
    assert_eq!(request.count("the seams are tight"), 1, "only in the memory");
    pane.wait_screen("nearly done");
    CODEX.wait_idle(&pane);

    trim(&env, &["--execute"]).exits(2).complains("less than 50 %");
    check_what_was_cut_is_kept(&env, done["session"].as_str().unwrap());

    model.add(Rule::when("what came before").then(Step::text("I know it all")));
    pane.say("/clear");
    pane.wait_screen_for("a cleared screen", |screen| !screen.contains("nearly done"));
    pane.say("what came before");
    let heir = asked(&model, "what came before");
    for known in ["build the mast", "HULL-BLUE", "DECK-SEAMS", "how far are we"] {
        assert!(heir.holds(known), "{known}: {:#}", heir.body);
    }
    CODEX.stop_daemon(&env);
}

/// The archive has all turns, and none of them counts as undone; what was said in them is found.
#[track_caller]
fn check_what_was_cut_is_kept(env: &TestEnv, session: &str) {
    wait::until_evident("four turns that stand", wait::PATIENCE, || {
        let turns = env.tow(&["turns", session, "--json"]).ok().json();
        let stands = |turn: &&Value| turn["reverted"] == false;
        let standing = turns["turns"].as_array().unwrap().iter().filter(stands).count();
        if standing == 4 { Ok(()) } else { Err(format!("{turns:#}")) }
    });
    let short = &session[session.len() - 8..];
    env.tow(&["detail", &format!("{short}#2")]).ok().prints("HULL-BLUE").prints("ANSWER-BLUE");
}

#[test]
fn a_thread_that_is_at_work_is_left_alone() {
    let gate = Gate::shut();
    let model = scripted();
    model.add(Rule::when("talk on").then(Step::text("the start of something long").pausing_at(&gate)));
    let env = installed(&model, Daemon::On);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &[]);
    CODEX.wait_daemon(&env);
    work(&pane);
    pane.say("talk on");
    pane.wait_screen_for("an answer that goes on", |screen| screen.contains("• the\n"));
    assert_eq!(refused(&trim(&env, &["--json"]).ok().json()), ["idle"]);
    trim(&env, &["--preflight"]).exits(1).prints("a turn is running");
    trim(&env, &["--execute"]).exits(2).complains("nothing was changed").complains("idle: a turn is running");
    gate.open();
    pane.wait_screen("something long");
    CODEX.wait_idle(&pane);
    assert!(!model.saw("towline-context"));
    CODEX.stop_daemon(&env);
}

#[test]
fn a_thread_that_another_program_holds_is_left_alone_and_trimmed_when_it_is_let_go() {
    let model = scripted();
    let env = installed(&model, Daemon::Off);
    let tmux = Tmux::start(&env);
    let pane = CODEX.interactive(&tmux, &[]);
    work(&pane);

    let report = trim(&env, &["--json"]).ok().json();
    assert_eq!(refused(&report), ["alone"], "the client has it open: {report}");
    trim(&env, &["--execute"]).exits(2).complains("nothing was changed").complains("has it open");

    pane.say("/quit");
    pane.wait_end();

    let id = report["session"].as_str().unwrap();
    let done = trim(&env, &[id, "--execute", "--keep", "0", "--json"]).ok().json();
    assert_eq!(done["outcome"]["done"], true, "nobody holds it any more: {done}");
    let thread = id.split(':').next_back().unwrap();
    CODEX.headless(&env, "how far are we", &["resume", thread]).ok();
    let request = asked(&model, "how far are we");
    assert_eq!((request.count("<towline-context>"), request.count("HULL-BLUE")), (1, 1));
    assert_eq!(request.count("build the mast"), 1, "in the memory");
}

#[test]
fn without_a_number_of_the_agents_own_nothing_is_done() {
    let model = scripted();
    let env = installed(&model, Daemon::Off);
    let first = CODEX.headless(&env, "caulk the DECK-SEAMS", &[]).ok().stdout;
    let started: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let id = started["thread_id"].as_str().unwrap();
    let done = trim(&env, &[id, "--execute", "--json"]).ok().json();
    assert_eq!(done["outcome"]["done"], true, "{done}");
    let report = trim(&env, &[id, "--json"]).ok().json();
    assert_eq!(refused(&report), ["thread", "usage", "memory"], "{report}");
    trim(&env, &[id, "--execute"]).exits(2);
}

#[test]
fn what_no_server_can_take_back_is_said_to_be_so() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let payload = r#"{"hook_event_name":"SessionStart","session_id":"s-1","cwd":"/p","source":"startup"}"#;
    env.hook("claude", payload).ok();
    trim(&env, &["s-1"]).exits(2).complains("cannot be trimmed").complains("/compact");
    trim(&env, &["unknown"]).exits(2).complains("begins or ends with `unknown`");
}

#[test]
fn a_server_in_the_background_that_is_stuck_is_named_and_no_other_is_started() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let socket = env.home().join(".codex/app-server-control/app-server-control.sock");
    fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    let id = "01a1df44-9a4d-74d0-9be2-209d489b7643";
    let run = trim(&env, &[id, "--execute"]).exits(1).complains("could not reach the server at");
    assert!(run.stderr.contains("timed out"), "{}", run.stderr);
}
