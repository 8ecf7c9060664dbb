//! The text of memories and summaries: bounded, normalised to the right lines, and redacted.
//!
//! A draft is raw and its author untrusted. It becomes content only through `of`, or `stored` when it was content before.
//! Content is immutable: an edit makes a new one.

use crate::capture::FileAccess;
use crate::text::{CleanText, clip, distinct, window};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;

/// The type of a memory. Users may define their own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MemoryType(Box<str>);

impl MemoryType {
    /// The built-in types, each with its explanation for a model.
    pub const KNOWN: [(&'static str, &'static str); 9] = [
        ("bugfix", "something was broken and now works"),
        ("feature", "something new can be done"),
        ("refactor", "the same, put differently"),
        ("change", "a setting, a document or a dependency is other than before"),
        ("discovery", "how something works or why it is as it is"),
        ("decision", "what was chosen, and why"),
        ("security", "what can be misused, or was closed"),
        ("preference", "how the person wants it done"),
        ("gotcha", "a trap, and the way around it"),
    ];

    /// One word of at most 32 letters, digits and hyphens.
    pub fn parse(raw: &str) -> Option<MemoryType> {
        let word = raw.trim().to_lowercase().replace([' ', '_'], "-");
        let is_plain = |c: char| c.is_alphanumeric() || c == '-';
        let fits = !word.is_empty() && word.len() <= 32 && word.chars().all(is_plain);
        fits.then(|| MemoryType(word.into()))
    }

    /// A built-in type.
    pub(super) fn known(word: &'static str) -> MemoryType {
        MemoryType(word.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MemoryType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for MemoryType {
    type Error = String;

    fn try_from(raw: String) -> Result<Self, Self::Error> {
        MemoryType::parse(&raw).ok_or_else(|| "a type of a memory is one short word".to_owned())
    }
}

impl From<MemoryType> for String {
    fn from(kind: MemoryType) -> String {
        kind.0.into()
    }
}

/// The raw text of a memory, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDraft {
    pub kind: MemoryType,
    pub title: String,
    pub subtitle: String,
    /// Each is understandable on its own.
    pub facts: Vec<String>,
    pub narrative: String,
    pub concepts: Vec<String>,
    pub files: Vec<(String, FileAccess)>,
}

impl MemoryDraft {
    pub fn new(kind: MemoryType, title: impl Into<String>) -> MemoryDraft {
        MemoryDraft {
            kind,
            title: title.into(),
            subtitle: String::new(),
            facts: vec![],
            narrative: String::new(),
            concepts: vec![],
            files: vec![],
        }
    }
}

/// The stored text of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryContent(MemoryDraft);

const TITLE: usize = 160;
const SUBTITLE: usize = 240;
const FACT: usize = 400;
const FACTS: usize = 12;
const NARRATIVE: usize = 3000;
const CONCEPT: usize = 40;
const CONCEPTS: usize = 8;
const PATH: usize = 400;
const FILES: usize = 40;

impl MemoryContent {
    /// Redacts and bounds a draft; `None` if no title is left.
    pub fn of(draft: MemoryDraft) -> Option<MemoryContent> {
        let title = single_line(&draft.title, TITLE);
        if title.is_empty() {
            return None;
        }
        let files = draft.files.into_iter().take(FILES);
        Some(MemoryContent(MemoryDraft {
            kind: draft.kind,
            title,
            subtitle: single_line(&draft.subtitle, SUBTITLE),
            facts: bounded_lines(&draft.facts, FACT, FACTS),
            narrative: bounded(draft.narrative.trim(), NARRATIVE),
            concepts: bounded_lines(&draft.concepts, CONCEPT, CONCEPTS),
            files: files.map(|(path, how)| (single_line(&path, PATH), how)).collect(),
        }))
    }

    /// Content that is read back. Only content is stored, so it is not redacted again: that took two thirds of the time of
    /// reading it, and a first prompt waits. `None` if it has no title.
    pub fn stored(draft: MemoryDraft) -> Option<MemoryContent> {
        (!draft.title.is_empty()).then_some(MemoryContent(draft))
    }

    /// Returns the text for editing; the result has to pass `of` again.
    pub fn into_draft(self) -> MemoryDraft {
        self.0
    }

    /// All of it as one text, for search.
    pub fn text(&self) -> String {
        let lines = [&self.title, &self.subtitle].into_iter().chain(&self.facts).chain([&self.narrative]);
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

impl Deref for MemoryContent {
    type Target = MemoryDraft;

    fn deref(&self) -> &MemoryDraft {
        &self.0
    }
}

/// The raw text of a session summary.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SummaryDraft {
    pub request: String,
    pub investigated: String,
    pub learned: String,
    pub completed: String,
    pub next_steps: String,
    pub notes: String,
}

/// The stored text of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary(SummaryDraft);

const PART: usize = 1500;

impl Summary {
    /// Redacts and bounds a draft; `None` if all parts are empty.
    pub fn of(draft: &SummaryDraft) -> Option<Summary> {
        let part = |text: &str| bounded(text.trim(), PART);
        let kept = SummaryDraft {
            request: part(&draft.request),
            investigated: part(&draft.investigated),
            learned: part(&draft.learned),
            completed: part(&draft.completed),
            next_steps: part(&draft.next_steps),
            notes: part(&draft.notes),
        };
        (kept != SummaryDraft::default()).then_some(Summary(kept))
    }

    /// Each part with its name.
    pub fn parts(&self) -> [(&'static str, &str); 6] {
        let kept = &self.0;
        [
            ("request", &kept.request),
            ("investigated", &kept.investigated),
            ("learned", &kept.learned),
            ("completed", &kept.completed),
            ("next steps", &kept.next_steps),
            ("notes", &kept.notes),
        ]
    }
}

impl Deref for Summary {
    type Target = SummaryDraft;

    fn deref(&self) -> &SummaryDraft {
        &self.0
    }
}

fn bounded_lines(raw: &[String], longest: usize, most: usize) -> Vec<String> {
    let lines = raw.iter().map(|line| single_line(line, longest)).filter(|line| !line.is_empty());
    let mut kept = distinct(lines);
    kept.truncate(most);
    kept
}

/// How many times the kept length is read: a long secret leaves room for what follows it.
const READ: usize = 64;

/// Redacts before the lines are joined: some secrets are recognised by the line they stand on.
fn single_line(raw: &str, longest: usize) -> String {
    let safe = CleanText::redacted(window(raw, READ * longest));
    let joined = safe.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    if joined == safe.as_str() { cut_clean(&safe, longest) } else { bounded(&joined, longest) }
}

/// Redacts first and cuts afterwards: a secret that is cut in half would no longer be recognised.
fn bounded(raw: &str, longest: usize) -> String {
    cut_clean(&CleanText::redacted(window(raw, READ * longest)), longest)
}

/// Redacts again after control characters are removed, which may have split a secret; usually there are none.
fn cut_clean(safe: &CleanText<'_>, longest: usize) -> String {
    let is_removed = |c: char| c != '\n' && c.is_control();
    if safe.as_str().contains(is_removed) {
        let plain = safe.as_str().replace(is_removed, "");
        return cut_clean(&CleanText::redacted(&plain), longest);
    }
    let cut = clip(safe.as_str(), longest);
    if cut.len() == safe.as_str().len() { cut.to_owned() } else { format!("{}…", cut.trim_end()) }
}
