//! Another program has the pane: one that the client runs, the shell from which it was started, or nothing that ever knew it.

use crate::client::Client;
use crate::desk::Desk;
use std::fs;
use towline_testkit::wait;

/// An editor that the client itself has opened, over the whole screen.
pub fn in_front(desk: &Desk) {
    let edited = desk.env.home().join("edited");
    desk.seat.pane.keys(&["C-g"]);
    desk.seat.pane.wait_screen("full-screen program");
    wait::until("the editor to read", wait::PATIENCE, || edited.exists().then_some(()));
    for _ in 0..4 {
        let why = ["another program would get the keys", "the agent's screen was not understood"];
        desk.refuses("an editor in front", &why);
    }
    assert_eq!(fs::read(&edited).unwrap(), b"");
    desk.seat.pane.keys(&["q"]);
    desk.seat.pane.wait_screen_for("the client again", |screen| !screen.contains("full-screen program"));
    assert_eq!(fs::read(&edited).unwrap(), b"q");
    desk.wait_idle(&desk.seat);
    desk.takes("all is well");
}

/// The shell is back: in it, a word of ours would be run.
pub fn suspended(desk: &Desk) {
    let pane = &desk.seat.pane;
    let client = pane.program_pid();
    pane.keys(&["C-z"]);
    pane.wait_end();
    pane.wait_screen_for("the shell", |screen| screen.trim_end().ends_with(['#', '$']));
    check_shell(desk, "suspended, the shell in front", &["another program would get the keys"]);
    desk.env.command("kill").args(["-KILL", &client.to_string()]).status().unwrap();
    let is_gone = || towline_terminal::process::Process::read(client).is_none();
    wait::until("the client to be gone", wait::PATIENCE, || is_gone().then_some(()));
    let gone = [
        "the session has ended",
        "the agent's process has ended",
        "the session does not sit there any more",
        "the process that sat there has ended",
    ];
    check_shell(desk, "ended, the shell is left", &gone);
}

/// Nothing was typed there, hence nothing run.
#[track_caller]
fn check_shell(desk: &Desk, scenario: &str, why: &[&str]) {
    let before = desk.seat.pane.screen();
    for _ in 0..4 {
        desk.refuses(scenario, why);
        assert_eq!(desk.seat.pane.screen(), before);
    }
}

/// The same pane, the same client, and another process: what was meant for the first is not for the second.
pub fn respawned(desk: &Desk) {
    let pane = &desk.seat.pane;
    let other = desk.env.root().join("respawned");
    pane.tmux().run(&["respawn-pane", "-k", "-t", &pane.id, "catcher", &other.display().to_string()]);
    pane.wait_screen("catches");
    for _ in 0..3 {
        let ended = desk.end_soon(&desk.seat, &desk.next_wanted());
        assert_eq!(ended.state, "refused", "{ended:?}");
        desk.count("pane respawned");
    }
    assert_eq!(fs::read(&other).unwrap(), b"");
    if let Client::Claude(_) = desk.client {
        let again = desk.client.open(&desk.tmux, &desk.model);
        let id = &again.id;
        desk.tmux.run(&["swap-pane", "-d", "-s", id, "-t", &pane.id]);
        for _ in 0..2 {
            let before = desk.world();
            let ended = desk.end_soon(&desk.seat, &desk.next_wanted());
            assert_eq!(ended.state, "refused", "{ended:?}");
            assert_eq!(desk.world(), before);
            desk.count("another client in its stead");
        }
    }
}
