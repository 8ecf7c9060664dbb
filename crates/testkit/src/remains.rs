//! What a test that failed leaves to be looked at: what the clients had written by then.
//!
//! Says nothing of a test that passed, and of each line only its beginning.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Enough to see who said what after whom.
const LINES: usize = 60;
const LETTERS: usize = 320;

/// Where the clients keep their transcripts, below the home.
const FOLDERS: [&str; 2] = [".claude/projects", ".codex/sessions"];

/// Prints what the transcripts below this home hold, if a test is failing.
pub fn tell(home: &Path) {
    if !std::thread::panicking() {
        return;
    }
    let mut all = std::io::stderr().lock();
    for path in FOLDERS.iter().flat_map(|folder| transcripts(&home.join(folder))) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        // Nobody is left to be told if this cannot be printed.
        let _ = writeln!(all, "\n{} ({} lines):", path.display(), text.lines().count());
        for line in text.lines().take(LINES) {
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
