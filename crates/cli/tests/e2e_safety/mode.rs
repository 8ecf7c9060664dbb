//! tmux itself is in the way, or the pane is not where it was, or nobody looks at it.

use crate::desk::Desk;
use towline_core::typing::InputLine;
use towline_testkit::Tmux;

const IN_MODE: [&str; 1] = ["the pane is in a mode of the terminal program, such as copy mode"];

pub fn modes_of_tmux(desk: &Desk) {
    let id = desk.seat.pane.id.as_str();
    let outside = Tmux::named(&desk.env, "outside");
    let person = outside.attach_to(&desk.tmux);
    for (name, words) in [
        ("copy mode", &["copy-mode"][..]),
        ("copy mode, scrolled up", &["copy-mode", "-u"]),
        ("clock", &["clock-mode"]),
        ("choosing among windows", &["choose-tree"]),
    ] {
        desk.tmux.run(&[words, &["-t", id]].concat());
        desk.seat.pane.wait_format("#{pane_in_mode}", "1");
        // Leaving the mode before may make the client draw its screen again.
        desk.seat.wait_line(&InputLine::Empty);
        desk.refuses(name, &IN_MODE);
        desk.refuses(name, &IN_MODE);
        desk.tmux.run(&["copy-mode", "-q", "-t", id]);
        desk.seat.pane.wait_format("#{pane_in_mode}", "0");
    }
    desk.tmux.run(&["select-pane", "-d", "-t", id]);
    desk.refuses("input turned off", &IN_MODE);
    desk.tmux.run(&["select-pane", "-e", "-t", id]);
    person.keys(&["C-b", "d"]);
    person.wait_end();
    desk.takes("all is well");
}

/// The pane is the seat wherever it is shown, and nobody gets anything in its place.
pub fn moved(desk: &Desk) {
    let (id, other) = (desk.seat.pane.id.as_str(), desk.catcher.id.as_str());
    let moves: [(&str, Vec<&str>); 4] = [
        ("swapped with its neighbour", vec!["swap-pane", "-d", "-s", id, "-t", other]),
        ("in a window of its own", vec!["break-pane", "-d", "-s", id]),
        ("swapped with a shell", vec!["swap-pane", "-d", "-s", id, "-t", &desk.shell.id]),
        ("in the shell's window", vec!["join-pane", "-d", "-s", id, "-t", other]),
    ];
    desk.tmux.run(&["resize-pane", "-t", id, "-y", "2"]);
    desk.seat.wait_line(&InputLine::Unknown);
    desk.refuses("too low to be seen", &["the agent's screen was not understood"]);
    for (name, words) in moves {
        desk.tmux.run(&words);
        desk.tmux.run(&["resize-pane", "-t", id, "-y", "30"]);
        desk.seat.wait_line(&InputLine::Empty);
        desk.takes(&format!("moved: {name}"));
    }
    desk.seat.pane.half_type("mine, moved");
    desk.seat.wait_held("mine, moved");
    desk.tmux.run(&["swap-pane", "-d", "-s", id, "-t", other]);
    desk.tmux.run(&["resize-pane", "-t", id, "-y", "30"]);
    desk.seat.wait_held("mine, moved");
    desk.refuses("moved with half-typed text", &["something stands in the input line"]);
    desk.seat.clear();
}

/// Another pane is the active one, keys go to all panes at once, somebody works elsewhere.
pub fn looked_at_by_nobody(desk: &Desk) {
    let id = desk.seat.pane.id.as_str();
    desk.tmux.run(&["select-pane", "-t", &desk.catcher.id]);
    desk.takes("another pane is active");
    desk.tmux.run(&["set-option", "-w", "-t", id, "synchronize-panes", "on"]);
    desk.takes("panes are synchronised");
    desk.takes("panes are synchronised");
    desk.tmux.run(&["set-option", "-w", "-t", id, "synchronize-panes", "off"]);
    desk.tmux.run(&["set-option", "-g", "focus-events", "on"]);
    let outside = Tmux::named(&desk.env, "outside");
    let elsewhere = desk.tmux.open(&["cat"], &[]);
    desk.tmux.run(&["select-window", "-t", &elsewhere.id]);
    let person = outside.attach_to(&desk.tmux);
    for word in ["mine", "elsewhere"] {
        person.half_type(word);
        elsewhere.wait_screen(word);
        desk.takes("somebody types into another window");
    }
    assert_eq!(elsewhere.screen(), "mineelsewhere");
    person.keys(&["C-b", "d"]);
    person.wait_end();
}
