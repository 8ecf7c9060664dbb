//! Recorded screens of the client, with their sequences: the parsed text is the text the user sees in the box.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn recorded() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gemini/input/0.61.0");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|file| {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&file).unwrap())
        })
        .collect()
}

#[track_caller]
fn check(situations: &[&str], expected: &InputLine) {
    let recorded = recorded();
    for name in situations {
        assert_eq!(&input_line(&recorded[*name]), expected, "{name}");
    }
}

fn holds(text: &str) -> InputLine {
    InputLine::Holds { text: text.to_owned() }
}

#[test]
fn every_recorded_screen_is_seen_for_what_it_is_or_not_at_all() {
    let lines: Vec<String> =
        recorded().iter().map(|(name, screen)| format!("{name}: {:?}", input_line(screen))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_box_with_the_cursor_before_the_placeholder_is_empty() {
    check(&["idle-empty", "cleared", "after-clear", "finished-turn", "finished-tool"], &InputLine::Empty);
    check(&["interrupted-tool", "after-dialog-esc", "after-question", "error"], &InputLine::Empty);
}

#[test]
fn what_is_typed_is_held() {
    check(&["half-typed"], &holds("half typed"));
    check(&["multi-line"], &holds("line one\nline two"));
    check(&["slash-menu"], &holds("/"));
    check(&["shell-mode"], &holds("!  Type your shell command"));
}

#[test]
fn keys_would_go_to_a_dialog_or_be_queued() {
    check(&["permission-dialog", "question-dialog", "double-esc"], &InputLine::Covered);
    check(&["thinking", "streaming", "streaming-half-typed"], &InputLine::Busy);
    // Captured while the box was drawn.
    check(&["tool-running"], &InputLine::Unknown);
}

#[test]
fn the_cursor_is_at_the_end_of_the_text_or_not() {
    let recorded = recorded();
    for name in ["half-typed", "multi-line", "idle-empty", "slash-menu"] {
        assert!(is_cursor_at_end(&recorded[name]), "{name}");
    }
    // The cursor on the first letter.
    let screen = recorded["half-typed"].replace(
        "\u{1b}[38;5;231mhalf typed\u{1b}[7m\u{1b}[39m ",
        "\u{1b}[7m\u{1b}[38;5;231mh\u{1b}[27malf typed",
    );
    assert_eq!(input_line(&screen), holds("half typed"));
    assert!(!is_cursor_at_end(&screen));
    assert!(!is_cursor_at_end(&recorded["permission-dialog"]));
}

#[test]
fn a_long_paste_is_known_by_its_size() {
    assert!(is_folded("[Pasted Text: 7 lines]", "1\n2\n3\n4\n5\n6\n7"));
    assert!(is_folded("[Pasted Text: 7 lines #2]", "1\n2\n3\n4\n5\n6\n7"));
    assert!(is_folded("[Pasted Text: 600 chars]", &"x".repeat(600)));
    assert!(!is_folded("[Pasted Text: 600 chars]", &"x".repeat(601)));
    assert!(!is_folded("half typed", "half typed"));
}
