//! How many tokens a text can take at most, without a tokenizer.
//!
//! Two counts, and the larger is taken: the client's own, which divides bytes, and one that looks at what the bytes are.

/// What the client reckons with.
pub const BYTES_PER_TOKEN: usize = 4;

/// An upper estimate for one line, with its line break.
pub fn of_line(line: &str) -> usize {
    line.len().div_ceil(BYTES_PER_TOKEN).max(line.chars().map(|c| c.len_utf8()).sum::<usize>().div_ceil(3))
}
