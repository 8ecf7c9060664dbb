//! The demonstration: what it shows, and that nothing is left of it, however it ends.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]
#![expect(clippy::disallowed_methods, reason = "it times a tour")]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use towline_testkit::{Pane, Run, TestEnv, Tmux, wait};

fn desk() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_tow"))
}

/// Every file of the person's home.
fn files(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<PathBuf> =
        entries.flat_map(|path| if path.is_dir() { files(path) } else { vec![path] }).collect();
    all.sort();
    all
}

fn stages(env: &TestEnv) -> Vec<PathBuf> {
    let entries = fs::read_dir(env.root().join("tmp")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("tow-demo-")).collect()
}

/// The sweeper ends by itself, a moment after whom it waits for.
#[track_caller]
fn check_nothing_is_left(env: &TestEnv, home: &[PathBuf]) {
    wait::until_evident("nothing to be left", wait::PATIENCE, || {
        let ours = |command: &str| command.contains("demo") && !command.contains("tmux.sock");
        let processes = env.processes().into_iter().filter(|process| ours(&process.command));
        let left = (stages(env), processes.collect::<Vec<_>>());
        if left.0.is_empty() && left.1.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    });
    assert_eq!(files(env.home()), home);
}

#[test]
fn the_tour_shows_what_the_commands_print_and_leaves_nothing() {
    let env = desk();
    let home = files(env.home());
    let mut shown = env.tow(&["demo", "--auto"]).ok();
    for expected in [
        "blocked ",
        "working ",
        "completed ",
        "preference From now on always run the checkout tests ten times",
        "two requests refreshed",
        "was cleared in the same pane",
        "Next step: a test that the sixth attempt is never made.",
    ] {
        shown = shown.prints(expected);
    }
    let hits = shown.stdout.split("$ tow search").nth(1).unwrap();
    let first = hits.lines().nth(1).unwrap();
    assert!(first.contains("The checkout tests failed because"), "the answer comes first: {hits}");
    check_nothing_is_left(&env, &home);
}

#[test]
fn without_tmux_it_says_so_and_shows_the_rest() {
    let env = desk();
    let home = files(env.home());
    env.set("PATH", "/nowhere");
    let shown = env.tow(&["demo", "--auto"]).ok();
    let shown = shown.prints("tmux is not installed: there will be no bar and no windows");
    shown
        .prints("two requests refreshed")
        .prints("is the only session of the project that can have been cleared");
    check_nothing_is_left(&env, &home);
}

/// The tour in a terminal of 80 columns inside tmux, on its first page.
fn in_a_terminal(env: &TestEnv) -> Pane {
    let tmux = Tmux::start(env);
    let pane = tmux.open(&["sh"], &[]);
    tmux.run(&["resize-window", "-t", &pane.format("#{window_id}"), "-x", "80", "-y", "24"]);
    pane.say("exec tow demo");
    pane.wait_screen("Enter: next page");
    pane
}

/// A line that is too long is wrapped by tmux, in the middle of a word. An address may be longer.
#[track_caller]
fn check_nothing_wraps(env: &TestEnv, window: &str) {
    let stage = stages(env).pop().unwrap();
    let folder = fs::read_dir(stage).unwrap().map(|entry| entry.unwrap().path());
    let folder = folder.into_iter().find(|path| path.to_string_lossy().contains("/tmux-")).unwrap();
    let captured = |joined: &str| {
        let words = ["capture-pane", joined, "-t", window];
        let mut tmux = env.command("tmux");
        let run = Run::of(tmux.arg("-S").arg(folder.join("demo")).args(words), b"").ok();
        let lines = run.stdout.lines().map(str::trim_end).filter(|line| !line.contains("?code="));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(captured("-p"), captured("-pJ"));
}

#[test]
fn a_tour_took_more_than_a_minute_or_did_not_fit_80_columns() {
    let env = desk();
    let home = files(env.home());
    let began = Instant::now();
    let pane = in_a_terminal(&env);
    pane.wait_screen_for("the bar", |screen| {
        screen.lines().last().is_some_and(|line| line.contains(" 1* 1+ 1!") && line.contains("q leave"))
    });
    for title in ["2  Remember", "3  Inherit", "4  Count", "5  Look"] {
        check_nothing_wraps(&env, ":0");
        pane.keys(&["Enter"]);
        pane.wait_screen(title);
        pane.wait_screen_for("the end of the page", |screen| screen.contains("q: leave"));
    }
    let address = pane.screen().lines().filter(|line| line.contains("?code=")).collect::<String>();
    assert!(!address.contains('…'), "an address that is cut leads nowhere: {address}");
    pane.keys(&["Space"]);
    pane.wait_screen("tow setup");
    pane.keys(&["Enter"]);
    pane.wait_end();
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    check_nothing_is_left(&env, &home);
}

#[test]
fn keys_of_the_tour_went_to_the_tmux_that_it_was_started_in() {
    let env = desk();
    let pane = in_a_terminal(&env);
    pane.keys(&["n"]);
    pane.wait_screen("May I?");
    let is_over = || !env.processes().iter().any(|process| process.command.contains("next --message"));
    wait::until("`tow next` to end", wait::PATIENCE, || is_over().then_some(()));
    for (key, said) in [("1", "Commit it."), ("3", "handbook"), ("2", "docker compose")] {
        pane.keys(&[key]);
        let screen = pane.wait_screen(said);
        assert!(!["{project}", "{home}", "{dashed}"].iter().any(|name| screen.contains(name)), "{screen}");
        check_nothing_wraps(&env, &format!(":{key}"));
    }
    pane.keys(&["a"]);
    let menu = pane.wait_screen("─Agents─");
    assert!(menu.contains("! codex ledger"), "the menu did not fit and was cut at its beginning: {menu}");
    pane.keys(&["q"]);
    pane.wait_screen_for("no menu", |screen| !screen.contains("─Agents─"));
    pane.keys(&["0"]);
    pane.wait_screen("Enter: next page");
    pane.keys(&["Escape"]);
    pane.keys(&["Enter"]);
    pane.wait_screen("2  Remember");
}

#[test]
fn ctrl_c_and_q_left_the_other_windows_of_the_tour_open() {
    for (window, key) in [("0", "q"), ("1", "q"), ("0", "C-c"), ("2", "C-c")] {
        let env = desk();
        let home = files(env.home());
        let pane = in_a_terminal(&env);
        pane.keys(&[window]);
        pane.keys(&[key]);
        pane.wait_end();
        check_nothing_is_left(&env, &home);
    }
}

#[test]
fn without_windows_one_key_leaves_and_the_terminal_is_as_before() {
    for key in ["q", "C-c"] {
        let env = desk();
        let pane = Tmux::start(&env).open(&["bash", "--norc"], &[("PS1", "here> ")]);
        pane.say("tow demo --no-tmux");
        pane.wait_screen("Enter: next page");
        pane.keys(&[key]);
        pane.wait_screen_for("the shell", |screen| screen.trim_end().ends_with("here>"));
        pane.say("stty -a | grep -o '[-]*icanon'; echo left");
        let screen = pane.wait_screen("\nleft");
        assert!(screen.contains("\nicanon"), "{screen}");
    }
}

#[test]
fn a_tour_that_is_killed_leaves_no_process_and_no_folder() {
    let env = desk();
    let home = files(env.home());
    let pane = in_a_terminal(&env);
    assert_eq!(stages(&env).len(), 1);
    env.command("kill").args(["-KILL", &pane.program_pid().to_string()]).status().unwrap();
    check_nothing_is_left(&env, &home);
}

#[test]
fn only_a_stage_is_swept() {
    let env = desk();
    let project = env.project().display().to_string();
    env.tow(&["demo", "sweep", "--stage", &project]).exits(2).complains("is no stage of a demo");
    assert!(env.project().join("README.md").exists());
}
