//! `tow install --tmux`, `tow tmux load` and their exact undo, on real tmux servers with attached clients.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod conf;
mod focus;
mod give_back;
mod start;
mod themes;

use std::path::PathBuf;
use towline_testkit::{Run, TestEnv, Tmux, wait};

fn hermetic() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_tow"))
}

/// A server with one pane in which nothing happens.
fn server(env: &TestEnv) -> Tmux {
    let tmux = Tmux::start(env);
    tmux.open(&["sh"], &[]);
    tmux
}

/// Runs `tow tmux load` or `unload` on the server, from outside.
#[track_caller]
fn tow_tmux(tmux: &Tmux, action: &str) -> Run {
    tmux.env().tow(&["tmux", action, "--socket", &tmux.socket().display().to_string()])
}

/// The value of a global option; empty if it is not set.
fn option(tmux: &Tmux, name: &str) -> String {
    tmux.run(&["show-options", "-gqv", name]).trim_end_matches('\n').to_owned()
}

/// Everything that a load could have changed, as tmux prints it.
fn everything(tmux: &Tmux) -> String {
    let asked: [&[&str]; 9] = [
        &["show-options", "-g"],
        &["show-options", "-gw"],
        &["show-options", "-s"],
        &["list-keys"],
        &["list-keys", "-N", "-a"],
        &["show-hooks", "-g"],
        &["show-hooks", "-gw"],
        &["list-panes", "-a", "-F", "#{pane_id} #{@towline-state} #{@towline-mark}"],
        &["show-environment", "-g"],
    ];
    asked.map(|words| format!("--- {}\n{}", words.join(" "), tmux.run(words))).concat()
}

/// How often the bar is in the status line.
fn bars(tmux: &Tmux) -> usize {
    option(tmux, "status-right").matches("#{@towline-status}").count()
}

#[track_caller]
fn wait_loaded(tmux: &Tmux) {
    wait::until_evident("the server to be loaded", wait::PATIENCE, || {
        let found = option(tmux, "@towline-undo");
        if found.is_empty() { Err(everything(tmux)) } else { Ok(()) }
    });
}

/// A copy of the program in a folder of this name, which can be replaced while it is registered.
fn copied_to(env: &TestEnv, folder: &str) -> PathBuf {
    let folder = env.root().join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let copy = folder.join("tow");
    std::fs::copy(env!("CARGO_BIN_EXE_tow"), &copy).unwrap();
    copy
}
