//! A command acts for the user only on evidence, and for an agent in every other case.

use serde_json::Value;
use std::fs;
use towline_testkit::{Run, TestEnv, Tmux, wait};

fn desk() -> TestEnv {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.person(&["remember", "The mast is oak"]).ok();
    env
}

/// Runs a line of shell without a terminal, as the tools of agents do.
#[track_caller]
fn shell(env: &TestEnv, line: &str) -> Run {
    Run::of(env.command("sh").args(["-c", line]), b"")
}

#[track_caller]
fn memory(env: &TestEnv) -> Value {
    env.unattended(&["show", "m1", "--json"]).ok().json()["memory"].clone()
}

#[test]
fn a_person_at_a_terminal_may_change_memories() {
    let env = desk();
    env.person(&["pin", "m1"]).ok().prints("m1 is pinned");
    assert!(memory(&env)["pinned_at"].is_string());
    assert_eq!(memory(&env)["trust"], "person");
}

#[test]
fn without_a_terminal_everything_of_the_users_is_refused_and_says_how() {
    let env = desk();
    std::fs::write(env.project().join("forged.jsonl"), "").unwrap();
    for words in [
        &["pin", "m1"][..],
        &["edit", "m1", "--title", "The mast is pine"],
        &["hold", "m1"],
        &["release", "m1"],
        &["supersede", "m1"],
        &["undo", "m1"],
        &["forget", "--yes", "m1"],
        &["config", "set", "privacy.redact", "false"],
        &["config", "set", "notify.on_waiting", "[\"sh\", \"-c\", \"true\"]"],
        &["import", "./forged.jsonl"],
        &["work", "--expire"],
        &["config", "unset", "typing.enabled"],
    ] {
        let run = env.unattended(words).exits(2);
        let run = run.complains("only a person can").complains("this runs without a terminal");
        run.complains("Run it in a terminal of your own");
    }
    assert_eq!(memory(&env)["title"], "The mast is oak");
}

#[test]
fn detours_around_the_terminal_count_as_an_agents() {
    let env = desk();
    let out = env.root().join("out");
    for line in [
        "setsid -w tow pin m1",
        "nohup tow pin m1",
        "env -i PATH=\"$PATH\" HOME=\"$HOME\" tow pin m1",
        "script -qec 'tow pin m1' /dev/null",
        "setsid -w script -qec 'tow pin m1' /dev/null",
        "setsid -w env -i PATH=\"$PATH\" HOME=\"$HOME\" script -qec 'tow pin m1' /dev/null",
    ] {
        let run = shell(&env, &format!("{line} > {0} 2>&1; cat {0}", out.display()));
        assert!(run.stdout.contains("only a person can pin"), "{line}: {run:#?}");
    }
    assert!(memory(&env)["pinned_at"].is_null());
}

#[test]
fn in_the_background_of_a_terminal_nothing_is_proven() {
    let env = desk();
    let out = env.root().join("out");
    let line = format!("set -m; tow pin m1 > {0} 2>&1 & wait; cat {0}", out.display());
    let run = Run::of(env.command("script").args(["-qec", &format!("bash -c '{line}'"), "/dev/null"]), b"");
    assert!(run.stdout.contains("only a person can pin"), "{run:#?}");
}

#[test]
fn a_tmux_server_counts_only_while_a_person_is_attached() {
    let env = desk();
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["sh"], &[]);
    let pin = |pane: &towline_testkit::Pane, name: &str| {
        let out = env.root().join(name);
        pane.say(&format!("tow pin m1 > {} 2>&1; echo end-of-{name}", out.display()));
        pane.wait_screen_for(name, |screen| {
            // The prompt may come behind the typed line, and in front of what it prints.
            let is_printed = |line: &str| line.ends_with(&format!("end-of-{name}")) && !line.contains("echo");
            screen.lines().any(|line| is_printed(line.trim()))
        });
        fs::read_to_string(out).unwrap()
    };
    assert!(pin(&pane, "detached").contains("nobody is attached to the tmux session"));
    let socket = tmux.socket().display().to_string();
    let mut client = env.person_program(&["tmux", "-S", &socket, "attach"]).spawn().unwrap();
    let is_attached = || (!tmux.run(&["list-clients"]).is_empty()).then_some(());
    wait::until("the client to be attached", wait::PATIENCE, is_attached);
    assert!(pin(&pane, "attached").contains("m1 is pinned"));
    client.kill().unwrap();
    client.wait().unwrap();
}

#[test]
fn the_session_variable_of_an_agent_anywhere_above_makes_it_the_agents() {
    let env = desk();
    env.set("CLAUDE_CODE_SESSION_ID", "11111111-1111-4111-8111-111111111111");
    env.person(&["pin", "m1"]).exits(2).complains("only a person can pin").complains("an agent");
}

#[test]
fn an_unproven_remember_is_an_agents_note_and_is_not_pinned() {
    let env = desk();
    let said = env.unattended(&["remember", "--pin", "--json", "Tests run with nextest"]).ok().json();
    assert_eq!(said["memory"]["trust"], "agent");
    assert!(said["memory"]["pinned_at"].is_null());
    assert_eq!(said["pin_refused"], "only a person can pin memories");
}
