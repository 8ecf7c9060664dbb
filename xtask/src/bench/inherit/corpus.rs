//! Generates transcripts of any size, in the shapes recorded from the real clients.
//!
//! Every copy has its own session and message ids, and its texts are enlarged with source code, so that
//! reading, redaction and compression see realistic data instead of the same page over and over.

use std::path::{Path, PathBuf};

use regex::{Captures, Regex};
use towline_agents::Agent;

use crate::files;
use crate::outcome::{Failure, Result};

/// The opening quotes of texts that are large in real transcripts.
const LARGE: &str = r#""(stdout|content|output|text|thinking|originalFile)":""#;

/// The start of an id of the form `8-4-4-4-12`: the character before it, its first six digits, the next ones.
const ID: &str = "(^|[^0-9a-fA-F])[0-9a-fA-F]{6}([0-9a-fA-F]{2}-.{4}-)";

/// Sizes of the inserted texts, in bytes: many small ones and a few large ones, as tools print.
const SIZES: [usize; 12] = [60, 120, 200, 300, 450, 700, 1_000, 1_600, 2_600, 5_000, 9_000, 20_000];

/// The recorded transcripts, and text to enlarge them with.
pub struct Corpus {
    recorded: Vec<(PathBuf, String)>,
    /// Lines of source code, escaped for a JSON string.
    code: Vec<String>,
    large: Regex,
    id: Regex,
}

impl Corpus {
    pub fn load(repository_crates: &Path) -> Result<Corpus> {
        let mut recorded = vec![];
        for path in files_below(&repository_crates.join("agents/transcripts"), "jsonl")? {
            let text = files::read(&path)?;
            recorded.push((path, text));
        }
        let mut code = vec![];
        for path in files_below(repository_crates, "rs")? {
            code.extend(files::read(&path)?.lines().map(|line| json_escaped(&format!("{line}\n"))));
        }
        let regex = |pattern| Regex::new(pattern).map_err(|error| Failure::malformed("a pattern", error));
        let large = regex(LARGE)?;
        // A recording without such a text cannot grow, and one that was read from a database is no file.
        recorded.retain(|(path, text)| large.is_match(text) && !is_from_database(path));
        Ok(Corpus { recorded, code, large, id: regex(ID)? })
    }

    /// Writes transcripts below a user's home until they have this many bytes; returns the actual number.
    pub fn write(&self, home: &Path, bytes: u64) -> Result<u64> {
        let (mut written, mut number) = (0, 0);
        while written < bytes {
            let (path, text) = &self.recorded[number % self.recorded.len()];
            let grown = self.grown(text, number);
            let target = home.join(place(path, number)?);
            files::write(&target, &grown)?;
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
            let line = self.with_other_ids(line, number);
            let mut rest = 0;
            for opening in self.large.find_iter(&line) {
                grown.push_str(&line[rest..opening.end()]);
                at = at.wrapping_mul(25_214_903).wrapping_add(11) % 1_000_003;
                self.add_code(&mut grown, at, SIZES[at % SIZES.len()]);
                rest = opening.end();
            }
            grown.push_str(&line[rest..]);
            grown.push('\n');
        }
        grown
    }

    /// Replaces the first digits of each id by a tag, so that equal ids stay equal.
    fn with_other_ids(&self, line: &str, number: usize) -> String {
        self.id
            .replace_all(line, |id: &Captures<'_>| format!("{}{number:06x}{}", &id[1], &id[2]))
            .into_owned()
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

fn is_from_database(recorded: &Path) -> bool {
    matches!(agent_of(recorded), Ok(Agent::Opencode | Agent::Kilo))
}

/// The path at which the agent of the recorded file would store this copy.
fn place(recorded: &Path, number: usize) -> Result<PathBuf> {
    let (day, project) = (number % 28 + 1, number % 40);
    let place = match agent_of(recorded)? {
        Agent::Claude => format!(".claude/projects/-p{project}/{number:06x}.jsonl"),
        Agent::Codex => {
            format!(".codex/sessions/2026/10/{day:02}/rollout-2026-10-{day:02}T00-00-00-{number:06x}.jsonl")
        }
        Agent::Gemini => {
            format!(".gemini/tmp/p{project}/chats/session-2026-10-{day:02}T00-00-{number:06x}.jsonl")
        }
        Agent::Qwen => format!(".qwen/projects/-p{project}/chats/{number:06x}.jsonl"),
        Agent::Copilot => format!(".copilot/session-state/{number:06x}/events.jsonl"),
        Agent::Opencode | Agent::Kilo => {
            let complaint = "its agent keeps sessions in a database";
            return Err(Failure::malformed(recorded.display().to_string(), complaint));
        }
    };
    Ok(place.into())
}

/// The agent that a recording's name begins with.
fn agent_of(recorded: &Path) -> Result<Agent> {
    let name = recorded.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let agent = name.split_once('-').and_then(|(agent, _)| Agent::from_name(agent));
    agent.ok_or_else(|| Failure::malformed(recorded.display().to_string(), "its name begins with no agent's"))
}

fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = files::below(folder)?;
    found.retain(|path| path.extension().is_some_and(|found| found == extension));
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
    fn each_copy_is_a_transcript_of_the_agent_that_was_recorded() {
        let corpus = Corpus::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")).unwrap();
        let home = tempfile::tempdir().unwrap();
        let variable = |name: &str| (name == "HOME").then(|| home.path().display().to_string());
        for (number, (path, _)) in corpus.recorded.iter().enumerate() {
            let copy = home.path().join(place(path, number).unwrap());
            files::write(&copy, "").unwrap();
            let folder = agent_of(path).unwrap().folder(&variable).unwrap();
            assert!(agent_of(path).unwrap().transcripts(&folder).contains(&copy), "{}", copy.display());
        }
        assert!(agent_of(Path::new("session.jsonl")).is_err());
    }

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
        assert_eq!(corpus.with_other_ids(&format!("x {id}"), 255), "x 0000ff3d-1111-2222-3333-444455556666");
    }
}
