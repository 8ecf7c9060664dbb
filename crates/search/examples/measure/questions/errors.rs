//! Error messages of the crates as sessions: a panic in the output, and what the code's comment says as the answer.
//!
//! Takes few messages per crate, chosen by hash.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use super::changelogs::sources;
use super::{DAY, Turn, hash};
use crate::sets::day;

const PER_CRATE: usize = 3;
const MARKS: [&str; 4] = ["panic!(\"", ".expect(\"", "#[error(\"", "unreachable!(\""];

struct Message {
    file: String,
    line: usize,
    text: String,
    comment: String,
}

pub fn turns(packages: &BTreeMap<String, &Path>) -> Vec<Turn> {
    let mut known = HashSet::new();
    let mut turns = Vec::new();
    for (name, folder) in packages {
        let mut messages = messages(folder);
        messages.retain(|message| known.insert(message.text.clone()));
        messages.sort_by_key(|message| hash(&message.text));
        for (number, message) in (1..).zip(messages.into_iter().take(PER_CRATE)) {
            let Message { file, line, text, comment } = message;
            turns.push(Turn {
                session: format!("{name} errors"),
                project: name.clone(),
                number,
                at: day("2024-01-01") + (hash(name) % 700) as i64 * DAY + i64::from(number) * 600_000,
                prompt: format!("The tests of {name} fail, have a look."),
                answer: format!("{comment} I changed {file} accordingly and the tests pass."),
                output: format!(
                    "cargo test\nthread 'main' panicked at {file}:{line}:9:\n{}\ntest result: FAILED",
                    text.replace("{}", "7").replace("{:?}", "Some(7)")
                ),
                files: vec![file],
                ..Turn::default()
            });
        }
    }
    turns
}

fn messages(folder: &Path) -> Vec<Message> {
    let mut found = Vec::new();
    for file in sources(&folder.join("src")) {
        let path = file.strip_prefix(folder).unwrap().display().to_string();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let mut comment = String::new();
        let mut was_comment = false;
        for (number, line) in (1..).zip(text.lines()) {
            let is_comment = line.trim_start().starts_with("/// ");
            if is_comment {
                if !was_comment {
                    comment.clear();
                }
                comment.push_str(line.trim_start()[4..].trim());
                comment.push(' ');
            }
            was_comment = is_comment;
            let comment = comment.chars().take(400).collect::<String>();
            let is_usable = comment.len() > 60;
            found.extend(message(line).filter(|_| is_usable).map(|text| Message {
                file: path.clone(),
                line: number,
                text,
                comment,
            }));
        }
    }
    found
}

/// The message of a line that may fail.
fn message(line: &str) -> Option<String> {
    let mark = MARKS.iter().find(|mark| line.contains(*mark))?;
    let text = line.split_once(mark)?.1.split('"').next()?;
    let is_telling =
        text.len() >= 25 && text.split(' ').count() >= 4 && text.is_ascii() && !text.contains('\\');
    is_telling.then(|| text.to_owned())
}
