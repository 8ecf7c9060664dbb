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
}

/// The pairs of neighbouring bytes of a text, as a small filter: most entries of a list occur nowhere, and a search for
/// each of them would cost ten times as much.
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

    /// Whether the text may contain the entry; false only if it cannot.
    pub(crate) fn may_hold(&self, entry: &str) -> bool {
        entry.as_bytes().windows(2).all(|pair| {
            let (word, bit) = BytePairs::place(pair);
            self.0[word] & bit != 0
        })
    }

    fn place(pair: &[u8]) -> (usize, u64) {
        let hash = usize::from(pair[0]) * 37 + usize::from(pair[1]) * 5;
        (hash / 64 % 16, 1 << (hash % 64))
    }
}
