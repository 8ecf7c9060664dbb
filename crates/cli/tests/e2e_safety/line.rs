//! Something stands in the input line: typed by hand, pasted, or nothing but blanks.

use crate::desk::Desk;
use towline_core::typing::InputLine;

const STANDS_THERE: [&str; 1] = ["something stands in the input line"];

pub fn half_typed(desk: &Desk) {
    let seat = &desk.seat;
    for text in ["mine alone", "mine in ünïcödé 漢字 ·", "mine, and · too"] {
        seat.pane.half_type(text);
        seat.wait_held(text);
        desk.refuses("half typed", &STANDS_THERE);
        desk.refuses("half typed", &STANDS_THERE);
        seat.clear();
    }
    seat.pane.half_type("mine, gone back");
    seat.wait_held("mine, gone back");
    seat.pane.keys(&["Home"]);
    desk.refuses("half typed, cursor at the start", &STANDS_THERE);
    seat.clear();
    // What a person wants to have run is no less theirs.
    for text in ["!echo mine", "/mine"] {
        seat.pane.half_type(text);
        seat.wait_line_for(
            text,
            |line| matches!(line, InputLine::Holds { text: held } if held.ends_with("mine")),
        );
        desk.refuses("half typed command", &STANDS_THERE);
        seat.clear();
    }
    desk.takes("all is well");
}

pub fn pasted(desk: &Desk) {
    let seat = &desk.seat;
    let long: String = (0..40).map(|line| format!("mine, line {line} of a long paste\n")).collect();
    for text in ["mine, pasted", "mine, two\nlines of a paste", long.trim_end()] {
        seat.pane.paste(text);
        seat.wait_line_for("with a paste", |line| matches!(line, InputLine::Holds { .. }));
        desk.refuses("pasted", &STANDS_THERE);
        desk.refuses("pasted", &STANDS_THERE);
        seat.clear();
    }
    desk.takes("all is well");
}

/// They would be sent off with ours, and nobody sees them: least of all in a pane that nobody looks at.
pub fn blanks(desk: &Desk) {
    let seat = &desk.seat;
    seat.pane.half_type("   ");
    seat.wait_held("");
    desk.refuses("nothing but blanks", &STANDS_THERE);
    seat.clear();
    desk.tmux.run(&["set-option", "-g", "focus-events", "on"]);
    desk.tmux.run(&["select-pane", "-t", &desk.catcher.id]);
    let away = ["send-keys", "-t", &seat.pane.id, "-H", "1b", "5b", "4f"];
    desk.tmux.run(&away);
    seat.pane.half_type("   ");
    seat.wait_held("");
    desk.refuses("nothing but blanks, and nobody looks", &STANDS_THERE);
    desk.refuses("nothing but blanks, and nobody looks", &STANDS_THERE);
    seat.clear();
    desk.takes("nobody looks");
}
