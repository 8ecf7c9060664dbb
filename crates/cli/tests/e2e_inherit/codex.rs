//! Codex, with its daemon and without.

use crate::desk::Client;
use crate::{kept, long, scenes};
use towline_testkit::Daemon;

const ALONE: Client = Client::Codex(Daemon::Off);
/// Its hooks know the environment of whoever started it, and it outlives the client that is killed.
const DAEMON: Client = Client::Codex(Daemon::On);

#[test]
fn tl_12_what_was_done_before_a_clear_reaches_the_model_with_the_next_prompt_once_in_codex() {
    scenes::cleared(ALONE);
}

#[test]
fn tl_12_what_was_done_before_a_clear_reaches_the_model_with_the_next_prompt_once_behind_the_daemon() {
    scenes::cleared(DAEMON);
}

#[test]
fn the_next_open_item_of_a_to_do_list_is_in_the_first_request_after_a_clear_in_codex() {
    scenes::cleared_within_a_list(ALONE);
}

#[test]
fn a_private_turn_is_neither_kept_nor_given_to_the_next_session_in_codex() {
    scenes::private(ALONE);
}

#[test]
fn two_panes_of_one_project_that_are_cleared_each_go_on_with_their_own_in_codex() {
    scenes::two_seats(ALONE);
}

#[test]
fn two_panes_of_one_project_that_are_cleared_each_go_on_with_their_own_behind_the_daemon() {
    scenes::two_seats(DAEMON);
}

#[test]
fn tl_16_a_start_that_nobody_asks_anything_of_takes_nothing_in_codex() {
    scenes::ghosts(ALONE);
}

#[test]
fn tl_16_a_start_that_nobody_asks_anything_of_takes_nothing_behind_the_daemon() {
    scenes::ghosts(DAEMON);
}

#[test]
fn a_wish_for_a_fresh_start_gives_the_model_nothing_in_codex() {
    scenes::afresh(ALONE);
}

#[test]
fn a_wish_for_a_fresh_start_gives_the_model_nothing_behind_the_daemon() {
    scenes::afresh(DAEMON);
}

#[test]
fn tl_10_a_baton_is_of_no_use_after_an_hour_in_codex() {
    scenes::too_late(ALONE);
}

#[test]
fn tl_9_what_a_compaction_took_away_is_offered_back_in_codex() {
    scenes::compacted(ALONE);
}

#[test]
fn of_an_excluded_project_nothing_is_given_and_nothing_kept_in_codex() {
    scenes::excluded(ALONE);
}

#[test]
fn tl_7_every_turn_is_captured_once_also_when_the_client_was_killed_in_one_in_codex() {
    kept::captured(ALONE);
}

#[test]
fn a_helpers_work_is_captured_with_the_turn_that_sent_for_it_in_codex() {
    kept::helped(ALONE);
}

#[test]
fn tl_14_of_five_hundred_turns_the_client_cuts_nothing_in_codex() {
    long::five_hundred_turns(ALONE);
}

#[test]
fn a_prompt_that_was_interrupted_before_a_clear_is_where_the_work_stood_in_codex() {
    scenes::interrupted(ALONE);
}

#[test]
fn after_fifty_turns_each_has_a_line_and_a_thank_you_hides_none_of_them_in_codex() {
    long::fifty_turns_and_a_thank_you(ALONE);
}

#[test]
fn a_session_that_is_live_in_another_pane_is_nobodys_to_go_on_with_in_codex() {
    scenes::live_elsewhere(ALONE);
}

#[test]
fn a_prompt_that_got_no_context_in_time_says_so_on_the_screen_and_the_next_carries_it_in_codex() {
    scenes::late(ALONE);
}
