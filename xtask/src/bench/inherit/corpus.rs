//! Generates transcripts of any size, in the shapes recorded from the real clients.
//!
//! Every copy has its own session and message ids, and its texts are enlarged with source code, so that
//! reading, redaction and compression see realistic data instead of the same page over and over.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::Failure;

/// Fields whose texts are large in real transcripts.
const LARGE: [&str; 6] = ["stdout", "content", "output", "text", "thinking", "originalFile"];

/// Sizes of the inserted texts, in bytes: many small ones and a few large ones, as tools print.
const SIZES: [usize; 12] = [60, 120, 200, 300, 450, 700, 1_000, 1_600, 2_600, 5_000, 9_000, 20_000];

/// The recorded transcripts, and text to enlarge them with.
pub struct Corpus {
    recorded: Vec<(PathBuf, String)>,
    /// Lines of source code, escaped for a JSON string.
    code: Vec<String>,
}

impl Corpus {
    pub fn load(repository_crates: &Path) -> Result<Corpus, Failure> {
        let folder = repository_crates.join("agents/transcripts");
        let mut recorded = vec![];
        for path in files_below(&folder, "jsonl")? {
            let text = fs::read_to_string(&path).map_err(Failure::read(&path))?;
            recorded.push((path, text));
        }
        let mut code = vec![];
        for path in files_below(repository_crates, "rs")? {
            let text = fs::read_to_string(&path).map_err(Failure::read(&path))?;
            code.extend(text.lines().map(|line| json_escaped(&format!("{line}\n"))));
        }
        Ok(Corpus { recorded, code })
    }

    /// Writes transcripts below a user's home until they have this many bytes; returns the actual number.
    pub fn write(&self, home: &Path, bytes: u64) -> Result<u64, Failure> {
        let (mut written, mut number) = (0, 0);
        while written < bytes {
            let (path, text) = &self.recorded[number % self.recorded.len()];
            let grown = self.grown(text, number);
            let target = home.join(place(path, number));
            let folder = target.parent().unwrap_or(home);
            fs::create_dir_all(folder).map_err(Failure::write(folder))?;
            fs::write(&target, &grown).map_err(Failure::write(&target))?;
            written += grown.len() as u64;
            number += 1;
        }
        Ok(written)
    }

    /// A transcript with other ids and larger texts.
    fn grown(&self, recorded: &str, number: usize) -> String {
        let mut grown = String::with_capacity(recorded.len() * 12);
        let mut at = number.wrapping_mul(7_919);
        for line in recorded.lines() {
            let line = with_other_ids(line, number);
            let mut rest = line.as_str();
            while let Some((before, after)) = next_large(rest) {
                grown.push_str(before);
                at = at.wrapping_mul(25_214_903).wrapping_add(11) % 1_000_003;
                self.add_code(&mut grown, at, SIZES[at % SIZES.len()]);
                rest = after;
            }
            grown.push_str(rest);
            grown.push('\n');
        }
        grown
    }

    /// Appends about this many bytes of code, from a position that depends on `at`.
    fn add_code(&self, grown: &mut String, at: usize, bytes: usize) {
        let end = grown.len() + bytes;
        let lines = self.code.iter().cycle().skip(at.wrapping_mul(977) % self.code.len());
        for line in lines {
            grown.push_str(line);
            if grown.len() >= end {
                return;
            }
        }
    }
}

/// Splits the line right after the opening quote of the next large text.
fn next_large(line: &str) -> Option<(&str, &str)> {
    let starts = LARGE.iter().filter_map(|name| {
        let opening = format!("\"{name}\":\"");
        line.find(&opening).map(|at| at + opening.len())
    });
    starts.min().map(|at| line.split_at(at))
}

/// Replaces the first digits of each id by a tag, so that equal ids stay equal.
fn with_other_ids(line: &str, number: usize) -> String {
    let tag = format!("{number:06x}");
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = next_id(rest) {
        out.push_str(&rest[..at]);
        out.push_str(&tag);
        rest = &rest[at + tag.len()..];
    }
    out.push_str(rest);
    out
}

/// The position of the next id of the form `8-4-4-4-12`.
fn next_id(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    let is_id = |at: usize| {
        bytes.get(at + 8) == Some(&b'-') && bytes.get(at + 13) == Some(&b'-') && (at..at + 8).all(is_hex)
    };
    (0..bytes.len().saturating_sub(35)).find(|at| (*at == 0 || !is_hex(at - 1)) && is_id(*at))
}

/// The path at which the agent of the recorded file would store this copy.
fn place(recorded: &Path, number: usize) -> PathBuf {
    let name = recorded.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (day, project) = (number % 28 + 1, number % 40);
    if name.starts_with("codex") {
        format!(".codex/sessions/2026/10/{day:02}/rollout-2026-10-{day:02}T00-00-00-{number:06x}.jsonl")
            .into()
    } else {
        format!(".claude/projects/-p{project}/{number:06x}.jsonl").into()
    }
}

fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut found = vec![];
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(Failure::read(&folder))? {
            let path = entry.map_err(Failure::read(&folder))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn json_escaped(text: &str) -> String {
    let mut quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted.pop();
    quoted.remove(0);
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_json_line_by_line_and_have_ids_of_their_own() {
        let corpus = Corpus::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")).unwrap();
        for (number, (path, text)) in corpus.recorded.iter().enumerate() {
            let grown = corpus.grown(text, number + 1);
            assert!(grown.len() > text.len(), "{}", path.display());
            let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
            assert!(grown.lines().all(is_json), "{}", path.display());
        }
        let id = "0a1b2c3d-1111-2222-3333-444455556666";
        assert_eq!(with_other_ids(&format!("x {id}"), 255), "x 0000ff3d-1111-2222-3333-444455556666");
    }
}
