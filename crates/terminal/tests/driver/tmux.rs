//! Real tmux on a private socket.

use crate::bench::{HOSTILE, caught_in, env, pasted, place_of, wait_caught};
use std::fs;
use towline_core::seat::{SeatKind, SeatLocation};
use towline_terminal::driver::{Driver, DriverError, LONGEST, NoDriver};
use towline_testkit::{Pane, TestEnv, Tmux, wait};

struct TmuxBench {
    env: TestEnv,
    tmux: Tmux,
    pane: Pane,
    place: SeatLocation,
    driver: Driver,
}

fn bench() -> TmuxBench {
    let env = env();
    let tmux = Tmux::start(&env);
    let pane = tmux.open(&["catcher", caught_in(&env).to_str().unwrap()], &[]);
    pane.wait_screen("ready");
    let place = place_of(pane.program_pid());
    let driver = Driver::of(&place).unwrap();
    TmuxBench { env, tmux, pane, place, driver }
}

#[test]
fn a_pane_is_seen_with_all_that_matters() {
    let bench = bench();
    assert_eq!(bench.place.kind, SeatKind::Tmux);
    let all = bench.driver.abilities();
    assert!(all.identity && all.foreground && all.screen && all.mode && all.activity);
    let look = bench.driver.look();
    assert_eq!((look.is_there, look.in_mode), (Some(true), Some(false)));
    assert_eq!(look.foreground, Some(bench.place.pid));
    // No client is attached, so no key was typed.
    assert_eq!(look.last_key_at.unwrap().0, 0);
    let screen = look.screen.unwrap();
    assert!(screen.starts_with("\u{1b}[2mready\u{1b}[0m"), "{screen:?}");
}

#[test]
fn every_byte_of_a_text_arrives_as_a_paste_and_nothing_else() {
    let bench = bench();
    let mut expected = String::new();
    for text in HOSTILE {
        bench.driver.type_in(text).unwrap();
        expected.push_str(&pasted(text));
        wait_caught(&bench.env, &expected);
    }
}

#[test]
fn a_text_of_the_full_length_arrives_whole() {
    let bench = bench();
    let text: String = "0123456789 abcdefghij\n".chars().cycle().take(LONGEST).collect();
    bench.driver.type_in(&text).unwrap();
    wait_caught(&bench.env, &pasted(&text));
}

#[test]
fn enter_is_a_step_of_its_own() {
    let bench = bench();
    bench.driver.type_in("text").unwrap();
    bench.driver.press_enter().unwrap();
    wait_caught(&bench.env, &format!("{}\r", pasted("text")));
    assert_eq!(bench.tmux.run(&["list-buffers"]), "");
}

#[test]
fn a_pane_that_is_synchronised_with_others_is_typed_into_alone() {
    let bench = bench();
    let other = bench.env.root().join("other");
    let words = ["split-window", "-P", "-F", "#{pane_id}", "-t", &bench.pane.id];
    let words = [&words[..], &["catcher", other.to_str().unwrap()]].concat();
    let id = bench.tmux.run(&words).trim().to_owned();
    wait::until("the other pane", wait::PATIENCE, || {
        bench.tmux.run(&["capture-pane", "-p", "-t", &id]).contains("ready").then_some(())
    });
    bench.tmux.run(&["set-option", "-w", "-t", &bench.pane.id, "synchronize-panes", "on"]);
    bench.driver.type_in("here").unwrap();
    bench.driver.press_enter().unwrap();
    wait_caught(&bench.env, &format!("{}\r", pasted("here")));
    assert_eq!(fs::read_to_string(other).unwrap(), "");
}

#[test]
fn a_respawned_pane_is_not_the_seat_any_more() {
    let bench = bench();
    let again = bench.env.root().join("again");
    let words = ["respawn-pane", "-k", "-t", &bench.pane.id, "catcher", again.to_str().unwrap()];
    bench.tmux.run(&words);
    wait::until("the new program", wait::PATIENCE, || again.exists().then_some(()));
    assert_eq!(bench.driver.look().is_there, Some(false));
    assert_eq!(bench.driver.type_in("lost"), Err(DriverError::Moved));
    assert_eq!(bench.driver.press_enter(), Err(DriverError::Moved));
    assert_eq!(fs::read_to_string(again).unwrap(), "");
}

#[test]
fn the_shell_that_is_left_after_the_agent_is_not_the_seat() {
    let bench = bench();
    bench.env.command("kill").arg(bench.place.pid.to_string()).status().unwrap();
    bench.pane.wait_end();
    assert_eq!(bench.driver.look().is_there, Some(false));
    assert_eq!(bench.driver.type_in("lost"), Err(DriverError::Moved));
}

#[test]
fn another_process_under_the_same_pane_id_is_not_the_seat() {
    let bench = bench();
    let other = bench.tmux.open(&["catcher", bench.env.root().join("other").to_str().unwrap()], &[]);
    other.wait_screen("ready");
    // As if tmux had been restarted and reused the pane ids.
    let moved = SeatLocation { pane: Some(other.id.clone()), ..bench.place.clone() };
    let driver = Driver::of(&moved).unwrap();
    assert_eq!(driver.look().is_there, Some(false));
    let refused = driver.type_in("lost").unwrap_err();
    assert_eq!(refused.to_string(), "tmux refused: the pane changed meanwhile");
    assert_eq!(fs::read_to_string(bench.env.root().join("other")).unwrap(), "");
    assert_eq!(bench.tmux.run(&["list-buffers"]), "");
}

#[test]
fn a_pane_that_moved_to_another_window_is_still_the_seat() {
    let bench = bench();
    bench.tmux.run(&["split-window", "-t", &bench.pane.id, "sleep", "60"]);
    bench.tmux.run(&["break-pane", "-d", "-s", &bench.pane.id]);
    assert_eq!(bench.driver.look().is_there, Some(true));
    bench.driver.type_in("found").unwrap();
    wait_caught(&bench.env, &pasted("found"));
}

#[test]
fn copy_mode_is_seen_and_typed_into_by_nobody() {
    let bench = bench();
    bench.tmux.run(&["copy-mode", "-t", &bench.pane.id]);
    assert_eq!(bench.driver.look().in_mode, Some(true));
    let refused = bench.driver.type_in("lost").unwrap_err();
    assert_eq!(refused.to_string(), "tmux refused: the pane changed meanwhile");
    bench.tmux.run(&["send-keys", "-t", &bench.pane.id, "-X", "cancel"]);
    assert_eq!(bench.driver.look().in_mode, Some(false));
    bench.driver.type_in("found").unwrap();
    wait_caught(&bench.env, &pasted("found"));
}

#[test]
fn a_pane_whose_input_is_off_takes_nothing() {
    let bench = bench();
    bench.tmux.run(&["select-pane", "-d", "-t", &bench.pane.id]);
    assert_eq!(bench.driver.look().in_mode, Some(true));
    assert!(bench.driver.type_in("lost").is_err());
}

#[test]
fn a_key_of_somebody_who_looks_at_the_pane_is_seen() {
    let bench = bench();
    let outside = Tmux::named(&bench.env, "outside");
    let watching = outside.attach_to(&bench.tmux);
    let shown = format!("{}\n", bench.pane.id);
    assert_eq!(bench.tmux.run(&["list-clients", "-F", "#{pane_id}"]), shown);
    let attached = bench.driver.look().last_key_at.unwrap();
    assert!(attached.0 > 0);
    let typed_later = || {
        watching.half_type("k");
        (bench.driver.look().last_key_at.unwrap() > attached).then_some(())
    };
    wait::until("a later key", wait::PATIENCE, typed_later);
    // A user who looks at another pane does not type into this one.
    let other = bench.tmux.open(&["sleep", "60"], &[]);
    bench.tmux.run(&["select-window", "-t", &other.id]);
    assert_eq!(bench.driver.look().last_key_at.unwrap().0, 0);
}

#[test]
fn another_program_in_front_of_the_agent_is_seen() {
    let bench = bench();
    let shell = bench.tmux.open(&["bash", "--norc", "-i"], &[]);
    shell.wait_screen_for("a prompt", |screen| screen.contains('$') || screen.contains('#'));
    let seat = place_of(shell.program_pid());
    let driver = Driver::of(&seat).unwrap();
    assert_eq!(driver.look().foreground, Some(seat.pid));
    shell.say("sleep 60");
    let in_front = || driver.look().foreground.filter(|front| *front != seat.pid);
    let front = wait::until("another group in front", wait::PATIENCE, in_front);
    assert!(bench.env.processes().iter().any(|process| process.pid == front));
}

#[test]
fn empty_long_and_control_texts_are_refused() {
    let bench = bench();
    let refused = |text: &str| bench.driver.type_in(text).unwrap_err();
    assert_eq!(refused(""), DriverError::Nothing);
    assert_eq!(refused(&"x".repeat(LONGEST + 1)), DriverError::TooLong);
    for key in ["\u{3}", "\u{1b}[201~", "a\rb", "\u{7f}", "\u{9b}"] {
        assert_eq!(refused(key), DriverError::ControlCharacter, "{key:?}");
    }
    assert_eq!(fs::read_to_string(caught_in(&bench.env)).unwrap(), "");
}

#[test]
fn a_server_that_is_gone_is_seen_as_nothing() {
    let bench = bench();
    bench.tmux.run(&["kill-server"]);
    // The programs end only after their server.
    let look = wait::until("the last program to end", wait::PATIENCE, || {
        Some(bench.driver.look()).filter(|look| look.foreground.is_none())
    });
    assert_ne!(look.is_there, Some(true));
    assert_eq!((look.screen, look.last_key_at), (None, None));
    assert!(bench.driver.type_in("lost").is_err());
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let bench = bench();
    let server = bench.pane.format("#{pid}");
    bench.env.command("kill").args(["-STOP", &server]).status().unwrap();
    let look = bench.driver.look();
    let typed = bench.driver.type_in("late");
    bench.env.command("kill").args(["-CONT", &server]).status().unwrap();
    assert_eq!((look.is_there, look.screen), (None, None));
    assert_eq!(typed, Err(DriverError::NoAnswer { program: "tmux" }));
}

#[test]
fn a_seat_that_nobody_can_type_into_says_why() {
    let bench = bench();
    let no_driver = |place: SeatLocation| Driver::of(&place).unwrap_err();
    let of = |kind| SeatLocation { kind, ..bench.place.clone() };
    assert_eq!(no_driver(of(SeatKind::Ide)), NoDriver::Editor);
    assert_eq!(no_driver(of(SeatKind::Terminal)), NoDriver::PlainTerminal);
    assert_eq!(no_driver(SeatLocation { pane: None, ..of(SeatKind::Tmux) }), NoDriver::NoPane);
    assert_eq!(no_driver(of(SeatKind::Kitty)), NoDriver::KittyRemoteControlOff);
    assert_eq!(no_driver(SeatLocation { started: 1, ..of(SeatKind::Screen) }), NoDriver::Left);
}

/// Waits until the second of the last key is over: tmux's times have whole seconds.
fn look_when_quiet(bench: &TmuxBench) {
    wait::until("the second to be over", wait::PATIENCE, || {
        let key = bench.driver.look().last_key_at.unwrap();
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
        (now > u128::try_from(key.0).unwrap()).then_some(())
    });
}

#[test]
fn a_key_between_the_look_and_the_text_or_enter_prevents_typing() {
    let bench = bench();
    let person = Tmux::named(&bench.env, "outside").attach_to(&bench.tmux);
    for (key, caught) in [("k", "k"), ("l", "kl")] {
        look_when_quiet(&bench);
        person.half_type(key);
        wait_caught(&bench.env, caught);
        let refused = if key == "k" { bench.driver.type_in("lost") } else { bench.driver.press_enter() };
        assert_eq!(refused.unwrap_err().to_string(), "tmux refused: somebody typed there meanwhile");
        assert_eq!(bench.tmux.run(&["list-buffers"]), "");
    }
    look_when_quiet(&bench);
    bench.driver.type_in("found").unwrap();
    wait_caught(&bench.env, &format!("kl{}", pasted("found")));
}

#[test]
fn a_key_in_another_window_keeps_nobody_from_typing() {
    let bench = bench();
    let elsewhere = bench.tmux.open(&["cat"], &[]);
    bench.tmux.run(&["select-window", "-t", &elsewhere.id]);
    let person = Tmux::named(&bench.env, "outside").attach_to(&bench.tmux);
    bench.driver.look();
    person.half_type("k");
    elsewhere.wait_screen("k");
    bench.driver.type_in("found").unwrap();
    wait_caught(&bench.env, &pasted("found"));
}

#[test]
fn another_program_that_comes_to_the_front_after_the_look_gets_nothing() {
    let bench = bench();
    let shell = bench.tmux.open(&["bash", "--norc", "-i"], &[]);
    shell.wait_screen_for("a prompt", |screen| screen.contains('$') || screen.contains('#'));
    let driver = Driver::of(&place_of(shell.program_pid())).unwrap();
    driver.look();
    shell.say("cat");
    shell.wait_format("#{pane_current_command}", "cat");
    let refused = driver.type_in("lost").unwrap_err();
    assert_eq!(refused.to_string(), "tmux refused: the pane changed meanwhile");
}
