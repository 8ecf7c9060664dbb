//! Questions written by hand, in `sets/questions`: about changelog entries, and sessions in other languages.
//!
//! An entry is named by a few of its words. Every turn that contains them answers the question.

use std::path::Path;

use super::{DAY, Question, Turn};
use crate::sets::day;

/// The file, and the kind of its questions.
const LANGUAGES: [(&str, &str); 4] =
    [("de", "German"), ("es", "Spanish"), ("ja", "Japanese"), ("zh", "Chinese")];

fn text(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sets/questions");
    std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap()
}

/// Lines of `kind | crate | words of the answer | question`.
pub fn about_changelogs(turns: &[Turn]) -> Vec<Question> {
    let text = text("changelogs");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let parts: Vec<&str> = line.splitn(4, " | ").collect();
            let [kind, project, words, question] = parts[..] else { panic!("unreadable: {line}") };
            let is_answer = |turn: &&Turn| turn.answer.contains(words);
            let is_own = |turn: &&Turn| turn.project == project && is_answer(turn);
            let answer = turns.iter().find(is_own).unwrap_or_else(|| panic!("no entry: {line}"));
            let kind = if kind == "cross" { "cross-lingual" } else { kind };
            let mut made = Question::new(kind, question.to_owned(), answer);
            made.answers = turns.iter().filter(is_answer).map(Turn::key).collect();
            made
        })
        .collect()
}

/// The sessions in other languages, and the questions about them.
pub fn languages() -> (Vec<Turn>, Vec<Question>) {
    let (mut turns, mut questions): (Vec<Turn>, Vec<Question>) = Default::default();
    for (name, kind) in LANGUAGES {
        let mut begun = Turn::default();
        for line in text(name).lines().filter(|line| !line.starts_with('#')) {
            let (mark, rest) = line.split_once(' ').unwrap_or_else(|| panic!("unreadable: {line}"));
            match mark {
                "=" => {
                    let (session, date) = rest.split_once(" | ").unwrap();
                    begun = Turn {
                        session: format!("{name} {session}"),
                        project: session.to_owned(),
                        at: day(date) + DAY / 3,
                        ..Turn::default()
                    };
                }
                ">" => {
                    begun.number += 1;
                    begun.at += 600_000;
                    turns.push(Turn { prompt: rest.to_owned(), ..begun.clone() });
                }
                "+" => turns.last_mut().unwrap().answer = rest.to_owned(),
                "!" => turns.last_mut().unwrap().output = rest.to_owned(),
                "?" => questions.push(Question::new(kind, rest.to_owned(), turns.last().unwrap())),
                "?en" => {
                    questions.push(Question::new("cross-lingual", rest.to_owned(), turns.last().unwrap()))
                }
                other => panic!("unknown mark {other}"),
            }
        }
    }
    (turns, questions)
}
