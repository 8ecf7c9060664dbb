//! Finds passwords in sentences: `password is …`, `login me password …` of a `.netrc`.
//!
//! Recognises only the word password; `beside` finds longer secrets in prose.

use super::bytes::{ScanText, ends_with, is_gap, length_of, start_of, starts_with};
use super::extent::{Quoting, ValueExtent};
use super::kind::{SecretKind, SecretMatch};
use super::makeup::Makeup;
use super::stand_in::{is_code, is_placeholder};

/// Words allowed between the word and the password.
const LINKS: [&str; 9] = ["is ", "was ", "to ", "as ", "=> ", "-> ", "be ", "with ", "will be "];

/// Finds the password after the word whose `w` is at `here`.
pub fn password(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let bytes = text.bytes;
    let start = here.checked_sub(4).filter(|start| *start >= text.floor)?;
    let word = ["password", "passwd", "passwort"].iter().find(|word| starts_with(bytes, start, word))?;
    let end = start + word.len();
    let gap = length_of(bytes, end, 8, is_gap);
    if gap == 0 {
        return None;
    }
    let link = LINKS.iter().find(|link| starts_with(bytes, end + gap, link)).map_or(0, |link| link.len());
    let extent = ValueExtent::after(bytes, end + gap + link, Quoting::ToBlank);
    let value = trimmed(extent.probe(bytes));
    let is_secret = if in_entry(text, start) { value.len() >= 3 } else { is_stated(value, link, extent) };
    let is_other = is_placeholder(value) || (extent.is_bare() && is_code(value, None));
    let is_whole = extent.start + value.len() < extent.probed;
    let end = || if is_whole { extent.start + value.len() } else { extent.end(bytes) };
    (is_secret && !is_other).then(|| SecretKind::PASSWORD.at(extent.start, end()))
}

/// Strips closing punctuation and markup.
fn trimmed(value: &[u8]) -> &[u8] {
    let markup = value.windows(2).position(|pair| pair == b"&q" || pair == b"</");
    let value = &value[..markup.unwrap_or(value.len())];
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
