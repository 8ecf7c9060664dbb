//! Real GNU screen with its sockets in a private folder.

use crate::bench::{HOSTILE, caught_in, env, pasted, place_of, wait_caught};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use towline_core::seat::{SeatKind, SeatLocation};
use towline_terminal::driver::{Driver, DriverError, LONGEST};
use towline_testkit::{Run, TestEnv, Tmux, wait};

struct ScreenBench {
    env: TestEnv,
    place: SeatLocation,
    driver: Driver,
}

impl ScreenBench {
    #[track_caller]
    fn screen(&self, words: &[&str]) {
        Run::of(self.env.command("screen").args(["-S", self.session()]).args(words), b"").ok();
    }

    fn session(&self) -> &str {
        self.place.server.as_deref().unwrap()
    }
}

impl Drop for ScreenBench {
    fn drop(&mut self) {
        let _ = self.env.command("screen").args(["-S", self.session(), "-X", "quit"]).output();
    }
}

fn bench() -> ScreenBench {
    let env = env();
    let sockets = env.root().join("screens");
    fs::create_dir(&sockets).unwrap();
    fs::set_permissions(&sockets, fs::Permissions::from_mode(0o700)).unwrap();
    env.set("SCREENDIR", sockets.display().to_string());
    let caught = caught_in(&env);
    let words = ["-U", "-dmS", "work", "catcher", caught.to_str().unwrap()];
    Run::of(env.command("screen").args(words), b"").ok();
    let catcher = wait::until("the program in screen", wait::PATIENCE, || {
        let all = env.processes();
        // It becomes `cat` once it has set up its terminal.
        caught
            .exists()
            .then(|| all.iter().find(|process| process.command.trim() == "cat").map(|it| it.pid))?
    });
    let place = place_of(catcher);
    let driver = Driver::of(&place).unwrap();
    ScreenBench { env, place, driver }
}

#[test]
fn a_window_is_seen_as_far_as_it_can_be() {
    let bench = bench();
    assert_eq!((bench.place.kind, bench.place.pane.as_deref()), (SeatKind::Screen, Some("0")));
    let able = bench.driver.abilities();
    assert!(able.identity && able.foreground && able.activity && !able.screen && !able.mode);
    let look = bench.driver.look();
    assert_eq!((look.is_there, look.foreground), (Some(true), Some(bench.place.pid)));
    assert_eq!((look.screen, look.in_mode), (None, None));
    assert!(look.last_key_at.is_some());
}

#[test]
fn every_byte_of_a_text_arrives_as_a_paste_and_nothing_is_left_behind() {
    let bench = bench();
    let mut expected = String::new();
    for text in HOSTILE {
        bench.driver.type_in(text).unwrap();
        expected.push_str(&pasted(text));
        wait_caught(&bench.env, &expected);
    }
    bench.driver.press_enter().unwrap();
    wait_caught(&bench.env, &format!("{expected}\r"));
    assert_eq!(fs::read_dir(bench.env.root().join("tmp")).unwrap().count(), 0);
}

#[test]
fn a_text_of_the_full_length_arrives_whole() {
    let bench = bench();
    let text: String = "0123456789 abcdefghij\n".chars().cycle().take(LONGEST).collect();
    bench.driver.type_in(&text).unwrap();
    wait_caught(&bench.env, &pasted(&text));
}

/// screen shows the answers to queries to attached users.
#[test]
fn attached_users_see_nothing_but_the_program() {
    let bench = bench();
    let tmux = Tmux::start(&bench.env);
    let looker = tmux.open(&["screen", "-U", "-x", bench.session()], &[]);
    looker.wait_screen("ready now");
    assert_eq!(bench.driver.look().is_there, Some(true));
    bench.driver.type_in("text").unwrap();
    bench.driver.press_enter().unwrap();
    wait_caught(&bench.env, &format!("{}\r", pasted("text")));
    assert_eq!(looker.screen().trim(), "ready now");
}

#[test]
fn what_comes_in_from_the_terminal_is_seen_as_activity() {
    let bench = bench();
    let before = bench.driver.look().last_key_at.unwrap();
    wait::until("a later key", wait::PATIENCE, || {
        bench.screen(&["-p", "0", "-X", "stuff", "k"]);
        (bench.driver.look().last_key_at.unwrap() > before).then_some(())
    });
}

#[test]
fn with_a_second_window_the_seat_is_uncertain() {
    let bench = bench();
    bench.screen(&["-X", "screen", "catcher", bench.env.root().join("other").to_str().unwrap()]);
    wait::until("the second window", wait::PATIENCE, || bench.driver.look().is_there.is_none().then_some(()));
}

#[test]
fn a_window_with_another_number_is_not_typed_into() {
    let bench = bench();
    bench.screen(&["-p", "0", "-X", "number", "5"]);
    wait::until("the new number", wait::PATIENCE, || {
        (bench.driver.look().is_there == Some(false)).then_some(())
    });
    let refused = bench.driver.type_in("lost").unwrap_err();
    assert_eq!(refused.to_string(), "screen refused: Could not find pre-select window.");
    assert_eq!(fs::read_to_string(caught_in(&bench.env)).unwrap(), "");
}

#[test]
fn a_window_whose_program_has_ended_is_not_typed_into() {
    let bench = bench();
    bench.env.command("kill").arg(bench.place.pid.to_string()).status().unwrap();
    wait::until("its end", wait::PATIENCE, || (bench.driver.look().is_there != Some(true)).then_some(()));
    assert_eq!(bench.driver.type_in("lost"), Err(DriverError::Moved));
}
