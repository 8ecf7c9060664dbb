//! Something is open that would take the keys: a menu, a list, a dialog.

use crate::client::Menu;
use crate::desk::Desk;
use towline_core::typing::InputLine;
use towline_testkit::{Rule, Step, wait};

const IN_THE_WAY: [&str; 3] = [
    "something stands in the input line",
    "a dialog or a menu is open",
    "the agent's screen was not understood",
];

pub fn menus(desk: &Desk) {
    for menu in desk.client.menus() {
        open(desk, menu);
        desk.refuses(menu.name, &IN_THE_WAY);
        desk.refuses(menu.name, &IN_THE_WAY);
        leave(desk, menu);
    }
    desk.takes("all is well");
}

#[track_caller]
fn open(desk: &Desk, menu: &Menu) {
    let seat = &desk.seat;
    if !menu.typed.is_empty() {
        seat.pane.half_type(menu.typed);
        seat.wait_line_for(menu.typed, |line| *line != InputLine::Empty);
    }
    if menu.keys == ["Enter"] {
        seat.wait_held(menu.typed);
    }
    for key in menu.keys {
        seat.pane.keys(&[key]);
    }
    seat.pane.wait_screen(menu.shows);
    seat.wait_line_for(menu.name, |line| *line != InputLine::Empty);
}

/// A client ignores keys in the first moment of some of them.
#[track_caller]
fn leave(desk: &Desk, menu: &Menu) {
    let seat = &desk.seat;
    let is_left = || matches!(seat.line(), InputLine::Empty | InputLine::Holds { .. });
    wait::until_evident(&format!("the {} to be left", menu.name), wait::PATIENCE, || {
        if !is_left() {
            seat.pane.keys(menu.leave);
        }
        let is_left = wait::holds_within(std::time::Duration::from_millis(300), is_left);
        if is_left { Ok(()) } else { Err(seat.pane.screen()) }
    });
    seat.clear();
}

pub fn dialog(desk: &Desk) {
    let seat = &desk.seat;
    let (tool, question) = desk.client.asking();
    desk.model.add(Rule::when("ask me first").then(tool).then(Step::text("asked")));
    seat.pane.say("ask me first");
    seat.pane.wait_screen(question);
    seat.wait_line(&InputLine::Covered);
    wait::until("the session to be blocked", wait::PATIENCE, || {
        (desk.listed(seat)["state"] == "blocked").then_some(())
    });
    for _ in 0..4 {
        desk.refuses("permission dialog", &["the agent waits for an answer", "a turn runs"]);
    }
    seat.pane.answer(question, &["Escape"]);
    wait::until("the session to be interrupted", wait::PATIENCE, || {
        (desk.listed(seat)["state"] == "interrupted").then_some(())
    });
    seat.wait_line_for("after the dialog", |line| *line != InputLine::Covered && *line != InputLine::Busy);
    desk.refuses("interrupted by a person", &["the session is interrupted"]);
    assert!(!desk.env.project().join("never").exists());
    seat.clear();
    seat.pane.say("never mind");
    desk.wait_idle(seat);
}
