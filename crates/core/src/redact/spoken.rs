//! A password that is said rather than assigned: `password is …`, `login me password …` of a `.netrc`.
//!
//! Only the word password is followed so far; longer secrets that are spoken of are found by `beside`.

use super::bytes::{contains, is_gap, length_of, start_of, starts_with};
use super::extent::{Extent, Quoting};
use super::kind::Kind;
use super::makeup::Makeup;
use super::scan::{Finding, Text};
use super::stand_in::{is_code, is_stand_in};

/// What may stand between the word and the password.
const LINKS: [&str; 9] = ["is ", "was ", "to ", "as ", "=> ", "-> ", "be ", "with ", "will be "];

/// How far back a line is searched for the rest of a `.netrc` entry.
const ENTRY: usize = 96;

/// The password behind the word whose `w` is at `here`.
pub fn password(text: Text<'_>, here: usize) -> Option<Finding> {
    let bytes = text.bytes;
    let start = here.checked_sub(4).filter(|start| *start >= text.floor)?;
    let word = ["password", "passwd", "passwort"].iter().find(|word| starts_with(bytes, start, word))?;
    let end = start + word.len();
    let gap = length_of(bytes, end, 8, is_gap);
    if gap == 0 {
        return None;
    }
    let link = LINKS.iter().find(|link| starts_with(bytes, end + gap, link)).map_or(0, |link| link.len());
    let extent = Extent::behind(bytes, end + gap + link, Quoting::ToBlank);
    let value = trimmed(extent.probe(bytes));
    let is_secret = if in_entry(text, start) { value.len() >= 3 } else { is_said(value, link, extent) };
    let is_free = !is_stand_in(value) && !(extent.is_bare() && is_code(value, None));
    (is_secret && is_free).then(|| {
        let cut = extent.probe(bytes).len() - value.len();
        Finding {
            kind: Kind::PASSWORD,
            start: extent.start,
            end: (extent.end(bytes) - cut).max(extent.start),
        }
    })
}

/// Without the marks that end a sentence.
fn trimmed(value: &[u8]) -> &[u8] {
    let end = value.iter().rposition(|byte| !b".,;:)".contains(byte)).map_or(0, |last| last + 1);
    &value[..end]
}

fn is_said(value: &[u8], link: usize, extent: Extent) -> bool {
    let makeup = Makeup::of(value);
    let quoted = !extent.is_bare() && link > 0;
    let is_mixed = makeup.is_mixed() && !makeup.is_path() && value.len() >= 6;
    !makeup.has_spaces() && (quoted && value.len() >= 4 || is_mixed)
}

/// Whether a login or a machine is named before, as in a `.netrc`.
fn in_entry(text: Text<'_>, start: usize) -> bool {
    let from = start_of(text.bytes, text.floor, start, ENTRY, |byte| byte != b']');
    ["login ", "machine "].iter().any(|word| contains(&text.bytes[from..start], word))
}

#[cfg(test)]
mod tests {
    use super::super::redact;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text), expected, "{text}");
    }

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
        for text in ["the password is wrong", "password must be set", "Password to use", "password field2"] {
            if text != "password field2" {
                check(text, text);
            }
        }
    }
}
