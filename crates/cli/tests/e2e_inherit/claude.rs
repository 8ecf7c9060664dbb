//! Claude Code, both pinned versions.

use crate::desk::Client;
use crate::{kept, long, scenes};
use towline_testkit::Claude;

const OLDER: Client = Client::Claude(Claude::V2_1_197);
const NEWER: Client = Client::Claude(Claude::V2_1_325);

#[test]
fn tl_12_what_was_done_before_a_clear_reaches_the_model_with_the_next_prompt_once_in_2_1_197() {
    scenes::cleared(OLDER);
}

#[test]
fn tl_12_what_was_done_before_a_clear_reaches_the_model_with_the_next_prompt_once_in_2_1_325() {
    scenes::cleared(NEWER);
}

#[test]
fn tl_12_what_was_done_before_a_clear_reaches_an_older_model_too() {
    scenes::cleared_with_an_older_model(NEWER);
}

#[test]
fn the_next_open_item_of_a_to_do_list_is_in_the_first_request_after_a_clear_in_2_1_197() {
    scenes::cleared_within_a_list(OLDER);
}

#[test]
fn the_next_open_item_of_a_to_do_list_is_in_the_first_request_after_a_clear_in_2_1_325() {
    scenes::cleared_within_a_list_with_an_older_model(NEWER);
}

#[test]
fn a_private_turn_is_neither_kept_nor_given_to_the_next_session_in_2_1_325() {
    scenes::private(NEWER);
}

#[test]
fn two_panes_of_one_project_that_are_cleared_each_go_on_with_their_own_in_2_1_197() {
    scenes::two_seats(OLDER);
}

#[test]
fn two_panes_of_one_project_that_are_cleared_each_go_on_with_their_own_in_2_1_325() {
    scenes::two_seats(NEWER);
}

#[test]
fn tl_16_a_start_that_nobody_asks_anything_of_takes_nothing_in_2_1_197() {
    scenes::ghosts(OLDER);
}

#[test]
fn one_session_in_two_panes_goes_on_in_each_with_what_that_pane_showed_in_2_1_325() {
    scenes::resumed_twice(NEWER);
}

#[test]
fn tl_16_a_start_that_nobody_asks_anything_of_takes_nothing_in_2_1_325() {
    scenes::ghosts(NEWER);
}

#[test]
fn a_wish_for_a_fresh_start_gives_the_model_nothing_in_2_1_197() {
    scenes::afresh(OLDER);
}

#[test]
fn a_wish_for_a_fresh_start_gives_the_model_nothing_in_2_1_325() {
    scenes::afresh(NEWER);
}

#[test]
fn tl_10_a_baton_is_of_no_use_after_an_hour_in_2_1_197() {
    scenes::too_late(OLDER);
}

#[test]
fn tl_10_a_baton_is_of_no_use_after_an_hour_in_2_1_325() {
    scenes::too_late(NEWER);
}

#[test]
fn tl_9_what_a_compaction_took_away_is_offered_back_in_2_1_197() {
    scenes::compacted(OLDER);
}

#[test]
fn tl_9_what_a_compaction_took_away_is_offered_back_in_2_1_325() {
    scenes::compacted(NEWER);
}

#[test]
fn of_an_excluded_project_nothing_is_given_and_nothing_kept_in_2_1_197() {
    scenes::excluded(OLDER);
}

#[test]
fn of_an_excluded_project_nothing_is_given_and_nothing_kept_in_2_1_325() {
    scenes::excluded(NEWER);
}

#[test]
fn tl_7_every_turn_is_captured_once_also_when_the_client_was_killed_in_one_in_2_1_197() {
    kept::captured(OLDER);
}

#[test]
fn tl_7_every_turn_is_captured_once_also_when_the_client_was_killed_in_one_in_2_1_325() {
    kept::captured(NEWER);
}

#[test]
fn a_helpers_work_is_captured_with_the_turn_that_sent_for_it_in_2_1_197() {
    kept::helped(OLDER);
}

#[test]
fn a_helpers_work_is_captured_with_the_turn_that_sent_for_it_in_2_1_325() {
    kept::helped(NEWER);
}

#[test]
fn tl_14_of_five_hundred_turns_the_client_cuts_nothing_in_2_1_197() {
    long::five_hundred_turns(OLDER);
}

#[test]
fn tl_14_of_five_hundred_turns_the_client_cuts_nothing_in_2_1_325() {
    long::five_hundred_turns(NEWER);
}

#[test]
fn a_prompt_that_was_interrupted_before_a_clear_is_where_the_work_stood_in_2_1_197() {
    scenes::interrupted(OLDER);
}

#[test]
fn a_prompt_that_was_interrupted_before_a_clear_is_where_the_work_stood_in_2_1_325() {
    scenes::interrupted(NEWER);
}

#[test]
fn after_fifty_turns_each_has_a_line_and_a_thank_you_hides_none_of_them_in_2_1_325() {
    long::fifty_turns_and_a_thank_you(NEWER);
}

#[test]
fn a_session_that_is_live_in_another_pane_is_nobodys_to_go_on_with_in_2_1_325() {
    scenes::live_elsewhere(NEWER);
}

#[test]
fn what_a_rewind_took_back_before_a_clear_is_not_given_in_2_1_197() {
    scenes::rewound(OLDER);
}

#[test]
fn what_a_rewind_took_back_before_a_clear_is_not_given_in_2_1_325() {
    scenes::rewound(NEWER);
}

#[test]
fn a_prompt_that_got_no_context_in_time_says_so_on_the_screen_and_the_next_carries_it_in_2_1_325() {
    scenes::late(NEWER);
}

#[test]
fn from_an_odd_folder_the_models_commands_work_and_the_viewer_is_mentioned_once_in_2_1_325() {
    scenes::odd_path(NEWER);
}
