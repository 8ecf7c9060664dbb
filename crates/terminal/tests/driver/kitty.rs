//! Real kitty on a virtual display.

use crate::bench::{HOSTILE, caught_in, env, pasted, place_of, wait_caught};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use towline_core::seat::{SeatKind, SeatLocation};
use towline_terminal::driver::{Driver, DriverError, LONGEST};
use towline_testkit::{Run, TestEnv, wait};

struct KittyBench {
    env: TestEnv,
    place: SeatLocation,
    driver: Driver,
    /// Dropped last: the environment has ended them by then.
    _started: Started,
}

/// Child processes that the test must reap.
struct Started([Child; 2]);

impl Drop for Started {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|child| drop(child.wait()));
    }
}

impl KittyBench {
    fn kitty(&self, words: &[&str]) -> Run {
        Run::of(self.env.command("kitty").args(["@", "--to", &socket(&self.env)]).args(words), b"")
    }
}

fn socket(env: &TestEnv) -> String {
    format!("unix:{}/kitty.sock", env.root().display())
}

/// Starts a server, which picks a free display and prints its number.
fn display(env: &TestEnv) -> (Child, String) {
    let mut command = env.command("Xvfb");
    command.args(["-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp"]);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut number = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
    (server, format!(":{}", number.trim()))
}

fn bench() -> KittyBench {
    let env = env();
    let (server, display) = display(&env);
    env.set("DISPLAY", display);
    env.set("LIBGL_ALWAYS_SOFTWARE", "1");
    let mut kitty = env.command("kitty");
    kitty.args(["--config", "NONE", "-o", "allow_remote_control=socket-only", "--listen-on", &socket(&env)]);
    kitty.args(["catcher", caught_in(&env).to_str().unwrap()]);
    let shown = kitty.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let catcher = wait::until("the program in kitty", wait::PATIENCE, || {
        let all = env.processes();
        // It becomes `cat` once it has set up its terminal.
        all.iter().find(|process| process.command.trim() == "cat").map(|process| process.pid)
    });
    let place = place_of(catcher);
    let driver = Driver::of(&place).unwrap();
    KittyBench { env, place, driver, _started: Started([server, shown]) }
}

#[test]
fn a_window_is_seen_and_every_byte_of_a_text_arrives_as_a_paste() {
    let bench = bench();
    assert_eq!((bench.place.kind, bench.place.pane.as_deref()), (SeatKind::Kitty, Some("1")));
    let all = bench.driver.abilities();
    assert!(all.identity && all.foreground && all.screen && all.mode && all.activity);
    let look = wait::until("the screen", wait::PATIENCE, || {
        Some(bench.driver.look()).filter(|look| look.screen.as_ref().is_some_and(|it| it.contains("ready")))
    });
    assert_eq!((look.is_there, look.in_mode), (Some(true), Some(false)));
    assert_eq!(look.foreground, Some(bench.place.pid));
    assert!(look.last_key_at.is_some());
    assert!(look.screen.unwrap().contains("\u{1b}[2mready"));
    let mut expected = String::new();
    for text in HOSTILE {
        bench.driver.type_in(text).unwrap();
        expected.push_str(&pasted(text));
    }
    let long: String = "0123456789 abcdefghij\n".chars().cycle().take(LONGEST).collect();
    bench.driver.type_in(&long).unwrap();
    bench.driver.press_enter().unwrap();
    wait_caught(&bench.env, &format!("{expected}{}\r", pasted(&long)));
}

#[test]
fn another_window_is_not_the_seat_and_one_that_is_closed_takes_nothing() {
    let bench = bench();
    let other = bench.env.root().join("other");
    bench.kitty(&["launch", "catcher", other.to_str().unwrap()]).ok();
    wait::until("the other window", wait::PATIENCE, || other.exists().then_some(()));
    let moved = SeatLocation { pane: Some("2".to_owned()), ..bench.place.clone() };
    assert_eq!(Driver::of(&moved).unwrap().look().is_there, Some(false));
    // Text goes to the window by its id, whichever has the focus.
    bench.driver.type_in("here").unwrap();
    wait_caught(&bench.env, &pasted("here"));
    assert_eq!(fs::read_to_string(other).unwrap(), "");
    bench.kitty(&["close-window", "--match", "id:1"]).ok();
    wait::until("its end", wait::PATIENCE, || (bench.driver.look().is_there == Some(false)).then_some(()));
    assert_eq!(bench.driver.type_in("lost"), Err(DriverError::Moved));
}
