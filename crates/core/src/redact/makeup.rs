//! Character statistics of a string, and whether it looks random or written by hand.
//!
//! Counts only: no dictionary, and no thresholds that depend on the string's position.

use super::effort::spend;

/// Character counts of a string.
#[derive(Clone, Copy, Debug, Default)]
pub struct Makeup {
    length: usize,
    digits: usize,
    lower: usize,
    upper: usize,
    hex: usize,
    separators: usize,
    symbols: usize,
    spaces: usize,
    foreign: usize,
    /// Changes of class (lower, upper, digit) between neighbours. A capital before a small letter starts a word and
    /// does not count.
    changes: usize,
    /// Pairs of adjacent capitals.
    capital_pairs: usize,
    /// One bit for each of 64 groups of characters that occur.
    seen: u64,
    /// Pairs of adjacent letters, and those of them that words rarely contain.
    pairs: usize,
    rare_pairs: usize,
}

/// For each letter the letters that follow it in words of code and prose: 336 of 676 pairs, which make 98.5 % of all.
const FOLLOWERS: [u32; 26] = [
    0x1febdef, 0x11e4b15, 0x11edd9d, 0x11e497b, 0x3ffffff, 0x11e5971, 0x0167991, 0x01e5111, 0x2aefc7f,
    0x0104010, 0x0043110, 0x11ce939, 0x01cf11b, 0x13efdfd, 0x0feff7f, 0x11ec999, 0x0100800, 0x17efd7f,
    0x15ffd95, 0x15eddbf, 0x08ef97f, 0x0004111, 0x0066191, 0x0088115, 0x00cf912, 0x0004010,
];

/// Fewer pairs say nothing.
const LEAST_PAIRS: usize = 8;

/// The class of a byte as `changes` counts it; other bytes have none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
}

impl Makeup {
    pub fn of(value: &[u8]) -> Makeup {
        let mut makeup = Makeup { length: value.len(), ..Makeup::default() };
        let (mut before, mut letter) = (None, None);
        spend(value.len());
        for byte in value {
            let class = makeup.count(*byte);
            letter = makeup.count_pair(letter, *byte);
            match (before, class) {
                (Some(Class::Upper), Some(Class::Lower)) => {}
                (Some(Class::Upper), Some(Class::Upper)) => makeup.capital_pairs += 1,
                (Some(before), Some(class)) => makeup.changes += usize::from(before != class),
                (None, _) | (_, None) => {}
            }
            before = class.or(before);
        }
        makeup
    }

    fn count(&mut self, byte: u8) -> Option<Class> {
        self.seen |= 1 << (byte & 63);
        self.hex += usize::from(byte.is_ascii_hexdigit());
        match byte {
            b'a'..=b'z' => self.lower += 1,
            b'A'..=b'Z' => self.upper += 1,
            b'0'..=b'9' => self.digits += 1,
            b'_' | b'-' | b'.' | b'/' | b':' => self.separators += 1,
            b' ' | b'\t' => self.spaces += 1,
            0x80.. => self.foreign += 1,
            _ => self.symbols += 1,
        }
        match byte {
            b'a'..=b'z' => Some(Class::Lower),
            b'A'..=b'Z' => Some(Class::Upper),
            b'0'..=b'9' => Some(Class::Digit),
            _ => None,
        }
    }

    /// Counts the pair of `before` and `byte`, if both are letters; returns the number of the letter.
    fn count_pair(&mut self, before: Option<u8>, byte: u8) -> Option<u8> {
        let letter = (byte | 32).wrapping_sub(b'a');
        let this = (letter < 26).then_some(letter)?;
        if let Some(before) = before {
            self.pairs += 1;
            self.rare_pairs += usize::from(FOLLOWERS[usize::from(before)] & (1 << this) == 0);
        }
        Some(this)
    }

    fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Letters only, possibly joined by separators: a word, a name, a path.
    pub fn is_word(&self) -> bool {
        self.digits == 0 && self.symbols == 0 && self.spaces == 0
    }

    pub fn is_number(&self) -> bool {
        self.digits > 0 && self.letters() + self.symbols + self.foreign + self.spaces == 0
    }

    /// Numbers joined by separators: a version, a date.
    pub fn is_version(&self) -> bool {
        self.is_number() && self.separators > 0
    }

    /// Letters of both cases that do not form words: `wJalrXUtnFEMI`.
    pub fn has_random_case(&self) -> bool {
        let is_letters = self.letters() == self.length;
        is_letters && self.capital_pairs >= 2 && self.lower >= 3 && self.changes * 5 >= self.length
    }

    pub fn has_spaces(&self) -> bool {
        self.spaces > 0
    }

    /// Mostly non-ASCII: prose in another script.
    pub fn is_foreign(&self) -> bool {
        self.foreign * 2 > self.length
    }

    /// Letters with digits or symbols among them, like a short password.
    pub fn is_mixed(&self) -> bool {
        self.spaces == 0 && self.letters() > 0 && (self.digits > 0 || self.symbols > 0)
    }

    /// At least two digits among the letters, or symbols: not `utf8`, not `argument1`.
    pub fn has_digits_or_symbols(&self) -> bool {
        self.is_mixed() && (self.digits >= 2 || self.symbols >= 1)
    }

    /// Letters and digits only.
    pub fn is_alnum(&self) -> bool {
        self.letters() + self.digits == self.length
    }

    /// Names joined by separators, as in paths, versions and dates.
    pub fn is_path(&self) -> bool {
        self.separators >= 2 && self.separators * 6 >= self.length && !self.is_scrambled()
    }

    /// Hexadecimal of a digest's length, with or without the hyphens of a UUID.
    pub fn is_digest(&self) -> bool {
        self.hex >= 20 && self.hex + self.separators == self.length && self.digits > 0
    }

    /// More changes of class than names with numbers and versions have.
    pub fn is_scrambled(&self) -> bool {
        self.length >= 10
            && self.spaces + self.foreign == 0
            && self.letters() >= 2
            && self.changes * 10 >= self.length * 3
    }

    /// No words: too many of the letters are followed by one that rarely follows them.
    pub fn is_gibberish(&self) -> bool {
        self.spaces + self.foreign == 0
            && self.length >= 12
            && self.pairs >= LEAST_PAIRS
            && self.rare_pairs * 9 >= self.pairs * 2
            && self.seen.count_ones() >= 8
    }

    /// Random beside a name that announces a secret: `is_random` is for text alone.
    pub fn is_chance(&self) -> bool {
        self.is_random() || self.is_digest() || self.is_gibberish() || self.is_scrambled()
    }

    /// Probably random: many kinds of characters in no order.
    pub fn is_random(&self) -> bool {
        let mostly_alnum = (self.separators + self.symbols) * 4 <= self.length;
        let varied = self.seen.count_ones() >= 8;
        self.length >= 16
            && self.spaces + self.foreign == 0
            && mostly_alnum
            && varied
            && self.digits >= 2
            && self.letters() >= 2
            && self.is_unordered()
    }

    /// More class changes than words with numbers have, or many adjacent capitals between changes.
    fn is_unordered(&self) -> bool {
        let changes = self.changes * 100 / self.length.max(1);
        changes >= 23
            || (changes >= 15 && self.capital_pairs * 8 >= self.length && self.lower * 4 >= self.length)
    }

    /// Looks like the continuation of a secret on the next line, not like a word.
    pub fn continues_secret(&self) -> bool {
        self.spaces == 0
            && (self.digits >= 2 || (self.digits >= 1 && self.upper >= 1) || self.has_random_case())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_random(text: &str, expected: bool) {
        let makeup = Makeup::of(text.as_bytes());
        assert_eq!(makeup.is_random(), expected, "{text}: {makeup:?}");
    }

    #[test]
    fn random_text_is_distinguished_from_names() {
        check_random("q8Zt3vLw0XkR7mPn2BsD", true);
        check_random("3f9a1c7be2d84f60a5b19c3d7e8f0a12", true);
        check_random("create_table_with_128_columns", false);
        check_random("HttpResponseWithStatus404AndBody", false);
        check_random("/usr/lib/x86_64-linux-gnu/libssl.so.3", false);
        check_random("aaaaaaaaaaaaaaaaaaaa", false);
    }

    #[test]
    fn words_numbers_and_mixtures_are_distinguished() {
        let of = |text: &str| Makeup::of(text.as_bytes());
        assert!(of("get-secret_name").is_word() && of("123-456").is_number());
        assert!(of("hunter2").is_mixed() && !of("hunter2").has_digits_or_symbols());
        assert!(of("wJalrXUtnFEMI").has_random_case() && !of("getSecretNameOf").has_random_case());
        assert!(of("123e4567-e89b-12d3-a456-426614174000").is_digest());
    }
}
