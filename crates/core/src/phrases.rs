//! Lists of words and phrases, each written as one text with `|` between its entries, and a filter that skips most of them.
//!
//! Decides no match: that is done where a list is used. Blanks at the ends of an entry are part of it.

/// One list.
#[derive(Clone, Copy)]
pub struct Phrases(pub &'static str);

impl Phrases {
    pub fn iter(self) -> impl DoubleEndedIterator<Item = &'static str> {
        self.0.split('|')
    }

    pub fn any(self, is_match: impl FnMut(&'static str) -> bool) -> bool {
        self.iter().any(is_match)
    }

    pub fn contains(self, word: &str) -> bool {
        self.any(|entry| entry == word)
    }

    /// Whether a text contains one of the entries.
    pub fn is_in(self, text: &str) -> bool {
        self.possible_in(text).any(|entry| text.contains(entry))
    }

    /// The entries that a text may contain; a `*` at the end of one stands for any letters.
    pub(crate) fn possible_in(self, text: &str) -> PossibleEntries {
        self.possible_by(BytePairs::of(text))
    }

    /// The same for a text that is looked at more than once.
    pub(crate) fn possible_by(self, pairs: BytePairs) -> PossibleEntries {
        PossibleEntries { rest: Some(self.0), pairs }
    }
}

/// Splits a list and filters its entries in one pass: a search for each `|` would cost more than the filter.
pub(crate) struct PossibleEntries {
    rest: Option<&'static str>,
    pairs: BytePairs,
}

impl Iterator for PossibleEntries {
    type Item = &'static str;

    fn next(&mut self) -> Option<&'static str> {
        while let Some(rest) = self.rest {
            let (mut end, mut before, mut is_possible) = (0, b'*', true);
            for byte in rest.bytes().take_while(|byte| *byte != b'|') {
                is_possible &= before == b'*' || byte == b'*' || self.pairs.holds(&[before, byte]);
                before = byte;
                end += 1;
            }
            self.rest = rest.get(end + 1..);
            if is_possible {
                return Some(&rest[..end]);
            }
        }
        None
    }
}

/// The pairs of neighbouring bytes of a text, as a small filter: most entries of a list occur nowhere, and a search for
/// each of them would cost ten times as much.
#[derive(Clone, Copy)]
pub(crate) struct BytePairs([u64; 16]);

impl BytePairs {
    pub(crate) fn of(text: &str) -> BytePairs {
        let mut bits = [0; 16];
        for pair in text.as_bytes().windows(2) {
            let (word, bit) = BytePairs::place(pair);
            bits[word] |= bit;
        }
        BytePairs(bits)
    }

    /// Whether the text may contain the pair; false only if it does not.
    fn holds(&self, pair: &[u8]) -> bool {
        let (word, bit) = BytePairs::place(pair);
        self.0[word] & bit != 0
    }

    fn place(pair: &[u8]) -> (usize, u64) {
        let hash = usize::from(pair[0]) * 37 + usize::from(pair[1]) * 5;
        (hash / 64 % 16, 1 << (hash % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_entries_that_may_occur_are_left() {
        let possible = |list: &'static str, text: &str| Phrases(list).possible_in(text).collect::<Vec<_>>();
        assert_eq!(possible("mast|sail*|keel|y", "sailing with a keel"), ["sail*", "keel", "y"]);
        assert!(possible("mast|sail", "").is_empty());
    }

    #[test]
    fn a_text_contains_any_entry_of_a_list() {
        let list = Phrases("hoist the|x*y|帆");
        for (text, expected) in
            [("hoist the sail", true), ("a x*y b", true), ("白い帆", true), ("hoist", false)]
        {
            assert_eq!(list.is_in(text), expected, "{text}");
        }
    }
}
