//! Many agents in real tmux: what each pane and window shows, who has seen what, who is found without hooks, who is gone.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod sitter;

use serde_json::{Value, json};
use sitter::Sitter;
use std::path::Path;
use towline_testkit::{Pane, TestEnv, Tmux, wait};

fn world() -> (TestEnv, Tmux) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    let tmux = Tmux::start(&env);
    (env, tmux)
}

fn seats(env: &TestEnv) -> Vec<Value> {
    env.tow(&["status", "--json"]).ok().json()["seats"].as_array().unwrap().clone()
}

#[track_caller]
fn wait_format(pane: &Pane, format: &str, expected: &str) {
    wait::until_evident(&format!("{format} to be {expected:?}"), wait::PATIENCE, || {
        let found = pane.format(format);
        if found == expected { Ok(()) } else { Err(found) }
    });
}

/// A pane says `tow ARGUMENTS`, as tmux itself would run it: inside the server.
fn tow_inside(tmux: &Tmux, arguments: &str) {
    tmux.run(&["run-shell", &format!("tow {arguments}")]);
}

#[test]
fn each_pane_and_window_carries_the_state_of_its_agent() {
    let (_env, tmux) = world();
    let (first, second) = (Sitter::sit(&tmux, "one"), Sitter::sit(&tmux, "two"));
    wait_format(&first.pane, "#{@towline-state}", "idle");
    first.prompt("go");
    second.prompt("go");
    second.ask("Bash");
    // The marks are those of the windows.
    wait_format(&first.pane, "#{@towline-state} #{@towline-mark}", "working *");
    wait_format(&second.pane, "#{@towline-state} #{@towline-mark}", "blocked !");

    // Both in one window: the window shows the more urgent of them, whichever was told last.
    tmux.run(&["join-pane", "-s", &second.pane.id, "-t", &first.pane.id]);
    first.stop();
    let window =
        || tmux.run(&["show-options", "-wqv", "-t", &first.pane.id, "@towline-state"]).trim().to_owned();
    wait_format(&first.pane, "#{@towline-state}", "completed");
    wait::until_evident("the window to be blocked", wait::PATIENCE, || {
        if window() == "blocked" { Ok(()) } else { Err(window()) }
    });
    // The blocked one is gone with its pane; nothing of it stays in the window.
    second.pane.close();
    wait::until_evident("the window to be completed", wait::PATIENCE, || {
        tow_inside(&tmux, "bar --refresh");
        if window() == "completed" { Ok(()) } else { Err(window()) }
    });
}

/// TRK-10: by focus, and by the refresh after the grace period. Never by an attached client that nobody uses.
#[test]
fn what_finished_is_seen_by_turning_to_it_or_by_having_it_in_view_for_a_while() {
    let (env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("go");
    sitter.stop();
    let seen = || seats(&env)[0]["seen"].as_bool().unwrap();
    assert!(!seen());
    tow_inside(&tmux, "bar --refresh --focused %99");
    assert!(!seen(), "another pane");
    tow_inside(&tmux, &format!("bar --refresh --looking-at {}", sitter.pane.id));
    assert!(!seen(), "no client shows it");
    tow_inside(&tmux, &format!("bar --refresh --focused {}", sitter.pane.id));
    assert!(seen());
    assert_eq!(seats(&env)[0]["state"], "completed", "looking changes nothing of what the agent is doing");
    wait_format(&sitter.pane, "#{@towline-state}", "idle");

    sitter.prompt("again");
    sitter.stop();
    wait_format(&sitter.pane, "#{@towline-state}", "completed");
    let watched = Tmux::named(&env, "outer").attach_to(&tmux);
    tmux.run(&["select-window", "-t", &sitter.pane.id]);
    watched.keys(&["Space"]);
    wait::until("the grace period to be over", wait::PATIENCE, || {
        tow_inside(&tmux, &format!("bar --refresh --looking-at {}", sitter.pane.id));
        seen().then_some(())
    });
}

/// TRK-20: icons, colours, project name.
#[test]
fn the_users_options_decide_how_the_bar_looks() {
    let (_env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    for (option, value) in [
        ("icon-working", "W"),
        ("icon-idle", "#(touch x)"),
        ("colour-completed", "blue"),
        ("colour-blocked", "red]#(touch x)"),
        ("show-project", "on"),
    ] {
        tmux.run(&["set-option", "-g", &format!("@towline-{option}"), value]);
    }
    // What is remembered of the options is at most a minute old; the menu always asks.
    tmux.run(&["run-shell", "tow menu || true"]);
    sitter.prompt("go");
    let project = sitter.pane.format("#{b:pane_current_path}");
    let bar = format!("0##(touch x) 1W #[fg=blue]0+#[default] #[fg=red]0!#[default] @{project}");
    wait::until_evident("the bar", wait::PATIENCE, || {
        let shown = tmux.run(&["show-options", "-gqv", "@towline-status"]);
        if shown.trim() == bar { Ok(()) } else { Err(shown) }
    });
}

/// TRK-24: a seat without a session.
#[test]
fn an_agent_without_hooks_is_found_and_leaves_when_it_ends() {
    let (env, tmux) = world();
    env.link("claude", "/bin/bash");
    let pane = tmux.open(&["claude", "-c", "read line"], &[]);
    wait::until("the agent to run", wait::PATIENCE, || {
        let strays = env.tow(&["scan", "--json"]).ok().json()["strays"].as_array().unwrap().clone();
        (strays.len() == 1 && strays[0]["pane"] == pane.id.as_str()).then_some(())
    });
    let listed = &seats(&env)[0];
    assert_eq!((&listed["session"], &listed["state"]), (&Value::Null, &json!("idle")));
    env.tow(&["why", &pane.id]).exits(2).complains("runs without our hooks");
    // Once it tells of itself it is one seat, not two.
    let sitter = Sitter::sit(&tmux, "hooked");
    assert_eq!(seats(&env).len(), 2);
    pane.keys(&["Enter"]);
    pane.wait_end();
    let left: Vec<Value> = seats(&env).iter().map(|seat| seat["pane"].clone()).collect();
    assert_eq!(left, [json!(sitter.pane.id)]);
    env.tow(&["scan"]).ok().prints("every agent that runs is hooked");
}

/// TRK-12, TRK-23: one agent per pane, and no ghosts.
#[test]
fn a_session_that_was_killed_leaves_and_the_next_one_takes_its_pane() {
    let (env, tmux) = world();
    let first = Sitter::sit(&tmux, "one");
    first.prompt("go");
    env.command("kill").args(["-9", &first.pane.program_pid().to_string()]).status().unwrap();
    first.pane.wait_screen("[ended with ");
    let second = Sitter::run_in(&tmux, "two", |program| {
        first.pane.say(&program.join(" "));
        first.pane.clone()
    });
    let listed = seats(&env);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["session"], "claude:two");
    second.prompt("go");
    assert_eq!(seats(&env)[0]["state"], "working");
}

/// TRK-23: a killed server takes its panes with it; what is remembered of it goes too.
#[test]
fn a_killed_server_leaves_no_ghost() {
    let (env, tmux) = world();
    Sitter::sit(&tmux, "one").prompt("go");
    tmux.run(&["kill-server"]);
    wait::until("the agents to be gone", wait::PATIENCE, || seats(&env).is_empty().then_some(()));
    let files = || {
        let names =
            std::fs::read_dir(env.data_dir().join("bars")).unwrap().map(|entry| entry.unwrap().file_name());
        names
            .filter_map(|name| {
                name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit()).then_some(name)
            })
            .count()
    };
    env.tow(&["cleanup", "--dry-run"]).ok();
    env.tow(&["cleanup"]).ok();
    assert_eq!(files(), 0);
    env.tow(&["cleanup"]).ok().prints("there is nothing to clean up");
}

/// A refresh that finds nothing changed opens nothing and tells nobody; one that does not know looks.
#[test]
fn a_refresh_without_news_spawns_nothing() {
    let (env, tmux) = world();
    let sitter = Sitter::sit(&tmux, "one");
    sitter.prompt("go");
    wait_format(&sitter.pane, "#{@towline-state}", "working");
    let log = env.root().join("tmux.log");
    let folders = env.variables()["PATH"].clone();
    let real = folders
        .split(':')
        .map(|folder| Path::new(folder).join("tmux"))
        .find_map(|file| file.canonicalize().ok())
        .unwrap();
    env.script("tmux", &format!("echo \"$@\" >> {}\nexec {} \"$@\"\n", log.display(), real.display()));
    // The bench's own calls name a configuration.
    let is_ours = |line: &&str| !line.contains("-f /dev/null");
    let spawns = || std::fs::read_to_string(&log).unwrap_or_default().lines().filter(is_ours).count();
    env.tow(&["bar", "--refresh"]).ok();
    let before = spawns();
    for _ in 0..5 {
        env.tow(&["bar", "--refresh"]).ok();
    }
    sitter.tell("PostToolUse", json!({"tool_name": "Read", "tool_input": {}, "tool_response": {}}));
    sitter.tell("Notification", json!({"notification_type": "idle_prompt"}));
    assert_eq!(spawns(), before);
    sitter.stop();
    wait_format(&sitter.pane, "#{@towline-state}", "completed");
    assert_eq!(spawns(), before + 1, "one change, one spawn");
}
