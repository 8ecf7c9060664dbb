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
            // Most text is of one byte for each character, which is known much faster than its characters.
            Budget::Characters(_) if text.is_ascii() => text.len(),
            Budget::Characters(_) => text.encode_utf16().count(),
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
        self.size_of(text) <= self.limit()
    }

    /// More bytes than this cannot fit, whatever they are.
    pub fn most_bytes(self) -> usize {
        match self {
            Budget::Characters(limit) => limit.saturating_mul(3),
            Budget::Tokens(limit) => limit.saturating_mul(tokens::BYTES_PER_TOKEN),
        }
    }
}
