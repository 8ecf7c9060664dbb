//! Lists of words and phrases, each written as one text with `|` between its entries.
//!
//! Data only: what counts as a match is decided where a list is used. Blanks at the ends of an entry are part of it.

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
