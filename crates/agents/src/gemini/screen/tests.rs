//! Recorded screens of the client: each is seen for what it is, or not at all.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn recorded() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screens/gemini-0.61.0");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|file| {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&file).unwrap())
        })
        .collect()
}

#[track_caller]
fn check(situations: &[&str], expected: ScreenProbe) {
    let recorded = recorded();
    for name in situations {
        assert_eq!(screen(&recorded[*name]), expected, "{name}\n{}", recorded[*name]);
    }
}

#[test]
fn every_recorded_screen_is_seen_for_what_it_is_or_not_at_all() {
    let lines: Vec<String> =
        recorded().iter().map(|(name, text)| format!("{name}: {:?}", screen(text))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_dialog_waits_for_an_answer() {
    check(&["permission-dialog", "permission-dialog-edit", "question-dialog"], ScreenProbe::Dialog);
}

#[test]
fn work_is_seen_whatever_is_typed() {
    check(&["thinking", "streaming", "streaming-half-typed", "tool-running"], ScreenProbe::Busy);
}

#[test]
fn names_of_hooks_that_stay_in_the_status_row_are_no_work() {
    check(&["after-allow", "after-question", "error", "finished-tool"], ScreenProbe::Prompt);
    check(&["interrupted-tool", "interrupted-while-streaming", "after-dialog-esc"], ScreenProbe::Prompt);
}

#[test]
fn a_sent_prompt_is_not_the_input_box() {
    let dialog = &recorded()["permission-dialog"];
    let without_dialog = dialog.split('╭').next().unwrap();
    assert_eq!(screen(without_dialog), ScreenProbe::Unknown);
    assert_eq!(screen(""), ScreenProbe::Unknown);
}
