//! What an attached client shows once a server is loaded, and what its hooks run when a pane comes before a person.

use crate::{bars, copied_to, everything, hermetic, option, server, tow_tmux};
use serde_json::json;
use std::fs;
use towline_testkit::{Run, TestEnv, Tmux, wait};

/// A session of an agent that has just been given a prompt, for a pane to run.
fn scripted_session(env: &TestEnv) -> String {
    scripted(env, &["SessionStart", "UserPromptSubmit"])
}

fn scripted(env: &TestEnv, events: &[&str]) -> String {
    env.link("claude", "/bin/bash");
    let root = env.root().display().to_string();
    for name in events {
        let event = json!({"hook_event_name": name, "session_id": "s", "cwd": env.project(), "source": "startup", "prompt": "p"});
        fs::write(env.root().join(format!("{name}.json")), event.to_string()).unwrap();
    }
    let hooks = events.iter().map(|name| format!("tow hook claude < {root}/{name}.json; "));
    let script = env.script("session", &format!("{}read\n", hooks.collect::<String>()));
    format!("claude {}", script.display())
}

// TRK-19.
#[test]
fn the_status_line_of_an_attached_client_shows_the_bar_after_an_installation() {
    let env = hermetic();
    let inner = Tmux::start(&env);
    let pane = inner.open(&["bash"], &[]);
    let watched = Tmux::named(&env, "outer").attach_to(&inner);
    pane.say("tow install --tmux");
    pane.wait_screen("the server on ");
    pane.say(&scripted_session(&env));
    watched.wait_screen(" 1* ");
    watched.wait_screen_for("what tmux itself shows", |screen| {
        let last = screen.lines().last().unwrap_or_default();
        last.contains(" 1* ") && last.contains(':') && last.contains('"')
    });
}

/// No focus event comes from a pane that stays in front.
#[test]
fn a_turn_that_ends_in_the_pane_before_a_person_becomes_seen() {
    let env = hermetic();
    let inner = Tmux::start(&env);
    let pane = inner.open(&["bash"], &[]);
    tow_tmux(&inner, "load").ok();
    let watched = Tmux::named(&env, "outer").attach_to(&inner);
    // By the client's own keys, as a person types: those of a script are nobody's.
    watched.say(&scripted(&env, &["SessionStart", "UserPromptSubmit", "Stop"]));
    pane.wait_format("#{pane_current_command}", "claude");
    wait::until_evident("the look", wait::PATIENCE, || {
        let seats = env.tow(&["status", "--json"]).ok().json();
        let seat = &seats["seats"][0];
        let is_seen = seat["session"] == "claude:s" && seat["seen"] == true && seat["state"] == "completed";
        if is_seen { Ok(()) } else { Err(seats.to_string()) }
    });
    watched.wait_screen_for("the light to go out", |screen| !screen.contains(" 1+ "));
}

// TRK-10: hooks on focus; nothing is spawned where there is nothing to see.
#[test]
fn focus_runs_the_program_only_for_panes_with_something_to_see() {
    let env = hermetic();
    let tow = copied_to(&env, "it's a $folder, é");
    let inner = server(&env);
    let socket = inner.socket().display().to_string();
    Run::of(env.command(&tow).args(["tmux", "load", "--socket", &socket]), b"").ok();
    // The bar's own refresh is of no interest here.
    inner.run(&["set-option", "-g", "status-interval", "0"]);
    let log = env.root().join("runs");
    fs::remove_file(&tow).unwrap();
    fs::rename(env.script("wrapper", &format!("#!/bin/sh\necho \"$@\" >> {}\n", log.display())), &tow)
        .unwrap();
    let runs = || fs::read_to_string(&log).unwrap_or_default();
    let focused = || -> Vec<String> {
        runs().lines().filter(|line| line.contains("--focused")).map(str::to_owned).collect()
    };
    let waited = |count: usize| {
        wait::until_evident(&format!("{count} runs"), wait::PATIENCE, || {
            if focused().len() >= count { Ok(()) } else { Err(runs()) }
        });
    };

    let (first, second) = ("%0", inner.open(&["sh"], &[]).id);
    let third = inner.run(&["split-window", "-P", "-F", "#{pane_id}", "sh"]).trim().to_owned();
    let unseen = |pane: &str, unseen: &str| {
        drop(inner.run(&["set-option", "-p", "-t", pane, "@towline-unseen", unseen]))
    };
    inner.run(&["select-window", "-t", first]);
    unseen(first, "");
    unseen(&second, "1");
    // Nobody is attached: nobody sees anything.
    inner.run(&["select-window", "-t", &second, ";", "select-pane", "-t", &second]);
    inner.run(&["run-shell", "true"]);
    assert_eq!(focused().len(), 0, "{}", runs());
    let watched = Tmux::named(&env, "outer").attach_to(&inner);
    waited(1);
    inner.run(&["select-pane", "-t", &third]);
    let seen = focused().len();
    inner.run(&["select-pane", "-t", &second]);
    waited(seen + 1);
    assert!(focused().iter().all(|run| run == &format!("bar --refresh --focused {second}")), "{}", runs());
    // The person comes back to the terminal.
    let seen = focused().len();
    inner.run(&["set-option", "-s", "focus-events", "on"]);
    watched.half_type("\u{1b}[O");
    watched.half_type("\u{1b}[I");
    waited(seen + 1);
    let seen = focused().len();

    // In the background, or at work: nothing to see.
    inner.run(&["select-window", "-t", first]);
    inner.run(&["select-pane", "-t", &third]);
    inner.run(&["select-pane", "-t", &second]);
    unseen(&third, "1");
    inner.run(&["select-pane", "-t", &third]);
    inner.run(&["select-window", "-t", &third]);
    waited(seen + 1);
    let expected = format!("bar --refresh --focused {third}");
    assert!(focused()[seen..].iter().all(|run| *run == expected), "{}", runs());
}

#[test]
fn the_status_line_runs_a_program_at_an_odd_path() {
    let env = hermetic();
    let tow = copied_to(&env, "it's a $folder, é");
    let inner = server(&env);
    let socket = inner.socket().display().to_string();
    let before = everything(&inner);
    Run::of(env.command(&tow).args(["tmux", "load", "--socket", &socket]), b"").ok();
    fs::remove_file(&tow).unwrap();
    let log = env.root().join("runs");
    fs::rename(env.script("wrapper", &format!("#!/bin/sh\necho \"$@\" >> {}\n", log.display())), &tow)
        .unwrap();
    let _watched = Tmux::named(&env, "outer").attach_to(&inner);
    wait::until_evident("a refresh", wait::PATIENCE, || {
        let runs = fs::read_to_string(&log).unwrap_or_default();
        if runs.lines().any(|run| run == "bar --refresh --looking-at %0") { Ok(()) } else { Err(runs) }
    });
    tow_tmux(&inner, "unload").ok();
    assert_eq!(everything(&inner), before);
}

#[test]
fn a_program_at_a_path_that_tmux_would_expand_is_refused() {
    let env = hermetic();
    let tow = copied_to(&env, "50% #(off)");
    let inner = server(&env);
    let before = everything(&inner);
    let socket = inner.socket().display().to_string();
    let run = Run::of(env.command(&tow).args(["tmux", "load", "--socket", &socket]), b"").exits(2);
    run.complains("tmux would expand").complains("~/.local/bin/tow");
    assert_eq!(everything(&inner), before);
}

#[test]
fn the_marker_of_a_window_stands_behind_its_name() {
    let env = hermetic();
    let inner = server(&env);
    inner.run(&["set-option", "-g", "@towline-window-marker", "on"]);
    inner.run(&["rename-window", "-t", "%0", "mine"]);
    tow_tmux(&inner, "load").ok();
    let watched = Tmux::named(&env, "outer").attach_to(&inner);
    inner.run(&["set-option", "-w", "-t", "%0", "@towline-mark", "!!"]);
    watched.wait_screen("mine* !!");
    inner.run(&["set-option", "-wu", "-t", "%0", "@towline-mark"]);
    watched.wait_screen_for("the mark to go", |screen| !screen.contains("!!"));
    assert_eq!(
        (bars(&inner), option(&inner, "window-status-format").matches("@towline-mark").count()),
        (1, 2)
    );
}

// TRK-20, TRK-21: the key behind the prefix opens the menu.
#[test]
fn the_key_opens_the_menu() {
    let env = hermetic();
    let inner = Tmux::start(&env);
    let pane = inner.open(&["bash"], &[]);
    tow_tmux(&inner, "load").ok();
    let watched = Tmux::named(&env, "outer").attach_to(&inner);
    pane.say(&scripted_session(&env));
    watched.wait_screen(" 1* ");
    watched.keys(&["C-b", "a"]);
    watched.wait_screen("Agents");
}
