//! What people see of agents at work: the bar of a real tmux with an attached client, the list, and the way there.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use serde_json::json;
use towline_core::time::Timestamp;
use towline_testkit::{Claude, Gate, Model, Pane, Rule, Step, TestEnv, Tmux, wait};

#[test]
fn the_bar_of_an_attached_client_follows_the_agent_and_next_leads_to_the_one_that_waits() {
    let claude = Claude::V2_1_325;
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("think").then(Step::text("thought").behind(&gate)),
        Rule::when("ask me")
            .then(Step::tool("Bash", json!({"command": "touch made-by-tool", "description": "make"})))
            .then(Step::text("it is made")),
    ]);
    let inner = Tmux::start(&env);
    let pane = claude.interactive(&inner, &model, &[]);
    inner.run(&["set-option", "-g", "status-right-length", "80"]);
    inner.run(&["set-option", "-g", "status-right", "[#{@towline-status}]"]);
    let outer = Tmux::named(&env, "outer");
    let watched = outer.attach_to(&inner);

    env.wait_states(&["idle"]);
    pane.say("think");
    watched.wait_screen("[ 1* ]");
    env.wait_states(&["working"]);
    gate.open();
    watched.wait_screen("[ 1+ ]");
    env.wait_states(&["completed"]);
    pane.say("ask me");
    watched.wait_screen("[ 1! ]");
    assert_eq!(env.seats()[0]["reason"], "permission");
    pane.answer("Do you want to proceed?", &["Enter"]);
    watched.wait_screen("[ 1+ ]");

    let elsewhere = inner.open(&["bash"], &[]);
    inner.run(&["select-window", "-t", &elsewhere.id]);
    env.tow(&["next"]).ok();
    assert_eq!(inner.run(&["display-message", "-p", "#{pane_id}"]).trim(), pane.id);
    watched.wait_screen("[ 1. ]");
    assert_eq!((env.states(), env.seats()[0]["seen"].as_bool()), (vec!["completed".to_owned()], Some(true)));
    env.tow(&["next"]).ok().prints("nobody waits for you");

    env.tow(&["goto", "nowhere"]).exits(2).complains("no agent and no past session fits `nowhere`");
    claude.wait_idle(&pane);
    pane.say("/exit");
    pane.wait_end();
    env.wait_states(&[]);
    watched.wait_screen("[]");
    env.tow(&["status"]).ok().prints("no agent is running");
}

#[test]
fn the_timer_of_the_bar_goes_on_while_no_hook_runs() {
    let claude = Claude::V2_1_325;
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    let model = Model::start([Rule::when("ask me")
        .then(Step::tool("Bash", json!({"command": "touch made", "description": "make"})))]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    tmux.run(&["set-option", "-g", "@towline-status-interval", "1"]);
    env.tow(&["tmux", "load", "--socket", &tmux.socket().display().to_string()]).ok();
    let watched = Tmux::named(&env, "outer").attach_to(&tmux);
    pane.say("ask me");
    env.wait_states(&["blocked"]);
    watched.wait_screen("1!");
    let since = Timestamp::parse_utc(env.only_seat()["since"].as_str().unwrap()).unwrap();
    for (minutes, shown) in [(1, "1!1m"), (2, "1!2m"), (59, "1!59m"), (60, "1!1h")] {
        // Commands that the tmux server runs get this clock; no hook runs. The printed time is cut to its second.
        let now = since.plus_ms(minutes * 60_000 + 1000).0.to_string();
        tmux.run(&["set-environment", "-g", "TOWLINE_NOW", &now]);
        watched.wait_screen(shown);
    }
}

#[test]
fn what_no_hook_tells_is_seen_in_2_1_197() {
    what_no_hook_tells(Claude::V2_1_197);
}

#[test]
fn what_no_hook_tells_is_seen_in_2_1_325() {
    what_no_hook_tells(Claude::V2_1_325);
}

/// Escape runs no hook, nor does the death of the client.
fn what_no_hook_tells(claude: Claude) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    let gate = Gate::shut();
    let model = Model::start([
        Rule::when("talk").then(Step::text("start\n\nof something that never ends").pausing_at(&gate)),
        Rule::when("ask me")
            .then(Step::tool("Bash", json!({"command": "touch made", "description": "make"}))),
    ]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    tmux.run(&["set-option", "-g", "status-interval", "1"]);
    tmux.run(&["set-option", "-g", "status-right", "[#{@towline-status}#(tow bar --refresh)]"]);
    let watched = Tmux::named(&env, "outer").attach_to(&tmux);
    pane.say("talk");
    watched.wait_screen("[ 1* ]");
    pane.wait_screen("● start");
    pane.keys(&["Escape"]);
    watched.wait_screen("[ 1x ]");
    env.wait_states(&["interrupted"]);
    env.tow(&["why", &pane.id]).ok().prints("is interrupted").prints("decided by:");

    claude.wait_idle(&pane);
    pane.say("ask me");
    env.wait_states(&["blocked"]);
    pane.answer("Do you want to proceed?", &["Escape"]);
    env.wait_states(&["interrupted"]);

    env.command("kill").args(["-9", &pane.program_pid().to_string()]).status().unwrap();
    watched.wait_screen("[]");
    env.wait_states(&[]);
}

#[test]
fn a_refused_permission_is_no_longer_waited_for_in_2_1_197() {
    a_refused_permission(Claude::V2_1_197);
}

#[test]
fn a_refused_permission_is_no_longer_waited_for_in_2_1_325() {
    a_refused_permission(Claude::V2_1_325);
}

/// Goes down the dialog line by line: a client ignores keys in its first moment.
fn choose_refusal(pane: &Pane) {
    let chosen = |screen: &str| {
        let line = screen.lines().find(|line| line.trim_start().starts_with("❯ ") && line.contains(". "));
        line.unwrap_or_default().trim().to_owned()
    };
    wait::until_evident("the refusal to be chosen", wait::PATIENCE, || {
        let before = chosen(&pane.screen());
        if before.ends_with(". No") {
            return Ok(());
        }
        pane.keys(&["Down"]);
        // Seconds on a loaded machine: a second key for a slow first one would go past the refusal.
        for _ in 0..600 {
            if chosen(&pane.screen()) != before {
                break;
            }
        }
        Err(before)
    });
}

/// No hook tells of a refusal, and the agent goes on with what the person said instead.
fn a_refused_permission(claude: Claude) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    claude.seed(&env);
    env.tow(&["install", "--agent", "claude"]).ok();
    let gate = Gate::shut();
    let model = Model::start([Rule::when("ask me")
        .then(Step::tool("Bash", json!({"command": "touch made", "description": "make"})))
        .then(Step::text("as you like").behind(&gate))]);
    let tmux = Tmux::start(&env);
    let pane = claude.interactive(&tmux, &model, &[]);
    pane.say("ask me");
    env.wait_states(&["blocked"]);
    pane.wait_screen("Do you want to proceed?");
    choose_refusal(&pane);
    pane.keys(&["Tab"]);
    pane.wait_screen_for("room for words", |screen| {
        screen.lines().any(|line| line.contains("❯") && line.contains("No,"))
    });
    pane.half_type("rather read");
    pane.wait_screen("rather read");
    pane.keys(&["Enter"]);
    env.wait_states(&["working"]);
    gate.open();
    env.wait_states(&["completed"]);
}

#[test]
fn a_later_push_is_never_overtaken_by_an_earlier_one() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.link("claude", "/bin/bash");
    let root = env.root().display().to_string();
    let event = |name: &str| json!({"hook_event_name": name, "session_id": "s", "cwd": "/", "source": "startup", "prompt": "p"});
    for name in ["SessionStart", "UserPromptSubmit", "Stop"] {
        std::fs::write(env.root().join(format!("{name}.json")), event(name).to_string()).unwrap();
    }
    let turns = "for n in 1 2 3 4 5 6 7 8 9 10; do tow hook claude < $R/UserPromptSubmit.json; tow hook claude < $R/Stop.json; done";
    let script = env.script(
        "session",
        &format!("R={root}; tow hook claude < $R/SessionStart.json; {turns}; touch $R/done; read\n"),
    );
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["bash"], &[]);
    pane.say(&format!("claude {}", script.display()));
    // Refreshes come in between, from outside.
    wait::until("the turns to be over", wait::PATIENCE, || {
        env.tow(&["bar", "--refresh"]).ok();
        env.root().join("done").exists().then_some(())
    });
    wait::until_evident("the last push", wait::PATIENCE, || {
        let shown = tmux.run(&["show-options", "-gqv", "@towline-status"]);
        if shown.contains("1+") { Ok(()) } else { Err(shown) }
    });
    env.wait_states(&["completed"]);
    assert!(tmux.run(&["show-options", "-gqv", "@towline-status"]).contains("1+"));
}
