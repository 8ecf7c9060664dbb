//! The real Gemini CLI with hooks as `tow install` writes them: tracking, inheritance, memory, continuation and removal.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod told;

use serde_json::{Value, json};
use std::fs;
use told::{told, wait_told};
use towline_testkit::{
    Claude, Client, Gate, Model, Pane, Process, Request, Rule, Step, TestEnv, Tmux, Usage, wait,
};

const GEMINI: Client = Client::GEMINI;

fn installed(model: &Model) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    GEMINI.seed(&env, model);
    env.tow(&["install", "--agent", "gemini"]).ok();
    env
}

#[track_caller]
fn say(pane: &Pane, text: &str) {
    GEMINI.wait_idle(pane);
    pane.say_after_paste(text);
}

fn command(line: &str) -> Step {
    Step::tool("run_shell_command", json!({"command": line, "description": "d"}))
}

#[test]
fn a_headless_session_with_tools() {
    let work = Rule::when("work").then(command("echo fine")).then(command("exit 3"));
    let model = Model::start([work.then(Step::text("all done"))]);
    let env = installed(&model);
    GEMINI.headless(&env, &model, "work", &["--yolo"]).ok().prints("all done");
    insta::assert_snapshot!(told(&env, &[]));
}

#[test]
fn a_seat_through_permission_question_failure_clear_and_quit() {
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("think").then(Step::text("thought").behind(&gate)),
        Rule::when("ask me").then(command("touch made-by-tool")).then(Step::text("it is made")),
        Rule::when("which").then(Step::tool("ask_user", question())).then(Step::text("chosen")),
        Rule::when("fail").then(Step::error(400, "INVALID_ARGUMENT", "cannot be")),
    ]);
    let env = installed(&model);
    let tmux = Tmux::start(&env);
    let pane = GEMINI.interactive(&tmux, &model, &[]);
    let seats = [("the pane", &pane)];

    env.wait_states(&["idle"]);
    say(&pane, "think");
    env.wait_states(&["working"]);
    gate.open();
    env.wait_states(&["completed"]);

    say(&pane, "ask me");
    env.wait_states(&["blocked"]);
    assert_eq!(env.only_seat()["reason"], "permission");
    pane.answer("Allow execution", &["Enter"]);
    env.wait_states(&["completed"]);

    say(&pane, "which");
    env.wait_states(&["blocked"]);
    assert_eq!(env.only_seat()["reason"], "question");
    pane.answer("Enter to select", &["Enter"]);
    env.wait_states(&["completed"]);

    say(&pane, "fail");
    env.wait_states(&["interrupted"]);

    say(&pane, "/clear");
    wait_told(&env, &seats, |text| text.contains("#2"));
    say(&pane, "/quit");
    pane.wait_end();
    let text = wait_told(&env, &seats, |text| text.matches(": ended").count() == 2);
    insta::assert_snapshot!(settled(&text));
}

/// The text without what depends on timing: a question for the state may see a change before its hook tells it, and the
/// client reports its end up to three times.
fn settled(text: &str) -> String {
    let once = |text: String| text.replace(" session_ended session_ended", " session_ended");
    once(once(text.replace(" observed", "")))
}

fn question() -> Value {
    let options = json!([{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]);
    json!({"questions": [{"question": "Which colour", "header": "Colour", "type": "choice", "options": options}]})
}

/// Each phase tells it in another way: by the end of the turn, by the result of the tool, or only in the transcript.
#[test]
fn escape_is_seen_in_every_phase() {
    let (gate, early) = (Gate::shut(), Gate::shut());
    let model = Model::start([
        Rule::when("talk").then(Step::text("the start of something that never ends").pausing_at(&gate)),
        Rule::when("early").then(Step::text("never").behind(&early)),
        Rule::when("ask me").then(command("sleep 60")),
    ]);
    let env = installed(&model);
    let tmux = Tmux::start(&env);
    let pane = GEMINI.interactive(&tmux, &model, &[]);

    say(&pane, "talk");
    pane.wait_screen("✦ the");
    pane.keys(&["Escape"]);
    env.wait_states(&["interrupted"]);

    say(&pane, "early");
    model.wait_prompt("early");
    env.wait_states(&["working"]);
    pane.keys(&["Escape"]);
    env.wait_states(&["interrupted"]);

    say(&pane, "ask me");
    env.wait_states(&["blocked"]);
    pane.answer("Allow execution", &["Escape"]);
    env.wait_states(&["interrupted"]);

    say(&pane, "ask me again");
    pane.answer("Allow execution", &["Enter"]);
    pane.wait_screen("⊶");
    env.wait_states(&["working"]);
    pane.keys(&["Escape"]);
    env.wait_states(&["interrupted"]);
    // A question for the state may see an interruption before its hook tells it: only the turns are certain.
    let text = told(&env, &[("the pane", &pane)]);
    let turns: Vec<&str> = text.lines().filter(|line| line.starts_with("  turn ")).collect();
    insta::assert_snapshot!(turns.join("\n"));
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

    let pane = GEMINI.interactive(&tmux, &model, &[]);
    say(&pane, "rig the mast");
    pane.wait_screen("two stays");
    say(&pane, "/clear");
    pane.wait_screen_for("a cleared screen", |screen| !screen.contains("two stays"));
    say(&pane, "what was I doing");
    inherits(&model, "what was I doing", &["rig the mast", "two stays"]);

    // Another agent takes the work over by a baton, and this one takes it back.
    pass_baton(&env);
    let other = claude.interactive(&tmux, &model, &[]);
    other.say("and here");
    inherits(&model, "and here", &["from session gemini:", "rig the mast"]);
    claude.wait_idle(&other);
    other.say("paint the hull");
    other.wait_screen("green now");
    claude.wait_idle(&other);
    pass_baton(&env);
    let back = GEMINI.interactive(&tmux, &model, &[]);
    say(&back, "here again");
    inherits(&model, "here again", &["from session claude:", "paint the hull", "green now"]);
}

/// The model is given all of this with the prompt.
#[track_caller]
fn inherits(model: &Model, prompt: &str, expected: &[&str]) {
    let asked = model.wait_prompt(prompt);
    for text in expected {
        assert!(asked.holds(text), "no {text:?} in {:#}", asked.body["contents"]);
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
        .then(Step::tool("mcp_towline_search", json!({"query": "keel leak"})))
        .then(Step::text("found"))]);
    let env = installed(&model);
    env.person(&["remember", "The keel leaks at frame seven"]).ok();
    GEMINI.headless(&env, &model, "look it up", &["--yolo"]).ok().prints("found");
    let first = model.wait_prompt("look it up");
    assert!(first.holds("The keel leaks at frame seven"), "{:#}", first.body["contents"]);
    let asked = model.wait_request("the tool's answer", |request| request.step == 1);
    let answer = asked.body["contents"].as_array().unwrap().last().unwrap()["parts"][0]["functionResponse"]
        .to_string();
    assert!(answer.contains("The keel leaks at frame seven"), "{answer}");
}

/// The client starts itself a second time; the session runs in the child. Both go on if only their pane is closed.
#[test]
fn a_killed_client_and_a_closed_pane_leave_ended_sessions() {
    let model = Model::echo();
    let env = installed(&model);
    let tmux = Tmux::start(&env);
    let pane = GEMINI.interactive(&tmux, &model, &[]);
    say(&pane, "hello");
    env.wait_states(&["completed"]);
    let own = |process: &Process| process.command.contains("/gemini");
    let pids: Vec<String> = env
        .processes()
        .iter()
        .filter(|process| own(process))
        .map(|process| process.pid.to_string())
        .collect();
    assert!(pids.len() >= 2, "{pids:?}");
    env.command("kill").arg("-9").args(&pids).status().unwrap();
    env.wait_states(&[]);

    let other = GEMINI.interactive(&tmux, &model, &[]);
    say(&other, "hello again");
    env.wait_states(&["completed"]);
    other.close();
    env.wait_states(&[]);
}

/// The hook at the end of a turn has the client empty its conversation and go on, without typing.
#[test]
fn the_work_goes_on_in_an_emptied_conversation_with_the_handoff_that_the_agent_wrote() {
    let handoff = "<handoff id=\"@HANDOFF_ID@\">\ncontinue: true\n## Task\npaint the heron\n## Completed\nthe left wing\n\
                   ## Remaining\nthe right wing\n## Key Context\nblue\n</handoff>";
    let model = Model::start([
        Rule::when("Go on with the work as the handoff").then(Step::text("The right wing is painted.")),
        Rule::when("[towline] The context is").then(Step::text(handoff).usage(FULL)),
        Rule::when("paint the heron").then(Step::text("I have painted a wing.").usage(FULL)),
    ]);
    let asked = goes_on(&model, "ask");
    assert!(
        asked.holds("the right wing") && !asked.holds("I have painted a wing."),
        "{:#}",
        asked.body["contents"]
    );
}

#[test]
fn the_work_goes_on_in_an_emptied_conversation_with_a_mechanical_handoff() {
    let model = Model::start([
        Rule::when("Go on with the work as the handoff").then(Step::text("The right wing is painted.")),
        Rule::when("paint the heron").then(Step::text("I have painted a wing.").usage(FULL)),
    ]);
    let asked = goes_on(&model, "mechanical");
    assert!(asked.holds("paint the heron"), "{:#}", asked.body["contents"]);
}

const FULL: Usage = Usage { input: 1_000_000, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };

/// Fills the context with one prompt, and returns the request with which the work goes on.
#[track_caller]
fn goes_on(model: &Model, handoff: &str) -> Request {
    let env = installed(model);
    let settings = [("typing.enabled", "true"), ("guard.strategy", "handoff"), ("continue.handoff", handoff)];
    for (key, value) in settings {
        env.tow(&["config", "set", key, value]).ok();
    }
    let tmux = Tmux::start(&env);
    let pane = GEMINI.interactive(&tmux, model, &[]);
    say(&pane, "paint the heron");
    let hops = || env.tow(&["handoff", "list", "--json"]).ok().json()["hops"].clone();
    wait::until_evident("the end of the hop", wait::PATIENCE, || {
        let hops = hops();
        if hops[0]["state"] == "done" { Ok(()) } else { Err(format!("{hops:#}\n{}", pane.screen())) }
    });
    pane.wait_screen("The right wing is painted.");
    env.wait_states(&["completed"]);
    assert_eq!(hops().as_array().unwrap().len(), 1);
    assert_eq!(env.tow(&["typed", "--json"]).ok().json()["intents"].as_array().map_or(0, Vec::len), 0);
    let asked = model.wait_prompt("Go on with the work as the handoff");
    let contents = asked.body["contents"].as_array().unwrap();
    assert_eq!(contents.len(), 1, "the conversation was emptied: {contents:#?}");
    asked
}

#[test]
fn settings_are_as_before_once_it_is_uninstalled() {
    let model = Model::echo();
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    GEMINI.seed(&env, &model);
    let file = env.home().join(".gemini/settings.json");
    let before = fs::read(&file).unwrap();
    env.tow(&["install", "--agent", "gemini"]).ok().prints("Gemini CLI");
    assert_ne!(fs::read(&file).unwrap(), before);
    env.tow(&["doctor"]).prints("7 events registered").prints("registered in");
    env.tow(&["uninstall", "--agent", "gemini"]).ok();
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(!env.home().join(".gemini/skills").exists());
}
