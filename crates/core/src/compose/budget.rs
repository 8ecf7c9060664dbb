//! How much a session may be given, and how large a text is by that measure.
//!
//! Sizes add up: that of a text is the sum of those of its lines, so that what was measured once need not be measured
//! again. Never below what the client counts.

use super::tokens;

/// The most that a session is given, in the unit in which its client counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// UTF-16 code units, as JavaScript measures a string.
    Characters(usize),
    Tokens(usize),
}

impl Budget {
    /// What it is counted in, for people.
    pub fn unit(self) -> &'static str {
        match self {
            Budget::Characters(_) => "characters",
            Budget::Tokens(_) => "tokens",
        }
    }

    pub fn limit(self) -> usize {
        match self {
            Budget::Characters(limit) | Budget::Tokens(limit) => limit,
        }
    }

    /// The size of `text` in this budget's unit.
    pub fn size_of(self, text: &str) -> usize {
        match self {
            Budget::Characters(_) => utf16_units(text),
            Budget::Tokens(_) => text.split_inclusive('\n').map(tokens::of_line).sum(),
        }
    }

    /// A budget of `parts` parts out of `whole`.
    pub fn share(self, parts: usize, whole: usize) -> Budget {
        self.of(self.limit().saturating_mul(parts) / whole.max(1))
    }

    /// The same unit with another limit.
    pub fn of(self, limit: usize) -> Budget {
        match self {
            Budget::Characters(_) => Budget::Characters(limit),
            Budget::Tokens(_) => Budget::Tokens(limit),
        }
    }

    pub fn holds(self, text: &str) -> bool {
        self.size_if_held(text).is_some()
    }

    /// The size of `text`, unless it is larger than the limit: what is much too long is not looked at.
    pub fn size_if_held(self, text: &str) -> Option<usize> {
        let may_fit = text.len() <= self.most_bytes();
        may_fit.then(|| self.size_of(text)).filter(|size| *size <= self.limit())
    }

    /// More bytes than this cannot fit, whatever they are.
    pub fn most_bytes(self) -> usize {
        match self {
            Budget::Characters(limit) => limit.saturating_mul(3),
            Budget::Tokens(limit) => limit.saturating_mul(tokens::BYTES_PER_TOKEN),
        }
    }
}

/// How many UTF-16 code units a text is of: one for each character, and one more for those of four bytes. Counted by the
/// bytes that begin a character, many at a time.
fn utf16_units(text: &str) -> usize {
    let begins = |byte: &u8| !matches!(byte, 0x80..0xc0);
    let is_of_two = |byte: &u8| matches!(byte, 0xf0..);
    let count = |chunk: &[u8]| {
        let units = |byte: &u8| u8::from(begins(byte)) + u8::from(is_of_two(byte));
        usize::from(chunk.iter().map(units).sum::<u8>())
    };
    // No more bytes at once than a byte can count.
    text.as_bytes().chunks(192).map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn characters_are_counted_as_javascript_does(text in any::<String>(), times in 1_usize..200) {
            let text = text.repeat(times);
            prop_assert_eq!(Budget::Characters(0).size_of(&text), text.encode_utf16().count());
        }
    }
}
