//! Input that every driver refuses, and iTerm2's script with a fake `osascript`.

use super::*;
use crate::driver::pane::bracketed;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use towline_core::seat::{SeatKind, SeatProof};

/// A macOS terminal, of which `/proc` shows nothing.
fn in_iterm2(stand_in: &str) -> (tempfile::TempDir, Driver) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("osascript");
    fs::write(&program, format!("#!/bin/sh\n{stand_in}")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let place = SeatLocation {
        key: "terminal:/dev/ttys004:1".to_owned(),
        kind: SeatKind::Terminal,
        pane: None,
        server: None,
        tty: Some("/dev/ttys004".to_owned()),
        pid: 1,
        started: 1,
        program: None,
        proof: SeatProof::Terminal,
    };
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let session = ItermSession { variables: vec![("PATH", path)], ..ItermSession::of(&place).unwrap() };
    (folder, Driver { agent: AgentProcess::of(&place), terminal: Box::new(session) })
}

#[test]
fn iterm2_is_given_the_terminal_and_the_text_as_arguments_of_one_script() {
    let stand_in = r#"cat > "$(dirname "$0")/script"; printf '<%s>' "$@" >> "$(dirname "$0")/calls"; printf 'found\nscreen'"#;
    let (folder, driver) = in_iterm2(stand_in);
    let look = driver.look();
    assert_eq!((look.is_there, look.screen.as_deref()), (Some(true), Some("screen")));
    driver.type_in("it's \"text\"").unwrap();
    driver.press_enter().unwrap();
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
    let text = "\u{1b}[200~it's \"text\"\u{1b}[201~";
    let to = "<-></dev/ttys004>";
    assert_eq!(calls, format!("{to}<look>{to}<type><{text}>{to}<type><\r>"));
    let script = fs::read_to_string(folder.path().join("script")).unwrap();
    assert!(script.contains("tty of aSession is (item 1 of argv)") && !script.contains("text\"\u{1b}"));
    let able = driver.abilities();
    assert!(able.identity && able.screen && !able.foreground && !able.mode && !able.activity);
}

#[test]
fn a_terminal_that_iterm2_does_not_have_is_not_typed_into() {
    let (_folder, driver) = in_iterm2("cat > /dev/null; echo missing");
    assert_eq!(driver.look().is_there, Some(false));
    assert_eq!(
        driver.type_in("x").unwrap_err().to_string(),
        "osascript refused: iTerm2 has no such terminal"
    );
}

#[test]
fn a_paste_is_in_brackets_with_line_ends_as_a_terminal_sends_them() {
    assert_eq!(bracketed("a\nb"), "\u{1b}[200~a\rb\u{1b}[201~");
}
