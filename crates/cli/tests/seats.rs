//! Where a hook finds its session to sit: in real tmux, real GNU screen, a plain terminal, an editor, nowhere.
//!
//! The agent is a shell under the agent's name: what is looked at is the process tree, not the client.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use towline_core::id::Uid;
use towline_core::seat::{Seat, SeatKind, SeatProof};
use towline_core::time::Timestamp;
use towline_store::home::private_folder;
use towline_store::lock::ProjectionLock;
use towline_store::{DataFolder, ProjectionLimits, Store, journal};
use towline_testkit::{Run, TestEnv, Tmux, wait};

const START: &str = r#"{"hook_event_name":"SessionStart","source":"startup","session_id":"s1","cwd":"/"}"#;

/// An environment with a program called like the agent, and a script that calls the hook below it.
fn bench() -> (TestEnv, PathBuf) {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_tow"));
    env.link("claude", "/bin/bash");
    fs::write(env.root().join("start.json"), START).unwrap();
    let script = env.script("session", &format!("tow hook claude < {}/start.json\n", env.root().display()));
    (env, script)
}

fn seats(env: &TestEnv) -> Vec<Seat> {
    let store = Store::read(&DataFolder::at(env.data_dir()), Duration::from_secs(1)).ok().flatten();
    store.and_then(|store| store.seats().ok()).unwrap_or_default()
}

fn wait_seat(env: &TestEnv) -> Seat {
    wait::until("a seat", wait::PATIENCE, || seats(env).into_iter().next())
}

#[test]
fn a_tmux_pane_is_known_by_its_terminal_even_if_the_environment_lies() {
    let (env, script) = bench();
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["bash"], &[]);
    pane.say(&format!("TMUX_PANE=%99 claude {}", script.display()));
    let seat = wait_seat(&env);
    assert_eq!((seat.place.kind, seat.place.pane.as_deref()), (SeatKind::Tmux, Some(pane.id.as_str())));
    assert_eq!((seat.place.proof, seat.place.tty), (SeatProof::Terminal, Some(pane.tty())));
    assert_eq!(seat.place.server.as_deref(), tmux.socket().to_str());
}

#[test]
fn an_editors_terminal_that_was_started_from_tmux_is_not_in_tmux() {
    let (env, script) = bench();
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["bash"], &[]);
    let inner = format!("TERM_PROGRAM=vscode claude {}", script.display());
    pane.say(&format!("script -qec '{inner}' /dev/null"));
    let seat = wait_seat(&env);
    assert_eq!((seat.place.kind, seat.place.pane), (SeatKind::Ide, None));
    assert_ne!(seat.place.tty, Some(pane.tty()));
}

#[test]
fn a_window_of_gnu_screen_is_a_seat() {
    let (env, script) = bench();
    let sockets = env.root().join("screens");
    fs::create_dir(&sockets).unwrap();
    fs::set_permissions(&sockets, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    env.set("SCREENDIR", sockets.to_str().unwrap());
    let mut screen = env.command("screen");
    screen.args(["-d", "-m", "-S", "work", "bash", "-c"]);
    screen.arg(format!("claude {}; read", script.display()));
    Run::of(&mut screen, b"").ok();
    let seat = wait_seat(&env);
    Run::of(env.command("screen").args(["-S", "work", "-X", "quit"]), b"").ok();
    assert_eq!((seat.place.kind, seat.place.pane.as_deref()), (SeatKind::Screen, Some("0")));
    assert!(seat.place.server.unwrap().ends_with(".work"));
}

#[test]
fn a_plain_terminal_is_a_seat_and_the_next_one_on_the_same_device_is_another() {
    let (env, script) = bench();
    for _ in 0..2 {
        let mut terminal = env.command("script");
        terminal.args(["-qec", &format!("claude {}", script.display()), "/dev/null"]);
        Run::of(&mut terminal, b"").ok();
    }
    let seats = seats(&env);
    assert_eq!(seats.len(), 2, "{seats:?}");
    assert!(seats.iter().all(|seat| seat.place.kind == SeatKind::Terminal));
    assert_ne!(seats[0].place.key, seats[1].place.key);
}

#[test]
fn without_a_terminal_an_editor_is_a_seat_and_a_script_is_none() {
    let (env, script) = bench();
    Run::of(env.command("claude").arg(&script), b"").ok();
    assert_eq!(seats(&env), []);
    env.set("CLAUDE_CODE_ENTRYPOINT", "claude-vscode");
    Run::of(env.command("claude").arg(&script), b"").ok();
    assert_eq!(wait_seat(&env).place.kind, SeatKind::Ide);
}

#[test]
fn what_our_own_children_do_leaves_no_trace() {
    let (env, script) = bench();
    env.set("TOWLINE_CHILD", "1");
    Run::of(env.command("claude").arg(&script), b"").ok();
    assert!(!env.data_dir().exists());
}

/// The same with a session of which nothing was heard before its prompt.
fn bench_in_the_middle() -> (TestEnv, PathBuf) {
    let (env, script) = bench();
    let prompt = r#"{"hook_event_name":"UserPromptSubmit","prompt":"go on","session_id":"s1","cwd":"/"}"#;
    fs::write(env.root().join("start.json"), prompt).unwrap();
    (env, script)
}

#[test]
fn a_session_met_in_the_middle_is_seated_by_its_next_prompt() {
    let (env, script) = bench_in_the_middle();
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["bash"], &[]);
    pane.say(&format!("claude {}", script.display()));
    assert_eq!(wait_seat(&env).place.pane, Some(pane.id.clone()));
}

#[test]
fn a_session_is_seated_by_its_prompt_even_if_somebody_else_folded_that_first() {
    let (env, script) = bench_in_the_middle();
    env.tow(&["config", "set", "hook.patience_ms", "2000"]).ok();
    env.tow(&["config", "set", "hook.deadline_ms", "2500"]).ok();
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["bash"], &[]);
    let home = DataFolder::at(env.data_dir());
    private_folder(&env.data_dir()).unwrap();
    let lock = ProjectionLock::take_within(&home, []).unwrap().unwrap();
    pane.say(&format!("claude {}", script.display()));
    wait::until("the prompt", wait::PATIENCE, || (journal::unsealed_bytes(&home) > 0).then_some(()));
    let has_time = || true;
    let (now, new_machine) = (Timestamp(0), Uid([7; 16]));
    let limits = ProjectionLimits { has_time: &has_time, now, new_machine, patience: Duration::ZERO };
    let (store, folded) = Store::open_and_apply(&home, &lock, &limits).unwrap();
    assert_eq!((folded.events, store.seats().unwrap()), (1, vec![]));
    drop((store, lock));
    assert_eq!(wait_seat(&env).place.pane, Some(pane.id.clone()));
}

#[test]
fn a_tmux_server_that_hangs_costs_neither_the_event_nor_the_answer() {
    let (env, script) = bench();
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["bash"], &[]);
    let server = tmux.run(&["display-message", "-p", "#{pid}"]).trim().to_owned();
    // Waits until the server is stopped, so that the hook below meets it hanging.
    let wait = env.script(
        "wait-then-start",
        &format!("while [ ! -e stopped ]; do read -t 0.05 < /dev/zero; done; . {}\n", script.display()),
    );
    pane.say(&format!("claude {}", wait.display()));
    wait::until("the agent to run", wait::PATIENCE, || {
        pane.format("#{pane_current_command}").contains("claude").then_some(())
    });
    let signal = |name: &str| Run::of(env.command("kill").args([name, &server]), b"").ok();
    signal("-STOP");
    fs::write(env.project().join("stopped"), "").unwrap();
    let state = wait::until("the session to be folded", wait::PATIENCE, || {
        let store = Store::read(&DataFolder::at(env.data_dir()), Duration::from_secs(1)).ok().flatten()?;
        store.sessions().ok()?.first().map(|session| session.state.name())
    });
    signal("-CONT");
    assert_eq!(state, "idle");
    let log = env.data_dir().join("faults.log");
    assert!(!log.exists(), "the hook ran out of time: {}", fs::read_to_string(log).unwrap_or_default());
}
