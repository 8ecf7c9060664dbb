//! Changelogs as sessions: a release is a session, an entry is a turn.
//!
//! Takes text as it stands, without links. Understands the usual layouts only; other text is left out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{DAY, Turn, pick};
use crate::sets::day;

const NAMES: [&str; 6] =
    ["CHANGELOG.md", "CHANGES.md", "RELEASES.md", "RELEASE-NOTES.md", "HISTORY.md", "changelog.md"];
/// Entries taken of one crate, the newest.
const MOST: usize = 120;
/// Releases without a date get one: the newest this day, each older one so many days earlier.
const UNDATED: &str = "2024-06-01";
const BETWEEN: i64 = 25;
const MINUTES: i64 = 7 * 60_000;

const PROMPTS: [&str; 8] = [
    "Go on.",
    "Next one please.",
    "Continue with the next item.",
    "And then?",
    "Please do the next change for the release.",
    "Let's take the next point from the list.",
    "ok, what else is in this release?",
    "Now the next one, then run the tests.",
];

struct Release {
    version: String,
    at: Option<i64>,
    entries: Vec<String>,
}

pub fn turns(packages: &BTreeMap<String, &Path>) -> Vec<Turn> {
    let mut known = HashSet::new();
    let mut turns = Vec::new();
    for (name, folder) in packages {
        let texts = NAMES.iter().filter_map(|file| std::fs::read_to_string(folder.join(file)).ok());
        let Some(text) = texts.into_iter().next() else { continue };
        let definitions = definitions(folder);
        let mut left = MOST;
        for (age, release) in (0..).zip(releases(&text)) {
            let at = release.at.unwrap_or(day(UNDATED) - age * BETWEEN * DAY) + DAY / 3;
            let entries = release.entries.into_iter().filter(|entry| known.insert(entry.clone()));
            for (number, entry) in (1..).zip(entries.take(left).collect::<Vec<_>>()) {
                left -= 1;
                let files = files_of(&entry, &definitions);
                let edits = files.iter().map(|file| format!("Edit {file}\n")).collect();
                turns.push(Turn {
                    session: format!("{name} {}", release.version),
                    project: name.clone(),
                    number,
                    at: at + i64::from(number) * MINUTES,
                    is_dated: release.at.is_some(),
                    prompt: prompt(number, &entry, &format!("{name} {}", release.version)),
                    answer: entry,
                    output: edits,
                    files,
                });
            }
        }
    }
    turns
}

/// The first prompt of a session names the release.
fn prompt(number: u32, entry: &str, release: &str) -> String {
    if number == 1 { format!("Let's prepare {release}.") } else { pick(&PROMPTS, entry).to_owned() }
}

fn releases(text: &str) -> Vec<Release> {
    let lines: Vec<&str> = text.lines().collect();
    let mut releases: Vec<Release> = Vec::new();
    let (mut entry, mut is_code) = (String::new(), false);
    for (at, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code || line.trim_start().starts_with("```") {
            continue;
        }
        let is_heading = line.starts_with('#') || lines.get(at + 1).is_some_and(|next| is_rule(next));
        let is_end = is_heading || is_rule(line) || line.trim().is_empty() || is_no_text(line);
        let is_item = line.len() - line.trim_start().len() <= 3
            && ["- ", "* ", "+ "].iter().any(|mark| line.trim_start().starts_with(mark));
        if is_end || is_item {
            push(&mut releases, std::mem::take(&mut entry));
        }
        if let Some(version) = version(line).filter(|_| is_heading) {
            releases.push(Release { version, at: date(line), entries: Vec::new() });
        }
        if !is_end {
            let text = if is_item { line.trim_start()[2..].trim() } else { line.trim() };
            entry.push_str(text);
            entry.push(' ');
        }
    }
    push(&mut releases, entry);
    releases
}

fn is_rule(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 3
        && (line.bytes().all(|byte| byte == b'=')
            || (line.len() >= 4 && line.bytes().all(|byte| byte == b'-')))
}

/// Definitions of links, and markup.
fn is_no_text(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('<') || (line.starts_with('[') && line.contains("]:"))
}

fn push(releases: &mut [Release], entry: String) {
    let entry = without_links(entry.trim_matches([' ', '*', '-']));
    let is_told = (40..=1200).contains(&entry.len()) && entry.split_whitespace().count() >= 6;
    if let Some(release) = releases.last_mut().filter(|_| is_told) {
        release.entries.push(entry);
    }
}

/// `[text](address)` becomes `text`.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let Some(open) = rest[..middle].rfind('[') else {
            plain.push_str(&rest[..middle + 2]);
            rest = &rest[middle + 2..];
            continue;
        };
        plain.push_str(&rest[..open]);
        plain.push_str(&rest[open + 1..middle]);
        rest = &rest[middle..];
        rest = rest.find(')').map_or("", |end| &rest[end + 1..]);
    }
    plain + rest
}

/// The first word like `1.2.3` of a heading.
fn version(line: &str) -> Option<String> {
    let words = line.split(|letter: char| !letter.is_ascii_alphanumeric() && !"._-".contains(letter));
    let versions = words.map(|word| word.trim_start_matches('v').trim_end_matches(['.', '-']));
    let mut versions = versions.filter(|word| {
        word.starts_with(|letter: char| letter.is_ascii_digit()) && word.split('.').count() >= 2
    });
    versions.next().map(str::to_owned).filter(|_| line.len() < 200)
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// `2025-01-15`, or `January 15th, 2025`.
fn date(line: &str) -> Option<i64> {
    let words: Vec<&str> =
        line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let is_iso = |word: &&&str| {
        word.len() == 10
            && word.split('-').map(str::len).eq([4, 2, 2])
            && word.replace('-', "").parse::<u32>().is_ok()
    };
    if let Some(iso) = words.iter().find(is_iso) {
        return Some(day(iso));
    }
    let at = words.iter().position(|word| word.len() >= 3 && month(word).is_some())?;
    let digits = words.get(at + 1)?.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let (day_of_month, year) = (digits.parse::<u32>().ok()?, words.get(at + 2)?.parse::<u32>().ok()?);
    Some(day(&format!("{year}-{}-{day_of_month}", month(words[at])?)))
}

fn month(word: &str) -> Option<usize> {
    let lower = word.to_lowercase();
    MONTHS.iter().position(|month| lower.starts_with(month)).map(|at| at + 1)
}

/// The source file of each name that only one file of the crate defines.
fn definitions(folder: &Path) -> HashMap<String, String> {
    let mut found: HashMap<String, Option<String>> = HashMap::new();
    for file in sources(&folder.join("src")) {
        let path = file.strip_prefix(folder).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let mut words = text
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            if ["fn", "struct", "trait", "enum", "macro_rules", "type"].contains(&word)
                && let Some(name) = words.next()
            {
                let known = found.entry(name.to_owned()).or_insert_with(|| Some(path.clone()));
                if known.as_ref() != Some(&path) {
                    *known = None;
                }
            }
        }
    }
    found.into_iter().filter_map(|(name, file)| Some((name, file?))).collect()
}

/// The Rust files below a folder, in order.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The files that define what an entry names in backticks.
fn files_of(entry: &str, definitions: &HashMap<String, String>) -> Vec<String> {
    let mut files = Vec::new();
    for name in named(entry) {
        let last = name.rsplit("::").next().unwrap_or_default();
        let last =
            last.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
        files.extend(definitions.get(last).filter(|file| last.len() > 3 && !files.contains(*file)).cloned());
    }
    files.truncate(3);
    files
}

/// The texts in backticks.
pub fn named(entry: &str) -> impl Iterator<Item = &str> {
    entry.split('`').skip(1).step_by(2).filter(|name| !name.is_empty())
}
