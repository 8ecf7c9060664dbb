//! Turns a text that the user wants remembered into a draft, without losing a word.
//!
//! A short sentence becomes the title; a longer text the narrative. Text that is too long is refused, never cut. Takes
//! redacted text only: the title is cut from it, and half a secret would no longer be recognised.

use super::{MemoryDraft, MemoryType};
use crate::text::{CleanText, clip};

/// Maximum bytes: a longer text is a document, not a memory.
pub const LONGEST: usize = 3000;

/// Maximum bytes of an uncut title.
const TITLE: usize = 150;

/// The reason a text cannot be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectedText {
    Empty,
    /// The size of the text in bytes.
    TooLong(usize),
}

/// Makes a draft of the given type, or of the type guessed from the text.
pub fn draft_memory(text: &CleanText<'_>, kind: Option<MemoryType>) -> Result<MemoryDraft, RejectedText> {
    let text = text.as_str().replace("\r\n", "\n").replace('\t', " ");
    let text = text.trim();
    if text.is_empty() {
        return Err(RejectedText::Empty);
    }
    if text.len() > LONGEST {
        return Err(RejectedText::TooLong(text.len()));
    }
    let kind = kind.or_else(|| MemoryType::parse(guess_type(text))).ok_or(RejectedText::Empty)?;
    let is_one_line = text.split_whitespace().collect::<Vec<_>>().join(" ") == text;
    if is_one_line && text.len() <= TITLE {
        return Ok(MemoryDraft::new(kind, text));
    }
    let first = text.lines().next().unwrap_or(text).trim();
    Ok(MemoryDraft { narrative: text.to_owned(), ..MemoryDraft::new(kind, shortened(first)) })
}

/// Cuts at the last word that fits.
fn shortened(line: &str) -> String {
    let cut = clip(line, TITLE);
    if cut.len() == line.len() {
        return line.to_owned();
    }
    let end = cut.rfind(char::is_whitespace).filter(|end| *end > TITLE / 2).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end())
}

const PREFERENCE: [&str; 8] = ["always", "never", "prefer", "don't", "do not", "please", "avoid", "i want"];
const DECISION: [&str; 6] = ["we use", "we decided", "decided to", "instead of", "we chose", "rather than"];

/// Guesses the type: a preference, a decision, or else a discovery.
fn guess_type(text: &str) -> &'static str {
    let text = format!(" {} ", text.to_lowercase());
    let has = |words: &[&str]| words.iter().any(|word| text.contains(&format!(" {word} ")));
    match text.trim_start() {
        _ if has(&DECISION) => "decision",
        start if has(&PREFERENCE) || start.starts_with("use ") => "preference",
        _ => "discovery",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft_of(text: &str) -> Result<MemoryDraft, RejectedText> {
        draft_memory(&CleanText::redacted(text), None)
    }

    fn kind_of(text: &str) -> String {
        draft_of(text).unwrap().kind.to_string()
    }

    #[test]
    fn a_secret_over_the_cut_of_the_title_is_in_no_part() {
        for (before, tail) in [(140, 40), (146, 40), (100, 120)] {
            let key = format!("{}{}", "ghp_", "A1".repeat(tail));
            let text = format!("{} {key} is the key", "x".repeat(before));
            let draft = draft_of(&text).unwrap();
            assert!(!draft.title.contains("A1") && !draft.narrative.contains("A1"), "{draft:?}");
            assert!(!draft.title.contains("ghp_"), "{}", draft.title);
        }
    }

    #[test]
    fn a_short_sentence_is_the_title_and_a_longer_text_is_kept_whole_beside_one() {
        let draft = draft_of("  Deploy on Tuesdays only. ").unwrap();
        assert_eq!((draft.title.as_str(), draft.narrative.as_str()), ("Deploy on Tuesdays only.", ""));
        let text = "How we deploy:\n  1. build\n\t2. push";
        let draft = draft_of(text).unwrap();
        assert_eq!(draft.title, "How we deploy:");
        assert_eq!(draft.narrative, "How we deploy:\n  1. build\n 2. push");
        let long = format!("{} end", "word ".repeat(60));
        let draft = draft_of(&long).unwrap();
        assert!(draft.title.len() < 160 && draft.title.ends_with("word…"), "{}", draft.title);
        assert_eq!(draft.narrative, long.trim());
        let dense = "漢".repeat(100);
        assert!(draft_of(&dense).unwrap().title.ends_with("漢…"));
    }

    #[test]
    fn a_text_that_does_not_fit_is_refused_and_not_cut() {
        assert_eq!(draft_of(" \n "), Err(RejectedText::Empty));
        assert_eq!(draft_of(&"x".repeat(1 << 20)), Err(RejectedText::TooLong(1 << 20)));
    }

    #[test]
    fn the_type_is_guessed_from_the_text() {
        assert_eq!(kind_of("Never push on Fridays"), "preference");
        assert_eq!(kind_of("Use pnpm"), "preference");
        assert_eq!(kind_of("We use Valkey instead of Redis"), "decision");
        assert_eq!(kind_of("The staging database listens on 5433"), "discovery");
        let gotcha = MemoryType::parse("gotcha");
        assert_eq!(
            draft_memory(&CleanText::redacted("Never push"), gotcha.clone()).unwrap().kind,
            gotcha.unwrap()
        );
    }
}
