//! The real OpenCode, and Kilo Code, its fork, with the plugin that `tow install` writes: what the store then tells, what
//! their model is given, and what is left when all is taken away again.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests report by panicking")]

mod told;

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use told::{told, wait_told};
use towline_store::{Archive, DataFolder};
use towline_testkit::{
    Claude, Client, Codex, Daemon, Gate, Model, Pane, Process, Request, Rule, Step, TestEnv, Tmux, Usage,
    wait,
};

macro_rules! stories {
    ($($client:ident: $value:expr;)*) => {
        $(mod $client {
            stories!(@each $value;
                a_headless_session_with_tools_and_a_subagent
                a_seat_through_permission_question_escape_failure_new_and_exit
                a_killed_client_is_gone_and_its_session_is_resumed
                a_new_session_goes_on_with_the_work_of_the_one_before
                the_baton_goes_from_claude_code_to_it_and_back
                the_work_goes_to_codex_and_back
                memories_are_given_and_asked_for
                the_work_goes_on_in_a_new_session_when_the_context_is_full
                old_sessions_are_imported_from_the_database
                whatever_becomes_of_the_program_the_client_works_on
                everything_is_taken_away_byte_for_byte
            );
        })*
    };
    (@each $value:expr; $($story:ident)*) => {
        $(#[test]
        fn $story() {
            super::$story($value);
        })*
    };
}

stories! {
    opencode: super::Client::OPENCODE;
    kilo: super::Client::KILO;
}

fn installed(client: Client, model: &Model) -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    client.seed(&env, model);
    env.tow(&["install", "--agent", client.name]).ok();
    env
}

/// Asks, and waits until the answer is shown and the client takes the next prompt.
#[track_caller]
fn ask(pane: &Pane, model: &Model, prompt: &str, answer: &str) -> Request {
    model.add(Rule::when(prompt).then(Step::text(answer)));
    pane.say(prompt);
    pane.wait_screen(answer);
    wait_idle(pane);
    model.wait_request(prompt, |request| request.prompt.contains(prompt) && request.step == 0)
}

/// The input of both clients looks the same.
#[track_caller]
fn wait_idle(pane: &Pane) {
    Client::OPENCODE.wait_idle(pane);
}

fn bash(command: &str) -> Step {
    Step::tool("bash", json!({"command": command, "description": "look"}))
}

fn task(prompt: &str) -> Value {
    json!({"description": "sub", "prompt": prompt, "subagent_type": "general"})
}

/// The text without what depends on timing: a question for the state may see a change before its event tells it, memories
/// are given once an archive exists, and the last result of a tool may come behind an interruption.
fn settled(text: &str) -> String {
    text.replace(" observed", "")
        .replace(" context_measured", "")
        .replace(" memory_given", "")
        .replace(" interrupted tool_finished", " tool_finished interrupted")
}

fn a_headless_session_with_tools_and_a_subagent(client: Client) {
    let model = Model::start([Rule::when("CHILD-TASK")
        .then(bash("echo in the child"))
        .then(Step::text("child result"))]);
    let env = installed(client, &model);
    model.add(
        Rule::when("work")
            .then(bash("exit 3"))
            .then(Step::tool("read", json!({"filePath": env.project().join("missing")})))
            .then(Step::tool("task", task("CHILD-TASK")))
            .then(Step::text("all done")),
    );
    allow_everything(client, &env);
    client.headless(&env, &model, "work", &[]).ok().prints("all done");
    let text = wait_told(&env, &[], |text| text.contains("turn_ended"));
    insta::assert_snapshot!(format!("{}_headless", client.name), settled(&text));
    insta::assert_snapshot!(format!("{}_captured_from_its_database", client.name), captured(&env));
}

/// The folder of the client's settings.
fn config(client: Client, env: &TestEnv) -> PathBuf {
    env.home().join(".config").join(client.name)
}

fn allow_everything(client: Client, env: &TestEnv) {
    let file = config(client, env).join(format!("{}.json", client.name));
    let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    settings["permission"] = json!({"bash": "allow", "edit": "allow"});
    fs::write(file, settings.to_string()).unwrap();
}

/// What the archive holds: turns, what was said in them, tool calls, and the sum of their usage.
fn captured(env: &TestEnv) -> String {
    let read = || {
        let archive = Archive::read(&DataFolder::at(env.data_dir()), Duration::from_secs(2)).unwrap();
        archive.map_or_else(String::new, |archive| all_of(&archive))
    };
    let text = wait::until_evident("the captured answer", wait::PATIENCE, || {
        let text = read();
        if text.contains("all done") { Ok(text) } else { Err(text) }
    });
    let usage = env.tow(&["usage", "--since", "all", "--json"]).ok().json();
    let text = text.replace(&env.project().display().to_string(), "PROJECT");
    format!("{}{}", without_ids(&text), usage["total"]["tokens"])
}

fn all_of(archive: &Archive) -> String {
    let mut all = String::new();
    for conversation in archive.latest_conversations(None, 10).unwrap() {
        for turn in archive.turns(&conversation, 0, u32::MAX).unwrap() {
            all += &format!("#{} {}\n", turn.ordinal, turn.line);
            for body in archive.bodies(&turn).unwrap() {
                all += &format!("   {}: {}\n", body.speaker.name(), body.text);
            }
            for detail in archive.details(&turn).unwrap() {
                let (tool, content) = (detail.tool.as_deref().unwrap_or_default(), archive.content(&detail));
                all +=
                    &format!("   .{} {} {tool}: {}\n", detail.number, detail.kind.name(), content.unwrap());
            }
        }
    }
    all
}

/// Without the client's ids of sessions.
fn without_ids(text: &str) -> String {
    let mut parts = text.split("ses_");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(part.len());
        all += &format!("ses_ID{}", &part[end..]);
    }
    all
}

fn a_seat_through_permission_question_escape_failure_new_and_exit(client: Client) {
    let (gate, early) = (Gate::shut(), Gate::shut());
    let question = json!({"questions": [{"question": "Which colour?", "header": "Colour", "options": [
        {"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]}]});
    let model = Model::start([
        Rule::when("talk").then(Step::text("the start of something that never ends").pausing_at(&gate)),
        Rule::when("early").then(Step::text("never").behind(&early)),
        Rule::when("ask me").then(bash("touch made-by-tool")).then(Step::text("it is made")),
        Rule::when("refuse me").then(bash("touch never-made")).then(Step::text("made all the same")),
        Rule::when("choose").then(Step::tool("question", question)).then(Step::text("chosen well")),
        Rule::when("break").then(Step::error(400, "invalid_request_error", "cannot be")),
    ]);
    let env = installed(client, &model);
    let tmux = Tmux::start(&env);
    let pane = client.interactive(&tmux, &model, &[]);
    let seats = [("the pane", &pane)];

    pane.say("ask me");
    env.wait_states(&["blocked"]);
    assert_eq!(env.only_seat()["reason"], "permission");
    pane.answer("Permission required", &["Enter"]);
    env.wait_states(&["completed"]);
    wait_idle(&pane);
    pane.say("choose");
    env.wait_states(&["blocked"]);
    assert_eq!(env.only_seat()["reason"], "question");
    pane.answer("esc dismiss", &["Enter"]);
    pane.wait_screen("chosen well");
    env.wait_states(&["completed"]);
    wait_idle(&pane);

    pane.say("refuse me");
    env.wait_states(&["blocked"]);
    refuse(client, &pane);
    env.wait_states(&["interrupted"]);
    wait_idle(&pane);
    pane.say("talk");
    env.wait_states(&["working"]);
    pane.wait_screen("     the");
    escape(&pane);
    env.wait_states(&["interrupted"]);
    wait_idle(&pane);
    pane.say("early");
    model.wait_prompt("early");
    env.wait_states(&["working"]);
    escape(&pane);
    env.wait_states(&["interrupted"]);
    wait_idle(&pane);
    pane.say("break");
    wait_told(&env, &seats, |text| text.contains("turn_failed"));
    wait_idle(&pane);

    new(&pane);
    ask(&pane, &model, "afterwards", "echo of it");
    wait_told(&env, &seats, |text| text.contains("#2") && text.matches("turn_ended").count() == 3);
    pane.say("/exit");
    pane.wait_end();
    env.wait_states(&[]);
    insta::assert_snapshot!(format!("{}_seat", client.name), settled(&told(&env, &seats)));
}

/// Kilo asks for a reason first, which a second Esc would take back: it is pressed once there. An Enter before the
/// reason's input takes keys would allow the command.
#[track_caller]
fn refuse(client: Client, pane: &Pane) {
    if client.name != "kilo" {
        pane.answer("Permission required", &["Escape"]);
        return;
    }
    pane.wait_screen("Permission required");
    pane.keys(&["Escape"]);
    pane.wait_screen("Tell Kilo what to do differently");
    pane.half_type("mmm");
    pane.keys(&["C-u"]);
    pane.wait_screen_for("an empty reason", |screen| !screen.contains("mmm"));
    pane.keys(&["Enter"]);
}

/// Interrupts a turn, which takes two presses.
#[track_caller]
fn escape(pane: &Pane) {
    pane.keys(&["Escape"]);
    pane.wait_screen("esc again to interrupt");
    pane.keys(&["Escape"]);
    pane.wait_screen("interrupted");
}

/// Leaves the session, and waits until the client shows its start screen.
#[track_caller]
fn new(pane: &Pane) {
    pane.say("/new");
    pane.wait_screen("Ask anything");
    wait_idle(pane);
}

fn a_killed_client_is_gone_and_its_session_is_resumed(client: Client) {
    let model = Model::echo();
    let looking = json!({"command": "sleep 4711", "description": "look"});
    model.add(Rule::when("look around").then(Step::text("I look first.").and_tool("bash", looking)));
    let env = installed(client, &model);
    allow_everything(client, &env);
    let tmux = Tmux::start(&env);
    let pane = client.interactive(&tmux, &model, &[]);
    ask(&pane, &model, "hello", "good day");
    env.wait_states(&["completed"]);
    pane.say("look around");
    let pids_of = |word: &str| -> Vec<String> {
        let is_it = |process: &Process| process.command.contains(word);
        env.processes().into_iter().filter(is_it).map(|it| it.pid.to_string()).collect()
    };
    wait::until("the tool to run", wait::PATIENCE, || (!pids_of("sleep 4711").is_empty()).then_some(()));
    let kill = |pids: Vec<String>| env.command("kill").arg("-9").args(&pids).output().unwrap().status;
    assert!(kill(pids_of(&format!("bin/{}", client.name))).success());
    // The tool outlives the client; its shell may end by itself.
    kill(pids_of("sleep 4711"));
    env.wait_states(&[]);
    wait::until_evident("what the killed turn had done", wait::PATIENCE, || {
        env.tow(&["turns", "--all-projects"]).ok();
        let archive = Archive::read(&DataFolder::at(env.data_dir()), Duration::from_secs(2)).unwrap();
        let text = archive.map_or_else(String::new, |archive| all_of(&archive));
        let is_whole = text.contains("agent: I look first.") && text.contains("input bash: ");
        if is_whole && text.contains("sleep 4711") { Ok(()) } else { Err(text) }
    });

    let listed = env.tow(&["sessions", "--json"]).ok().json();
    let id = listed["sessions"][0]["session"].as_str().unwrap().to_owned();
    let id = id.rsplit(':').next().unwrap();
    let again = client.interactive(&tmux, &model, &["--session", id]);
    again.wait_screen("I look first.");
    ask(&again, &model, "and again", "once more");
    env.wait_states(&["completed"]);
    let listed = env.tow(&["sessions", "--json"]).ok().json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed:#}");
    let is_captured = format!("the current session {} is captured", &id[id.len() - 8..]);
    wait::until_evident("the doctor to find the session captured", wait::PATIENCE, || {
        let said = env.tow(&["doctor"]).stdout;
        if said.contains(&is_captured) { Ok(()) } else { Err(said) }
    });
}

fn a_new_session_goes_on_with_the_work_of_the_one_before(client: Client) {
    let model = Model::echo();
    let env = installed(client, &model);
    let pane = client.interactive(&Tmux::start(&env), &model, &[]);
    ask(&pane, &model, "first measure the mast", "measured: four");
    ask(&pane, &model, "then burn the mast", "burnt: all of it");
    wait::until_evident("the turn to be captured", wait::PATIENCE, || {
        let turns = env.tow(&["turns", "--all-projects"]).ok().stdout;
        if turns.contains("burn the mast") { Ok(()) } else { Err(turns) }
    });
    undo(&pane);
    ask(&pane, &model, "now paint the mast", "painted: shall I go on?");
    ask(&pane, &model, "then sink the boat", "sunk with all hands");
    undo(&pane);
    new(&pane);
    let request = ask(&pane, &model, "yes, go on", "gone on");
    for needle in
        [format!("from session {}:", client.name).as_str(), "now paint the mast", "painted: shall I go on?"]
    {
        assert!(request.holds(needle), "no {needle:?} in {:#}", request.body);
    }
    for undone in ["burn the mast", "burnt: all of it", "sink the boat", "sunk with all hands"] {
        assert!(!request.holds(undone), "{undone:?} was undone: {:#}", request.body);
    }
    assert_eq!(request.count("<towline-context>"), 1);
    assert!(!pane.screen().contains("towline-context"), "it is for the model alone");
    let log = env.tow(&["inherit", "log", "--all-projects", "--json"]).ok().json();
    assert_eq!(log["decisions"][0]["way"], "clear");

    pane.say("/compact");
    pane.wait_screen("Compaction");
    wait_told(&env, &[], |text| text.contains("compaction_ended"));
    wait_idle(&pane);
    let request = ask(&pane, &model, "and after that", "the last coat");
    assert!(request.holds("This conversation was compacted."), "{:#}", request.body);
    assert!(request.holds("go on — done: \"gone on\""), "its turns, a line each: {:#}", request.body);
    assert!(!pane.screen().contains("towline-context"), "it is for the model alone");
}

/// Takes the last turn back. The client puts its prompt into the input.
#[track_caller]
fn undo(pane: &Pane) {
    pane.say("/undo");
    pane.wait_screen("message reverted");
    pane.keys(&["C-u"]);
    wait_idle(pane);
}

fn the_baton_goes_from_claude_code_to_it_and_back(client: Client) {
    let claude = Claude::V2_1_325;
    let model = Model::echo();
    let env = installed(client, &model);
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

    let second = client.interactive(&tmux, &model, &[]);
    let request = ask(&second, &model, "what was I doing", "painting it was");
    for needle in ["from session claude:", "(it passed the baton)", "now paint the keel", "painted keel: red"]
    {
        assert!(request.holds(needle), "no {needle:?} in {:#}", request.body);
    }
    // The first Enter takes the command from the menu, the second one sends it.
    second.say("/tow");
    second.keys(&["Enter"]);
    wait_told(&env, &[], |text| text.matches("baton_passed").count() == 2);
    wait_idle(&second);

    let third = claude.interactive(&tmux, &model, &[]);
    third.say("here again");
    let request = model.wait_request("the heir", |request| request.prompt.contains("here again"));
    for needle in [format!("from session {}:", client.name).as_str(), "what was I doing", "painting it was"] {
        assert!(request.holds(needle), "no {needle:?} in {:#}", request.body);
    }
}

fn the_work_goes_to_codex_and_back(client: Client) {
    let codex = Codex::V0_166_0;
    let model = Model::echo();
    let env = installed(client, &model);
    codex.seed(&env, &model, Daemon::Off);
    env.tow(&["install", "--agent", "codex"]).ok();
    codex.trust_hooks(&env);
    let tmux = Tmux::start(&env);
    let first = client.interactive(&tmux, &model, &[]);
    ask(&first, &model, "rig the mast", "rigged with two stays");
    pass_baton(&env);
    let second = codex.interactive(&tmux, &[]);
    model.add(Rule::when("and here").then(Step::text("The hull is green now.")));
    second.say("and here");
    second.wait_screen("green now");
    codex.wait_idle(&second);
    let request = model.wait_request("the heir", |request| request.prompt.contains("and here"));
    for needle in [format!("from session {}:", client.name).as_str(), "rig the mast", "rigged with two stays"]
    {
        assert!(request.holds(needle), "no {needle:?} in {:#}", request.body);
    }
    pass_baton(&env);
    let third = client.interactive(&tmux, &model, &[]);
    let request = ask(&third, &model, "here again", "welcome back");
    for needle in ["from session codex:", "and here", "green now"] {
        assert!(request.holds(needle), "no {needle:?} in {:#}", request.body);
    }
}

/// The session that was active last passes its work on.
#[track_caller]
fn pass_baton(env: &TestEnv) {
    let listed = env.tow(&["sessions", "--json"]).ok().json();
    let last = listed["sessions"][0]["id"].as_str().unwrap().to_owned();
    env.person(&["session", "baton", "--session", &last]).ok();
}

fn memories_are_given_and_asked_for(client: Client) {
    let model = Model::echo();
    let env = installed(client, &model);
    env.person(&["remember", "The bilge pump needs a new fuse\n\nFuse F7 beside the battery."]).ok();
    env.person(&[
        "remember",
        "--type",
        "gotcha",
        "--file",
        "mast.txt",
        "Grease the mast before it is raised",
    ])
    .ok();
    env.tow(&["config", "set", "memory.gotchas", "true"]).ok();
    env.tow(&["doctor"]).prints("not as they should be");
    env.tow(&["install", "--agent", client.name]).ok();
    fs::write(env.project().join("mast.txt"), "a mast\n").unwrap();
    let read = |name: &str| Step::tool("read", json!({"filePath": env.project().join(name)}));
    let full = Usage { input: 99_000, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };
    model.add(
        Rule::when("look it up")
            .then(Step::tool("towline_search", json!({"query": "bilge pump"})))
            .then(read("missing.txt"))
            .then(read("mast.txt"))
            .then(read("mast.txt").usage(full)),
    );
    // After its own compaction the client goes on without a prompt.
    model.add(Rule::when("Continue if you have next steps").then(Step::text("it is the fuse")));
    allow_everything(client, &env);
    client.headless(&env, &model, "look it up", &[]).ok().prints("it is the fuse");
    let asked = model.wait_request("the prompt", |request| request.prompt.contains("look it up"));
    assert!(asked.holds("The bilge pump needs a new fuse"), "{:#}", asked.body);
    let found = model.wait_request("the tool's result", |request| request.step == 1);
    assert!(
        found.holds("memory") && found.count("bilge pump") > asked.count("bilge pump"),
        "{:#}",
        found.body
    );
    let warning = "Known of a file that is about to be touched";
    let read = model.wait_request("the file", |request| request.step == 3);
    assert!(read.holds(warning) && read.holds("Grease the mast"), "{:#}", read.body);
    assert_eq!(read.count(warning), 1, "{:#}", read.body);
    let compacted = model.wait_prompt("Continue if you have next steps");
    assert!(compacted.holds("This conversation was compacted."), "{:#}", compacted.body);
    let turns = env.tow(&["search", "--all-projects", "about to be touched"]).ok().stdout;
    assert!(!turns.contains(warning), "what was given is not captured: {turns}");
}

const HANDOFF: &str = "Here it is.\n<handoff id=\"@HANDOFF_ID@\">\ncontinue: true\n## Task\nPaint the heron.\n\
    ## Completed\nIts left wing.\n## Remaining\nThe right wing, then its beak.\n## Key Context\nThe colour is slate-4711.\n</handoff>";

/// The plugin begins the next session in the same window without a key: what the user has typed there stays.
fn the_work_goes_on_in_a_new_session_when_the_context_is_full(client: Client) {
    // Fuller, and the client would compact by itself.
    let full = Usage { input: 80_000, output: 100, cache_read: 0, cache_write: 0, reasoning: 0 };
    let gate = Gate::shut();
    let model = Model::echo();
    model.add(
        Rule::when("paint the heron").then(Step::text("I have painted a wing.").behind(&gate).usage(full)),
    );
    model.add(Rule::when("handoff id=").then(Step::text(HANDOFF).usage(full)));
    // The last rule that fits counts, and the context repeats the first prompt.
    model
        .add(Rule::when("Go on with the work as the handoff").then(Step::text("The right wing is painted.")));
    let env = installed(client, &model);
    for (key, value) in [
        ("typing.enabled", "true"),
        ("typing.quiet_s", "0"),
        ("guard.strategy", "handoff"),
        ("continue.cooldown_s", "0"),
    ] {
        env.tow(&["config", "set", key, value]).ok();
    }
    let pane = client.interactive(&Tmux::start(&env), &model, &[]);
    pane.say("paint the heron");
    env.wait_states(&["working"]);
    pane.half_type("half typed");
    gate.open();
    model.wait_prompt("handoff id=");
    let request = model.wait_prompt("Go on with the work as the handoff");
    let said = request.body.to_string();
    assert!(request.holds("slate-4711") && request.holds("The right wing, then its beak."), "{said}");
    assert_eq!(said.matches("slate-4711").count(), 1, "given once: {said}");
    assert!(!said.contains("I have painted a wing.\""), "a new session: {said}");
    wait::until_evident("a hop that is done", wait::PATIENCE, || {
        env.tow(&["status"]).ok();
        let hops = env.tow(&["handoff", "list", "--json"]).ok().json();
        if hops["hops"][0]["state"] == "done" { Ok(()) } else { Err(format!("{hops:#}\n{}", pane.screen())) }
    });
    assert_eq!(env.tow(&["typed", "--json"]).ok().json()["intents"].as_array().map_or(0, Vec::len), 0);
    pane.wait_screen("The right wing is painted.");
    pane.wait_screen("half typed");
}

fn old_sessions_are_imported_from_the_database(client: Client) {
    let model = Model::echo();
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    client.seed(&env, &model);
    for (prompt, answer) in
        [("rig the mast", "rigged with two stays"), ("paint the hull", "painted it green")]
    {
        model.add(Rule::when(prompt).then(Step::text(answer)));
        client.headless(&env, &model, prompt, &[]).ok().prints(answer);
    }
    env.tow(&["data", "import", client.name]).ok();
    let found = env.tow(&["search", "two stays"]).ok().stdout;
    assert!(found.contains("rig the mast") || found.contains("rigged with two stays"), "{found}");
    let sessions = env.tow(&["sessions", "--json"]).ok().json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2, "{sessions:#}");
    let before = env.tow(&["turns", "--json", "--all-projects"]).ok().json();
    env.tow(&["data", "import", client.name]).ok();
    assert_eq!(
        env.tow(&["turns", "--json", "--all-projects"]).ok().json(),
        before,
        "a second import adds nothing"
    );
}

/// The program is gone, fails, hangs or answers nonsense: prompts and tools run all the same, in bounded time.
fn whatever_becomes_of_the_program_the_client_works_on(client: Client) {
    let model = Model::echo();
    let env = installed(client, &model);
    let file = config(client, &env).join("plugins/towline.js");
    let script = fs::read_to_string(&file).unwrap();
    let program = script.lines().find_map(|line| line.strip_prefix("const TOW = ")).unwrap().to_owned();
    let scripts = [
        ("gone", None),
        ("fails", Some("#!/bin/sh\nexit 7\n")),
        ("says-nonsense", Some("#!/bin/sh\necho '{\"decision\": 7'\n")),
        ("hangs", Some("#!/bin/sh\nexec sleep 600\n")),
    ];
    for (name, text) in scripts {
        let other = text
            .map_or_else(|| "/nowhere/tow".to_owned(), |text| env.script(name, text).display().to_string());
        fs::write(&file, script.replace(&program, &format!("{:?};", other))).unwrap();
        let answer = format!("answered while it {name}");
        model.add(Rule::when(name).then(bash("echo fine")).then(Step::text(&answer)));
        allow_everything(client, &env);
        client.headless(&env, &model, name, &[]).ok().prints(&answer);
    }
}

fn everything_is_taken_away_byte_for_byte(client: Client) {
    let model = Model::echo();
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    client.seed(&env, &model);
    let folder = config(client, &env);
    let own = "export const Own = async () => ({});\n";
    fs::create_dir_all(folder.join("plugins")).unwrap();
    fs::write(folder.join("plugins/own.js"), own).unwrap();
    let before = listed(&folder);
    let title = if client.name == "kilo" { "Kilo Code" } else { "OpenCode" };
    env.tow(&["install", "--agent", client.name]).ok().prints(title);
    env.tow(&["doctor"]).prints("16 events registered").prints("registered in");
    let with_ours = listed(&folder);
    assert_ne!(with_ours, before);
    env.tow(&["install", "--agent", client.name]).ok();
    assert_eq!(listed(&folder), with_ours, "nothing is written twice");
    env.tow(&["uninstall", "--agent", client.name]).ok();
    assert_eq!(listed(&folder), before);
}

/// All files below a folder, with their contents.
fn listed(folder: &Path) -> Vec<(String, String)> {
    let mut all = vec![];
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            all.push((path.display().to_string(), String::new()));
            all.extend(listed(&path));
        } else {
            all.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    all.sort();
    all
}
