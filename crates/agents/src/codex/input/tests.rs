//! Recorded screens of the client, with their sequences: the parsed text is the text the user sees in the composer.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every recorded screen by version and situation, such as `0.166.0/idle`.
fn recorded() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codex/input");
    let below =
        |path: &Path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let versions = below(&folder).into_iter().filter(|path| path.join("idle.ansi").is_file());
    let named = versions.flat_map(|version| below(&version)).map(|file| {
        let name = file.strip_prefix(&folder).unwrap().with_extension("").to_str().unwrap().to_owned();
        (name, fs::read_to_string(&file).unwrap())
    });
    named.collect()
}

#[track_caller]
fn check(situations: &[&str], expected: &InputLine) {
    let recorded = recorded();
    for name in situations {
        let of_it: Vec<_> = recorded.iter().filter(|(path, _)| path.ends_with(&format!("/{name}"))).collect();
        assert_eq!(of_it.len(), 1, "{name} is not recorded");
        for (path, screen) in of_it {
            assert_eq!(&input_line(screen), expected, "{path}\n{screen}");
        }
    }
}

fn holds(text: &str) -> InputLine {
    InputLine::Holds { text: text.to_owned() }
}

#[test]
fn every_recorded_screen_is_seen_for_what_it_is_or_not_at_all() {
    let lines: Vec<String> =
        recorded().iter().map(|(path, screen)| format!("{path}: {:?}", input_line(screen))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_composer_that_waits_with_nothing_in_it_is_empty() {
    check(
        &["idle", "idle-later", "idle-again", "finished", "finished-queued", "after-clear"],
        &InputLine::Empty,
    );
    check(&["interrupted-streaming", "interrupted-before-first-byte", "after-permission"], &InputLine::Empty);
    check(&["after-compact", "after-hooks-review", "after-history-search", "narrow-idle"], &InputLine::Empty);
    check(&["finished-long", "attached-finished", "vim-normal-sent", "limit"], &InputLine::Empty);
}

#[test]
fn what_is_typed_is_held() {
    check(&["half-typed", "half-typed-cursor-at-start"], &holds("half typed"));
    check(&["two-lines"], &holds("line one\nline two"));
    check(&["narrow-half-typed"], &holds("half typed and long enough to be\nbroken over two lines"));
    check(&["vim-normal-pasted"], &holds("dd paste ·"));
    check(&["history"], &holds("say one"));
    check(&["approvals"], &holds("/approvals"));
}

#[test]
fn the_cursor_is_at_the_end_of_the_text_or_not() {
    let recorded = recorded();
    for (name, held) in
        [("half-typed", "half typed"), ("two-lines", "line two"), ("pasted-folded", "[Pasted Content")]
    {
        let Some((_, screen)) = recorded.iter().find(|(path, _)| path.ends_with(&format!("/{name}"))) else {
            continue;
        };
        let rows = rows(screen);
        let line = rows.iter().rposition(|row| row.text().contains(held)).unwrap();
        let end = rows[line].text().trim_end().chars().count();
        let at = |column: usize, line: usize| is_cursor_at_end(screen, column, line);
        assert!(at(end, line) && at(2, line + 1), "{name}");
        assert!(!at(end - 1, line) && !at(2, line) && !at(end, line - 1) && !at(0, 0), "{name}");
    }
}

#[test]
fn blanks_and_line_ends_are_held_too() {
    check(&["spaces", "empty-two-lines"], &holds(""));
}

#[test]
fn a_paste_is_held_in_full_or_folded() {
    check(&["pasted-folded"], &holds("[Pasted Content 2200 chars]"));
    let lines: Vec<String> = (1..=12).map(|number| format!("pasted line {number}")).collect();
    check(&["pasted-lines"], &holds(&lines.join("\n")));
}

#[test]
fn the_first_sign_of_a_mode_or_menu_is_held() {
    check(&["bash-mode-empty"], &holds("!"));
    check(&["bash-mode"], &holds("!ls -l"));
    check(&["slash-menu", "narrow-slash"], &holds("/"));
    check(&["slash-pasted"], &holds("/clear"));
    check(&["at-menu"], &holds("@"));
    check(&["dollar-menu"], &holds("$"));
}

#[test]
fn work_is_seen_where_the_client_says_so() {
    check(
        &["before-first-byte", "before-first-byte-half-typed", "before-first-byte-slash"],
        &InputLine::Busy,
    );
    check(&["streaming-half-typed", "queued", "steered", "tool-runs"], &InputLine::Busy);
}

/// The client shows no sign of work then: only the end of the turn is missing.
#[test]
fn text_that_streams_is_never_taken_for_an_empty_composer() {
    check(&["streaming", "streaming-cleared"], &InputLine::Unknown);
}

#[test]
fn a_dialog_a_picker_a_search_and_the_transcript_cover_the_composer() {
    check(
        &["permission", "model", "hooks", "hooks-review", "resume-picker", "resume-at-start"],
        &InputLine::Covered,
    );
    check(&["history-search", "history-search-found", "backtrack", "help"], &InputLine::Covered);
}

#[test]
fn a_view_over_the_whole_screen_is_not_understood() {
    check(&["diff", "resumed-elsewhere"], &InputLine::Unknown);
}

/// Enter would lead back to the end then, and the screen does not show whether the turn has ended.
#[test]
fn a_composer_below_a_conversation_that_is_read_further_up_is_not_understood() {
    check(&["scrolled-up"], &InputLine::Unknown);
    check(&["scrolled-pasted"], &holds("after scroll"));
}

#[test]
fn what_a_low_pane_cuts_off_is_never_empty() {
    check(&["low-idle"], &InputLine::Unknown);
    check(&["low-many-lines"], &holds("d\ne"));
    check(&["lowest"], &holds("e"));
}

/// Only its faint style distinguishes an empty composer's placeholder from typed text.
#[test]
fn a_screen_without_sequences_is_not_understood() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screens/codex-0.166.0/wide");
    for name in ["idle", "finished", "half-typed", "streaming", "permission"] {
        let screen = fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
        assert_eq!(input_line(&screen), InputLine::Unknown, "{name}");
    }
}

#[test]
fn no_part_of_a_screen_with_text_dialog_or_work_is_an_empty_composer() {
    let whole: Vec<(String, String)> =
        recorded().into_iter().filter(|(_, screen)| input_line(screen) != InputLine::Empty).collect();
    assert!(whole.len() > 30);
    for (path, screen) in whole {
        let lines: Vec<&str> = screen.lines().collect();
        for cut in 0..lines.len() {
            assert_ne!(input_line(&lines[cut..].join("\n")), InputLine::Empty, "{path} from line {cut}");
            assert_ne!(input_line(&lines[..cut].join("\n")), InputLine::Empty, "{path} to line {cut}");
        }
    }
}

#[test]
fn a_screen_without_the_client_is_not_understood() {
    for screen in ["", "\n\n", "$ ls\nREADME.md\n$ ", "› ", "\u{1b}[1m>\u{1b}[0m x"] {
        assert_eq!(input_line(screen), InputLine::Unknown, "{screen:?}");
    }
}

#[test]
fn a_folded_paste_is_known_by_its_length() {
    assert!(is_folded("[Pasted Content 3 chars]", "äöü"));
    assert!(!is_folded("[Pasted Content 3 chars]", "four"));
    assert!(!is_folded("x[Pasted Content 3 chars]", "äöü"));
}

#[test]
fn what_was_said_last_tells_which_session_is_shown() {
    let recorded = recorded();
    let check = |name: &str, expected: ShownSession| {
        assert_eq!(shown(&recorded[&format!("0.166.0/{name}")]), expected, "{name}");
    };
    check("idle", ShownSession::New);
    check("after-clear", ShownSession::New);
    check("after-compact", ShownSession::Said("ask bash".to_owned()));
    check("model", ShownSession::Unknown);
}

#[test]
fn what_has_scrolled_away_is_read_from_the_first_row() {
    let said = |text: &str| ShownSession::Said(text.to_owned());
    let begins = |text: &str| ShownSession::Begins(text.to_owned());
    assert_eq!(shown(&recorded()["0.166.0/finished-long"]), said("long"));
    let check = |top: &str, expected: ShownSession| {
        let screen = format!(
            "\u{1b}[1;2m{top}\u{1b}[0m\n  an answer\n\n\u{1b}[1m›\u{1b}[0m \u{1b}[2mAsk\u{1b}[0m\n\n  ?"
        );
        assert_eq!(shown(&screen), expected, "{top:?}");
    };
    check("\u{1b}[48;5;8m› two lines in one", said("two lines in one"));
    check("\u{1b}[48;5;8m› more than fits in a li…", begins("more than fits in a li"));
    check("\u{1b}[48;5;8m› two lines\n  in two", said("two lines\nin two"));
    check("› nobody knows where it ends", begins("nobody knows where it ends"));
}
