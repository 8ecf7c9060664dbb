//! What a document gains from what it is: its file, project, branch and time, and quoted words.
//!
//! Each is a nudge among documents that were found by their words; none finds anything by itself.

use std::collections::HashSet;

use super::Why;
use super::candidates::{Candidate, Found, Place};
use super::filter::file_marks;
use super::meaning::scaled;
use crate::document::Kind;
use crate::index::Error;
use crate::query::Query;
use crate::source::{Marked, mark};
use crate::table::{Piece, pieces};

const PHRASE: f32 = 0.3;
const FILE_NAMED: f32 = 0.2;
const FILE_HERE: f32 = 0.05;
const PROJECT_NAMED: f32 = 0.2;
const PROJECT_HERE: f32 = 0.1;
const BRANCH_HERE: f32 = 0.05;
const DATE: f32 = 0.3;
const RECENT: f32 = 0.1;

/// Shorter names of projects are ordinary words.
const SHORTEST_NAME: usize = 3;

pub fn add(found: &Found<'_>, candidates: &mut [Candidate]) -> Result<(), Error> {
    let query = found.query;
    add_marked(found, candidates, Why::File, (FILE_NAMED, &files_named(&query.text)))?;
    let files_here: Vec<String> = query.here.files.iter().flat_map(|file| file_marks(file)).collect();
    add_marked(found, candidates, Why::File, (FILE_HERE, &files_here))?;
    add_marked(found, candidates, Why::Project, (PROJECT_NAMED, &projects_named(found)?))?;
    let project_here: Vec<String> =
        query.here.project.iter().map(|project| mark(Marked::Project, project)).collect();
    add_marked(found, candidates, Why::Project, (PROJECT_HERE, &project_here))?;
    let branch_here: Vec<String> =
        query.here.branch.iter().map(|branch| mark(Marked::Branch, branch)).collect();
    add_marked(found, candidates, Why::Branch, (BRANCH_HERE, &branch_here))?;
    add_phrases(query, candidates);
    add_times(found, candidates);
    candidates.iter_mut().for_each(|candidate| candidate.boost(Why::Kind, of_kind(candidate.facts.kind)));
    Ok(())
}

fn of_kind(kind: Kind) -> f32 {
    match kind {
        Kind::Memory => 0.08,
        Kind::Summary | Kind::Bookmark => 0.05,
        Kind::Prompt | Kind::Body | Kind::Line => 0.03,
        Kind::Detail => 0.0,
    }
}

fn add_marked(
    found: &Found<'_>,
    candidates: &mut [Candidate],
    why: Why,
    (by, marks): (f32, &[String]),
) -> Result<(), Error> {
    let mut marked = HashSet::new();
    for (source, documents) in found.sources.iter().enumerate() {
        for mark in marks {
            marked.extend(documents.marked(mark)?.into_iter().map(|place| Place { source, place }));
        }
    }
    candidates
        .iter_mut()
        .filter(|candidate| marked.contains(&candidate.place))
        .for_each(|candidate| candidate.boost(why, by));
    Ok(())
}

/// Words of a question that look like a file: `login.rs`, `src/auth`.
fn files_named(text: &str) -> Vec<String> {
    let trimmed = text
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| "\"'`()[]{},;:?!".contains(letter)));
    let files = trimmed.map(|word| word.trim_end_matches('.')).filter(|word| is_like_a_file(word));
    files.take(16).flat_map(file_marks).collect()
}

fn is_like_a_file(word: &str) -> bool {
    let has_ending = word.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    has_ending || word.trim_matches('/').contains('/')
}

/// Projects whose whole name stands in the question.
fn projects_named(found: &Found<'_>) -> Result<Vec<String>, Error> {
    let question = spaced(&found.query.text);
    let mut named = Vec::new();
    for source in found.sources {
        let marks = source.marks(&mark(Marked::Project, ""))?;
        named.extend(marks.into_iter().filter(|mark| {
            let name = spaced(mark.get(2..).unwrap_or_default());
            name.trim().len() >= SHORTEST_NAME && question.contains(&name)
        }));
    }
    Ok(named)
}

/// Small letters and digits, with one space around each word.
fn spaced(text: &str) -> String {
    let text = &text[..crate::source::boundary(text, 4096)];
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |spaced, word| spaced + &word.to_lowercase() + " ")
}

fn add_phrases(query: &Query, candidates: &mut [Candidate]) {
    for phrase in quoted(&query.text) {
        for candidate in candidates.iter_mut().filter(|candidate| contains(&candidate.pieces, &phrase)) {
            candidate.boost(Why::Phrase, PHRASE);
        }
    }
}

/// What stands between quotes, if it is more than one piece.
fn quoted(text: &str) -> Vec<Vec<Piece>> {
    let text = &text[..crate::source::boundary(text, 4096)];
    let inside = text.split('"').skip(1).step_by(2).take(8);
    inside.map(|phrase| pieces(phrase, 64)).filter(|phrase| phrase.len() > 1).collect()
}

fn contains(pieces: &[Piece], phrase: &[Piece]) -> bool {
    pieces.windows(phrase.len()).any(|window| window == phrase)
}

fn add_times(found: &Found<'_>, candidates: &mut [Candidate]) {
    let times = &found.times;
    let others = found.sought.iter().filter(|sought| !times.are_named_by(&sought.word.written)).count();
    // The less else is asked, the more the time counts.
    let date = DATE * (1.0 + 1.0 / others.max(1) as f32);
    let by_time = scaled(candidates.iter().map(|candidate| (candidate.facts.at / 1000) as f32).collect());
    for (candidate, newness) in candidates.iter_mut().zip(by_time) {
        if times.hold(candidate.facts.at) {
            candidate.boost(Why::Date, date);
        }
        if times.asks_for_latest() {
            candidate.boost(Why::Recent, RECENT * newness);
        }
    }
}
