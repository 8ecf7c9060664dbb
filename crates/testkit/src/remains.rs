//! Prints the ends of the clients' transcripts when a test fails.
//!
//! Printed before the failure itself, which stays the last output. Prints nothing for a test that passes, and
//! of each transcript only the end.

use std::cell::RefCell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::{fs, panic};

/// Limits: enough to follow the conversation.
const FILES: usize = 6;
const LINES: usize = 24;
const LETTERS: usize = 240;

/// The clients' transcript folders, relative to the home.
const FOLDERS: [&str; 2] = [".claude/projects", ".codex/sessions"];

thread_local! {
    static HOMES: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// Registers a home, whose transcripts are printed if this thread's test fails.
pub fn keep(home: PathBuf) {
    static TELL_FIRST: Once = Once::new();
    TELL_FIRST.call_once(|| {
        let say = panic::take_hook();
        panic::set_hook(Box::new(move |failure| {
            HOMES.with_borrow(|homes| homes.iter().for_each(|home| tell(home)));
            say(failure);
        }));
    });
    HOMES.with_borrow_mut(|homes| homes.push(home));
}

fn tell(home: &Path) {
    let mut all = std::io::stderr().lock();
    for path in FOLDERS.iter().flat_map(|folder| transcripts(&home.join(folder))).take(FILES) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        // A failed write has no one to report to; ignore it.
        let _ = writeln!(all, "\n{} ({} lines, the last of them):", path.display(), lines.len());
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            let _ = writeln!(all, "{}", line.chars().take(LETTERS).collect::<String>());
        }
    }
}

fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.path() {
        path if path.is_dir() => transcripts(&path),
        path if path.extension().is_some_and(|end| end == "jsonl") => vec![path],
        _ => vec![],
    });
    below.collect()
}
