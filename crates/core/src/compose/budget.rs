//! The maximum size of the text given to a session, and how texts are measured against it.
//!
//! Sizes are additive over lines, so no text has to be measured twice. A size is never below the client's own count.

use super::tokens;

/// The size limit of the text given to a session, in the unit that its client counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextBudget {
    /// UTF-16 code units, as JavaScript measures a string.
    Characters(usize),
    Tokens(usize),
}

impl ContextBudget {
    /// The unit's name, for users.
    pub fn unit(self) -> &'static str {
        match self {
            ContextBudget::Characters(_) => "characters",
            ContextBudget::Tokens(_) => "tokens",
        }
    }

    pub fn limit(self) -> usize {
        match self {
            ContextBudget::Characters(limit) | ContextBudget::Tokens(limit) => limit,
        }
    }

    /// The size of `text` in this budget's unit.
    pub fn size_of(self, text: &str) -> usize {
        match self {
            ContextBudget::Characters(_) => utf16_units(text),
            ContextBudget::Tokens(_) => text.split_inclusive('\n').map(tokens::of_line).sum(),
        }
    }

    /// A budget of `parts` parts out of `whole`.
    pub fn share(self, parts: usize, whole: usize) -> ContextBudget {
        self.of(self.limit().saturating_mul(parts) / whole.max(1))
    }

    /// The same unit with another limit.
    pub fn of(self, limit: usize) -> ContextBudget {
        match self {
            ContextBudget::Characters(_) => ContextBudget::Characters(limit),
            ContextBudget::Tokens(_) => ContextBudget::Tokens(limit),
        }
    }

    pub fn holds(self, text: &str) -> bool {
        self.size_if_held(text).is_some()
    }

    /// The size of `text`, or `None` if it exceeds the limit. A text with far too many bytes is not measured.
    pub fn size_if_held(self, text: &str) -> Option<usize> {
        let may_fit = text.len() <= self.most_bytes();
        may_fit.then(|| self.size_of(text)).filter(|size| *size <= self.limit())
    }

    /// Upper bound of the bytes that can fit, whatever the text is.
    pub fn most_bytes(self) -> usize {
        match self {
            ContextBudget::Characters(limit) => limit.saturating_mul(3),
            ContextBudget::Tokens(limit) => limit.saturating_mul(tokens::BYTES_PER_TOKEN),
        }
    }
}

/// The number of UTF-16 code units: one per character, and one more for characters of four bytes. Counts first bytes of
/// characters, many at a time.
fn utf16_units(text: &str) -> usize {
    let begins = |byte: &u8| !matches!(byte, 0x80..0xc0);
    let is_surrogate_pair = |byte: &u8| matches!(byte, 0xf0..);
    let count = |chunk: &[u8]| {
        let units = |byte: &u8| u8::from(begins(byte)) + u8::from(is_surrogate_pair(byte));
        usize::from(chunk.iter().map(units).sum::<u8>())
    };
    // A `u8` sum must not overflow: two per byte at most.
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
            prop_assert_eq!(ContextBudget::Characters(0).size_of(&text), text.encode_utf16().count());
        }
    }
}
