//! Finds secrets in arguments: `--password x`, `--token=x`, and the short options of programs that take a password.
//!
//! A short option counts only after a program that gives it that meaning.

use super::bytes::{ScanText, byte_at, contains, is_gap, is_quote, is_word, length_of, start_of};
use super::extent::{Quoting, ValueExtent};
use super::family::{Family, family_of};
use super::header;
use super::judge::{ValueContext, is_secret};
use super::kind::{SecretKind, SecretMatch, holds_placeholder};
use super::stand_in::is_placeholder;

/// How a short option carries its password.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PasswordForm {
    /// `-psecret`
    Joined,
    /// `-p secret`
    Apart,
    /// `-u user:secret`
    Pair,
}

/// A program's name, its option for a password, and the form of that option.
const SHORT: &[(&str, u8, PasswordForm)] = &[
    ("mysql", b'p', PasswordForm::Joined),
    ("mariadb", b'p', PasswordForm::Joined),
    ("7z", b'p', PasswordForm::Joined),
    ("sshpass", b'p', PasswordForm::Joined),
    ("sshpass", b'p', PasswordForm::Apart),
    ("login", b'p', PasswordForm::Apart),
    ("redis-cli", b'a', PasswordForm::Apart),
    ("ldapsearch", b'w', PasswordForm::Apart),
    ("zip", b'P', PasswordForm::Apart),
    ("curl", b'u', PasswordForm::Pair),
    ("wget", b'u', PasswordForm::Pair),
];

/// How far back to look for the program's name.
const COMMAND: usize = 160;

/// Finds the secret of the option that begins with the dash at `here`.
pub fn flag(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let before = here.checked_sub(1).map_or(b' ', |before| text.bytes[before]);
    if !(before.is_ascii_whitespace() || is_quote(before) || matches!(before, b'[' | b'(')) {
        return None;
    }
    match byte_at(text.bytes, here + 1)? {
        b'-' => long(text, here + 2),
        // `-token x` as in Go, `-storepass x` as in Java.
        letter => short(text, here, letter).or_else(|| long(text, here + 1)),
    }
}

/// `--password x`. With `=` instead of the blank, `named` handles it as an assignment.
fn long(text: ScanText<'_>, start: usize) -> Option<SecretMatch> {
    let bytes = text.bytes;
    let end = start + length_of(bytes, start, 40, is_word);
    let is_apart = byte_at(bytes, end).is_some_and(|byte| is_gap(byte) || is_quote(byte));
    if !is_apart {
        return None;
    }
    let from = end + usize::from(byte_at(bytes, end).is_some_and(is_quote));
    // In a list of arguments a comma separates them: `"--token", "x"`.
    let in_list = byte_at(bytes, from) == Some(b',');
    let from = from + usize::from(in_list);
    if &bytes[start..end] == b"user" {
        return pair(text, from);
    }
    let family = family_of(&bytes[start..end])?;
    let extent = ValueExtent::after(bytes, from, Quoting::ToBlank);
    let value = extent.probe(bytes);
    let context = if extent.is_bare() { ValueContext::Bare } else { ValueContext::Quoted };
    match family {
        Family::Cookie => return header::cookie(text, from),
        Family::Authorization => return header::authorization(text, from),
        Family::Password | Family::Phrase | Family::Token | Family::Signature => {}
        Family::Weak | Family::Lines | Family::Value => {}
    }
    let is_option = value.first() == Some(&b'-') || (in_list && extent.is_bare());
    let kind = if family == Family::Password { SecretKind::PASSWORD } else { SecretKind::SECRET };
    let finding = || kind.at(extent.start, extent.end(bytes));
    (!is_option && is_secret(family, context, value, None)).then(finding)
}

fn short(text: ScanText<'_>, here: usize, letter: u8) -> Option<SecretMatch> {
    if !SHORT.iter().any(|(_, option, _)| *option == letter) {
        return None;
    }
    let from = start_of(text.bytes, text.floor, here, COMMAND, |byte| !matches!(byte, b'\n' | b']'));
    let command = &text.bytes[from..here];
    let is_apart = byte_at(text.bytes, here + 2).is_some_and(is_gap);
    let fits = |form: PasswordForm| (form == PasswordForm::Joined) != is_apart;
    let (_, _, form) = SHORT
        .iter()
        .find(|(program, option, form)| *option == letter && fits(*form) && contains(command, program))?;
    match form {
        PasswordForm::Pair => pair(text, here + 2),
        PasswordForm::Joined | PasswordForm::Apart => {
            let extent = ValueExtent::after(text.bytes, here + 2, Quoting::ToBlank);
            let value = extent.probe(text.bytes);
            let is_secret = value.len() >= 4 && value[0] != b'-' && !is_placeholder(value);
            is_secret.then(|| SecretKind::PASSWORD.at(extent.start, extent.end(text.bytes)))
        }
    }
}

/// Finds the password of `user:password`.
fn pair(text: ScanText<'_>, from: usize) -> Option<SecretMatch> {
    let extent = ValueExtent::after(text.bytes, from, Quoting::ToBlank);
    let value = extent.probe(text.bytes);
    let colon = value.iter().position(|byte| *byte == b':')?;
    let (user, password) = (&value[..colon], &value[colon + 1..]);
    let is_secret = password.len() >= 4
        && !is_placeholder(password)
        && !holds_placeholder(user)
        && !password.starts_with(b"//");
    // A long user name may itself be a key.
    let start = if user.len() < 16 { extent.start + colon + 1 } else { extent.start };
    is_secret.then(|| SecretKind::PASSWORD.at(start, extent.end(text.bytes)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn options_that_carry_a_secret_lose_it() {
        check("x --password hunter2 -v", "x --password [redacted:password] -v");
        check("x --password=hunter22 -v", "x --password=[redacted:password] -v");
        check("x --client-secret 'a1b2c3d4e5' -v", "x --client-secret '[redacted:secret]' -v");
        check("[\"--token\", \"a1b2c3d4e5\"]", "[\"--token\", \"[redacted:secret]\"]");
        check("mysql -u root -phunter2 db", "mysql -u root -p[redacted:password] db");
        check("sshpass -p hunter ssh me@host", "sshpass -p [redacted:password] ssh me@host");
        check("curl -u me:hunter22 https://x", "curl -u me:[redacted:password] https://x");
        check("curl --user me:hunter22 https://x", "curl --user me:[redacted:password] https://x");
    }

    #[test]
    fn other_options_stay() {
        for text in [
            "mkdir -p some/path",
            "x --password <PASSWORD>",
            "x --password-stdin abc123",
            "use --password to set it",
            "x --token $TOKEN",
            "curl -u \"$USER:$PASS\" x",
            "docker run -p 8080:80 x",
        ] {
            check(text, text);
        }
    }
}
