//! Tests of redaction as a whole.
use super::*;

#[track_caller]
pub(super) fn check(text: &str, expected: &str) {
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

mod linear {
    use super::super::effort::spent_on;
    use super::*;
    use proptest::prelude::*;

    /// Fragments that would slow down a scan that looks too far ahead or back.
    const PARTS: &[&str] = &[
        "<private",
        "<private>",
        "</private",
        "</private>",
        "<",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
        "eyJ",
        "eyJhbGciOiJI",
        "=",
        ":",
        "://",
        "://a:",
        "@",
        "password",
        "password=",
        "password: \"",
        "token: ",
        "secret=\\\"",
        "\\",
        "\\n",
        "\"",
        "'",
        "`",
        " ",
        "\n",
        "    ",
        "-",
        "--password ",
        "--",
        "_",
        "sk-",
        "sk-ant-",
        "ghp_",
        "AKIA",
        "a1B2c3",
        "A1b2C3d4E5f6G7h8I9j0",
        ".",
        "+",
        "/",
        "%3D",
        "%22",
        "&quot;",
        "Authorization: Bearer ",
        "Cookie: a=",
        "value: ",
        "name: ",
        "Bearer ",
        "key ",
        "api ",
        "xoxb-",
        "Proc-Type: x\n",
        "MIIEpAIBAAKCAQEAx7k",
        "(",
        ")",
        ",",
        "[",
        "]",
        "{",
        "}",
        "<password>",
        "mysql -p",
        "curl -u a:",
        "é",
        "密码",
        "пароль ",
        "mot de passe ",
        "seed phrase: a b ",
        "| password | ",
        "| password |\n|---|---|\n| x | ",
        "$2b$12$",
        "{SSHA}",
        "variable \"password\" {",
        "default = \"",
        "identified by 'x",
        "\u{1b}[31m",
        "\u{200b}",
        "\\u001b[1m",
        "Ym9iOkh1bnRlcjIy",
        "host:5432:db:me:",
        "root:a@tcp(",
        "Private-Lines: 3\n",
        "hooks.slack.com/",
        "[redacted:password]",
        "w",
        "passw",
        "login ",
        "x",
        "0",
    ];

    /// Maximum number of bytes inspected per byte of text, independent of its length.
    const MOST: usize = 700;

    fn effort(unit: &str, length: usize) -> usize {
        let text = unit.repeat(length / unit.len() + 1);
        spent_on(|| drop(redact(&text)))
    }

    #[track_caller]
    fn check_linear(unit: &str) {
        // Rules look back over up to a few kilobytes: a shorter text does not cost them all that they may cost.
        let (small, large) = (effort(unit, 8_000), effort(unit, 32_000));
        assert!(large <= 5 * small, "{unit:?}: {small} grows to {large}");
        assert!(large <= MOST * 32_000, "{unit:?}: {large}");
    }

    #[test]
    fn no_part_over_and_over_costs_more_than_its_length() {
        for part in PARTS {
            check_linear(part);
        }
    }

    #[test]
    fn one_opening_and_a_long_rest_costs_its_length() {
        for opening in PARTS {
            for rest in ["a1B2c3d4", "=", " ", "\n", "x ", "\\n", ".", "a=b;", "MIIEpAIBAAKCAQEAx7k\n"] {
                let text = format!("{opening}{}", rest.repeat(10_000 / rest.len()));
                let spent = spent_on(|| drop(redact(&text)));
                assert!(spent <= MOST * 10_000, "{opening:?} {rest:?}: {spent}");
            }
        }
    }

    #[test]
    fn a_mebibyte_of_opening_tags_is_one_private_part() {
        check(&"<private>".repeat(120_000), "[redacted:private]");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn no_mixture_of_parts_costs_more_than_its_length(parts in prop::collection::vec(prop::sample::select(PARTS), 1..6)) {
            check_linear(&parts.concat());
        }
    }

    proptest! {
        #[test]
        fn redacting_twice_changes_nothing(parts in prop::collection::vec(prop::sample::select(PARTS), 0..40)) {
            let once = redact(&parts.concat()).into_owned();
            prop_assert_eq!(redact(&once), once.as_str());
        }

        #[test]
        fn any_text_is_taken(text in any::<String>(), parts in prop::collection::vec(prop::sample::select(PARTS), 0..8)) {
            let mixed: String = parts.iter().flat_map(|part| [*part, text.as_str()]).collect();
            let once = redact(&mixed).into_owned();
            prop_assert_eq!(redact(&once), once.as_str());
        }

        #[test]
        fn findings_are_in_order_and_inside(parts in prop::collection::vec(prop::sample::select(PARTS), 0..40)) {
            let text = parts.concat();
            let mut last = 0;
            for finding in findings(&text) {
                prop_assert!(last <= finding.start && finding.start < finding.end && finding.end <= text.len());
                last = finding.end;
            }
            let safe = redact(&text);
            let placeholders = safe.matches("[redacted:").count();
            prop_assert!(safe.len() <= text.len() + placeholders * "[redacted:authorization]".len());
        }
    }
}
