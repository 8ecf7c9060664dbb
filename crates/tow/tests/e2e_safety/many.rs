//! More than one seat: two clients in one project, two panes behind one daemon, and sessions that a person left by hand.

use crate::client::Client;
use crate::desk::{Desk, Seat};
use towline_core::typing::InputLine;

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
    desk.wait_idle(&seat);
    seat
}

/// A person begins anew by hand. A client that tells of it only with the next prompt still shows it.
pub fn left_by_hand(desk: &Desk) {
    let Client::Codex(_) = desk.client else { return };
    for command in ["/new", "/clear"] {
        desk.seat.pane.say(command);
        desk.seat.pane.wait_screen_for("a new session", |screen| !screen.contains("echo: "));
        desk.seat.wait_line(&InputLine::Empty);
        for _ in 0..4 {
            desk.refuses(&format!("a new session by {command}"), &["X"]);
        }
        desk.seat.pane.say("begin anew");
        desk.wait_idle(&desk.seat);
        desk.takes("all is well");
    }
}
