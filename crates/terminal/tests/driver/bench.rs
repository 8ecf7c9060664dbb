//! A program that records every byte it receives, and its place.

use std::fs;
use std::path::PathBuf;
use towline_core::event::SessionPresence;
use towline_core::seat::{SeatKind, SeatLocation};
use towline_terminal::place::seat_of;
use towline_terminal::process::Process;
use towline_testkit::{TestEnv, wait};

/// Enables bracketed paste and raw mode, and says so on the screen.
const CATCHER: &str =
    r#"printf '\033[?2004h'; stty raw -echo; printf '\033[2mready\033[0m now'; exec cat > "$1""#;

/// Texts that quoting must not change: for shells, for tmux, for screen.
pub const HOSTILE: [&str; 14] = [
    "plain",
    "-t starts with an option",
    "ends in a semicolon;",
    ";",
    "quotes ' and \" and ` and $(touch /tmp/x) and $HOME",
    r"backslashes \ \\ \n \033 \e[31m and ^C ^[ ^^",
    "formats #{pane_id} #(date) #S %n %% %?",
    "a tab\there, ünïcödé, 漢字, 🦀, ·",
    "/clear",
    "!ls",
    "two\nlines",
    "\nblank\n\nlines\n",
    "{braces} [brackets] <angles> & | * ? ~ ! # @",
    " blanks around ",
];

pub fn env() -> TestEnv {
    let env = TestEnv::new("/bin/true");
    env.script("catcher", CATCHER);
    env
}

/// The file with the bytes the program received.
pub fn caught_in(env: &TestEnv) -> PathBuf {
    env.root().join("caught")
}

/// The bytes a terminal sends for a paste of this text, to a program with bracketed paste.
pub fn pasted(text: &str) -> String {
    format!("\u{1b}[200~{}\u{1b}[201~", text.replace('\n', "\r"))
}

#[track_caller]
pub fn wait_caught(env: &TestEnv, expected: &str) {
    wait::until_evident("the bytes to arrive", wait::PATIENCE, || {
        let found = fs::read(caught_in(env)).unwrap_or_default();
        let found = String::from_utf8_lossy(&found).into_owned();
        if found == expected { Ok(()) } else { Err(format!("{found:?}\ninstead of\n{expected:?}")) }
    });
}

/// The place of a process, found as for an agent.
#[track_caller]
pub fn place_of(pid: u32) -> SeatLocation {
    let process = Process::read(pid).unwrap();
    seat_of(&process, SessionPresence::Terminal).unwrap()
}

/// A place of another kind, server and pane, otherwise like `of`.
pub fn place(kind: SeatKind, server: &str, pane: &str, of: &SeatLocation) -> SeatLocation {
    SeatLocation { kind, server: Some(server.to_owned()), pane: Some(pane.to_owned()), ..of.clone() }
}
