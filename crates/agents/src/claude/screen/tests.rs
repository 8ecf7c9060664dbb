//! Recorded screens of both clients: wide, narrow, and with a custom status line.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every recorded screen by its path below `screens`, such as `claude-2.1.325/wide/idle`.
fn recorded() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screens");
    let below =
        |path: &Path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let versions = below(&folder).into_iter().filter(|path| path.to_str().unwrap().contains("/claude-"));
    let files = versions.flat_map(|version| below(&version)).flat_map(|kind| below(&kind));
    let named = files.map(|file| {
        let name = file.strip_prefix(&folder).unwrap().with_extension("").to_str().unwrap().to_owned();
        (name, fs::read_to_string(&file).unwrap())
    });
    named.collect()
}

fn of(name: &str) -> Vec<(String, String)> {
    let found: Vec<_> =
        recorded().into_iter().filter(|(path, _)| path.ends_with(&format!("/{name}"))).collect();
    assert!(!found.is_empty(), "no screen is called {name}");
    found
}

#[track_caller]
fn check(situations: &[&str], expected: ScreenProbe) {
    for (path, text) in situations.iter().flat_map(|name| of(name)) {
        assert_eq!(screen(&text), expected, "{path}\n{text}");
    }
}

#[test]
fn every_recorded_screen_is_seen_for_what_it_is_or_not_at_all() {
    let lines: Vec<String> =
        recorded().iter().map(|(path, text)| format!("{path}: {:?}", screen(text))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_dialog_waits_for_an_answer() {
    check(&["permission-bash", "permission-write", "permission-fetch", "helper-asks"], ScreenProbe::Dialog);
    check(&["question", "question-multi", "plan-dialog", "second-of-two-tools"], ScreenProbe::Dialog);
    check(&["rewind-list", "model-dialog"], ScreenProbe::Dialog);
    check(&["helper-viewed-asks", "helper-viewed-session-asks"], ScreenProbe::Dialog);
}

#[test]
fn a_dialog_above_the_input_box_of_a_subagent_is_a_dialog_whatever_the_subagent_does() {
    for (path, text) in of("helper-viewed-asks") {
        let dialog = text.trim_end().trim_end_matches(|end: char| "─ help".contains(end)).trim_end();
        let input = "─── help ─\n❯ Message @helper…\n──────\n  esc to interrupt\n";
        assert_eq!(screen(&format!("{dialog}\n\n{input}")), ScreenProbe::Dialog, "{path}");
    }
}

#[test]
fn work_is_seen_before_the_first_byte_and_while_a_tool_runs_whatever_is_typed() {
    check(
        &["before-first-byte", "before-first-byte-half-typed", "before-first-byte-help"],
        ScreenProbe::Busy,
    );
    check(
        &["tool-runs", "tool-runs-longer", "tool-runs-half-typed", "first-of-two-tools"],
        ScreenProbe::Busy,
    );
    check(
        &["accept-edits-busy", "todo-busy", "helper-busy", "helper-runs", "streaming-queued"],
        ScreenProbe::Busy,
    );
}

#[test]
fn an_input_box_without_work_is_seen_empty_and_half_typed() {
    check(&["idle", "half-typed", "bash-mode", "help", "after-clear"], ScreenProbe::Prompt);
    check(
        &["interrupted-before-first-byte", "interrupted-streaming", "interrupted-tool"],
        ScreenProbe::Prompt,
    );
    check(
        &["finished", "finished-queued", "helper-done", "background-runs", "api-error"],
        ScreenProbe::Prompt,
    );
    check(&["after-dialog-esc", "todo-interrupted"], ScreenProbe::Prompt);
}

/// Beside half-typed input, and above a custom status line, streaming looks like waiting.
#[test]
fn text_that_streams_is_never_taken_for_a_prompt() {
    for (path, text) in ["streaming", "streaming-half-typed"].iter().flat_map(|name| of(name)) {
        assert!(matches!(screen(&text), ScreenProbe::Busy | ScreenProbe::Unknown), "{path}\n{text}");
    }
}

#[test]
fn a_covered_input_box_or_spinner_is_unknown() {
    check(&["transcript-view", "streaming-transcript", "config-dialog"], ScreenProbe::Unknown);
    let menu = &recorded()["claude-2.1.325/wide/before-first-byte-slash"];
    assert_eq!(screen(menu), ScreenProbe::Unknown);
}

#[test]
fn a_dialog_and_work_that_the_conversation_quotes_do_not_count() {
    check(&["quoted-dialog"], ScreenProbe::Prompt);
}

#[test]
fn a_hint_that_a_narrow_pane_cuts_off_still_counts() {
    let cut = "● text\n\n──────\n❯\n──────\n  ⏸ manual mode on · esc to int…\n";
    assert_eq!(screen(cut), ScreenProbe::Busy);
    assert_eq!(screen(&cut.replace("esc to int…", "esc…")), ScreenProbe::Unknown);
    assert_eq!(screen(&cut.replace("esc to int…", "…")), ScreenProbe::Unknown);
}

#[test]
fn a_dialog_below_an_old_input_box_is_a_dialog() {
    let recorded = recorded();
    for version in ["2.1.197", "2.1.325"] {
        let both = format!(
            "{}\n{}",
            recorded[&format!("claude-{version}/wide/tool-runs")],
            recorded[&format!("claude-{version}/wide/permission-fetch")]
        );
        assert_eq!(screen(&both), ScreenProbe::Dialog, "{version}");
    }
}

#[test]
fn every_part_of_a_screen_with_a_dialog_is_no_work() {
    let dialogs = ["permission-bash", "permission-write", "permission-fetch", "question", "plan-dialog"];
    for (path, text) in dialogs.iter().flat_map(|name| of(name)) {
        let lines: Vec<&str> = text.lines().collect();
        for from in 0..lines.len() {
            assert_ne!(screen(&lines[from..].join("\n")), ScreenProbe::Busy, "{path} from line {from}");
        }
    }
}

#[test]
fn a_screen_without_the_client_is_unknown() {
    for text in ["", "\n\n", "$ ls\nREADME.md\n$ ", "❯ 1. Yes", "────\n────\n", "────\n❯\n────"]
    {
        assert_ne!(screen(text), ScreenProbe::Busy, "{text:?}");
        assert_ne!(screen(text), ScreenProbe::Prompt, "{text:?}");
    }
}
