//! Recorded screens of the client: each is seen for what it is, or not at all.

use super::*;
use crate::cells::{ScreenRow, rows};
use crate::opencode::input::recorded;

fn text(screen: &str) -> String {
    rows(screen).iter().map(ScreenRow::text).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(situations: &[&str], expected: ScreenProbe) {
    let recorded = recorded();
    for name in situations {
        let (screen, _) = &recorded[*name];
        assert_eq!(super::screen(&text(screen)), expected, "{name}\n{}", text(screen));
    }
}

#[test]
fn every_recorded_screen_is_seen_for_what_it_is_or_not_at_all() {
    let line =
        |(name, (screen, _)): (&String, &(String, _))| format!("{name}: {:?}", super::screen(&text(screen)));
    insta::assert_snapshot!(recorded().iter().map(line).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_dialog_waits_for_an_answer() {
    check(&["permission-dialog", "permission-dialog-edit", "question-dialog"], ScreenProbe::Dialog);
}

#[test]
fn work_is_seen_by_its_hint() {
    check(&["streaming", "streaming-half-typed", "tool-running", "esc-once"], ScreenProbe::Busy);
    check(&["queued"], ScreenProbe::Busy);
}

#[test]
fn an_input_that_waits_does_not_mean_that_nobody_works() {
    check(&["idle-empty", "half-typed", "multi-line", "slash-menu", "shell-mode"], ScreenProbe::Unknown);
    check(&["interrupted-tool", "after-dialog-esc", "error", "after-new"], ScreenProbe::Unknown);
}

#[test]
fn a_screen_that_is_not_the_clients_says_nothing() {
    check(&["exited"], ScreenProbe::Unknown);
    assert_eq!(super::screen(""), ScreenProbe::Unknown);
}

#[test]
fn an_input_of_which_the_screen_shows_only_the_last_line_ended_the_reader() {
    assert!(composer(&["  ┃ Build", "  ╹▀▀"]).is_none());
}
