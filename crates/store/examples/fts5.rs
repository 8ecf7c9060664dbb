//! SQLite's own full-text search on the question set of `cargo xtask bench questions`, for comparison.
//!
//! Prints ranks in the form of the other engines. Needs a build of SQLite with FTS5, which the product leaves out.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program by itself, started by the bench"
)]

use std::collections::HashMap;

use rusqlite::Connection;
use serde::Deserialize;

#[derive(Deserialize)]
struct QuestionSet {
    turns: Vec<Turn>,
    questions: Vec<Question>,
}

#[derive(Deserialize)]
struct Turn {
    session: String,
    project: String,
    number: u32,
    at: i64,
    prompt: String,
    answer: String,
    output: String,
    files: Vec<String>,
}

#[derive(Deserialize)]
struct Question {
    kind: String,
    text: String,
    answers: Vec<String>,
    files: Vec<String>,
    from: Option<i64>,
    until: Option<i64>,
    locked: bool,
}

const HITS: usize = 2000;
const STOP: &str = "a an and are as at be but by can did do does for from had has have how i in into is it its my no \
    not now of on or our so that the their then there these they this to was we were what when where which who why \
    will with would you your";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, half] = &arguments[..] else {
        println!("fts5 FILE open|locked");
        return;
    };
    let set: QuestionSet = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let db = indexed(&set.turns);
    for question in set.questions.iter().filter(|question| question.locked == (half == "locked")) {
        let rank = rank(&db, &set, question);
        println!("{}\t{rank}\t0\t{}", question.kind, question.text);
    }
}

/// One row per document, as in the other engines; a row's number is four times the turn's, plus the part.
fn indexed(turns: &[Turn]) -> Connection {
    let mut db = Connection::open_in_memory().unwrap();
    db.execute_batch(
        "create virtual table documents using fts5(text, content='', tokenize='porter unicode61')",
    )
    .unwrap();
    let transaction = db.transaction().unwrap();
    for (number, turn) in turns.iter().enumerate() {
        for (part, text) in [&turn.prompt, &turn.answer, &turn.output].into_iter().enumerate() {
            if text.is_empty() {
                continue;
            }
            let files = if part == 2 { String::new() } else { turn.files.join(" ") };
            let text = format!("{text} {} {files}", turn.project);
            let statement = "insert into documents (rowid, text) values (?1, ?2)";
            transaction.execute(statement, ((number * 4 + part) as i64, text)).unwrap();
        }
    }
    transaction.commit().unwrap();
    db
}

fn rank(db: &Connection, set: &QuestionSet, question: &Question) -> usize {
    let mut statement = db
        .prepare_cached(
            "select rowid from documents where documents match ?1 order by bm25(documents), rowid limit ?2",
        )
        .unwrap();
    let rows = statement.query_map((words(&question.text), HITS as i64), |row| row.get::<_, i64>(0)).unwrap();
    let mut seen: HashMap<usize, usize> = HashMap::new();
    for number in rows.map(|row| row.unwrap() as usize / 4) {
        let turn = &set.turns[number];
        let is_allowed = question.from.is_none_or(|from| turn.at >= from)
            && question.until.is_none_or(|until| turn.at < until)
            && question.files.iter().all(|file| turn.files.contains(file));
        let next = seen.len() + 1;
        if is_allowed && *seen.entry(number).or_insert(next) == next {
            if question.answers.contains(&format!("{}#{}", turn.session, turn.number)) {
                return next;
            }
            if next == 100 {
                return 0;
            }
        }
    }
    0
}

/// The words without stop words, any of which may match.
fn words(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_stop = |word: &&&str| STOP.split_whitespace().any(|stop| stop.eq_ignore_ascii_case(word));
    let mut telling: Vec<&str> = words.iter().filter(|word| !is_stop(word)).copied().collect();
    if telling.is_empty() {
        telling = words;
    }
    telling.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ")
}
