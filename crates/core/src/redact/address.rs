//! Finds credentials inside addresses: URLs, data sources, `.pgpass` records and webhook paths.
//!
//! Keeps the address readable. Keeps a user name too, unless it is as long as a key.

use std::ops::Range;

use super::bytes::{ScanText, byte_at, contains, ends_with, is_word, length_of, start_of};
use super::extent::{Quoting, ValueExtent};
use super::kind::{SecretKind, SecretMatch, holds_placeholder};
use super::makeup::Makeup;
use super::stand_in::is_placeholder;

const LONGEST_AUTHORITY: usize = 512;

/// A longer user name is treated as a key: `https://KEY:x@host`.
const LONGEST_USER: usize = 19;

/// Path fragments of webhook URLs that end in a secret, with the provider's label.
const WEBHOOKS: &[(&str, &str)] = &[
    ("hooks.slack.com/", "slack"),
    ("discord.com/api/", "discord"),
    ("discordapp.com/api/", "discord"),
    ("webhook.office.com/", "teams"),
    ("outlook.office.com/webhook", "teams"),
    ("hooks.zapier.com/hooks/", "zapier"),
    ("maker.ifttt.com/", "ifttt"),
];

/// Finds the password in `scheme://user:password@host`. `here` is the colon of the scheme.
pub fn credentials(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let bytes = text.bytes;
    if byte_at(bytes, here + 2) != Some(b'/') {
        return None;
    }
    let start = here + 3;
    let is_part = |byte: u8| {
        byte > b' ' && !matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'?' | b'#')
    };
    let length = length_of(bytes, start, LONGEST_AUTHORITY, is_part);
    let authority = &bytes[start..start + length];
    let user_end = authority.iter().rposition(|byte| *byte == b'@')?;
    userinfo(&authority[..user_end])
        .map(|secret| SecretKind::ADDRESS.at(start + secret.start, start + secret.end))
}

/// The secret part of `user:password`.
fn userinfo(info: &[u8]) -> Option<Range<usize>> {
    if holds_placeholder(info) {
        return None;
    }
    let Some(colon) = info.iter().position(|byte| *byte == b':') else {
        let is_key = info.len() > LONGEST_USER && Makeup::of(info).is_random();
        return is_key.then_some(0..info.len());
    };
    let (user, password) = (&info[..colon], &info[colon + 1..]);
    if user.len() > LONGEST_USER && Makeup::of(user).is_random() {
        return Some(0..info.len());
    }
    (!password.is_empty() && !is_placeholder(password)).then_some(colon + 1..info.len())
}

/// Finds the password in `user:password@tcp(host)`. `here` is the opening bracket.
pub fn data_source(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let sign = here.checked_sub(4).filter(|_| ends_with(text.bytes, text.floor, here, "@tcp"));
    let sign =
        sign.or_else(|| here.checked_sub(5).filter(|_| ends_with(text.bytes, text.floor, here, "@unix")))?;
    let is_part = |byte: u8| byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`' | b'/' | b'=' | b']');
    let start = start_of(text.bytes, text.floor, sign, 128, is_part);
    let secret = userinfo(&text.bytes[start..sign])?;
    Some(SecretKind::ADDRESS.at(start + secret.start, start + secret.end))
}

/// Finds the last field of `host:port:database:user:password`. `here` is the colon after the port.
pub fn password_record(text: ScanText<'_>, here: usize) -> Option<SecretMatch> {
    let bytes = text.bytes;
    let port = start_of(bytes, text.floor, here, 5, |byte| byte.is_ascii_digit() || byte == b'*');
    let is_port = bytes[port..here] == *b"*" || here - port >= 4;
    let host_end = port.checked_sub(1).filter(|colon| *colon >= text.floor && bytes[*colon] == b':')?;
    let host = host_start(text, host_end).filter(|_| is_port)?;
    let mut field = here + 1;
    for _ in 0..2 {
        let length = length_of(bytes, field, 63, |byte| is_word(byte) || byte == b'*');
        let is_named = byte_at(bytes, field).is_some_and(|byte| !byte.is_ascii_digit());
        if length == 0 || !is_named || byte_at(bytes, field + length) != Some(b':') {
            return None;
        }
        field += length + 1;
    }
    let password = record_end(bytes, field, host);
    let value = password.probe(bytes);
    let is_fenced = !password.is_bare();
    let is_whole_line =
        is_fenced || matches!(byte_at(bytes, password.probed), None | Some(b'\n' | b'\r' | b'\\'));
    let is_secret = password.start == field && value.len() >= 4 && !is_placeholder(value);
    (is_secret && is_whole_line).then(|| SecretKind::PASSWORD.at(field, password.end(bytes)))
}

/// The start of the host name that ends at `end`, if the host begins its line or string.
fn host_start(text: ScanText<'_>, end: usize) -> Option<usize> {
    let start =
        start_of(text.bytes, text.floor, end, 64, |byte| is_word(byte) || matches!(byte, b'.' | b'*'));
    let begins = start == 0 || matches!(text.bytes[start - 1], b'\n' | b'"' | b'\'' | b'+' | b'\\');
    (start < end && begins).then_some(start)
}

/// The last field of a record that begins at `host`: up to the end of its string, or else of its line.
fn record_end(bytes: &[u8], field: usize, host: usize) -> ValueExtent {
    let before = host.checked_sub(1).map(|before| bytes[before]);
    let quote = before.filter(|byte| matches!(byte, b'"' | b'\''));
    let fenced = quote.map(|quote| ValueExtent::after(bytes, field, Quoting::Quoted { quote, escapes: 0 }));
    let is_filled = |extent: &ValueExtent| {
        byte_at(bytes, extent.probed) == quote && !extent.probe(bytes).contains(&b'\\')
    };
    fenced.filter(is_filled).unwrap_or_else(|| ValueExtent::after(bytes, field, Quoting::ToBlank))
}

/// Finds the secret at the end of a webhook's path.
pub fn webhook(text: ScanText<'_>, run: Range<usize>) -> Option<SecretMatch> {
    let slash = run.start.checked_sub(1)?;
    if slash < text.floor || text.bytes[slash] != b'/' {
        return None;
    }
    let is_part = |byte: u8| byte > b' ' && byte < 0x7f && !matches!(byte, b'"' | b'\'' | b']');
    let start = start_of(text.bytes, text.floor, slash, 160, is_part);
    let (_, label) = WEBHOOKS.iter().find(|(path, _)| contains(&text.bytes[start..run.start], path))?;
    let end = run.end
        + length_of(text.bytes, run.end, usize::MAX, |byte| is_word(byte) || matches!(byte, b'/' | b'@'));
    Some(SecretKind::of_provider(label).at(run.start, end))
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn passwords_in_addresses_are_cut() {
        check("postgres://me:s3cret@db/x", "postgres://me:[redacted:address]@db/x");
        check("redis://:s3cret@db", "redis://:[redacted:address]@db");
        check("mongodb+srv://me:p@ss:w0rd@db/x", "mongodb+srv://me:[redacted:address]@db/x");
        check("root:s3cret@tcp(db:3306)/x", "root:[redacted:address]@tcp(db:3306)/x");
    }

    #[test]
    fn key_as_user_name_is_cut() {
        let key = "q8Zt3vLw0XkR7mPn2BsD";
        check(&format!("https://{key}:x@host/"), "https://[redacted:address]@host/");
        check(&format!("https://{key}@host/"), "https://[redacted:address]@host/");
    }

    #[test]
    fn records_of_pgpass_lose_their_password() {
        check("db.example.com:5432:shop:me:s3cret\nx", "db.example.com:5432:shop:me:[redacted:password]\nx");
        check("*:*:*:me:s3cret", "*:*:*:me:[redacted:password]");
        check(
            "{\"a\":\"db.example.com:5432:shop:me:s3cret\"}",
            "{\"a\":\"db.example.com:5432:shop:me:[redacted:password]\"}",
        );
    }

    #[test]
    fn addresses_without_credentials_stay() {
        for text in [
            "https://example.com:8080/a@b",
            "ssh://git@example.com/x",
            "https://user:${PASSWORD}@host",
            "https://user:<password>@host",
            "src/main.rs:1024:error:oops:x",
            "see http://a/b and c:d@e",
        ] {
            check(text, text);
        }
    }
}
