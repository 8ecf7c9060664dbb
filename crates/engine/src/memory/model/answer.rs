//! Validates a model's answer: JSON of the right shape, bounded, with text of its own.
//!
//! An empty list is an answer, prose is not. Files that the turn did not touch are dropped, and suspicious lines of a
//! summary.

use serde::Deserialize;
use towline_agents::ask::{AskError, prose, short};
use towline_core::capture::FileAccess;
use towline_core::memory::distil::without_suspicious_lines;
use towline_core::memory::{MemoryContent, MemoryDraft, MemoryType, Summary, SummaryDraft};

/// The validated answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub memories: Vec<MemoryContent>,
    pub summary: Option<Summary>,
}

/// An answer with more memories for one turn is invalid.
const MOST_MEMORIES: usize = 5;
/// The number of changed files recorded if the model names none.
const MOST_FILES: usize = 8;

#[derive(Deserialize)]
struct WireAnswer {
    memories: Vec<WireMemory>,
    summary: Option<SummaryDraft>,
}

#[derive(Deserialize)]
struct WireMemory {
    #[serde(rename = "type")]
    kind: String,
    title: String,
    #[serde(default)]
    subtitle: String,
    #[serde(default)]
    facts: Vec<String>,
    #[serde(default)]
    narrative: String,
    #[serde(default)]
    concepts: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
}

/// Parses and validates the answer. `files` are those of the turn, as shown to the model.
pub fn checked(text: &str, files: &[(String, FileAccess)]) -> Result<Checked, AskError> {
    let text = unfenced(text);
    if !text.starts_with('{') {
        return Err(prose(text));
    }
    let answer: WireAnswer =
        serde_json::from_str(text).map_err(|error| AskError::Invalid(short(&error.to_string())))?;
    if answer.memories.len() > MOST_MEMORIES {
        return Err(AskError::Invalid(format!("{} memories of one turn", answer.memories.len())));
    }
    let memories = answer.memories.into_iter().map(|memory| content(memory, files));
    // The schema asks for no notes.
    let summary = answer.summary.map(|summary| SummaryDraft { notes: String::new(), ..summary });
    Ok(Checked {
        memories: memories.collect::<Result<_, _>>()?,
        summary: summary.and_then(|draft| Summary::of(&without_suspicious_lines(draft))),
    })
}

/// Strips the code fence that some models add.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inner.and_then(|inner| inner.strip_suffix("```")).map_or(text, str::trim)
}

fn content(memory: WireMemory, files: &[(String, FileAccess)]) -> Result<MemoryContent, AskError> {
    let kind = MemoryType::parse(&memory.kind)
        .ok_or_else(|| AskError::Invalid(format!("`{}` is no type", short(&memory.kind))))?;
    let named = files.iter().filter(|(path, _)| memory.files.iter().any(|named| is_meant(named, path)));
    let mut files_kept: Vec<(String, FileAccess)> = named.cloned().collect();
    if files_kept.is_empty() {
        let changed = files.iter().filter(|(_, how)| *how == FileAccess::Changed);
        files_kept = changed.take(MOST_FILES).cloned().collect();
    }
    let draft = MemoryDraft {
        kind,
        title: memory.title,
        subtitle: memory.subtitle,
        facts: memory.facts,
        narrative: memory.narrative,
        concepts: memory.concepts,
        files: files_kept,
    };
    MemoryContent::of(draft).ok_or_else(|| AskError::Invalid("a memory without a title".to_owned()))
}

fn is_meant(named: &str, path: &str) -> bool {
    !named.is_empty()
        && (named == path || path.ends_with(&format!("/{named}")) || named.ends_with(&format!("/{path}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<(String, FileAccess)> {
        vec![("src/rig.rs".into(), FileAccess::Changed), ("src/hull.rs".into(), FileAccess::Read)]
    }

    #[track_caller]
    fn check(text: &str, cause: &str) {
        assert_eq!(checked(text, &files()).map_err(|error| error.cause()), Err(cause), "{text}");
    }

    #[test]
    fn an_empty_list_is_an_answer_and_words_are_none() {
        let none = Checked { memories: vec![], summary: None };
        assert_eq!(checked(r#"{"memories":[]}"#, &[]), Ok(none.clone()));
        assert_eq!(checked("```json\n{\"memories\": [], \"summary\": null}\n```", &[]), Ok(none));
        check("", "prose");
        check("Nothing to remember.", "prose");
        check("You've hit your usage limit.", "quota");
        check("[]", "prose");
        check("{}", "invalid");
        check(r#"{"memories":"none"}"#, "invalid");
        check(r#"{"memories":[{"type":"bugfix"}]}"#, "invalid");
        check(r#"{"memories":[{"type":"bug;fix","title":"x"}]}"#, "invalid");
        check(r#"{"memories":[{"type":"bugfix","title":" "}]}"#, "invalid");
        check(r#"{"memories":[{"type":"bugfix","title":"cut o"#, "invalid");
        let many = [r#"{"type":"bugfix","title":"x"}"#; 6].join(",");
        check(&format!("{{\"memories\":[{many}]}}"), "invalid");
    }

    #[test]
    fn only_files_of_the_turn_are_believed() {
        let paths = |named: &str| {
            let text = format!(r#"{{"memories":[{{"type":"gotcha","title":"x","files":[{named}]}}]}}"#);
            let found = checked(&text, &files()).unwrap().memories.remove(0);
            found.files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>()
        };
        assert_eq!(paths(r#""hull.rs","/etc/passwd""#), ["src/hull.rs"]);
        assert_eq!(paths(r#""/boat/src/hull.rs""#), ["src/hull.rs"]);
        assert_eq!(paths(r#""made/up.rs""#), ["src/rig.rs"], "what was changed");
    }

    #[test]
    fn a_type_may_be_of_the_models_own() {
        let text =
            r#"{"memories":[{"type":"Root Cause","title":"t","facts":["f"]}],"summary":{"learned":"l"}}"#;
        let found = checked(text, &[]).unwrap();
        assert_eq!(
            (found.memories[0].kind.as_str(), found.summary.unwrap().learned.as_str()),
            ("root-cause", "l")
        );
    }
}
