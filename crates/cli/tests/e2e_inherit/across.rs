//! Work that goes from one agent to the other by a baton.

use crate::desk::{Client, Desk, given_once, holds_all};
use towline_testkit::{Claude, Daemon};

#[test]
fn the_baton_goes_from_2_1_197_to_codex_and_back() {
    there_and_back(Client::Claude(Claude::V2_1_197), Client::Codex(Daemon::Off));
}

#[test]
fn the_baton_goes_from_2_1_325_to_codex_and_back() {
    there_and_back(Client::Claude(Claude::V2_1_325), Client::Codex(Daemon::Off));
}

#[test]
fn the_baton_goes_from_codex_behind_its_daemon_to_claude_code_and_back() {
    there_and_back(Client::Codex(Daemon::On), Client::Claude(Claude::V2_1_325));
}

fn there_and_back(one: Client, other: Client) {
    let desk = Desk::with(&[one, other]);
    let seat = desk.sit(one);
    seat.work_on("mast");
    seat.own_command("");
    let heir = desk.sit(other);
    let text = given_once(&heir.ask("what was I doing?", [], "painting: yes"));
    let header = format!("from session {}:", one.agent());
    holds_all(&text, &[&header, "(it passed the baton)", ":\nnow paint the mast\n", "looked at mast: fine"]);
    assert!(!text.contains("noted "), "passing it on is not the work: {text}");
    heir.own_command("");
    let back = given_once(&desk.sit(one).ask("here again", [], "welcome: back"));
    let header = format!("from session {}:", other.agent());
    holds_all(&back, &[&header, "what was I doing?", "painting: yes"]);
    // The session before that one is of the other agent, and still part of the work.
    let opening = "\nfirst measure the mast\n";
    holds_all(
        &back,
        &["The first directive of this work (", opening, "last directive: “now paint the mast”"],
    );
    assert!(!back.contains("noted "), "passing it on is not the work: {back}");
    assert_eq!(desk.ways(), ["baton", "baton"]);
}
