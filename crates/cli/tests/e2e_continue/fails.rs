//! What goes wrong at each step, in each client: it stops, is told, types nothing more, and the handoff can be sent by hand.

use crate::client::{CLAUDE, CODEX, CODEX_DAEMON, Client};
use crate::desk::{ASKED, Desk, GO_ON, HANDOFF};
use serde_json::Value;

#[test]
fn a_pause_stops_it_and_the_handoff_is_sent_by_hand() {
    a_pause_stops_it(CLAUDE);
}

#[test]
fn a_pause_stops_it_and_the_handoff_is_sent_by_hand_in_codex() {
    a_pause_stops_it(CODEX);
}

fn a_pause_stops_it(client: Client) {
    let desk = Desk::set_up(client);
    let gate = desk.about_to_hand_over();
    desk.env.tow(&["pause"]).ok();
    gate.open();
    desk.check_failed("clear: typing is paused");
    desk.env.wait_states(&["completed"]);
    desk.env.tow(&["handoff", "send"]).ok().prints("paste this").prints("slate-4711");
    desk.env.tow(&["resume"]).ok();
    desk.check_sent_by_hand();
}

#[test]
fn a_clear_that_nothing_confirms_is_not_typed_again_and_nothing_behind_it() {
    let desk = Desk::with_hooks(CLAUDE, |_, hooks| {
        hooks.as_object_mut().unwrap().remove("SessionStart");
    });
    desk.set("typing.confirm_s", "2");
    desk.pane.say("paint the heron");
    desk.model.wait_prompt(ASKED);
    desk.check_failed("clear: it was typed, but nothing told");
    let clears = desk.typed().iter().filter(|intent| intent["purpose"] == "clear").count();
    assert_eq!(clears, 1);
}

#[test]
fn a_clear_that_nothing_confirms_is_not_typed_again_in_codex() {
    let desk = Desk::with_hooks(CODEX, |_, hooks| {
        hooks.as_object_mut().unwrap().remove("SessionStart");
    });
    desk.set("typing.confirm_s", "2");
    desk.pane.say("paint the heron");
    desk.model.wait_prompt(ASKED);
    let hop = desk.wait_hop("failed");
    assert!(hop["why"].as_str().unwrap().contains("clear: it was typed, but nothing told"), "{hop:#}");
    let mut purposes: Vec<Value> = desk.typed().iter().map(|intent| intent["purpose"].clone()).collect();
    purposes.sort_by_key(Value::to_string);
    assert_eq!(purposes, ["clear", "continue"]);
    desk.check_sent_by_hand();
}

#[test]
fn a_person_who_types_right_behind_the_clear_is_left_alone() {
    a_person_who_types_right_behind_the_clear(CLAUDE);
}

#[test]
fn a_person_who_types_right_behind_the_clear_is_left_alone_in_codex() {
    a_person_who_types_right_behind_the_clear(CODEX);
}

/// Two pastes are the text and Enter: behind the second, tmux itself types what a person would.
fn a_person_who_types_right_behind_the_clear(client: Client) {
    let desk = Desk::set_up(client);
    desk.set("typing.limit_s", "3");
    desk.set("typing.confirm_s", "3");
    let gate = desk.about_to_hand_over();
    // The first letter is lost to a client that draws itself anew.
    let person = format!("send-keys -t {} -l 'all mine alone'", desk.pane.id);
    let second = format!("set-hook -gu after-paste-buffer ; {person}");
    let first = format!("set-hook -g after-paste-buffer \"{second}\"");
    desk.tmux.run(&["set-hook", "-g", "after-paste-buffer", &first]);
    gate.open();
    // Something stands in it, or it does not hold what was typed: it depends on who was there first.
    let hop = desk.check_failed("the input line");
    assert!(hop["why"].as_str().unwrap().starts_with("continue:"), "{hop:#}");
    desk.pane.wait_screen("mine alone");
    assert!(!desk.model.saw("mine alone"));
    desk.env.tow(&["handoff", "show"]).ok().prints("The right wing, then its beak.");
}

#[test]
fn an_answer_that_is_no_handoff_stops_it() {
    an_answer_that_is_no_handoff(CLAUDE);
}

#[test]
fn an_answer_that_is_no_handoff_stops_it_in_codex() {
    an_answer_that_is_no_handoff(CODEX);
}

fn an_answer_that_is_no_handoff(client: Client) {
    let desk = Desk::set_up(client);
    desk.answers("I would rather go on painting.");
    desk.pane.say("paint the heron");
    let hop = desk.wait_hop("failed");
    assert_eq!((&hop["why"], &hop["text"]), (&"the answer holds no handoff".into(), &Value::Null));
    desk.pane.wait_screen("does not go on by itself");
    assert!(desk.typed().is_empty());
    desk.pane.say("something else");
    desk.model.wait_prompt("something else");
    desk.env.wait_states(&["completed"]);
    let typed = desk.typed();
    assert!(typed.is_empty(), "nothing is typed for what failed: {typed:?}");
}

#[test]
fn a_handoff_that_says_so_ends_the_row() {
    a_handoff_that_says_so(CLAUDE);
}

#[test]
fn a_handoff_that_says_so_ends_the_row_in_codex() {
    a_handoff_that_says_so(CODEX);
}

fn a_handoff_that_says_so(client: Client) {
    let desk = Desk::set_up(client);
    desk.answers(HANDOFF.replace("continue: true", "continue: false"));
    desk.pane.say("paint the heron");
    desk.wait_hop("stopped");
    desk.pane.wait_screen("continue: false");
    assert!(desk.typed().is_empty());
}

#[test]
fn a_person_who_types_in_between_is_left_alone() {
    a_person_who_types_in_between(CLAUDE);
}

#[test]
fn a_person_who_types_in_between_is_left_alone_in_codex() {
    a_person_who_types_in_between(CODEX);
}

fn a_person_who_types_in_between(client: Client) {
    let desk = Desk::set_up(client);
    desk.set("typing.limit_s", "2");
    let gate = desk.about_to_hand_over_beside_a_person();
    gate.open();
    desk.check_failed("something stands in the input line");
    assert!(desk.pane.screen().contains("mine alone") && !desk.model.saw("mine alone"));
    desk.pane.keys(&["C-u"]);
    desk.pane.wait_screen_for("an empty line", |screen| !screen.contains("mine alone"));
    desk.check_sent_by_hand();
}

#[test]
fn a_client_that_is_killed_before_it_hands_over_is_told_of() {
    a_client_that_is_killed_before_it_hands_over(CLAUDE);
}

#[test]
fn a_client_that_is_killed_before_it_hands_over_is_told_of_in_codex() {
    a_client_that_is_killed_before_it_hands_over(CODEX);
}

#[test]
fn a_client_that_is_killed_before_it_hands_over_is_told_of_in_codex_behind_its_daemon() {
    a_client_that_is_killed_before_it_hands_over(CODEX_DAEMON);
}

fn a_client_that_is_killed_before_it_hands_over(client: Client) {
    let desk = Desk::set_up(client);
    let _gate = desk.about_to_hand_over();
    desk.kill_client();
    let hop = desk.wait_hop("failed");
    assert_eq!(hop["why"], "its session ended before anything was typed");
    desk.env.tow(&["status"]).ok().prints("does not go on by itself");
    assert!(desk.typed().is_empty());
}

#[test]
fn a_client_that_is_killed_while_it_is_to_be_cleared_is_told_of() {
    a_client_that_is_killed_while_it_is_to_be_cleared(CLAUDE);
}

#[test]
fn a_client_that_is_killed_while_it_is_to_be_cleared_is_told_of_in_codex() {
    a_client_that_is_killed_while_it_is_to_be_cleared(CODEX);
}

fn a_client_that_is_killed_while_it_is_to_be_cleared(client: Client) {
    let desk = Desk::set_up(client);
    let gate = desk.about_to_hand_over_beside_a_person();
    gate.open();
    desk.wait_hop("clearing");
    desk.kill_client();
    desk.check_failed("clear:");
    desk.env.tow(&["handoff", "show"]).ok().prints("The right wing, then its beak.");
}

#[test]
fn a_tmux_server_that_is_killed_takes_nothing_with_it() {
    a_tmux_server_that_is_killed(CLAUDE);
}

#[test]
fn a_tmux_server_that_is_killed_takes_nothing_with_it_in_codex() {
    a_tmux_server_that_is_killed(CODEX);
}

fn a_tmux_server_that_is_killed(client: Client) {
    let desk = Desk::set_up(client);
    let gate = desk.about_to_hand_over_beside_a_person();
    gate.open();
    desk.wait_state_of_hop("clearing");
    desk.tmux.run(&["kill-server"]);
    desk.wait_state_of_hop("failed");
    desk.env.tow(&["handoff", "show"]).ok().prints("The right wing, then its beak.");
    assert!(!desk.model.saw(GO_ON));
}
