//! The question set of `cargo xtask bench questions`: turns, questions with one known answer, and ranks.
//!
//! Made from the changelogs and sources of the crates in the lock file and from `sets/questions`; the same input gives the
//! same set. Judges nothing.

mod changelogs;
mod engines;
mod errors;
mod generated;
pub mod missed;
mod written;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use towline_search::{Document, DocumentKind};

pub use engines::rank;

/// One prompt with its answer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Turn {
    pub session: String,
    pub project: String,
    pub number: u32,
    pub at: i64,
    /// Whether the time was read from the text.
    pub is_dated: bool,
    pub prompt: String,
    pub answer: String,
    /// Commands and their output.
    pub output: String,
    pub files: Vec<String>,
}

impl Turn {
    pub fn key(&self) -> String {
        format!("{}#{}", self.session, self.number)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Question {
    pub kind: String,
    pub text: String,
    /// The turns that answer it: one, or copies of one.
    pub answers: Vec<String>,
    pub now: i64,
    pub utc_offset_ms: i64,
    pub files: Vec<String>,
    pub from: Option<i64>,
    pub until: Option<i64>,
    /// Of the half that is not looked at while ranking is changed.
    pub locked: bool,
}

impl Question {
    pub fn new(kind: &str, text: String, answer: &Turn) -> Question {
        let (kind, answers) = (kind.to_owned(), vec![answer.key()]);
        Question { kind, text, answers, now: NOW, ..Question::default() }
    }
}

#[derive(Default, Serialize, Deserialize)]
pub struct QuestionSet {
    pub turns: Vec<Turn>,
    pub questions: Vec<Question>,
}

pub const DAY: i64 = 86_400_000;
/// The clock of questions that name no time relative to today: 2026-11-10, noon.
pub const NOW: i64 = 1_794_312_000_000;

/// Writes the set made from the packages in these folders.
pub fn make(file: &Path, packages: &[&str]) {
    let packages: BTreeMap<String, &Path> = newest(packages);
    let mut turns = changelogs::turns(&packages);
    turns.extend(errors::turns(&packages));
    let (own_turns, mut questions) = written::languages();
    turns.extend(own_turns);
    questions.extend(written::about_changelogs(&turns));
    questions.extend(generated::questions(&turns));
    for question in &mut questions {
        question.locked = hash(&format!("half {} {}", question.kind, question.text)) % 2 == 1;
    }
    let set = QuestionSet { turns, questions };
    std::fs::write(file, serde_json::to_vec(&set).unwrap()).unwrap();
    crate::print_line(&format!("turns = {}", set.turns.len()));
    for (kind, count) in counts(&set.questions) {
        crate::print_line(&format!("{kind} = {count}"));
    }
}

fn counts(questions: &[Question]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    questions.iter().for_each(|question| *counts.entry(question.kind.as_str()).or_default() += 1);
    counts
}

/// The folder of each package by name; of several versions, the newest.
fn newest<'a>(folders: &[&'a str]) -> BTreeMap<String, &'a Path> {
    let mut found: BTreeMap<String, (Vec<u64>, &Path)> = BTreeMap::new();
    for folder in folders.iter().copied().map(Path::new) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let split =
            name.match_indices('-').find(|(at, _)| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let Some((at, _)) = split else { continue };
        let version: Vec<u64> =
            name[at + 1..].split(['.', '-', '+']).filter_map(|part| part.parse().ok()).collect();
        let known = found.entry(name[..at].to_owned()).or_insert_with(|| (version.clone(), folder));
        if known.0 < version {
            *known = (version, folder);
        }
    }
    found.into_iter().map(|(name, (_, folder))| (name, folder)).collect()
}

pub fn read(file: &Path) -> QuestionSet {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// The documents that the product would index: prompt, answer and tool calls of each turn.
pub fn documents(turns: &[Turn]) -> Vec<Document> {
    let mut documents = Vec::new();
    for (number, turn) in (0..).zip(turns) {
        let parts = [
            (DocumentKind::Prompt, &turn.prompt),
            (DocumentKind::Body, &turn.answer),
            (DocumentKind::Detail, &turn.output),
        ];
        for (part, (kind, text)) in (0..).zip(parts).filter(|(_, (_, text))| !text.is_empty()) {
            let files = if kind == DocumentKind::Detail { Vec::new() } else { turn.files.clone() };
            documents.push(Document {
                files,
                project: turn.project.clone(),
                session: turn.session.clone(),
                turn: turn.number,
                at: turn.at,
                ..Document::plain(number * 4 + part, kind, text)
            });
        }
    }
    documents
}

/// FNV-1a with a final mix: choices are spread evenly and are the same everywhere.
pub fn hash(text: &str) -> u64 {
    let fold = |key: u64, byte: u8| (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut key = text.bytes().fold(0xcbf2_9ce4_8422_2325, fold);
    key ^= key >> 33;
    key = key.wrapping_mul(0xff51_afd7_ed55_8ccd);
    key ^ (key >> 33)
}

/// One of some texts, chosen by hash.
pub fn pick<'a>(options: &[&'a str], by: &str) -> &'a str {
    options[(hash(by) % options.len() as u64) as usize]
}
