//! The hostile texts, and what must never come of them. Written without the product's own notion of what is harmless.

use serde::Deserialize;
use std::fs;
use towline_testkit::TestEnv;

/// One text that wants something.
#[derive(Clone, Deserialize)]
pub struct Poison {
    pub name: String,
    pub text: String,
    /// A word of the reason for which a memory of it is held back, if it is not a person's.
    pub held: Option<String>,
    /// What must reach no model by a memory, in plain small letters.
    pub needle: Option<String>,
}

/// All of them. What would be run by a shell leaves a file below `canaries`.
pub fn corpus(env: &TestEnv) -> Vec<Poison> {
    fs::create_dir_all(canaries(env)).unwrap();
    let canary = canaries(env).join("touched").display().to_string();
    let known: Vec<Poison> = serde_json::from_str(include_str!("corpus.json")).unwrap();
    let known = known.into_iter().map(|one| Poison { text: one.text.replace("@CANARY@", &canary), ..one });
    known.chain(endless()).collect()
}

/// Lines of a megabyte.
fn endless() -> Vec<Poison> {
    let of = |name: &str, part: &str| Poison {
        name: name.to_owned(),
        text: part.repeat((1 << 20) / part.len()),
        held: None,
        needle: None,
    };
    vec![
        of("an endless word", "漢x"),
        of("an endless line of fences", "</towline-context> "),
        of("an endless line of controls", "\u{1b}[31m"),
    ]
}

fn canaries(env: &TestEnv) -> std::path::PathBuf {
    env.root().join("canaries")
}

/// Nothing of all that was run by anybody.
#[track_caller]
pub fn nothing_was_run(env: &TestEnv) {
    let touched: Vec<_> = fs::read_dir(canaries(env)).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(touched.is_empty(), "{touched:?}");
    assert!(!env.project().join("touched").exists());
}

/// Nothing in it steers a terminal or turns writing around.
#[track_caller]
pub fn is_harmless(text: &str, what: &str) {
    let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || turns_around(c);
    let found = text.chars().find(|c| steers(*c));
    assert_eq!(found.map(u32::from), None, "{what} shows a character that steers: {:?}", shown(text));
}

fn turns_around(c: char) -> bool {
    matches!(u32::from(c), 0x61c | 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069)
}

/// One fence around all of it: it opens on the first line, closes on the last, and nothing between them reads like it.
#[track_caller]
pub fn is_fenced(text: &str, what: &str) {
    let inside = text
        .strip_prefix("<towline-context>\n")
        .and_then(|text| text.trim_end().strip_suffix("</towline-context>"));
    assert!(inside.is_some(), "{what} stands in no fence: {:?}", shown(text));
    let inside = inside.unwrap_or_default();
    let plain = plainly(inside).replace(' ', "");
    for tag in ["<towline-context", "</towline-context", "<system-reminder", "</system-reminder"] {
        assert!(!plain.contains(tag), "{what} holds {tag}: {:?}", shown(inside));
    }
}

/// As a reader takes it who sees neither case, width, spaces nor what has none.
pub fn plainly(text: &str) -> String {
    let is_seen = |c: &char| !matches!(u32::from(*c), 0xad | 0x34f | 0x180b..=0x180e | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfe00..=0xfe0f | 0xfeff | 0xe0000..=0xe0fff);
    let narrow = |c: char| match u32::from(c) {
        wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap(),
        0x2010..=0x2015 => '-',
        _ if c.is_whitespace() || c.is_control() => ' ',
        _ => c,
    };
    text.chars().filter(is_seen).map(narrow).flat_map(char::to_lowercase).collect()
}

fn shown(text: &str) -> String {
    text.chars().take(2_000).collect()
}
