//! Every known kind of secret in every context: no part of it may be left.

#[path = "secrets/kinds.rs"]
mod kinds;
mod secrets;

use std::collections::BTreeMap;

use kinds::visible;
use secrets::{Sample, SeededRng};
use towline_core::redact::redact;

/// Contexts in which a key may appear. `{}` is the key.
const PLACES: &[&str] = &[
    "{}",
    "please use {} for this",
    "My key is {}.",
    "it is ({}), ok?",
    "`{}`",
    "\u{201c}{}\u{201d}",
    "'{}'",
    "curl -H \"X-Thing: {}\" https://example.com",
    "export THING={}\n",
    "{\"thing\":\"{}\"}",
    "{\"text\":\"a\\n{}\\nb\"}",
    "{\"text\":\"{\\\"thing\\\":\\\"{}\\\"}\"}",
    "thing: {}\n",
    "+{}\n",
    "-{}\n",
    "+thing = \"{}\"\n",
    "  12\t{}",
    "| {} |",
    "f(\"{}\", 1)",
    "https://example.com/?thing={}&x=1",
    "https%3A%2F%2Fexample.com%3Fthing%3D{}%26x",
    "https://{}@example.com/x.git",
    "\u{1b}[31m{}\u{1b}[0m",
    "\u{5bc6}\u{7801}{}\u{3002}",
    "<td>{}</td>",
    "a {} b {} c",
];

/// A secret is gone if no twelve characters of it are left.
const WINDOW: usize = 12;

/// Collects all failures, so that one run shows every one of them.
#[derive(Default)]
struct Failures(Vec<String>);

impl Failures {
    fn check_redacted(&mut self, name: &str, text: &str, secret: &str) {
        let left = redact(text);
        if holds_part_of(&left, secret) {
            self.0.push(format!("{name}\n  in   {text:?}\n  left {left:?}"));
        }
        let twice = redact(&left);
        if twice != left {
            self.0.push(format!("{name}, redacted twice\n  once  {left:?}\n  twice {twice:?}"));
        }
    }

    #[track_caller]
    fn assert_none(self) {
        let shown: Vec<String> = self.0.iter().take(40).cloned().collect();
        assert!(self.0.is_empty(), "{} flaws:\n{}", self.0.len(), shown.join("\n"));
    }
}

fn holds_part_of(text: &str, secret: &str) -> bool {
    let window = WINDOW.min(secret.len());
    let mut parts = secret.as_bytes().windows(window);
    parts.any(|part| text.as_bytes().windows(window).any(|there| there == part))
}

#[test]
fn at_least_sixty_formats_are_tried() {
    assert!(secrets::keys(&mut SeededRng::new(1)).len() >= 90);
}

/// Every kind alone, between lines, and in a string of JSON.
#[test]
fn every_kind_of_secret_is_kept_out() {
    let (mut left, mut count) = (BTreeMap::<String, String>::new(), 0);
    for seed in 1..=20 {
        let samples = kinds::kinds(&mut SeededRng::new(seed));
        count = samples.len();
        for Sample { name, text, secret } in samples {
            let json =
                serde_json::to_string(&serde_json::json!({ "text": format!("a\n{text}\nb") })).unwrap();
            for text in [text.clone(), format!("before it\n{text}\nand after\n"), json] {
                let safe = redact(&text);
                if secret.lines().any(|part| holds_part_of(&visible(&safe), part)) {
                    left.entry(name.clone()).or_insert(format!("  {text:?}\n  {safe:?}"));
                }
                assert_eq!(redact(&safe), safe, "{name} changes when it is redacted twice");
            }
        }
    }
    println!("{} of {count} kinds of secrets are kept out", count - left.len());
    assert!(count >= 200 && left.is_empty(), "{left:#?}");
}

/// Names × syntaxes × random values of nine alphabets.
#[test]
fn values_behind_telling_names_are_kept_out() {
    const COUNT: usize = 20_000;
    let samples = kinds::named(&mut SeededRng::new(11), COUNT);
    let is_left = |sample: &&Sample| holds_part_of(&redact(&sample.text), &sample.secret);
    let left: Vec<&Sample> = samples.iter().filter(is_left).collect();
    let share = 100.0 * (COUNT - left.len()) as f64 / COUNT as f64;
    println!("{share:.1} % of {COUNT} random values behind telling names are kept out");
    let shown: Vec<&str> = left.iter().take(20).map(|sample| sample.text.as_str()).collect();
    assert!(share >= 97.0, "{share:.1} %: {shown:#?}");
}

#[test]
fn keys_of_providers_are_found_everywhere() {
    let mut flaws = Failures::default();
    for seed in 1..20 {
        for Sample { name, text, secret } in secrets::keys(&mut SeededRng::new(seed)) {
            for place in PLACES {
                flaws.check_redacted(&format!("{name} in {place}"), &place.replace("{}", &text), &secret);
            }
        }
    }
    flaws.assert_none();
}

#[test]
fn announced_secrets_are_found() {
    let mut flaws = Failures::default();
    for seed in 1..20 {
        for Sample { name, text, secret } in secrets::announced(&mut SeededRng::new(seed)) {
            flaws.check_redacted(&name, &text, &secret);
            flaws.check_redacted(&name, &format!("before it\n{text}\nand after"), &secret);
            let added: String = text.lines().map(|line| format!("+{line}\n")).collect();
            flaws.check_redacted(&name, &format!("*** Add File: x\n+# it\n{added}+# end\n"), &secret);
            let input = serde_json::to_string(&serde_json::json!({ "command": text })).unwrap();
            // A WireGuard key is never a UUID, and `=` after one is not padding.
            if !(name.ends_with("{}=") && secret.contains('-')) {
                flaws.check_redacted(&name, &input, &secret);
            }
        }
    }
    flaws.assert_none();
}

#[test]
fn announced_secrets_are_found_in_a_string_of_json() {
    let mut flaws = Failures::default();
    for Sample { name, text, secret } in secrets::announced(&mut SeededRng::new(7)) {
        let quoted = serde_json::to_string(&serde_json::json!({ "text": format!("a\n{text}\nb") })).unwrap();
        flaws.check_redacted(&name, &quoted, &secret);
    }
    flaws.assert_none();
}

#[test]
fn chosen_passwords_are_found() {
    let mut flaws = Failures::default();
    for Sample { name, text, secret } in secrets::passwords() {
        flaws.check_redacted(&name, &text, &secret);
    }
    flaws.assert_none();
}

#[test]
fn private_keys_are_found_however_their_lines_are_broken() {
    let mut flaws = Failures::default();
    for Sample { name, text, secret } in secrets::armoured(&mut SeededRng::new(3)) {
        flaws.check_redacted(&name, &text, &secret);
        flaws.check_redacted(&name, &format!("{{\"private_key\": \"{text}\"}}"), &secret);
        if name != "putty" {
            flaws.check_redacted(&name, &format!("it ends {}", &text[text.len() / 2..]), &secret);
        }
        flaws.check_redacted(&name, &text[..text.len() / 2], &secret);
    }
    flaws.assert_none();
}

#[test]
fn long_secrets_are_found_over_wrapped_lines() {
    let mut flaws = Failures::default();
    for seed in 1..20 {
        let mut rng = SeededRng::new(seed);
        let secret = rng.text(secrets::Alphabet::Base64, 400);
        let wrapped = wrap(&secret, 76);
        flaws.check_redacted("wrapped base64", &format!("API_TOKEN={wrapped}\nnext words"), &wrapped);
        for Sample { name, text, secret } in secrets::keys(&mut rng) {
            let line = format!("$ echo some words before it {text}");
            let is_long = secret.len() >= 90 && !text.contains(['/', '+', ' ']);
            if is_long {
                flaws.check_redacted(&name, &wrap(&line, 80), &wrap(&line, 80)[line.len() - secret.len()..]);
            }
        }
    }
    flaws.assert_none();
}

/// Breaks lines as a terminal or an encoder does.
fn wrap(text: &str, width: usize) -> String {
    let bytes: Vec<&[u8]> = text.as_bytes().chunks(width).collect();
    bytes.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>().join("\n")
}
