//! Finds passwords in sentences: `password is …`, `das Passwort lautet …`, `密码是…`, and in a `.netrc`.
//!
//! Recognises only the words for password and a few for key; `beside` finds longer secrets in prose.

use super::bytes::{ScanText, byte_at, ends_with, is_gap, length_of, start_of, starts_with};
use super::extent::{Quoting, ValueExtent};
use super::family::{MNEMONICS, follows};
use super::kind::{SecretKind, SecretMatch};
use super::makeup::Makeup;
use super::named;
use super::stand_in::{is_code, is_placeholder};

/// The words, each with the offset of the byte that `stops` finds it by; by that byte and the one before it.
const PASS_WORDS: &[(&str, usize)] = &[("password", 4), ("passwd", 4), ("passwort", 4), ("passord", 4)];
const PLAIN_WORDS: &[(&str, usize)] = &[
    ("mot de passe", 2),
    ("kennwort", 4),
    ("senha", 4),
    ("phrase", 3),
    ("wachtwoord", 5),
    ("adgangskode", 7),
];
const FOREIGN_WORDS: &[(&str, usize)] = &[
    ("contrase\u{f1}a", 10),
    ("has\u{142}o", 5),
    ("l\u{f6}senord", 3),
    ("schl\u{fc}ssel", 6),
    ("ifre", 0),
    ("jelsz\u{f3}", 6),
    ("\u{430}\u{440}\u{43e}\u{43b}\u{44c}", 9),
    ("\u{5bc6}\u{7801}", 5),
    ("\u{5bc6}\u{78bc}", 5),
    ("\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}", 8),
    ("\u{be44}\u{bc00}\u{bc88}\u{d638}", 11),
    ("\u{627}\u{644}\u{645}\u{631}\u{648}\u{631}", 11),
    ("\u{92a}\u{93e}\u{938}\u{935}", 11),
    ("kh\u{1ea9}u", 5),
];

/// Words allowed between the word and the password.
const LINKS: [&str; 34] = [
    "is ",
    "was ",
    "to ",
    "as ",
    "=> ",
    "-> ",
    "be ",
    "with ",
    "will be ",
    "ist ",
    "lautet ",
    "est ",
    "es ",
    "\u{e8} ",
    "\u{e9} ",
    "\u{e4}r ",
    "er ",
    "l\u{e0} ",
    "\u{44d}\u{442}\u{43e} ",
    "\u{2014} ",
    "\u{2013} ",
    "- ",
    ": ",
    ":",
    "= ",
    "\u{ff1a}",
    "\u{662f}",
    "\u{4e3a}",
    "\u{70ba}",
    "\u{306f}",
    "\u{ff1d}",
    "\u{647}\u{64a} ",
    "olarak ",
    "\u{ff0c}",
];

/// How many words may be between the word and its link: `Passwort für den Server ist …`.
const MOST_BETWEEN: usize = 4;

/// The start and the end of the word that the mark at `here` belongs to.
pub fn word_at(text: ScanText<'_>, here: usize) -> Option<(usize, usize)> {
    let bytes = text.bytes;
    let words = match byte_at(bytes, here.wrapping_sub(1))? {
        0x80.. => FOREIGN_WORDS,
        b's' | b'S' if !matches!(bytes[here], b'k' | b'K') => PASS_WORDS,
        _ => PLAIN_WORDS,
    };
    words.iter().find_map(|(word, offset)| {
        let start = here.checked_sub(*offset).filter(|start| *start >= text.floor)?;
        let is_first = bytes[start] | 32 == word.as_bytes()[0] | 32;
        (is_first && starts_with(bytes, start, word)).then_some((start, start + word.len()))
    })
}

/// Finds the password after the word whose mark is at `here`.
pub fn password(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let (start, end) = word_at(text, here)?;
    if starts_with(text.bytes, start, "phrase") {
        let link = [" is ", ": ", " is: ", " was "].iter().find(|link| starts_with(text.bytes, end, link))?;
        return follows(text, start, &MNEMONICS).then(|| named::mnemonic(text.bytes, end + link.len()))?;
    }
    let is_english = starts_with(text.bytes, start, "passw");
    if is_english && !starts_with(text.bytes, start, "passwort") {
        let gap = length_of(text.bytes, end, 8, is_gap);
        return if gap == 0 { None } else { stated(text, start, end + gap) };
    }
    // Endings: `Lösenordet`, `паролем`, `비밀번호는`.
    let ending = if is_link(text.bytes, end) { 0 } else { length_of(text.bytes, end, 12, is_letter) };
    let mut from = end + ending;
    for _ in 0..MOST_BETWEEN {
        from += length_of(text.bytes, from, 8, is_gap);
        let found = stated(text, start, from);
        if found.is_some() {
            return found;
        }
        let word = length_of(text.bytes, from, 24, is_letter);
        if word == 0 {
            return None;
        }
        from += word;
    }
    None
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Whether a link in another script begins at `end`: no blank is before it.
fn is_link(bytes: &[u8], end: usize) -> bool {
    byte_at(bytes, end).is_some_and(|byte| byte >= 0x80)
        && LINKS.iter().any(|link| starts_with(bytes, end, link))
}

/// Finds the password that is stated at `from`, after a link or right away.
fn stated(text: ScanText<'_>, start: usize, from: usize) -> Option<SecretMatch> {
    let bytes = text.bytes;
    let link = LINKS.iter().find(|link| starts_with(bytes, from, link)).map_or(0, |link| link.len());
    // More words follow, not a value; typographic quotes begin with these two bytes.
    if byte_at(bytes, from + link).is_some_and(|byte| byte >= 0x80 && !matches!(byte, 0xc2 | 0xe2)) {
        return None;
    }
    let extent = ValueExtent::after(bytes, from + link, Quoting::ToBlank);
    let value = trimmed(extent.probe(bytes));
    let is_secret = if in_entry(text, start) { value.len() >= 3 } else { is_stated(value, link, extent) };
    if !is_secret {
        return None;
    }
    let is_other = is_placeholder(value) || (extent.is_bare() && is_code(value, None));
    let is_whole = extent.start + value.len() < extent.probed;
    let end = || if is_whole { extent.start + value.len() } else { extent.end(bytes) };
    (!is_other).then(|| SecretKind::PASSWORD.at(extent.start, end()))
}

/// Strips closing punctuation, markup, and what follows in another script.
fn trimmed(value: &[u8]) -> &[u8] {
    let markup = value.windows(2).position(|pair| pair == b"&q" || pair == b"</");
    let value = &value[..markup.unwrap_or(value.len())];
    let foreign = value.iter().position(|byte| *byte >= 0x80).filter(|at| *at >= 6);
    let value = &value[..foreign.unwrap_or(value.len())];
    let end = value.iter().rposition(|byte| !b".,;:)?!*".contains(byte)).map_or(0, |last| last + 1);
    &value[..end]
}

fn is_stated(value: &[u8], link: usize, extent: ValueExtent) -> bool {
    let makeup = Makeup::of(value);
    let quoted = !extent.is_bare() && link > 0;
    let is_call = value.iter().any(|byte| b"()[]{}<>".contains(byte));
    let is_mixed = makeup.is_mixed() && !makeup.is_path() && value.len() >= 6 && !is_call;
    !makeup.has_spaces() && (quoted && value.len() >= 4 || is_mixed)
}

/// Whether a field of a `.netrc` entry precedes: `login me`, `port 993`.
fn in_entry(text: ScanText<'_>, start: usize) -> bool {
    let ScanText { bytes, floor } = text;
    let is_blank = |byte: u8| byte.is_ascii_whitespace();
    let is_part = |byte: u8| byte > b' ' && byte != b']';
    let value_end = start_of(bytes, floor, start, 16, is_blank);
    let value = start_of(bytes, floor, value_end, 64, is_part);
    let name = start_of(bytes, floor, value, 4, is_blank);
    let is_field =
        ["login", "account", "port", "machine"].iter().any(|field| ends_with(bytes, floor, name, field));
    value_end < start && value < value_end && name < value && is_field
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn password_that_is_said_is_cut() {
        check("the password is hunter2.", "the password is [redacted:password].");
        check("set the password to `open sesame1`", "set the password to `open sesame1`");
        check("my password is 'correcthorse', ok?", "my password is '[redacted:password]', ok?");
    }

    #[test]
    fn netrc_loses_its_passwords() {
        check("machine h login me password abcdef", "machine h login me password [redacted:password]");
        check(
            "machine h\n  login me\n  password abcdef\n",
            "machine h\n  login me\n  password [redacted:password]\n",
        );
    }

    #[test]
    fn sentences_about_passwords_stay() {
        for text in [
            "the password is wrong",
            "password must be set",
            "Password to use",
            "interactive password provision?",
            "login will handle password aging",
            "&quot;Password is correct.&quot;",
        ] {
            check(text, text);
        }
    }
}
