//! The summary of a session: requests, files read, findings, completed work, and the next steps as last stated.
//!
//! Built from the memories of its turns and from its last turns. Adds no text of its own and omits suspicious lines.

use super::cues;
use super::passage::{Passage, passages};
use super::source::DistilTurn;
use super::work::{CAUSE, WHAT_CHANGED};
use crate::capture::FileAccess;
use crate::deed::Commit;
use crate::line::words::{TextLimit, clipped, gist, question};
use crate::memory::{MemoryTrust, SummaryDraft, suspicion};
use crate::phrases::Phrases;
use crate::piece::StopReason;
use crate::text::distinct;
use crate::work::WorkState;

/// A session to summarise.
#[derive(Clone, Debug)]
pub struct SessionMaterial<'a> {
    /// The user's prompts, in order.
    pub asked: Vec<&'a str>,
    /// The memories of its turns, oldest first.
    pub known: Vec<MemoryExcerpt<'a>>,
    pub files: Vec<(&'a str, FileAccess)>,
    pub commits: &'a [Commit],
    pub last: Option<&'a DistilTurn<'a>>,
    /// The turn before `last`.
    pub before_last: Option<&'a DistilTurn<'a>>,
    /// The to-do list, and what fails.
    pub work: &'a WorkState,
}

/// The parts of a memory that a summary uses.
#[derive(Clone, Copy, Debug)]
pub struct MemoryExcerpt<'a> {
    pub kind: &'a str,
    pub title: &'a str,
    pub trust: MemoryTrust,
    pub facts: &'a [String],
    pub concepts: &'a [String],
}

impl MemoryExcerpt<'_> {
    fn has_changes(&self) -> bool {
        self.concepts.iter().any(|concept| concept == WHAT_CHANGED)
    }

    /// The cause of the failure it fixed.
    fn cause(&self) -> Option<&str> {
        self.facts.iter().find_map(|fact| fact.strip_prefix(CAUSE))
    }
}

/// A summary and its trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    pub draft: SummaryDraft,
    pub trust: MemoryTrust,
}

const QUESTION: &str = "Open question: ";
/// The prefix of a test or build that failed when it was last run.
pub const FAILING: &str = "Failing at the end: ";
const ASKED: TextLimit = TextLimit { characters: 220, bytes: 500 };
const LINE: TextLimit = TextLimit { characters: 180, bytes: 480 };
const MOST_ASKED: usize = 6;
const MOST_LINES: usize = 8;
const MOST_FILES: usize = 10;
const MOST_COMMITS: usize = 6;

pub fn summary(session: &SessionMaterial<'_>) -> SessionSummary {
    let draft = SummaryDraft {
        request: request(session),
        investigated: investigated(session),
        learned: lines(learned(session)),
        completed: completed(session),
        next_steps: lines(remaining(session)),
        notes: notes(session),
    };
    let answer_trust = session.last.map_or(MemoryTrust::Agent, DistilTurn::agents_trust);
    let trust = session.known.iter().map(|known| known.trust).fold(answer_trust, MemoryTrust::and);
    SessionSummary { draft: without_suspicious_lines(draft), trust }
}

/// The first prompt and those after it.
fn request(session: &SessionMaterial<'_>) -> String {
    let asked = session.asked.iter().map(|words| gist(words, ASKED)).filter(|words| has_content(words));
    let mut all = distinct(asked);
    let more = all.len().saturating_sub(MOST_ASKED);
    if more > 0 {
        all.drain(1..=more);
        all.insert(1, format!("({more} more)"));
    }
    lines(all)
}

/// Whether a prompt has content: not `yes`, not `go on`.
fn has_content(words: &str) -> bool {
    let is_wide = !words.is_ascii() && words.chars().count() >= 6;
    is_wide || words.split_whitespace().count() >= 3
}

fn investigated(session: &SessionMaterial<'_>) -> String {
    let of =
        |touch: FileAccess| session.files.iter().filter(move |(_, how)| *how == touch).map(|(path, _)| *path);
    let shown = |path: &str| session.last.map_or_else(|| path.to_owned(), |turn| turn.shown(path).to_owned());
    let is_changed = |path: &str| of(FileAccess::Changed).any(|changed| changed == path);
    let mut read = distinct(of(FileAccess::Read).filter(|path| !is_changed(path)).map(shown));
    let more = read.len().saturating_sub(MOST_FILES);
    read.truncate(MOST_FILES);
    match (read.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("Read {}", read.join(", ")),
        (false, more) => format!("Read {} and {more} more", read.join(", ")),
    }
}

fn completed(session: &SessionMaterial<'_>) -> String {
    let mut done = titles(session, |known| known.has_changes());
    let is_new = |commit: &&Commit| {
        !done.iter().any(|line| line.to_lowercase().contains(&commit.subject.to_lowercase()))
    };
    let commits =
        session.commits.iter().filter(is_new).map(|commit| format!("{} {}", commit.hash, commit.subject));
    let commits: Vec<String> = commits.collect();
    let from = commits.len().saturating_sub(MOST_COMMITS);
    if !commits[from..].is_empty() {
        done.push(format!("Commits: {}", commits[from..].join("; ")));
    }
    lines(done)
}

fn notes(session: &SessionMaterial<'_>) -> String {
    let mut notes: Vec<String> = titles(session, |known| known.kind == "decision");
    notes.iter_mut().for_each(|note| note.insert_str(0, "Decided: "));
    let preferences = titles(session, |known| known.kind == "preference");
    notes.extend(preferences.into_iter().map(|preference| format!("Wanted: {preference}")));
    lines(notes)
}

/// Titles of the newest matching memories, oldest first.
fn titles(session: &SessionMaterial<'_>, matches: impl Fn(&MemoryExcerpt<'_>) -> bool) -> Vec<String> {
    let known = session.known.iter().filter(|known| matches(known));
    let mut kept = distinct(known.map(|known| clipped(known.title, LINE)));
    kept.drain(..kept.len().saturating_sub(MOST_LINES));
    kept
}

fn learned(session: &SessionMaterial<'_>) -> Vec<String> {
    let causes = session.known.iter().filter_map(MemoryExcerpt::cause).map(|cause| clipped(cause, LINE));
    let is_learnt = |known: &MemoryExcerpt<'_>| {
        !known.has_changes() && matches!(known.kind, "discovery" | "gotcha" | "security")
    };
    let mut all: Vec<String> = causes.chain(titles(session, is_learnt)).collect();
    all.truncate(MOST_LINES);
    all
}

/// The remaining work: what fails, the open items of the to-do list, and what the agent said last. A last turn that only talks leaves
/// the steps of the turn before it, whose question it has answered.
fn remaining(session: &SessionMaterial<'_>) -> Vec<String> {
    let failing = session.work.failing().iter().map(|run| format!("{FAILING}{}", run.describe()));
    let listed = session.work.open_items().map(|item| clipped(&item.text, LINE));
    let mut steps: Vec<String> = failing.chain(listed).take(MOST_LINES).collect();
    let is_listed = |step: &String| steps.iter().any(|item| step.contains(item.as_str()));
    let stated: Vec<String> = stated_steps(session).into_iter().filter(|step| !is_listed(step)).collect();
    steps.extend(stated);
    steps.truncate(MOST_LINES);
    steps
}

fn stated_steps(session: &SessionMaterial<'_>) -> Vec<String> {
    let Some(last) = session.last else { return vec![] };
    let mut steps = next_steps(last);
    let is_talk = last.calls().next().is_none() && last.stopped.is_none();
    if let Some(before) = session.before_last.filter(|_| is_talk) {
        steps.extend(next_steps(before).into_iter().filter(|step| !step.starts_with(QUESTION)));
    }
    distinct(steps)
}

/// The remaining work as stated by a turn.
fn next_steps(turn: &DistilTurn<'_>) -> Vec<String> {
    let answer = turn.answer();
    let mut steps: Vec<String> = match turn.stopped {
        Some(StopReason::Interrupted) => vec![format!("Interrupted: {}", turn.asked())],
        Some(StopReason::Limited) => vec![format!("Stopped by the usage limit: {}", turn.asked())],
        Some(StopReason::Failed) => vec![format!("Stopped by an error: {}", turn.asked())],
        None => vec![],
    };
    let passages = passages(&answer);
    let stated = passages.iter().filter(|passage| passage.is_below(cues::NEXT_STEPS));
    steps.extend(stated.map(|passage| clipped(&passage.text, LINE)));
    if steps.is_empty() {
        steps.extend(
            passages.iter().flat_map(Passage::sentences).filter(|it| is_open(it)).map(|it| clipped(it, LINE)),
        );
    }
    let asks = question(&answer, LINE)
        .filter(|question| question.split_whitespace().count() > 3 || !question.is_ascii());
    steps.extend(asks.map(|question| format!("{QUESTION}{question}")));
    steps.truncate(MOST_LINES);
    steps
}

fn is_open(sentence: &str) -> bool {
    const PHRASES: Phrases = Phrases(
        "next step|still need to|still needs to|still to do|remains to be|todo:|left to do|not yet|haven't|\
        have not|didn't run|did not run|follow-up|remaining work",
    );
    let lower = sentence.to_lowercase().replace('’', "'");
    PHRASES.any(|phrase| cues::has_phrase(&lower, phrase)) && !lower.ends_with('?') && lower.len() < 400
}

/// Drops suspicious lines one by one, also of prompts: they may hold pasted text.
pub fn without_suspicious_lines(draft: SummaryDraft) -> SummaryDraft {
    let clean = |text: String| {
        let lines = text.lines().filter(|line| suspicion::of(line).is_none());
        lines.collect::<Vec<_>>().join("\n")
    };
    SummaryDraft {
        request: clean(draft.request),
        investigated: clean(draft.investigated),
        learned: clean(draft.learned),
        completed: clean(draft.completed),
        next_steps: clean(draft.next_steps),
        notes: clean(draft.notes),
    }
}

/// One line as is; several as list items.
fn lines(all: Vec<String>) -> String {
    match all.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        several => several.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"),
    }
}
