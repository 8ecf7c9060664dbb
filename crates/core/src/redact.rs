//! The one function that takes secrets out of text before it is written anywhere.
//!
//! Linear in the text, no regular expressions, no configuration: what counts as a secret is the table below.

use std::borrow::Cow;

/// Stands where a secret stood.
pub const PLACEHOLDER: &str = "[redacted]";

/// Token prefixes that providers give their keys, with the least number of characters that follow a real one.
const KEY_PREFIXES: &[(&str, usize)] = &[
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 30),
    ("eyJ", 30),
];

/// Names before `=` or `:` whose value is a secret whatever it looks like.
const SECRET_NAMES: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "auth_token",
    "private_key",
];

/// Returns `text` without private parts and secrets; borrowed when there are none.
pub fn redact(text: &str) -> Cow<'_, str> {
    if !could_hold_a_secret(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at_word_start = !out.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        match secret_at(rest, at_word_start) {
            Some(Secret { keep, length }) => {
                out.push_str(&rest[..keep]);
                out.push_str(PLACEHOLDER);
                rest = &rest[length..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    Cow::Owned(out)
}

/// A secret at the start of the remaining text: `keep` bytes of it may stay, all of `length` is consumed.
struct Secret {
    keep: usize,
    length: usize,
}

/// A cheap look that spares the scan for most text.
fn could_hold_a_secret(text: &str) -> bool {
    text.bytes().any(|b| matches!(b, b'<' | b'=' | b':' | b'-' | b'_'))
        || KEY_PREFIXES.iter().any(|(prefix, _)| text.contains(prefix))
}

fn secret_at(rest: &str, at_word_start: bool) -> Option<Secret> {
    let first = *rest.as_bytes().first()?;
    match first {
        b'<' => private_block(rest),
        b'-' => pem_block(rest),
        _ if at_word_start => provider_key(rest).or_else(|| named_value(rest)).or_else(|| bearer(rest)),
        b':' => url_password(rest),
        _ => None,
    }
}

/// `<private>…</private>`; unclosed means private to the end.
fn private_block(rest: &str) -> Option<Secret> {
    const OPEN: &str = "<private>";
    const CLOSE: &str = "</private>";
    if !starts_with_ignoring_case(rest, OPEN) {
        return None;
    }
    let mut depth = 0usize;
    for (i, byte) in rest.bytes().enumerate() {
        if byte != b'<' {
            continue;
        }
        if starts_with_ignoring_case(&rest[i..], OPEN) {
            depth += 1;
        } else if starts_with_ignoring_case(&rest[i..], CLOSE) {
            depth -= 1;
            if depth == 0 {
                return Some(Secret { keep: 0, length: i + CLOSE.len() });
            }
        }
    }
    Some(Secret { keep: 0, length: rest.len() })
}

/// `-----BEGIN … PRIVATE KEY-----` to its end line, or to the end of the text.
fn pem_block(rest: &str) -> Option<Secret> {
    let head = rest.strip_prefix("-----BEGIN ")?;
    let title_end = head.find("-----")?;
    if !head[..title_end].ends_with("PRIVATE KEY") {
        return None;
    }
    let end = rest.find("-----END ").and_then(|from| Some(from + rest[from + 9..].find("-----")? + 14));
    Some(Secret { keep: 0, length: end.unwrap_or(rest.len()) })
}

fn provider_key(rest: &str) -> Option<Secret> {
    let (prefix, least) = KEY_PREFIXES.iter().find(|(prefix, _)| rest.starts_with(prefix))?;
    let tail = token_length(&rest[prefix.len()..]);
    (tail >= *least).then_some(Secret { keep: 0, length: prefix.len() + tail })
}

/// `password=…`, `"api_key": "…"` and the like; the name stays readable.
fn named_value(rest: &str) -> Option<Secret> {
    let name = SECRET_NAMES.iter().find(|name| starts_with_ignoring_case(rest, name))?;
    let after = rest[name.len()..].trim_start_matches(['"', '\'']).trim_start_matches(' ');
    let value = after.strip_prefix(['=', ':'])?.trim_start_matches([' ', '"', '\'']);
    let keep = rest.len() - value.len();
    let length = value
        .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '&'))
        .unwrap_or(value.len());
    (length >= 6 && !value.starts_with(PLACEHOLDER)).then_some(Secret { keep, length: keep + length })
}

fn bearer(rest: &str) -> Option<Secret> {
    const SCHEME: &str = "bearer ";
    if !starts_with_ignoring_case(rest, SCHEME) {
        return None;
    }
    let token = token_length(&rest[SCHEME.len()..]);
    (token >= 16).then_some(Secret { keep: SCHEME.len(), length: SCHEME.len() + token })
}

/// The password in `scheme://user:password@host`, seen from the colon before it.
fn url_password(rest: &str) -> Option<Secret> {
    let authority = rest.strip_prefix("://")?;
    let end = authority
        .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\''))
        .unwrap_or(authority.len());
    let (userinfo, _) = authority[..end].rsplit_once('@')?;
    let (user, password) = userinfo.split_once(':')?;
    let keep = 3 + user.len() + 1;
    (!password.is_empty()).then_some(Secret { keep, length: keep + password.len() })
}

/// How many bytes of a key's alphabet stand at the start.
fn token_length(text: &str) -> usize {
    text.bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'+' | b'='))
        .count()
}

fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.as_bytes().get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact(text), expected);
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        assert!(matches!(redact("fix the login page"), Cow::Borrowed(_)));
        check("see src/sk-ant.rs: a-b_c = d", "see src/sk-ant.rs: a-b_c = d");
    }

    #[test]
    fn private_parts_are_cut_nested_and_unclosed() {
        check("a <private>b <PRIVATE>c</private> d</private> e", "a [redacted] e");
        check("a <private>b", "a [redacted]");
    }

    #[test]
    fn keys_of_providers_are_cut() {
        let key = format!("{}{}", "ghp_", "A1".repeat(18));
        check(&format!("use {key}, please"), "use [redacted], please");
        check(&format!("task{key}"), &format!("task{key}"));
    }

    #[test]
    fn named_values_keep_their_name() {
        check("PASSWORD=hunter22 next", "PASSWORD=[redacted] next");
        check(r#"{"api_key": "abcdef123"}"#, r#"{"api_key": "[redacted]"}"#);
    }

    #[test]
    fn credentials_in_addresses_and_headers_are_cut() {
        check("postgres://me:s3cret@db/x", "postgres://me:[redacted]@db/x");
        check("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [redacted]");
    }

    #[test]
    fn private_keys_are_cut() {
        let pem = "x -----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- y";
        check(pem, "x [redacted] y");
    }

    #[test]
    fn a_mebibyte_of_opening_tags_takes_linear_time() {
        let text = "<private>".repeat(120_000);
        check(&text, PLACEHOLDER);
    }
}
