//! Redaction as a whole.
use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(redact(text), expected, "{text}");
}

#[test]
fn ordinary_text_is_borrowed() {
    assert!(matches!(redact("fix the login page"), Cow::Borrowed(_)));
    check("see src/sk-ant.rs: a-b_c = d", "see src/sk-ant.rs: a-b_c = d");
}

#[test]
fn private_parts_are_cut_nested_and_unclosed() {
    check("a <private>b <PRIVATE>c</private> d</private> e", "a [redacted:private] e");
    check("a <private>b", "a [redacted:private]");
    check("a <private >b</private > c", "a [redacted:private] c");
}

#[test]
fn named_values_keep_their_name() {
    check("PASSWORD=hunter22 next", "PASSWORD=[redacted:password] next");
    check(r#"{"api_key": "abcdef123"}"#, r#"{"api_key": "[redacted:secret]"}"#);
    check("DB_PASSWORD=hunter22", "DB_PASSWORD=[redacted:password]");
    check("AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI", "AWS_SECRET_ACCESS_KEY: [redacted:secret]");
    check("export GITHUB_TOKEN='abcdef12'", "export GITHUB_TOKEN='[redacted:secret]'");
    check("client-secret=abcdef12", "client-secret=[redacted:secret]");
    check("the token: it has expired", "the token: it has expired");
}
