//! What a session came to: what was asked, looked at, learnt and done, and what is left to do as it was stated last.
//!
//! Made of what was remembered of its turns and of the last turn itself. Says nothing that nobody said; what is held back
//! is not in it.

use super::passage::{Passage, passages};
use super::runs::trials;
use super::work::{CAUSE, WHAT_CHANGED};
use super::{Turn, cues};
use crate::capture::Touch;
use crate::deed::Commit;
use crate::line::words::{Room, clipped, gist, question};
use crate::memory::{SummaryDraft, Trust, suspicion};
use crate::piece::Stop;

/// A session that is to be summed up.
#[derive(Clone, Debug)]
pub struct Session<'a> {
    /// What the person asked, in order.
    pub asked: Vec<&'a str>,
    /// What was remembered of it, the oldest first.
    pub known: Vec<Known<'a>>,
    pub files: Vec<(&'a str, Touch)>,
    pub commits: &'a [Commit],
    /// Its last turn.
    pub last: Option<&'a Turn<'a>>,
    /// The one before that.
    pub before_last: Option<&'a Turn<'a>>,
}

/// A memory of the session, by what a summary tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    pub kind: &'a str,
    pub title: &'a str,
    pub trust: Trust,
    pub facts: &'a [String],
    pub concepts: &'a [String],
}

impl Known<'_> {
    fn has_changes(&self) -> bool {
        self.concepts.iter().any(|concept| concept == WHAT_CHANGED)
    }

    /// Why what it mended was broken.
    fn cause(&self) -> Option<&str> {
        self.facts.iter().find_map(|fact| fact.strip_prefix(CAUSE))
    }
}

/// A summary, and whose words it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summed {
    pub draft: SummaryDraft,
    pub trust: Trust,
}

/// Headings under which agents say what is left.
pub(super) const NEXT_STEPS: [&str; 16] = [
    "next step",
    "next up",
    "remaining",
    "to do",
    "todo",
    "follow-up",
    "follow up",
    "left to do",
    "what's left",
    "still open",
    "not done",
    "outstanding",
    "残り",
    "次のステップ",
    "下一步",
    "后续",
];

const ASKED: Room = Room { characters: 220, bytes: 500 };
const LINE: Room = Room { characters: 180, bytes: 480 };
const MOST_ASKED: usize = 6;
const MOST_LINES: usize = 8;
const MOST_FILES: usize = 10;
const MOST_COMMITS: usize = 6;

pub fn summary(session: &Session<'_>) -> Summed {
    let draft = SummaryDraft {
        request: request(session),
        investigated: investigated(session),
        learned: lines(learned(session)),
        completed: completed(session),
        next_steps: lines(left(session)),
        notes: notes(session),
    };
    let said = session.last.map_or(Trust::Agent, Turn::agents_trust);
    let trust = session.known.iter().map(|known| known.trust).fold(said, Trust::and);
    Summed { draft: without_suspects(draft), trust }
}

/// The first thing that was asked, and what came after it.
fn request(session: &Session<'_>) -> String {
    let asked = session.asked.iter().map(|words| gist(words, ASKED)).filter(|words| says_something(words));
    let mut all: Vec<String> = vec![];
    for words in asked {
        if !all.contains(&words) {
            all.push(words);
        }
    }
    let more = all.len().saturating_sub(MOST_ASKED);
    if more > 0 {
        all.drain(1..=more);
        all.insert(1, format!("({more} more)"));
    }
    lines(all)
}

/// Not `yes`, not `go on`.
fn says_something(words: &str) -> bool {
    let is_wide = !words.is_ascii() && words.chars().count() >= 6;
    is_wide || words.split_whitespace().count() >= 3
}

fn investigated(session: &Session<'_>) -> String {
    let of =
        |wanted: Touch| session.files.iter().filter(move |(_, how)| *how == wanted).map(|(path, _)| *path);
    let shown = |path: &str| session.last.map_or_else(|| path.to_owned(), |turn| turn.shown(path).to_owned());
    let mut read: Vec<String> = vec![];
    for path in of(Touch::Read).filter(|path| !of(Touch::Changed).any(|changed| changed == *path)) {
        let path = shown(path);
        if !read.contains(&path) {
            read.push(path);
        }
    }
    let more = read.len().saturating_sub(MOST_FILES);
    read.truncate(MOST_FILES);
    match (read.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("Read {}", read.join(", ")),
        (false, more) => format!("Read {} and {more} more", read.join(", ")),
    }
}

fn completed(session: &Session<'_>) -> String {
    let mut done = known(session, |known| known.has_changes());
    let is_told = |commit: &&Commit| {
        !done.iter().any(|line| line.to_lowercase().contains(&commit.subject.to_lowercase()))
    };
    let commits =
        session.commits.iter().filter(is_told).map(|commit| format!("{} {}", commit.hash, commit.subject));
    let commits: Vec<String> = commits.collect();
    let from = commits.len().saturating_sub(MOST_COMMITS);
    if !commits[from..].is_empty() {
        done.push(format!("Commits: {}", commits[from..].join("; ")));
    }
    lines(done)
}

fn notes(session: &Session<'_>) -> String {
    let mut notes: Vec<String> = known(session, |known| known.kind == "decision");
    notes.iter_mut().for_each(|note| note.insert_str(0, "Decided: "));
    let wanted = known(session, |known| known.kind == "preference");
    notes.extend(wanted.into_iter().map(|wish| format!("Wanted: {wish}")));
    if let Some(last) = session.last {
        let trials = trials(last, session.before_last);
        let red = trials.still_red();
        notes.extend(red.map(|run| format!("Failing at the end: {}", run.told())));
    }
    lines(notes)
}

/// Titles of the memories that are meant, the newest few, in order.
fn known(session: &Session<'_>, is_meant: impl Fn(&Known<'_>) -> bool) -> Vec<String> {
    let mut titles: Vec<String> = vec![];
    for known in session.known.iter().filter(|known| is_meant(known)) {
        let title = clipped(known.title, LINE);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles.drain(..titles.len().saturating_sub(MOST_LINES));
    titles
}

fn learned(session: &Session<'_>) -> Vec<String> {
    let causes = session.known.iter().filter_map(Known::cause).map(|cause| clipped(cause, LINE));
    let is_learnt =
        |known: &Known<'_>| !known.has_changes() && matches!(known.kind, "discovery" | "gotcha" | "security");
    let mut all: Vec<String> = causes.chain(known(session, is_learnt)).collect();
    all.truncate(MOST_LINES);
    all
}

/// What is left to do. A turn of thanks leaves it as the one before it did.
fn left(session: &Session<'_>) -> Vec<String> {
    let Some(last) = session.last else { return vec![] };
    let is_thanks = last.calls().next().is_none() && last.stopped.is_none() && !says_something(&last.asked());
    match session.before_last {
        Some(before) if is_thanks => next_steps(before),
        Some(_) | None => next_steps(last),
    }
}

/// What is left to do, as the turn stated it.
fn next_steps(turn: &Turn<'_>) -> Vec<String> {
    let answer = turn.answer();
    let mut steps: Vec<String> = match turn.stopped {
        Some(Stop::Interrupted) => vec![format!("Interrupted: {}", turn.asked())],
        Some(Stop::Limited) => vec![format!("Stopped by the usage limit: {}", turn.asked())],
        Some(Stop::Failed) => vec![format!("Stopped by an error: {}", turn.asked())],
        None => vec![],
    };
    let passages = passages(&answer);
    let stated = passages.iter().filter(|passage| passage.is_below(&NEXT_STEPS));
    steps.extend(stated.map(|passage| clipped(&passage.text, LINE)));
    if steps.is_empty() {
        steps.extend(
            passages.iter().flat_map(Passage::sentences).filter(|it| is_left(it)).map(|it| clipped(it, LINE)),
        );
    }
    let asks = question(&answer, LINE)
        .filter(|question| question.split_whitespace().count() > 3 || !question.is_ascii());
    steps.extend(asks.map(|question| format!("Open question: {question}")));
    steps.truncate(MOST_LINES);
    steps
}

fn is_left(sentence: &str) -> bool {
    const PHRASES: [&str; 14] = [
        "next step",
        "still need to",
        "still needs to",
        "still to do",
        "remains to be",
        "todo:",
        "left to do",
        "not yet",
        "haven't",
        "have not",
        "didn't run",
        "did not run",
        "follow-up",
        "remaining work",
    ];
    let lower = sentence.to_lowercase().replace('’', "'");
    PHRASES.iter().any(|phrase| cues::holds(&lower, phrase)) && !lower.ends_with('?') && lower.len() < 400
}

/// Line by line: one that is suspicious takes no other with it.
fn without_suspects(draft: SummaryDraft) -> SummaryDraft {
    let clean = |text: String| {
        let lines = text.lines().filter(|line| suspicion::of(line).is_none());
        lines.collect::<Vec<_>>().join("\n")
    };
    SummaryDraft {
        // What a person asked is theirs.
        request: draft.request,
        investigated: clean(draft.investigated),
        learned: clean(draft.learned),
        completed: clean(draft.completed),
        next_steps: clean(draft.next_steps),
        notes: clean(draft.notes),
    }
}

/// One line each; several are marked as such.
fn lines(all: Vec<String>) -> String {
    match all.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        several => several.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"),
    }
}
