//! Finds the values of `Authorization` and cookie headers, wherever a header is quoted.
//!
//! Keeps the scheme. Keeps code that only looks like a header: a variable, a type.

use super::bytes::{ScanText, byte_at, is_gap, is_word, length_of, starts_with};
use super::extent::{Quoting, ValueExtent};
use super::kind::{SecretKind, SecretMatch};
use super::makeup::Makeup;
use super::stand_in::{is_code, is_placeholder};

/// Schemes whose credentials are one word.
const ONE_WORD: [&str; 11] = [
    "bearer ",
    "basic ",
    "token ",
    "apikey ",
    "bot ",
    "negotiate ",
    "ntlm ",
    "key ",
    "ssws ",
    "splunk ",
    "geniekey ",
];

/// Schemes whose credentials run to the end of the line.
const WHOLE_LINE: [&str; 5] = ["digest ", "aws4-hmac-sha256 ", "hawk ", "hmac ", "oauth "];

/// Finds the credentials of an `Authorization` header whose value begins at `from`.
pub fn authorization(text: ScanText<'_>, from: usize) -> Option<SecretMatch> {
    let bytes = text.bytes;
    let value = value_of(bytes, from);
    let probe = value.probe(bytes);
    let one_word = ONE_WORD.iter().find(|scheme| starts_with(probe, 0, scheme));
    let whole_line = WHOLE_LINE.iter().find(|scheme| starts_with(probe, 0, scheme));
    let scheme = one_word.or(whole_line).map_or(0, |scheme| scheme.len());
    let start = value.start + scheme + length_of(bytes, value.start + scheme, 4, is_gap);
    let end = if whole_line.is_some() { value.end(bytes) } else { word_end(bytes, start) };
    let word = &bytes[start..word_end(bytes, start).min(start + super::extent::PROBE)];
    let makeup = Makeup::of(word);
    let is_credential = if scheme > 0 {
        makeup.is_mixed() || makeup.has_random_case() || word.len() >= 16
    } else {
        makeup.is_random()
    };
    let is_secret = word.len() >= 6 && is_credential && !is_placeholder(word) && !is_code(word, None);
    is_secret.then_some(SecretKind::AUTHORIZATION.at(start, end))
}

/// Finds all cookies of a header whose value begins at `from`.
pub fn cookie(text: ScanText<'_>, from: usize) -> Option<SecretMatch> {
    let value = value_of(text.bytes, from);
    let probe = value.probe(text.bytes);
    let name = length_of(probe, 0, 64, |byte| is_word(byte) || byte == b'.');
    if name == 0 || byte_at(probe, name) != Some(b'=') {
        return None;
    }
    let content = &probe[name + 1..];
    let content =
        &content[..length_of(content, 0, usize::MAX, |byte| !matches!(byte, b';' | b' ' | b'\\' | b','))];
    let makeup = Makeup::of(content);
    let is_secret =
        content.len() >= 6 && makeup.is_mixed() && !is_placeholder(content) && !is_code(content, None);
    is_secret.then(|| SecretKind::COOKIE.at(value.start, value.end(text.bytes)))
}

/// A header's value: the quoted text, or the rest of the line up to the end of the string around it.
fn value_of(bytes: &[u8], from: usize) -> ValueExtent {
    ValueExtent::after(bytes, from, Quoting::Header)
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    start
        + length_of(bytes, start, usize::MAX, |byte| {
            byte > b' ' && byte < 0x7f && !b"\"'`,;\\<>(){}[]|&".contains(&byte)
        })
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn credentials_are_cut_and_the_scheme_stays() {
        check("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [redacted:authorization]");
        check("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted:authorization]");
        check(r#"{"authorization":"Bot a1b2c3d4e5"}"#, r#"{"authorization":"Bot [redacted:authorization]"}"#);
        check(
            "curl -H 'Authorization: token a1b2c3d4' x",
            "curl -H 'Authorization: token [redacted:authorization]' x",
        );
        check(
            "Authorization: Digest username=\"me\", response=\"6629fae49393a05397450978507c4ef1\"\nx",
            "Authorization: Digest [redacted:authorization]\nx",
        );
    }

    #[test]
    fn cookies_are_cut_whole() {
        check("Cookie: sid=a1b2c3d4e5; theme=dark\nHost: x", "Cookie: [redacted:cookie]\nHost: x");
        check("\"set-cookie\": \"sid=a1b2c3d4; Path=/\"", "\"set-cookie\": \"[redacted:cookie]\"");
    }

    #[test]
    fn code_about_headers_stays() {
        for text in [
            "Authorization: Bearer ${TOKEN}",
            "Authorization: Bearer <token>",
            "headers: { Authorization: `Bearer ${token}` }",
            "\"Authorization\": \"Bearer \" + token",
            "authorization: string",
            "authorization = request.headers.get(\"x\")",
            "cookie: document.cookie",
            "Set-Cookie: name=value",
        ] {
            check(text, text);
        }
    }
}
