//! The demonstration: what it shows, and that nothing is left of it, however it ends.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs;
use std::path::PathBuf;
use towline_testkit::{Pane, TestEnv, Tmux, wait};

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
        "was cleared in the same seat",
        "Next step: a test that the sixth attempt is never made.",
    ] {
        shown = shown.prints(expected);
    }
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

/// The tour in a terminal, on its first page.
fn in_a_terminal(env: &TestEnv) -> Pane {
    let pane = Tmux::start(env).open(&["tow", "demo"], &[]);
    pane.wait_screen("Enter for the next page");
    pane
}

#[test]
fn keys_turn_the_pages_and_the_bar_is_below() {
    let env = desk();
    let home = files(env.home());
    let pane = in_a_terminal(&env);
    pane.wait_screen_for("the bar", |screen| {
        screen.lines().last().is_some_and(|line| line.contains(" 1* 1+ 1!"))
    });
    for title in ["2  Remember", "3  Inherit", "4  Count", "5  Look"] {
        pane.keys(&["Enter"]);
        pane.wait_screen(title);
        pane.wait_screen_for("the end of the page", |screen| screen.trim_end().contains("q to stop:"));
    }
    pane.keys(&["q", "Enter"]);
    pane.wait_end();
    check_nothing_is_left(&env, &home);
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
