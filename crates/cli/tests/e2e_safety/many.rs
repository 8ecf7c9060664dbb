//! More than one seat: two clients in one project, two panes behind one daemon, and sessions that a person left by hand.

use crate::client::Client;
use crate::desk::{Desk, Seat};
use towline_core::typing::InputLine;
use towline_testkit::Daemon;

/// Each gets what is meant for it, in whichever order, and nothing of the other's.
pub fn two_seats(desk: &Desk) {
    let second = another(desk);
    for _ in 0..3 {
        desk.takes_in(&second, "two seats: the second");
        second.wait_line(&InputLine::Empty);
        desk.takes_in(&desk.seat, "two seats: the first");
    }
    second.pane.half_type("mine, in the second");
    second.wait_held("mine, in the second");
    desk.takes_in(&desk.seat, "half-typed text in the other seat");
    desk.takes_in(&desk.seat, "half-typed text in the other seat");
    second.wait_held("mine, in the second");
    desk.seat.pane.half_type("mine, in the first");
    desk.seat.wait_held("mine, in the first");
    second.clear();
    for _ in 0..3 {
        desk.refuses("the other seat is free", &["something stands in the input line"]);
    }
    assert_eq!(second.line(), InputLine::Empty);
    desk.tmux.run(&["swap-pane", "-d", "-s", &second.pane.id, "-t", &desk.seat.pane.id]);
    second.wait_line(&InputLine::Empty);
    for _ in 0..2 {
        desk.refuses("the two are swapped", &["something stands in the input line"]);
        desk.takes_in(&second, "the two are swapped");
    }
    desk.seat.wait_held("mine, in the first");
    desk.seat.clear();
    second.pane.close();
    desk.takes_in(&desk.seat, "the other seat is gone");
}

#[track_caller]
fn another(desk: &Desk) -> Seat {
    let pane = desk.client.open(&desk.tmux, &desk.model);
    let seat = Seat::of(desk.client, &pane);
    seat.wait_line(&InputLine::Empty);
    pane.say("begin here too");
    desk.wait_prompted(&seat, "begin here too");
    seat
}

const OTHER_SESSION: [&str; 1] = ["the agent shows another session there"];

/// A person begins anew by hand. A client that tells of it only with the next prompt still shows it.
pub fn begun_anew_by_hand(desk: &Desk) {
    let Client::Codex(_) = desk.client else { return };
    let seat = &desk.seat;
    for command in ["/clear", "/new"] {
        seat.pane.say(command);
        if command == "/new" {
            seat.pane.answer("Where should the new conversation run?", &["Enter"]);
        }
        seat.pane.wait_screen_for("a new session", |screen| !screen.contains("echo: "));
        seat.wait_line(&InputLine::Empty);
        for _ in 0..4 {
            desk.refuses(&format!("begun anew by {command}"), &OTHER_SESSION);
        }
        let prompt = format!("begin anew after {command}");
        seat.pane.say(&prompt);
        desk.wait_prompted(seat, &prompt);
        desk.takes("all is well");
    }
}

/// A person turns to another session in the same pane, such as that of the other pane: behind the daemon, the client lists
/// all of them.
pub fn turned_to_another(desk: &Desk) {
    let Client::Codex(Daemon::On) = desk.client else { return };
    let second = another(desk);
    let seat = &desk.seat;
    let own = format!("› {}", desk.listed(seat)["prompt"].as_str().unwrap());
    seat.pane.wait_screen(&own);
    // All sessions have the same title: one after the other, until it is another one.
    for down in 0..8 {
        seat.pane.keys(&["Left"]);
        seat.wait_line_for("behind the list of sessions", |line| *line != InputLine::Empty);
        if down < 2 {
            let why = ["a dialog or a menu is open", "the agent's screen was not understood"];
            desk.refuses("list of sessions", &why);
        }
        (0..down).for_each(|_| seat.pane.keys(&["Down"]));
        seat.pane.keys(&["Enter"]);
        seat.wait_line(&InputLine::Empty);
        if !seat.pane.screen().contains(&own) {
            break;
        }
    }
    assert!(!seat.pane.screen().contains(&own), "no other session is shown");
    for _ in 0..4 {
        desk.refuses("turned to another session", &OTHER_SESSION);
    }
    second.wait_line(&InputLine::Empty);
}
