//! Lists of words in several languages, and where they occur in a folded text.
//!
//! An entry of an alphabet matches whole words; `*` at its end lets the word go on. Languages that write without spaces
//! match anywhere. Finds words only: their meaning is decided by the caller.

use crate::phrases::{BytePairs, Phrases};
use std::ops::{Deref, Range};

/// A folded text with the filter of its letters, which is made once for all lists.
#[derive(Clone, Copy)]
pub(super) struct Plain<'t> {
    pub text: &'t str,
    pairs: BytePairs,
}

impl<'t> From<&'t str> for Plain<'t> {
    fn from(text: &'t str) -> Plain<'t> {
        Plain { text, pairs: BytePairs::of(text) }
    }
}

impl Plain<'_> {
    /// Whether it contains one of the entries.
    pub fn has(self, list: Phrases) -> bool {
        self.possible(list).any(|entry| self.text.contains(entry))
    }

    /// The entries that it may contain.
    pub fn possible(self, list: Phrases) -> impl Iterator<Item = &'static str> {
        list.possible_by(self.pairs)
    }
}

impl Deref for Plain<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.text
    }
}

/// Entries with `|` between them, in lower case and without accents.
#[derive(Clone, Copy)]
pub(super) struct Words(pub &'static str);

impl Words {
    /// Where an entry occurs, entry by entry.
    pub fn find_in<'t>(self, text: impl Into<Plain<'t>>) -> impl Iterator<Item = Range<usize>> + 't {
        let Plain { text, pairs } = text.into();
        Phrases(self.0).possible_by(pairs).flat_map(move |entry| occurrences(text, entry))
    }

    pub fn is_in<'t>(self, text: impl Into<Plain<'t>>) -> bool {
        self.find_in(text).next().is_some()
    }
}

fn occurrences<'t>(text: &'t str, entry: &'static str) -> impl Iterator<Item = Range<usize>> + 't {
    let (word, goes_on) = entry.strip_suffix('*').map_or((entry, false), |stem| (stem, true));
    let begins = word.starts_with(has_spaces);
    let ends = word.ends_with(has_spaces) && !goes_on;
    text.match_indices(word).map(|(at, found)| at..at + found.len()).filter(move |range| {
        let before = text[..range.start].chars().next_back().is_none_or(|c| !is_of_word(c));
        let after = text[range.end..].chars().next().is_none_or(|c| !is_of_word(c));
        (before || !begins) && (after || !ends)
    })
}

/// Whether a letter belongs to a language that writes spaces between words. Korean does, but joins its endings.
fn has_spaces(c: char) -> bool {
    c.is_alphanumeric() && u32::from(c) < 0x1100
}

fn is_of_word(c: char) -> bool {
    has_spaces(c) || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole_and_stems_may_go_on() {
        let words = Words("mai|disabl*|отключ*|禁止");
        for (text, expected) in [
            ("non usare mai", true),
            ("push to main", false),
            ("disabled", true),
            ("отключите", true),
            ("使用禁止", true),
            ("nothing", false),
        ] {
            assert_eq!(words.is_in(text), expected, "{text}");
        }
    }
}
