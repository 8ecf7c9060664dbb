//! The real GitHub Copilot CLI with hooks as `tow install` writes them: what the store then tells, what its model is given,
//! and what is left when all is taken away again.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod told;

use serde_json::{Value, json};
use std::fs;
use told::{told, wait_told};
use towline_testkit::{Claude, Client, Gate, Model, Pane, Process, Rule, Step, TestEnv, Tmux, Usage, wait};

const COPILOT: Client = Client::COPILOT;

fn installed(model: &Model) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    COPILOT.seed(&env, model);
    env.tow(&["install", "--agent", "copilot"]).ok();
    env
}

/// Asks, and waits until the answer is shown and the client takes the next prompt.
#[track_caller]
fn ask(pane: &Pane, model: &Model, prompt: &str, answer: &str) -> towline_testkit::Request {
    model.add(Rule::when(prompt).then(Step::text(answer)));
    pane.say(prompt);
    pane.wait_screen(answer);
    COPILOT.wait_idle(pane);
    model.wait_request(prompt, |request| request.prompt.contains(prompt) && request.step == 0)
}

/// Clears, and waits until the client shows nothing of before.
#[track_caller]
fn clear(pane: &Pane) {
    pane.say("/clear");
    pane.wait_screen("Started a fresh session.");
    COPILOT.wait_idle(pane);
}

/// The text without the events whose number and place are chance.
fn without_chance(text: &str) -> String {
    // The client writes its transcript every tenth of a second, and on a loaded machine the hooks of a start and of its
    // first prompt both find the seat.
    text.replace(" context_measured", "").replace("prompt_submitted seat_found", "prompt_submitted")
}

fn bash(command: &str) -> Step {
    Step::tool("bash", json!({"command": command, "description": "look"}))
}

fn task(prompt: &str) -> Value {
    json!({"description": "sub", "prompt": prompt, "agent_type": "general-purpose", "name": "sub"})
}

#[test]
fn headless_session_with_tools_and_subagents_of_subagents() {
    let model = Model::start([
        Rule::when("GRANDCHILD").then(Step::text("deep result")),
        Rule::when("CHILD-TASK")
            .then(bash("echo in the child"))
            .then(Step::tool("task", task("GRANDCHILD")))
            .then(Step::text("child result")),
    ]);
    let env = installed(&model);
    model.add(
        Rule::when("work")
            .then(bash("echo fine"))
            .then(Step::tool("view", json!({"path": env.project().join("missing")})))
            .then(Step::tool("task", task("CHILD-TASK")))
            .then(Step::text("all done")),
    );
    COPILOT.headless(&env, &model, "work", &["--allow-all-tools"]).ok().prints("all done");
    insta::assert_snapshot!(without_chance(&told(&env, &[])));
}

#[test]
fn a_seat_through_permission_question_escape_clear_and_exit() {
    let gate = Gate::shut();
    let colours = json!({"type": "object", "properties": {"colour": {"type": "string", "enum": ["Red", "Blue"]}}, "required": ["colour"]});
    let model = Model::start([
        Rule::when("talk").then(Step::text("the start of something that never ends").pausing_at(&gate)),
        Rule::when("ask me").then(bash("touch made-by-tool")).then(Step::text("it is made")),
        Rule::when("choose")
            .then(Step::tool("ask_user", json!({"message": "Which colour?", "requestedSchema": colours})))
            .then(Step::text("chosen well")),
    ]);
    let env = installed(&model);
    let tmux = Tmux::start(&env);
    let pane = COPILOT.interactive(&tmux, &model, &[]);
    let seats = [("the pane", &pane)];

    pane.say("ask me");
    env.wait_states(&["blocked"]);
    assert_eq!(env.only_seat()["reason"], "permission");
    pane.answer("Do you want to run this command?", &["Enter"]);
    env.wait_states(&["completed"]);
    COPILOT.wait_idle(&pane);
    pane.say("choose");
    env.wait_states(&["blocked"]);
    assert_eq!(env.only_seat()["reason"], "question");
    pane.answer("Copilot needs information.", &["Enter"]);
    pane.wait_screen("chosen well");
    env.wait_states(&["completed"]);
    COPILOT.wait_idle(&pane);

    pane.say("talk");
    env.wait_states(&["working"]);
    pane.wait_screen("● the");
    // No hook tells of it: only the transcript does.
    pane.keys(&["Escape"]);
    pane.wait_screen("esc again to interrupt");
    pane.keys(&["Escape"]);
    env.wait_states(&["interrupted"]);
    COPILOT.wait_idle(&pane);

    clear(&pane);
    ask(&pane, &model, "afterwards", "echo of it");
    wait_told(&env, &seats, |text| text.contains("#2") && text.matches("turn_ended").count() == 3);
    pane.say("/exit");
    pane.wait_end();
    let text = wait_told(&env, &seats, |text| text.matches(": ended").count() == 2);
    insta::assert_snapshot!(without_chance(&text));
}

#[test]
fn a_killed_client_is_gone() {
    let model = Model::echo();
    let env = installed(&model);
    let pane = COPILOT.interactive(&Tmux::start(&env), &model, &[]);
    ask(&pane, &model, "hello", "good day");
    env.wait_states(&["completed"]);
    // Not the script that waits for it.
    let is_client = |process: &Process| process.command.contains("@github/copilot-");
    let pid = env.processes().into_iter().find(is_client).expect("it runs").pid.to_string();
    assert!(env.command("kill").args(["-9", &pid]).status().unwrap().success());
    env.wait_states(&[]);
}

#[test]
fn a_cleared_session_goes_on_with_its_work() {
    let model = Model::echo();
    let env = installed(&model);
    let pane = COPILOT.interactive(&Tmux::start(&env), &model, &[]);
    ask(&pane, &model, "first measure the mast", "measured: four");
    ask(&pane, &model, "now paint the mast", "painted: shall I go on?");
    clear(&pane);
    let request = ask(&pane, &model, "yes, go on", "gone on");
    for needle in ["from session copilot:", "now paint the mast", "painted: shall I go on?"] {
        assert!(request.holds(needle), "no {needle:?} in {:#}", request.body);
    }
    assert_eq!(request.count("<towline-context>"), 1);
    let log = env.tow(&["inherit", "log", "--all-projects", "--json"]).ok().json();
    assert_eq!(log["decisions"][0]["way"], "clear");
}

#[test]
fn the_baton_goes_from_claude_code_to_copilot_and_back() {
    let claude = Claude::V2_1_325;
    let model = Model::echo();
    let env = installed(&model);
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    let tmux = Tmux::start(&env);
    let first = claude.interactive(&tmux, &model, &[]);
    model.add(Rule::when("now paint the keel").then(Step::text("painted keel: red")));
    first.say("now paint the keel");
    first.wait_screen("painted keel: red");
    claude.wait_idle(&first);
    first.say("/tow");
    model.wait_request("the baton", |request| request.holds("will go on from this one"));
    claude.wait_idle(&first);

    let second = COPILOT.interactive(&tmux, &model, &[]);
    let request = ask(&second, &model, "what was I doing", "painting it was");
    for needle in ["from session claude:", "(it passed the baton)", "now paint the keel", "painted keel: red"]
    {
        assert!(request.holds(needle), "no {needle:?} in {:#}", request.body);
    }
    second.say("/tow");
    model.wait_request("the baton", |request| {
        request.prompt.contains("explicitly invoked the \"/tow\" skill")
    });
    COPILOT.wait_idle(&second);

    let third = claude.interactive(&tmux, &model, &[]);
    third.say("here again");
    let request = model.wait_request("the heir", |request| request.prompt.contains("here again"));
    for needle in ["from session copilot:", "what was I doing", "painting it was"] {
        assert!(request.holds(needle), "no {needle:?} in {:#}", request.body);
    }
}

#[test]
fn memories_are_given_and_asked_for() {
    let model = Model::echo();
    let env = installed(&model);
    env.tow(&["remember", "The bilge pump needs a new fuse\n\nFuse F7 beside the battery."]).ok();
    model.add(
        Rule::when("look it up")
            .then(Step::tool("towline-search", json!({"query": "bilge pump"})))
            .then(Step::text("it is the fuse")),
    );
    COPILOT.headless(&env, &model, "look it up", &["--allow-all-tools"]).ok().prints("it is the fuse");
    let asked = model.wait_request("the prompt", |request| request.prompt.contains("look it up"));
    assert!(asked.holds("The bilge pump needs a new fuse"), "{:#}", asked.body);
    let found = model.wait_request("the tool's result", |request| request.step == 1);
    assert!(
        found.holds("memory") && found.count("bilge pump") > asked.count("bilge pump"),
        "{:#}",
        found.body
    );
}

const HANDOFF: &str = "Here it is.\n<handoff id=\"@HANDOFF_ID@\">\ncontinue: true\n## Task\nPaint the heron.\n\
    ## Completed\nIts left wing.\n## Remaining\nThe right wing, then its beak.\n## Key Context\nThe colour is slate-4711.\n</handoff>";

#[test]
fn the_work_goes_on_in_a_fresh_session_when_the_context_is_full() {
    let full = Usage { input: 60_000, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };
    let model = Model::echo();
    model
        .add(Rule::when("Go on with the work as the handoff").then(Step::text("The right wing is painted.")));
    model.add(
        Rule::when("paint the heron")
            .then(bash("echo painting").usage(full))
            .then(Step::text("I have painted a wing.").usage(full)),
    );
    model.add(Rule::when("handoff id=").then(Step::text(HANDOFF).usage(full)));
    let env = installed(&model);
    for (key, value) in [
        ("typing.enabled", "true"),
        ("typing.quiet_s", "0"),
        ("guard.strategy", "handoff"),
        ("continue.cooldown_s", "0"),
    ] {
        env.tow(&["config", "set", key, value]).ok();
    }
    let pane = COPILOT.interactive(&Tmux::start(&env), &model, &["--allow-all-tools"]);
    pane.say("paint the heron");
    model.wait_prompt("handoff id=");
    let request = model.wait_prompt("Go on with the work as the handoff");
    let said = request.body.to_string();
    assert!(request.holds("slate-4711") && request.holds("The right wing, then its beak."), "{said}");
    assert_eq!(said.matches("slate-4711").count(), 1, "given once: {said}");
    wait::until_evident("a hop that is done", wait::PATIENCE, || {
        env.tow(&["status"]).ok();
        let hops = env.tow(&["handoff", "list", "--json"]).ok().json();
        if hops["hops"][0]["state"] == "done" { Ok(()) } else { Err(format!("{hops:#}\n{}", pane.screen())) }
    });
}

#[test]
fn everything_is_taken_away_byte_for_byte() {
    let model = Model::echo();
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    COPILOT.seed(&env, &model);
    let folder = env.home().join(".copilot");
    let settings = "{\n  \"banner\": \"never\",\n  \"autoUpdate\": false,\n  \"hooks\": {\"agentStop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}\n";
    let servers = "{\"mcpServers\": {\"own\": {\"type\": \"local\", \"command\": \"true\", \"args\": [], \"tools\": [\"*\"]}}}";
    fs::write(folder.join("settings.json"), settings).unwrap();
    fs::write(folder.join("mcp-config.json"), servers).unwrap();
    env.tow(&["install", "--agent", "copilot", "--statusline"]).ok();
    let status = env.tow(&["doctor"]).stdout;
    assert!(status.contains("copilot"), "{status}");
    COPILOT.headless(&env, &model, "hello", &[]).ok().prints("echo");
    env.tow(&["uninstall", "--agent", "copilot"]).ok();
    assert_eq!(fs::read_to_string(folder.join("settings.json")).unwrap(), settings);
    assert_eq!(fs::read_to_string(folder.join("mcp-config.json")).unwrap(), servers);
    assert!(!folder.join("skills").exists());
}

/// The client also runs the hooks that a project registers with Claude Code, in the shell's form.
#[test]
fn nothing_of_copilot_is_counted_as_claude_code() {
    let model = Model::echo();
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    COPILOT.seed(&env, &model);
    env.tow(&["install", "--agent", "claude"]).ok();
    let own = fs::read(env.home().join(".claude/settings.json")).unwrap();
    let own: Value = serde_json::from_slice(&own).unwrap();
    let words = own["hooks"]["Stop"][0]["hooks"][0].clone();
    let line = format!("{} hook claude", words["command"].as_str().unwrap());
    let line = json!({"type": "command", "command": line, "timeout": 5});
    let events = ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"];
    let hooks: serde_json::Map<String, Value> =
        events.iter().map(|event| ((*event).to_owned(), json!([{"hooks": [words, line]}]))).collect();
    let folder = env.project().join(".claude");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), json!({ "hooks": hooks }).to_string()).unwrap();

    model.add(Rule::when("work").then(bash("echo fine")).then(Step::text("all done")));
    COPILOT.headless(&env, &model, "work", &["--allow-all-tools"]).ok().prints("all done");
    let pane = COPILOT.interactive(&Tmux::start(&env), &model, &[]);
    ask(&pane, &model, "hello", "good day");
    env.tow(&["doctor"]).prints("none yet; the first event makes it");

    // With hooks of its own it is counted, once.
    env.tow(&["install", "--agent", "copilot"]).ok();
    COPILOT.headless(&env, &model, "work", &["--allow-all-tools"]).ok().prints("all done");
    let text = told(&env, &[]);
    let heads: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(heads, ["#1 copilot Headless by Unknown in no seat: ended (Other), project, 0 compactions"]);
}
