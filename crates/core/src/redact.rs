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

/// What a name ends in whose value, behind `=` or `:`, is a secret whatever it looks like: `DB_PASSWORD`, `client-secret`.
const SECRET_ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "token",
    "private_key",
    "secret_key",
    "access_key",
    "secret-key",
    "access-key",
    "credentials",
];

/// Schemes of an `Authorization` header, before what they authorise.
const SCHEMES: &[&str] = &["bearer ", "basic "];

/// Returns `text` without private parts and secrets; borrowed when there are none.
pub fn redact(text: &str) -> Cow<'_, str> {
    if !could_hold_a_secret(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = word_length(rest);
        match secret_at(rest, word) {
            Some(Secret { keep, length }) => {
                out.push_str(&rest[..keep]);
                out.push_str(PLACEHOLDER);
                rest = &rest[length..];
            }
            // Whole words at a time: a secret begins where a word does.
            None => {
                let step = if word > 0 { word } else { rest.chars().next().map_or(1, char::len_utf8) };
                out.push_str(&rest[..step]);
                rest = &rest[step..];
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

/// The letters, digits and underscores at the start.
fn word_length(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}

/// A cheap look that spares the scan for most text.
fn could_hold_a_secret(text: &str) -> bool {
    text.bytes().any(|b| matches!(b, b'<' | b'=' | b':' | b'-' | b'_'))
        || KEY_PREFIXES.iter().any(|(prefix, _)| text.contains(prefix))
}

fn secret_at(rest: &str, word: usize) -> Option<Secret> {
    match rest.as_bytes().first()? {
        b'<' => private_block(rest),
        b'-' => pem_block(rest),
        b':' => url_password(rest),
        _ if word > 0 => provider_key(rest).or_else(|| named_value(rest)).or_else(|| authorisation(rest)),
        _ => None,
    }
}

/// `<private>…</private>`; unclosed means private to the end.
fn private_block(rest: &str) -> Option<Secret> {
    const OPEN: &str = "<private";
    const CLOSE: &str = "</private";
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
                let end = rest[i..].find('>').map_or(rest.len(), |bracket| i + bracket + 1);
                return Some(Secret { keep: 0, length: end });
            }
        }
    }
    Some(Secret { keep: 0, length: rest.len() })
}

/// `-----BEGIN … PRIVATE KEY-----` to its end line, or to the end of the text.
fn pem_block(rest: &str) -> Option<Secret> {
    let head = rest.strip_prefix("-----BEGIN ")?;
    let title_end = head.find("-----")?;
    if !head[..title_end].contains("PRIVATE KEY") {
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

/// `DB_PASSWORD=…`, `"api-key": "…"` and the like; the name stays readable.
fn named_value(rest: &str) -> Option<Secret> {
    let name = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    SECRET_ENDINGS.iter().find(|ending| ends_with_ignoring_case(&rest[..name], ending))?;
    let after = rest[name..].trim_start_matches(['"', '\'']).trim_start_matches(' ');
    let value = after.strip_prefix(['=', ':'])?.trim_start_matches([' ', '"', '\'']);
    let keep = rest.len() - value.len();
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | ';' | '&');
    let length = value.find(ends).unwrap_or(value.len());
    (length >= 6 && !value.starts_with(PLACEHOLDER)).then_some(Secret { keep, length: keep + length })
}

fn authorisation(rest: &str) -> Option<Secret> {
    let scheme = SCHEMES.iter().find(|scheme| starts_with_ignoring_case(rest, scheme))?;
    let token = token_length(&rest[scheme.len()..]);
    (token >= 16).then_some(Secret { keep: scheme.len(), length: scheme.len() + token })
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

fn ends_with_ignoring_case(text: &str, ending: &str) -> bool {
    let from = text.len().checked_sub(ending.len());
    from.is_some_and(|from| text.as_bytes()[from..].eq_ignore_ascii_case(ending.as_bytes()))
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
        check("a <private >b</private > c", "a [redacted] c");
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
    fn a_name_that_ends_in_a_secrets_name_has_a_secret_value() {
        check("DB_PASSWORD=hunter22", "DB_PASSWORD=[redacted]");
        check("AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI", "AWS_SECRET_ACCESS_KEY: [redacted]");
        check("export GITHUB_TOKEN='abcdef12'", "export GITHUB_TOKEN='[redacted]'");
        check("client-secret=abcdef12", "client-secret=[redacted]");
        check("the token: it has expired", "the token: it has expired");
    }

    #[test]
    fn credentials_in_addresses_and_headers_are_cut() {
        check("postgres://me:s3cret@db/x", "postgres://me:[redacted]@db/x");
        check("Authorization: Bearer abcdefghijklmnop1234", "Authorization: Bearer [redacted]");
        check("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted]");
    }

    #[test]
    fn private_keys_are_cut() {
        let pem = "x -----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- y";
        check(pem, "x [redacted] y");
        check("-----BEGIN PGP PRIVATE KEY BLOCK-----\nabc", "[redacted]");
    }

    #[test]
    fn a_mebibyte_of_opening_tags_takes_linear_time() {
        let text = "<private>".repeat(120_000);
        check(&text, PLACEHOLDER);
    }
}
