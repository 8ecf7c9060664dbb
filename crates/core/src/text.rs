//! Text from a person or a program, before it is stored: bounded in size, cut at a character, redacted.
//!
//! Raw text becomes `Kept` only here, so none can reach the journal by accident; text read back from the journal or the
//! database has already passed through here.

use crate::redact::{redact, without_private};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How much text may be stored, and whether it is redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPolicy {
    pub longest_bytes: usize,
    pub secrets: SecretPolicy,
}

/// Whether secrets are replaced before text is stored. Private blocks always are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretPolicy {
    Redacted,
    Kept,
}

impl SecretPolicy {
    fn clean(self, text: &str) -> Cow<'_, str> {
        match self {
            SecretPolicy::Redacted => redact(text),
            SecretPolicy::Kept => without_private(text),
        }
    }
}

/// Text that is redacted and bounded in size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SafeText(Box<str>);

impl SafeText {
    /// Redacts first and cuts afterwards: a secret that is cut in half would no longer be recognised. Reads only a
    /// bounded window, so that a huge prompt costs no more than a long one.
    pub fn new(raw: &str, keeping: TextPolicy) -> Self {
        let window = whole_words(raw, keeping.longest_bytes.saturating_mul(4).max(16 * 1024));
        let safe = keeping.secrets.clean(window);
        let cut = clip(&safe, keeping.longest_bytes);
        if cut.len() == raw.len() || (safe.len() == cut.len() && window.len() == raw.len()) {
            return Self(cut.into());
        }
        Self(format!("{cut}…").into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }
}

/// Redacted text of any length, borrowed if unchanged. Excess is cut from the middle: the beginning and the end tell
/// most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanText<'a> {
    text: Cow<'a, str>,
    cut_bytes: usize,
}

impl<'a> CleanText<'a> {
    /// Redacts the whole text, and cuts afterwards.
    pub fn new(raw: Cow<'a, str>, keeping: TextPolicy) -> Self {
        let safe = match raw {
            Cow::Borrowed(raw) => keeping.secrets.clean(raw),
            Cow::Owned(raw) => match keeping.secrets.clean(&raw) {
                Cow::Borrowed(_) => Cow::Owned(raw),
                Cow::Owned(safe) => Cow::Owned(safe),
            },
        };
        if safe.len() <= keeping.longest_bytes {
            return Self { text: safe, cut_bytes: 0 };
        }
        let head = clip(&safe, keeping.longest_bytes / 3 * 2);
        let tail = clip_start(&safe, keeping.longest_bytes / 3);
        let cut_bytes = safe.len() - head.len() - tail.len();
        Self { text: Cow::Owned(format!("{head}\n[… {cut_bytes} bytes cut …]\n{tail}")), cut_bytes }
    }

    /// Redacts the whole text, whatever the user's settings say, and cuts nothing.
    pub fn redacted(raw: &'a str) -> Self {
        Self { text: redact(raw), cut_bytes: 0 }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Detaches the text from its source.
    pub fn into_owned(self) -> CleanText<'static> {
        CleanText { text: Cow::Owned(self.text.into_owned()), cut_bytes: self.cut_bytes }
    }

    /// The number of bytes cut; the text states it at the cut.
    pub fn cut_bytes(&self) -> usize {
        self.cut_bytes
    }

    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The items in order, without those that an earlier item makes superfluous.
pub(crate) fn distinct_by<T>(items: impl IntoIterator<Item = T>, is_same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut all: Vec<T> = vec![];
    for item in items {
        if !all.iter().any(|known| is_same(known, &item)) {
            all.push(item);
        }
    }
    all
}

/// The items in order, each once.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    distinct_by(items, T::eq)
}

/// Like `clip`, but without the word that the cut would split: half a secret is not recognised as one.
fn whole_words(text: &str, longest: usize) -> &str {
    let cut = clip(text, longest);
    if cut.len() == text.len() { cut } else { cut.trim_end_matches(|c: char| !c.is_whitespace()) }
}

/// Maps full-width letters and signs to ASCII.
pub(crate) fn narrow(c: char) -> char {
    match c {
        '！'..='～' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// The beginning of `text` that is read to keep `longest` bytes of it, without the word that a cut would split. Text
/// without blanks loses a bounded part of its end instead.
pub(crate) fn window(text: &str, longest: usize) -> &str {
    const LONGEST_WORD: usize = 1024;
    let words = whole_words(text, longest);
    let cut = clip(text, longest);
    if cut.len() - words.len() <= LONGEST_WORD { words } else { clip(cut, cut.len() - LONGEST_WORD) }
}

/// The longest prefix of at most `longest` bytes that ends at a character.
pub fn clip(text: &str, longest: usize) -> &str {
    if text.len() <= longest {
        return text;
    }
    let end = (0..=longest).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    &text[..end]
}

/// The longest suffix of at most `longest` bytes that begins at a character.
pub fn clip_start(text: &str, longest: usize) -> &str {
    let from = text.len().saturating_sub(longest);
    let start = (from..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEPING: TextPolicy = TextPolicy { longest_bytes: 10, secrets: SecretPolicy::Redacted };

    #[test]
    fn short_text_is_kept_as_it_is() {
        assert_eq!(SafeText::new("ten bytes!", KEEPING).as_str(), "ten bytes!");
    }

    #[test]
    fn long_text_is_cut_at_a_character_and_says_so() {
        assert_eq!(SafeText::new("123456789é is two bytes", KEEPING).as_str(), "123456789…");
    }

    #[test]
    fn a_secret_that_the_window_cuts_is_not_kept_by_half() {
        let text = format!("{} {}{}", "x".repeat(16 * 1024 - 10), "ghp_", "A1".repeat(18));
        let kept = SafeText::new(&text, TextPolicy { longest_bytes: 4_000, secrets: SecretPolicy::Redacted });
        assert!(!kept.as_str().contains("ghp_"));
    }

    #[test]
    fn a_secret_is_redacted_before_the_cut() {
        let key = format!("k {}{}", "sk-ant-", "a".repeat(40));
        assert!(
            !SafeText::new(&key, TextPolicy { longest_bytes: 12, ..KEEPING }).as_str().contains("sk-ant")
        );
    }

    #[test]
    fn long_text_keeps_its_head_and_tail_and_states_the_cut() {
        let clean = CleanText::new("0123456789éabcdefghi".into(), TextPolicy { longest_bytes: 9, ..KEEPING });
        assert_eq!(clean.as_str(), "012345\n[… 12 bytes cut …]\nghi");
        assert_eq!(clean.cut_bytes(), 12);
        let whole = CleanText::new("short".into(), KEEPING);
        assert_eq!((whole.as_str(), whole.cut_bytes()), ("short", 0));
    }

    #[test]
    fn a_secret_over_the_cut_is_gone_before_it() {
        let text = format!("{} {}{} {}", "x ".repeat(30), "ghp_", "A1".repeat(18), "y ".repeat(30));
        for longest_bytes in (30..120).step_by(7) {
            let clean = CleanText::new(text.as_str().into(), TextPolicy { longest_bytes, ..KEEPING });
            assert!(!clean.as_str().contains("A1A1"), "{longest_bytes}: {}", clean.as_str());
        }
    }
}
