//! The board, and what is heard while the page is open.

use crate::desk::{Desk, Hand, bare};
use crate::sitter::Sitter;
use std::fs;
use std::time::UNIX_EPOCH;
use towline_testkit::{Tmux, wait};

/// A loaded machine is slow, not wrong. What it takes is printed.
const MOST_MS: f64 = 10_000.0;

/// Resolves with the time at which the page first met the condition, by the page's own clock.
fn noted_when(condition: &str) -> String {
    format!(
        "window.noted = new Promise((done) => {{
            const look = () => ({condition}) && (seen.disconnect(), done(Date.now()));
            const seen = new MutationObserver(look);
            seen.observe(document.body, {{childList: true, subtree: true, characterData: true}});
        }}); undefined"
    )
}

#[test]
fn a_hook_shows_on_the_board_at_once() {
    let env = bare();
    let tmux = Tmux::start(&env);
    let sitter = Sitter::sit(&tmux, "session-1");
    sitter.prompt("Paint the mast");
    let desk = Desk::around(env, Hand::Writes);
    desk.browser.wait_text("Paint the mast");
    desk.browser.wait_for("the stream", "document.getElementById('line').dataset.state === 'live'");
    desk.browser
        .wait_for("one at work", "document.querySelectorAll('.seat[data-state=working]').length === 1");

    desk.browser.eval(&noted_when("document.querySelector('.seat[data-state=blocked]')"));
    sitter.ask("Bash");
    let ended = fs::metadata(desk.env.root().join("sitter-session-1/3.done")).unwrap().modified().unwrap();
    let ended = ended.duration_since(UNIX_EPOCH).unwrap().as_secs_f64() * 1000.0;
    let late = desk.browser.eval("window.noted").as_f64().unwrap() - ended;
    assert!(late < MOST_MS, "{late} ms");
    println!("a permission was on the board {late:.0} ms after its hook had ended");
    desk.browser.wait_text("wants Bash");
    desk.browser.wait_text("1 blocked");
    desk.browser.wait_for("the title", "document.title.startsWith('(1) ')");
    sitter.stop();
    desk.browser.wait_text("1 completed");
    desk.was_well_behaved();
}

#[test]
fn timers_go_on_and_a_seat_can_be_gone_to() {
    let env = bare();
    let tmux = Tmux::start(&env);
    let [first, second] = ["session-1", "session-2"].map(|name| Sitter::sit(&tmux, name));
    first.prompt("Paint the mast");
    second.prompt("Mend the sail");
    let desk = Desk::around(env, Hand::Writes);
    desk.browser.wait_text("Mend the sail");
    let timer = "document.querySelector('.seat .timer').textContent";
    let before = desk.browser.eval(timer);
    desk.browser.wait_for("the timer to go on", &format!("{timer} !== {before}"));
    desk.picture("board");

    desk.browser.press("j");
    desk.browser.wait_for("a seat to be chosen", "document.activeElement.matches('.seat')");
    desk.browser.press("Enter");
    desk.browser.wait_for("its session", "location.hash.startsWith('#/session/')");
    // These agents write no transcript: the server says that it knows nothing of the session, and so does the page.
    desk.browser
        .wait_for("the refusal", "!!document.querySelector('main [role=alert], main .fault, main .empty')");
}

#[test]
fn what_is_remembered_elsewhere_appears_by_itself() {
    let desk = Desk::new(Hand::Reads);
    desk.open("memories");
    desk.browser.wait_text("blue pipeline");
    desk.env.tow(&["remember", "The harbour closes at ten"]).ok();
    desk.browser.wait_text("The harbour closes at ten");
    desk.was_well_behaved();
}

#[test]
fn a_server_that_ended_is_said_never_hidden() {
    let mut desk = Desk::new(Hand::Reads);
    desk.stop_server();
    desk.browser
        .wait_for("the line to be down", "document.getElementById('line').dataset.state === 'waiting'");
    for key in ["g", "p"] {
        desk.browser.press(key);
    }
    desk.browser.wait_text("the server does not answer");
    desk.browser.wait_text("tow open");
    wait::until("the button", wait::PATIENCE, || {
        (desk.browser.eval("!!document.querySelector('.fault button')") == true).then_some(())
    });
}
