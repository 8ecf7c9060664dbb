//! The private tmux server: panes as a person has them, and a client that looks at them from outside.

use towline_testkit::{TestEnv, Tmux, wait};

#[test]
fn a_program_in_a_pane_is_the_foreground_job_of_a_shell() {
    let env = TestEnv::new("/bin/true");
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["cat"], &[("ADDED", "by the test")]);
    pane.say("spoken");
    pane.wait_screen("spoken\nspoken");
    assert_ne!(pane.pid(), pane.program_pid());
    assert_eq!(pane.format("#{pane_current_command}"), "cat");
    assert!(pane.tty().starts_with("/dev/"));
    pane.keys(&["C-d"]);
    pane.wait_end();
}

#[test]
fn panes_have_their_own_names_and_the_variables_of_the_environment() {
    let env = TestEnv::new("/bin/true");
    let tmux = Tmux::start(&env);
    let first = tmux.open(&["sh", "-c", "echo pane $TMUX_PANE"], &[]);
    env.set("LATER", "set later");
    let second = tmux.open(&["sh", "-c", "echo pane $TMUX_PANE, $LATER, $ADDED"], &[("ADDED", "added")]);
    first.wait_screen("pane %0");
    second.wait_screen("pane %1, set later, added");
    assert_ne!(first.tty(), second.tty());
}

#[test]
fn an_attached_client_shows_the_status_line() {
    let env = TestEnv::new("/bin/true");
    let (tmux, outside) = (Tmux::start(&env), Tmux::named(&env, "outside"));
    tmux.open(&["cat"], &[]);
    let view = outside.attach_to(&tmux);
    tmux.run(&["set-option", "-g", "status-left", "OUTSIDE", ";", "refresh-client", "-S"]);
    view.wait_screen("OUTSIDE");
}

#[test]
fn the_server_ends_with_its_last_handle() {
    let env = TestEnv::new("/bin/true");
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["cat"], &[]);
    drop(tmux);
    assert!(pane.tmux().is_running());
    drop(pane);
    env.wait_no_process();
    wait::until("the socket to go", wait::PATIENCE, || (!Tmux::start(&env).is_running()).then_some(()));
}
