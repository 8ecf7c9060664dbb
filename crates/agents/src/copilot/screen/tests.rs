//! Recorded screens, wide and narrow.

use super::*;
use crate::cells::{ScreenRow, rows};
use crate::copilot::input::recorded;

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
    check(
        &["permission-dialog", "permission-dialog-edit", "question-dialog", "subagent-permission"],
        ScreenProbe::Dialog,
    );
}

#[test]
fn the_users_status_line_below_hides_nothing() {
    check(&["statusline-permission", "statusline-question"], ScreenProbe::Dialog);
    check(&["statusline-idle", "statusline-half-typed", "statusline-finished"], ScreenProbe::Prompt);
}

#[test]
fn a_list_that_the_user_opened_is_no_dialog() {
    check(&["model", "rewind-list", "resume-picker", "help"], ScreenProbe::Unknown);
}

#[test]
fn work_is_seen_by_its_hint() {
    check(&["thinking", "streaming", "streaming-half-typed", "tool-running", "esc-once"], ScreenProbe::Busy);
    check(&["queued", "subagent", "statusline-busy"], ScreenProbe::Busy);
}

#[test]
fn an_input_line_that_waits_is_seen_whatever_it_holds() {
    check(&["idle", "finished", "half-typed", "pasted-wrapped", "slash-menu"], ScreenProbe::Prompt);
    check(
        &["after-dialog-esc", "error", "after-clear", "mode-2", "mode-3", "shell-mode"],
        ScreenProbe::Prompt,
    );
}

#[test]
fn every_part_of_a_screen_with_a_dialog_is_no_work() {
    for (name, (screen, _)) in recorded().iter().filter(|(name, _)| name.contains("dialog")) {
        let text = text(screen);
        let lines: Vec<&str> = text.lines().collect();
        for from in 0..lines.len() {
            assert_ne!(
                super::screen(&lines[from..].join("\n")),
                ScreenProbe::Busy,
                "{name} from line {from}"
            );
        }
    }
}

#[test]
fn a_screen_without_the_client_is_unknown() {
    for text in ["", "\n\n", "$ ls\nREADME.md\n$ ", "❯", "───\n❯\n───", "─── x ───\n❯ 1. Yes"]
    {
        assert_eq!(super::screen(text), ScreenProbe::Unknown, "{text:?}");
    }
}
