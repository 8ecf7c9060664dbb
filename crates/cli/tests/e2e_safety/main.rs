//! Typing safety: the real clients in real tmux, and a world that is not as it should be. Not one character may get to a
//! wrong place, not one word of a person's be sent off or changed, and every refusal says why.
//!
//! Each trial makes an intent and runs the process that types, as `tow` does it by itself. What reached the model, the
//! panes beside it and the input line is then compared with what may have. Every test prints how many trials it made.
#![expect(clippy::unwrap_used, reason = "tests report by panicking")]

mod attack;
mod client;
mod desk;
mod gone;
mod line;
mod many;
mod mode;
mod open;
mod typist;

use client::Client;
use desk::Desk;

fn a_line_that_is_not_empty(client: Client) {
    let desk = Desk::set(client);
    line::half_typed(&desk);
    line::pasted(&desk);
    line::blanks(&desk);
    desk.print_trials("a line that is not empty");
}

fn something_in_the_way(client: Client) {
    let desk = Desk::set(client);
    open::menus(&desk);
    open::dialog(&desk);
    mode::modes_of_tmux(&desk);
    mode::moved(&desk);
    mode::looked_at_by_nobody(&desk);
    desk.print_trials("something in the way");
}

fn at_the_last_moment(client: Client) {
    let desk = Desk::set(client);
    attack::between_the_steps(&desk);
    typist::at_random(&desk);
    desk.print_trials("at the last moment");
}

fn another_program(client: Client) {
    let desk = Desk::set(client);
    gone::in_front(&desk);
    gone::suspended(&desk);
    gone::respawned(&desk);
    desk.print_trials("another program in the pane");
}

fn more_than_one_session(client: Client) {
    let desk = Desk::set(client);
    many::two_seats(&desk);
    many::begun_anew_by_hand(&desk);
    many::turned_to_another(&desk);
    desk.print_trials("more than one session");
}

macro_rules! trials {
    ($($client:ident: $value:expr;)*) => {
        $(mod $client {
            use super::Client;

            #[test]
            fn what_stands_in_the_line_stays_there_unsent() {
                super::a_line_that_is_not_empty($value);
            }

            #[test]
            fn nothing_is_typed_into_what_is_in_the_way_and_nothing_beside_the_pane() {
                super::something_in_the_way($value);
            }

            #[test]
            fn whoever_comes_between_the_steps_or_types_at_any_moment_loses_nothing() {
                super::at_the_last_moment($value);
            }

            #[test]
            fn each_session_gets_what_is_meant_for_it_or_nothing() {
                super::more_than_one_session($value);
            }

            #[test]
            fn another_program_gets_nothing() {
                super::another_program($value);
            }
        })*
    };
}

trials! {
    claude_2_1_197: Client::CLAUDE_OLD;
    claude_2_1_325: Client::CLAUDE_NEW;
    codex: Client::CODEX;
    codex_behind_its_daemon: Client::CODEX_DAEMON;
}
