//! Recorded screens with their sequences and cursors: the parsed text is the text the user sees in the input.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every recorded screen by situation, with the terminal's cursor if it is shown.
pub(in crate::opencode) fn recorded() -> BTreeMap<String, (String, Option<Cursor>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screens/opencode-1.18.33");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of_sequences = files.filter(|file| file.extension().is_some_and(|extension| extension == "ansi"));
    of_sequences
        .map(|file| {
            let meta = fs::read_to_string(file.with_extension("meta")).unwrap();
            let value = |name: &str| meta.split(' ').find_map(|word| word.strip_prefix(name)).unwrap();
            let (column, line) = value("cursor=").split_once(',').unwrap();
            let cursor = (column.parse().unwrap(), line.parse().unwrap());
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, (fs::read_to_string(&file).unwrap(), Some(cursor).filter(|_| value("flag=") == "1")))
        })
        .collect()
}

#[track_caller]
fn check(situations: &[&str], expected: &InputLine) {
    let recorded = recorded();
    for name in situations {
        let (screen, cursor) = &recorded[*name];
        assert_eq!(&input_line(screen, *cursor), expected, "{name}\n{screen}");
    }
}

fn holds(text: &str) -> InputLine {
    InputLine::Holds { text: text.to_owned() }
}

#[test]
fn every_recorded_screen_is_seen_for_what_it_is_or_not_at_all() {
    let line = |(name, (screen, cursor)): (&String, &(String, Option<Cursor>))| {
        format!("{name}: {:?} {:?}", input_line(screen, *cursor), shown(screen))
    };
    insta::assert_snapshot!(recorded().iter().map(line).collect::<Vec<_>>().join("\n"));
}

#[test]
fn an_input_that_waits_with_nothing_in_it_is_empty() {
    check(&["idle-empty", "cleared", "after-new", "finished-turn", "finished-tool"], &InputLine::Empty);
    check(&["after-allow", "after-dialog-esc", "error", "compacted"], &InputLine::Empty);
}

#[test]
fn text_is_held_as_it_was_typed() {
    check(&["half-typed"], &holds("half typed"));
    check(&["multi-line"], &holds("line one\nline two"));
    check(&["slash-menu"], &holds("/"));
    check(&["shell-mode"], &holds("!"));
}

#[test]
fn text_that_begins_like_an_example_is_not_an_empty_input() {
    let (screen, cursor) = &recorded()["idle-empty"];
    let (column, line) = cursor.unwrap();
    assert_eq!(input_line(screen, Some((column + 32, line))), InputLine::Unknown);
    assert_eq!(input_line(screen, None), InputLine::Unknown);
}

#[test]
fn keys_that_would_go_elsewhere_are_not_for_the_input() {
    check(&["permission-dialog", "permission-dialog-edit", "question-dialog"], &InputLine::Covered);
    check(&["streaming", "streaming-half-typed", "tool-running", "queued"], &InputLine::Busy);
    let (screen, _) = &recorded()["finished-turn"];
    assert_eq!(input_line(screen, Some((20, 5))), InputLine::Covered, "a list above has the cursor");
    assert_eq!(input_line("", None), InputLine::Unknown);
}

#[test]
fn the_cursor_is_at_the_end_of_what_was_typed() {
    for name in ["half-typed", "multi-line", "slash-menu", "finished-turn"] {
        let (screen, cursor) = &recorded()[name];
        let (column, line) = cursor.unwrap();
        assert!(is_cursor_at_end(screen, column, line), "{name}");
        assert!(!is_cursor_at_end(screen, column - 1, line), "{name}");
    }
}
