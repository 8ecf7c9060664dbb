//! Classifies a name by the value it announces: `DB_PASSWORD`, `clientSecret`, `api-key`.
//!
//! The end of the name decides, regardless of case and separators. Looks at names only, never at values.

use super::bytes::{ScanText, byte_at, each_word, ends_with, is_quote, is_word, start_of, word_count};

/// How strongly a name announces a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Any value is secret, even a plain word.
    Password,
    /// Words with spaces between them are secret.
    Phrase,
    /// Random-looking values are secret.
    Token,
    /// Like `Token`, but the name is short and common.
    Signature,
    /// Only values that are random beyond doubt are secret.
    Weak,
    /// A scheme and its credentials.
    Authorization,
    Cookie,
    /// The lines of a key follow.
    Lines,
    /// The value of a name given before it: `name: DB_PASSWORD, value: …`.
    Value,
}

/// A name before a separator.
#[derive(Clone, Copy, Debug)]
pub struct Name {
    pub family: Family,
    pub start: usize,
    pub end: usize,
}

/// Name endings, written without separators; those of one row are separated by blanks.
const ENDING_ROWS: &[(&str, Family)] = &[
    ("password passwd passwort kennwort passcode userpass rootpass", Family::Password),
    ("storepass keypass", Family::Password),
    ("wachtwoord adgangskode passord losenord motdepasse", Family::Password),
    ("passphrase mnemonic seedphrase recoveryphrase", Family::Phrase),
    ("token tokenvalue secret secretvalue secretkeybase", Family::Token),
    ("apikey accesskey secretkey privatekey presharedkey sharedkey accountkey storagekey", Family::Token),
    ("encryptionkey signingkey masterkey authkey servicekey rolekey licensekey appkey", Family::Token),
    ("applicationkey adminkey deploykey clientkey consumerkey subscriptionkey sessionkey", Family::Token),
    ("hmackey aeskey cipherkey cryptokey hostkey writekey secrethash totpseed secretseed", Family::Token),
    ("integrationkey ingestionkey apikeyprivate credential credentials bearer privatemac", Family::Token),
    ("privatelines", Family::Lines),
    ("authorization", Family::Authorization),
    ("cookie", Family::Cookie),
    ("amzsignature googsignature", Family::Signature),
    ("sessionid sessid", Family::Weak),
];

pub const ENDINGS: &[(&str, Family)] = &each_word::<_, { word_count(ENDING_ROWS) }>(ENDING_ROWS);

/// Short endings that count only as a whole word of the name: `DB_PASS`, not `bypass`.
pub const WORDS: &[(&str, Family)] = &[
    ("pass", Family::Password),
    ("pwd", Family::Password),
    ("pat", Family::Signature),
    ("jwt", Family::Token),
    ("key", Family::Weak),
    ("auth", Family::Signature),
    ("sig", Family::Signature),
    ("sid", Family::Weak),
    ("dsn", Family::Weak),
    ("psk", Family::Password),
    ("pw", Family::Password),
    ("phrase", Family::Weak),
    ("words", Family::Weak),
    ("seed", Family::Weak),
    ("value", Family::Value),
    ("default", Family::Value),
];

/// One bit for the hash of the last four letters of every ending; of the last three, if it has no more, and none for `pw`.
static LAST_LETTERS: [u64; 256] = last_letters();

/// The last two letters of every ending.
static LAST_TWO: [u16; ENDINGS.len()] = last_two();

const fn last_two() -> [u16; ENDINGS.len()] {
    let (mut letters, mut at) = ([0; ENDINGS.len()], 0);
    while at < ENDINGS.len() {
        let ending = ENDINGS[at].0.as_bytes();
        letters[at] = u16::from_le_bytes([ending[ending.len() - 2], ending[ending.len() - 1]]);
        at += 1;
    }
    letters
}

const LONGEST_NAME: usize = 64;

/// The longest ending, with room for the characters before a short one.
const NORMALISED_LEN: usize = 24;

/// The name that ends at `end`, without the quotes and brackets around it, if its value may be a secret.
pub fn name_before(text: ScanText<'_>, end: usize) -> Option<Name> {
    let end = name_end(text, end)?;
    let end = start_of(text.bytes, text.floor, end, 3, |byte| byte.is_ascii_digit() || byte == b'_');
    if !may_end(text, end) {
        return None;
    }
    let mut start = start_of(text.bytes, text.floor, end, LONGEST_NAME, |byte| is_word(byte) || byte == b'.');
    if let Some(word_start) = super::provider::after_escape(text.bytes, start) {
        start = word_start.min(end);
    }
    let family = family_of(&text.bytes[start..end])?;
    let family = if family == Family::Weak { spelt_apart(text, start, end) } else { family };
    Some(Name { family, start, end })
}

/// A cheap filter: false if the word before `end` cannot be the end of such a name. Most cannot.
pub fn may_end_name(text: ScanText<'_>, end: usize) -> bool {
    let ScanText { bytes, floor } = text;
    if end < floor + 5 {
        return end > floor;
    }
    let end = end - usize::from(bytes[end - 1] == b' ');
    let end = end - usize::from(is_quote(bytes[end - 1]));
    !bytes[end - 1].is_ascii_alphabetic() || may_end(text, end)
}

/// The family of `name`, if its value may be a secret.
pub fn family_of(name: &[u8]) -> Option<Family> {
    let mut buffer = [0; NORMALISED_LEN];
    let normalised = normalise(name, &mut buffer);
    let last = u16::from_le_bytes(*normalised.last_chunk::<2>()?);
    // Comparing two bytes first avoids a call for most endings.
    let mut alike = (0..ENDINGS.len()).filter(|at| LAST_TWO[*at] == last).map(|at| &ENDINGS[at]);
    let ending = alike.find(|(ending, _)| normalised.ends_with(ending.as_bytes()));
    ending.or_else(|| WORDS.iter().find(|(word, _)| ends_in_word(name, word))).map(|(_, family)| *family)
}

/// `API key`, `TOTP seed`: two words together are stronger than the last alone.
fn spelt_apart(text: ScanText<'_>, start: usize, end: usize) -> Family {
    const KEYS: [&str; 8] =
        ["api", "access", "secret", "private", "auth", "service", "encryption", "license"];
    let is = |word: &str| end - start == word.len() && ends_with(text.bytes, text.floor, end, word);
    let is_token = is("key") && follows(text, start, &KEYS)
        || is("seed") && follows(text, start, &["totp", "secret", "otp"]);
    let is_phrase = (is("phrase") || is("words")) && follows(text, start, &MNEMONICS);
    match (is_token, is_phrase) {
        (true, _) => Family::Token,
        (_, true) => Family::Phrase,
        _ => Family::Weak,
    }
}

/// Words that make a phrase the key of a wallet.
pub const MNEMONICS: [&str; 6] = ["seed", "recovery", "mnemonic", "backup", "secret", "wallet"];

/// Whether one of `words` and a blank precede `start`.
pub fn follows(text: ScanText<'_>, start: usize, words: &[&str]) -> bool {
    let gap = start.checked_sub(1).filter(|gap| *gap >= text.floor && text.bytes[*gap] == b' ');
    gap.is_some_and(|gap| words.iter().any(|word| ends_with(text.bytes, text.floor, gap, word)))
}

/// Skips backwards over blanks, closing quotes (raw, escaped or encoded), the bracket after them, and `?` or `:`.
fn name_end(text: ScanText<'_>, end: usize) -> Option<usize> {
    let ScanText { bytes, floor } = text;
    let blank = start_of(bytes, floor, end, 8, |byte| matches!(byte, b' ' | b'\t'));
    let operator = usize::from(blank > floor && matches!(bytes[blank - 1], b'?' | b':' | b'+' | b'|'));
    let mut end = start_of(bytes, floor, blank - operator, 4, |byte| matches!(byte, b' ' | b'|'));
    // A bracket alone may end a placeholder; only `"]` is an index.
    if end > floor + 1 && bytes[end - 1] == b']' && is_quote(bytes[end - 2]) {
        end -= 1;
    }
    for encoded in ["%22", "%27", "&quot;", "&#34;", "&#39;"] {
        if ends_with(bytes, floor, end, encoded) {
            end -= encoded.len();
        }
    }
    let end = start_of(bytes, floor, end, 12, |byte| is_quote(byte) || matches!(byte, b'\\' | b'*'));
    (end > floor).then_some(end)
}

/// Whether the letters before `end` may be the last ones of an ending. Has false positives, no false negatives.
fn may_end(text: ScanText<'_>, end: usize) -> bool {
    let Some([first, second, third, fourth]) = text.bytes[text.floor..end].last_chunk() else {
        return text.bytes[text.floor..end].len() == 3;
    };
    let three = hash(0, *second, *third, *fourth);
    // A word of three letters must begin there.
    let is_word =
        !first.is_ascii_alphanumeric() || (second.is_ascii_uppercase() && !first.is_ascii_uppercase());
    let is_pw = (*fourth | 32) == b'w' && (*third | 32) == b'p' && !second.is_ascii_alphanumeric();
    is_set(hash(*first, *second, *third, *fourth)) | (is_set(three) & is_word) | is_pw
}

fn is_set(bit: usize) -> bool {
    LAST_LETTERS[bit / 64] & (1 << (bit % 64)) != 0
}

/// A case-insensitive hash of fourteen bits.
const fn hash(first: u8, second: u8, third: u8, fourth: u8) -> usize {
    let letters = u32::from_le_bytes([first & 31, second & 31, third & 31, fourth & 31]);
    (letters.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

const fn last_letters() -> [u64; 256] {
    let mut bits = [0; 256];
    let mut table = 0;
    while table < 2 {
        let endings = if table == 0 { ENDINGS } else { WORDS };
        let mut at = 0;
        while at < endings.len() {
            let ending = endings[at].0.as_bytes();
            let end = ending.len();
            // `may_end` knows the ending of two letters.
            if end > 2 {
                let first = if end > 3 { ending[end - 4] } else { 0 };
                let bit = hash(first, ending[end - 3], ending[end - 2], ending[end - 1]);
                bits[bit / 64] |= 1 << (bit % 64);
            }
            at += 1;
        }
        table += 1;
    }
    bits
}

/// The last letters and digits of `name`, in lower case.
fn normalise<'b>(name: &[u8], buffer: &'b mut [u8; NORMALISED_LEN]) -> &'b [u8] {
    let mut start = NORMALISED_LEN;
    for byte in name.iter().rev().filter(|byte| byte.is_ascii_alphanumeric()) {
        if start == 0 {
            break;
        }
        start -= 1;
        buffer[start] = byte.to_ascii_lowercase();
    }
    &buffer[start..]
}

/// Whether `word` is the last word of `name`: alone, after a separator, or as a camel-case word.
fn ends_in_word(name: &[u8], word: &str) -> bool {
    let Some(start) = name.len().checked_sub(word.len()) else { return false };
    let (head, tail) = name.split_at(start);
    let before = byte_at(head, head.len().wrapping_sub(1));
    let begins = match before {
        None => true,
        Some(byte) if !byte.is_ascii_alphanumeric() => true,
        Some(byte) => tail[0].is_ascii_uppercase() && (byte.is_ascii_lowercase() || byte.is_ascii_digit()),
    };
    begins && tail.eq_ignore_ascii_case(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<Family>) {
        assert_eq!(family_of(name.as_bytes()), expected, "{name}");
    }

    #[test]
    fn end_of_a_name_decides_in_any_spelling() {
        for name in
            ["password", "DB_PASSWORD", "dbPassword", "spring.datasource.password", "DB_PASS", "userPwd"]
        {
            check(name, Some(Family::Password));
        }
        for name in
            ["client-secret", "clientSecret", "AWS_SECRET_ACCESS_KEY", "x-api-key", "ApiKey", "_authToken"]
        {
            check(name, Some(Family::Token));
        }
        check("cacheKey", Some(Family::Weak));
        check("Set-Cookie", Some(Family::Cookie));
    }

    #[test]
    fn other_names_say_nothing() {
        for name in
            ["bypass", "monkey", "max_tokens", "tokenizer", "passwordless", "secretary", "keyboard", "x"]
        {
            check(name, None);
        }
    }
}
