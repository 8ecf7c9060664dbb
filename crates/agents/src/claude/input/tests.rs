//! Recorded screens of both clients, with their sequences: the parsed text is the text the user sees in the box.

use super::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Every recorded screen by version and situation, such as `2.1.325/idle`.
fn recorded() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/claude/input");
    let below =
        |path: &Path| fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let versions = below(&folder).into_iter().filter(|path| path.join("idle.ansi").is_file());
    let named = versions.flat_map(|version| below(&version)).map(|file| {
        let name = file.strip_prefix(&folder).unwrap().with_extension("").to_str().unwrap().to_owned();
        (name, fs::read_to_string(&file).unwrap())
    });
    named.collect()
}

/// Without the terminal's own cursor, which was not recorded.
fn input_line(screen: &str) -> InputLine {
    super::input_line(screen, None)
}

#[track_caller]
fn check(situations: &[&str], expected: &InputLine) {
    let recorded = recorded();
    for name in situations {
        let of_it: Vec<_> = recorded.iter().filter(|(path, _)| path.ends_with(&format!("/{name}"))).collect();
        assert_eq!(of_it.len(), 2, "{name} is not recorded of both clients");
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
fn a_box_that_waits_with_nothing_in_it_is_empty_in_every_mode() {
    check(
        &["idle", "idle-again", "finished", "finished-queued", "after-clear", "after-model"],
        &InputLine::Empty,
    );
    check(&["mode-2", "mode-3", "mode-4", "interrupted-streaming", "after-permission"], &InputLine::Empty);
    check(&["vim-idle", "vim-normal-empty", "stashed", "help", "narrow-idle"], &InputLine::Empty);
}

/// The client shows its cursor only while it has the focus.
#[test]
fn an_empty_box_is_empty_whether_somebody_looks_at_it_or_not() {
    check(&["focus-in", "focus-out"], &InputLine::Empty);
}

/// The box does not show them then; only the terminal's own cursor has moved.
#[test]
fn blanks_in_a_box_that_nobody_looks_at_are_held() {
    for (path, screen) in recorded().into_iter().filter(|(path, _)| path.ends_with("/focus-out")) {
        let line = screen.lines().position(|line| line.contains('❯')).unwrap();
        let at = |column: usize, line: usize| super::input_line(&screen, Some((column, line)));
        assert_eq!(at(2, line), InputLine::Empty, "{path}");
        assert_eq!(at(5, line), holds(""), "{path}");
        // The cursor is passing through while the screen is drawn.
        assert_eq!(at(5, line + 2), InputLine::Empty, "{path}");
    }
}

#[test]
fn what_is_typed_is_held_wherever_the_cursor_stands() {
    check(&["half-typed", "half-typed-cursor-at-start"], &holds("half typed"));
    check(&["two-lines"], &holds("line one\nline two"));
    check(&["narrow-half-typed"], &holds("half typed and long enough to be\nbroken over two lines"));
    check(&["vim-insert-text", "vim-normal-text"], &holds("isome"));
    check(&["history"], &holds("say one"));
    check(&["interrupted-restored"], &holds("queue it"));
}

/// A drawn cursor counts; without one, or with one on a blank that the terminal leaves out, the terminal's own does.
#[test]
fn the_cursor_is_at_the_end_of_the_text_or_not() {
    let ends = [
        ("half-typed", "half typed"),
        ("two-lines", "line two"),
        ("narrow-half-typed", "broken over two lines"),
        ("pasted-short", "short paste"),
        ("pasted-folded", "[Pasted text #1 +12 lines]"),
    ];
    for (path, screen) in recorded() {
        let at = |column: usize, line: usize| is_cursor_at_end(&screen, column, line);
        let name = path.rsplit('/').next().unwrap();
        if let Some((_, held)) = ends.iter().find(|(known, _)| *known == name) {
            let line = screen.lines().position(|line| line.contains(held)).unwrap();
            assert!(at(2 + held.chars().count(), line), "{path}");
        }
        let line = screen.lines().position(|line| line.contains("❯\u{a0}")).unwrap_or_default();
        match name {
            "half-typed" => {
                assert!(!at(11, line) && !at(2, line) && !at(12, line - 1) && !at(0, 0), "{path}")
            }
            "half-typed-cursor-at-start" => assert!(!at(12, line) && !at(2, line), "{path}"),
            "focus-out" => assert!(at(2, line) && !at(5, line) && !at(2, line - 1), "{path}"),
            _ => {}
        }
    }
}

#[test]
fn blanks_and_line_ends_are_held_too() {
    check(&["spaces", "empty-two-lines"], &holds(""));
}

#[test]
fn a_paste_is_held_in_full_or_folded() {
    check(&["pasted-short"], &holds("short paste"));
    check(&["pasted-folded"], &holds("[Pasted text #1 +12 lines]"));
}

#[test]
fn the_first_sign_of_a_mode_or_menu_is_held() {
    check(&["bash-mode-empty"], &holds("!"));
    check(&["bash-mode"], &holds("!ls -l"));
    check(&["hash"], &holds("#"));
    check(&["slash-menu", "narrow-slash"], &holds("/"));
    check(&["slash-whole", "slash-pasted"], &holds("/clear"));
    check(&["at-menu"], &holds("@"));
}

#[test]
fn work_is_seen_by_the_faded_mark_whatever_stands_in_the_box() {
    check(
        &["before-first-byte", "before-first-byte-half-typed", "before-first-byte-slash"],
        &InputLine::Busy,
    );
    check(&["streaming", "streaming-half-typed", "streaming-cleared", "queued"], &InputLine::Busy);
}

#[test]
fn the_mark_is_faded_in_every_theme_and_only_while_the_client_works() {
    for theme in ["light", "light-ansi", "dark-ansi", "dark-daltonized"] {
        let named = |situation: &str| format!("theme-{theme}-{situation}");
        check(&[&named("idle")], &InputLine::Empty);
        check(&[&named("busy"), &named("busy-half")], &InputLine::Busy);
    }
}

#[test]
fn a_dialog_a_list_a_search_and_the_transcript_cover_the_box() {
    check(&["permission", "permission-amend", "question", "question-other"], &InputLine::Covered);
    check(&["model", "config", "help-dialog", "permissions-dialog", "export-dialog"], &InputLine::Covered);
    check(&["resume-picker", "rewind-list", "status-dialog", "transcript"], &InputLine::Covered);
    check(&["history-search"], &InputLine::Covered);
}

#[test]
fn a_box_that_a_low_pane_cuts_off_is_not_understood() {
    check(&["low-many-lines", "lowest"], &InputLine::Unknown);
    let recorded = recorded();
    assert_eq!(input_line(&recorded["2.1.325/low-idle"]), InputLine::Unknown);
    // This version draws the whole box even there.
    assert_eq!(input_line(&recorded["2.1.197/low-idle"]), InputLine::Empty);
}

/// While a subagent is viewed or selected, input goes to it and not to the session.
#[test]
fn the_input_box_of_a_subagent_is_not_the_sessions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("screens/claude-2.1.325/wide");
    for name in ["helper-viewed", "helper-chosen"] {
        let screen = fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap();
        assert_eq!(input_line(&screen), InputLine::Covered, "{name}");
    }
    let viewed = "─────── help ─\n❯ \u{1b}[7mM\u{1b}[0;2message @helper…\u{1b}[0m\n──────────────\n  esc\n";
    assert_eq!(input_line(viewed), InputLine::Covered);
    assert_eq!(
        input_line(&viewed.replace("\u{1b}[7mM\u{1b}[0;2message", "Message")),
        holds("Message @helper…")
    );
}

#[test]
fn a_session_with_a_name_has_it_above_its_box() {
    assert_eq!(input_line(&recorded()["2.1.325/renamed"]), InputLine::Empty);
}

#[test]
fn a_hint_in_the_box_is_not_typed() {
    let hint = "────\n❯ \u{1b}[7mT\u{1b}[0;2mry \"fix lint errors\"\u{1b}[0m\n────\n  ? for shortcuts\n";
    assert_eq!(input_line(hint), InputLine::Empty);
    assert_eq!(input_line(&hint.replace("\u{1b}[0;2m", "\u{1b}[0m")), holds("Try \"fix lint errors\""));
    let ghost = "────\n❯ /cle\u{1b}[7ma\u{1b}[0;2mr\u{1b}[0m\n────\n  ? for shortcuts\n";
    assert_eq!(input_line(ghost), holds("/cle"));
}

/// Without sequences a dimmed mark cannot be recognised: only the client's hints count.
#[test]
fn a_screen_without_sequences_is_empty_only_if_the_client_says_that_it_waits() {
    let plain = |below: &str| format!("● text\n\n────\n❯\n────\n  {below}\n");
    assert_eq!(input_line(&plain("? for shortcuts")), InputLine::Empty);
    assert_eq!(input_line(&plain("my own status line")), InputLine::Unknown);
    assert_eq!(input_line(&plain("esc to interrupt")), InputLine::Busy);
    assert_eq!(input_line(&plain("? for shortcuts").replace("❯", "❯ half")), holds("half"));
}

#[test]
fn no_part_of_a_screen_with_text_dialog_or_work_is_an_empty_box() {
    let whole: Vec<(String, String)> =
        recorded().into_iter().filter(|(_, screen)| input_line(screen) != InputLine::Empty).collect();
    assert!(whole.len() > 80);
    for (path, screen) in whole {
        let lines: Vec<&str> = screen.lines().collect();
        for from in 0..lines.len() {
            assert_ne!(input_line(&lines[from..].join("\n")), InputLine::Empty, "{path} from line {from}");
            assert_ne!(input_line(&lines[..from].join("\n")), InputLine::Empty, "{path} to line {from}");
        }
    }
}

#[test]
fn a_screen_without_the_client_is_not_understood() {
    for screen in ["", "\n\n", "$ ls\nREADME.md\n$ ", "────\n────\n", "────\n❯ ", "❯ \n────\n"]
    {
        assert_eq!(input_line(screen), InputLine::Unknown, "{screen:?}");
    }
}

#[test]
fn a_folded_paste_is_known_by_its_line_ends() {
    assert!(is_folded("[Pasted text #1 +2 lines]", "a\nb\nc"));
    assert!(is_folded("[Pasted text #12]", &"x".repeat(2000)));
    for other in [
        "[Pasted text #1 +3 lines]",
        "[Pasted text #1]",
        "a [Pasted text #1 +2 lines]",
        "[Pasted text # +2 lines]",
    ] {
        assert!(!is_folded(other, "a\nb\nc"), "{other}");
    }
}
