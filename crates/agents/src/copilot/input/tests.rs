//! Recorded screens with their sequences and cursors: the parsed text is the text the user sees in the line.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every recorded screen by situation, with the terminal's cursor.
pub(in crate::copilot) fn recorded() -> BTreeMap<String, (String, Cursor)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/copilot/input/1.0.102");
    let cursors = fs::read_to_string(folder.join("cursors.txt")).unwrap();
    let screen = |line: &str| {
        let (name, cursor) = line.split_once(' ').unwrap();
        let (column, row) = cursor.split_once(',').unwrap();
        let screen = fs::read_to_string(folder.join(format!("{name}.ansi"))).unwrap();
        (name.to_owned(), (screen, (column.parse().unwrap(), row.parse().unwrap())))
    };
    cursors.lines().map(screen).collect()
}

#[track_caller]
fn check(situations: &[&str], expected: &InputLine) {
    let recorded = recorded();
    for name in situations {
        let (screen, cursor) = &recorded[*name];
        assert_eq!(&input_line(screen, Some(*cursor)), expected, "{name}\n{screen}");
    }
}

fn holds(text: &str) -> InputLine {
    InputLine::Holds { text: text.to_owned() }
}

#[test]
fn every_recorded_screen_is_seen_for_what_it_is_or_not_at_all() {
    let line = |(name, (screen, cursor)): (&String, &(String, Cursor))| {
        format!("{name}: {:?} {:?}", input_line(screen, Some(*cursor)), shown(screen))
    };
    insta::assert_snapshot!(recorded().iter().map(line).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_line_that_waits_with_nothing_in_it_is_empty_in_every_mode() {
    check(
        &["idle", "finished", "after-clear", "after-new", "mode-2", "mode-3", "after-tab"],
        &InputLine::Empty,
    );
    check(
        &["after-allow", "after-dialog-esc", "after-question", "error", "compacted", "resumed"],
        &InputLine::Empty,
    );
}

#[test]
fn text_is_held_as_it_was_typed() {
    check(&["half-typed", "half-typed-cursor-at-start"], &holds("half typed"));
    check(&["multi-line"], &holds("line one\nline two"));
    check(&["statusline-half-typed"], &holds("half typed"));
    check(&["pasted-folded"], &holds("[Paste #1 - 40 lines]"));
    check(&["spaces"], &holds(""));
    check(&["rewound"], &holds("two @fake [{\"text\":\"second answer\"}]"));
}

#[test]
fn the_clients_suggestion_behind_the_cursor_of_a_command_is_not_held() {
    check(&["slash-pasted"], &holds("/clear"));
    check(&["slash-menu-filtered"], &holds("/cle"));
    check(&["slash-menu"], &holds("/"));
}

#[test]
fn keys_that_would_go_elsewhere_are_not_for_an_empty_line() {
    check(&["permission-dialog", "permission-dialog-edit", "question-dialog", "help"], &InputLine::Covered);
    check(&["thinking", "streaming", "tool-running", "queued", "statusline-busy"], &InputLine::Busy);
    check(&["statusline-permission", "statusline-question"], &InputLine::Covered);
    let recorded = recorded();
    for name in [
        "tab",
        "model",
        "resume-picker",
        "rewind-list",
        "history-search",
        "sidebar",
        "slash-menu",
        "shell-mode",
    ] {
        let (screen, cursor) = &recorded[name];
        assert_ne!(input_line(screen, Some(*cursor)), InputLine::Empty, "{name}");
    }
}

#[test]
fn the_cursor_is_at_the_end_of_the_text_or_not() {
    let recorded = recorded();
    let is_at_end = |name: &str| {
        let (screen, (column, line)) = &recorded[name];
        is_cursor_at_end(screen, *column, *line)
    };
    for name in
        ["half-typed", "multi-line", "pasted-wrapped", "pasted-lines", "pasted-folded", "slash-pasted"]
    {
        assert!(is_at_end(name), "{name}");
    }
    assert!(!is_at_end("half-typed-cursor-at-start"));
}

#[test]
fn a_long_paste_is_known_by_its_number_of_lines() {
    assert!(is_folded("[Paste #1 - 40 lines]", &"line\n".repeat(39)));
    assert!(!is_folded("[Paste #1 - 40 lines]", &"line\n".repeat(40)));
    assert!(!is_folded("[Paste #x - 1 lines]", "line"));
}

#[test]
fn the_session_is_known_by_its_last_prompt() {
    let recorded = recorded();
    let said = |name: &str| shown(&recorded[name].0);
    assert_eq!(said("idle"), ShownSession::New);
    assert_eq!(said("after-clear"), ShownSession::New);
    assert_eq!(said("turn-after-clear"), ShownSession::Said("after clear".to_owned()));
    assert_eq!(said("tow-skill"), ShownSession::Said("/tow fresh".to_owned()));
    assert_eq!(said("permission-dialog"), ShownSession::Unknown);
}
