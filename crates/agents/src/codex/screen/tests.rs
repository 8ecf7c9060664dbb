//! Recorded screens, wide and narrow.

use super::*;
use std::fs;
use std::path::Path;

fn recorded(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screens/codex-0.166.0").join(kind);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut named: Vec<_> = files
        .map(|file| {
            let name = file.file_stem().unwrap().to_str().unwrap();
            (format!("{kind}/{name}"), fs::read_to_string(&file).unwrap())
        })
        .collect();
    named.sort();
    named
}

fn all() -> Vec<(String, String)> {
    ["wide", "narrow"].into_iter().flat_map(recorded).collect()
}

#[track_caller]
fn check(situations: &[&str], expected: ScreenProbe) {
    for name in situations {
        let found: Vec<_> =
            all().into_iter().filter(|(path, _)| path.ends_with(&format!("/{name}"))).collect();
        assert_eq!(found.len(), 2, "{name}");
        for (path, text) in found {
            assert_eq!(screen(&text), expected, "{path}\n{text}");
        }
    }
}

#[test]
fn every_recorded_screen_is_seen_for_what_it_is_or_not_at_all() {
    let lines: Vec<String> = all().iter().map(|(path, text)| format!("{path}: {:?}", screen(text))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_dialog_waits_for_an_answer() {
    check(&["permission", "permission-patch"], ScreenProbe::Dialog);
}

#[test]
fn work_is_seen_whatever_is_typed() {
    check(
        &["before-first-byte", "before-first-byte-half-typed", "before-first-byte-slash"],
        ScreenProbe::Busy,
    );
    check(&["tool-runs", "tool-runs-half-typed", "streaming-half-typed"], ScreenProbe::Busy);
}

#[test]
fn the_end_of_a_turn_above_the_input_line_is_seen() {
    check(&["finished", "finished-half-typed", "finished-tip"], ScreenProbe::Prompt);
    check(
        &["interrupted-before-first-byte", "interrupted-streaming", "interrupted-tool"],
        ScreenProbe::Prompt,
    );
    check(&["after-dialog-esc"], ScreenProbe::Prompt);
}

#[test]
fn a_screen_that_looks_the_same_at_work_and_at_rest_is_unknown() {
    check(&["idle", "half-typed", "slash-menu", "after-clear", "streaming", "failed"], ScreenProbe::Unknown);
    check(&["browsing", "model-dialog"], ScreenProbe::Unknown);
}

#[test]
fn a_dialog_and_work_that_the_conversation_quotes_do_not_count() {
    check(&["quoted-dialog"], ScreenProbe::Prompt);
}

#[test]
fn an_answer_that_speaks_of_its_work_is_no_end_of_a_turn() {
    let streaming =
        "› talk\n\n• I was busy.\n\n  Worked for years • at a mill\n\n› Ask Codex to do anything\n";
    assert_eq!(screen(streaming), ScreenProbe::Unknown);
    assert_eq!(screen(&streaming.replace("years • at", "3 years at")), ScreenProbe::Unknown);
}

#[test]
fn every_part_of_a_screen_with_a_dialog_is_no_work() {
    for (path, text) in all().into_iter().filter(|(path, _)| path.contains("/permission")) {
        let lines: Vec<&str> = text.lines().collect();
        for from in 0..lines.len() {
            assert_ne!(screen(&lines[from..].join("\n")), ScreenProbe::Busy, "{path} from line {from}");
        }
    }
}

#[test]
fn a_screen_without_the_client_is_unknown() {
    for text in ["", "\n\n", "$ ls\nREADME.md\n$ ", "›", "› 1. Yes"] {
        assert_eq!(screen(text), ScreenProbe::Unknown, "{text:?}");
    }
}
