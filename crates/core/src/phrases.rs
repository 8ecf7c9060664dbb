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
        self.possible_by(BytePairs::of(text)).any(|entry| text.contains(entry))
    }

    /// The entries that a text with these pairs may contain. A `*` at the end of one is not looked for.
    pub(crate) fn possible_by(self, pairs: BytePairs) -> PossibleEntries {
        PossibleEntries { rest: Some(self.0), pairs }
    }
}

/// The entries of a list that pass a filter.
pub(crate) struct PossibleEntries {
    rest: Option<&'static str>,
    pairs: BytePairs,
}

impl Iterator for PossibleEntries {
    type Item = &'static str;

    fn next(&mut self) -> Option<&'static str> {
        while let Some(rest) = self.rest {
            let end = first_bar(rest.as_bytes());
            self.rest = rest.get(end + 1..);
            let entry = &rest[..end];
            let fixed = entry.strip_suffix('*').unwrap_or(entry);
            if fixed.as_bytes().windows(2).all(|pair| self.pairs.holds(pair)) {
                return Some(entry);
            }
        }
        None
    }
}

/// The place of the first `|`, or the length. Eight bytes at a time: the library's search is made for longer texts, and would
/// cost more than the filter.
fn first_bar(list: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let (chunks, rest) = list.as_chunks::<8>();
    for (number, chunk) in chunks.iter().enumerate() {
        // A byte is zero where a `|` stands.
        let bars = u64::from_le_bytes(*chunk) ^ (ONES * u64::from(b'|'));
        let found = bars.wrapping_sub(ONES) & !bars & (ONES << 7);
        if found != 0 {
            return number * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let after = chunks.len() * 8;
    rest.iter().position(|byte| *byte == b'|').map_or(list.len(), |at| after + at)
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
        let possible = |list, text: &str| Phrases(list).possible_by(BytePairs::of(text)).collect::<Vec<_>>();
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
