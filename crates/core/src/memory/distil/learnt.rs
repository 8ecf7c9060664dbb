//! What was found out in a turn that changed nothing: an answer to a question, and the way around a command that failed.
//!
//! An answer counts only where the agent looked something up for it: what it knew before, it still knows.

use super::passage::{Passage, passages};
use super::runs::{Mended, Trials};
use super::statement::Statement;
use super::{Call, Found, Turn, as_title, cues};
use crate::capture::Touch;
use crate::deed::Deed;
use crate::line::words::{Room, clipped, gist};
use crate::memory::{Confidence, Draft, MemoryType, Trust};

const TITLE: Room = Room { characters: 150, bytes: 450 };
const NARRATIVE: Room = Room { characters: 1200, bytes: 2900 };
const POINT: Room = Room { characters: 240, bytes: 700 };
const MOST_POINTS: usize = 6;
const MOST_FILES: usize = 12;

/// Fewer characters of an answer explain nothing.
const TELLING: usize = 80;

/// What a person asked and the agent found out by looking. Statements that are part of the answer are taken with it.
pub(super) fn answered(turn: &Turn<'_>, trials: &Trials, statements: &mut Vec<Statement>) -> Option<Found> {
    let question = turn.asked();
    let answer = turn.answer();
    if question.is_empty()
        || turn.stopped.is_some()
        || answer.trim().chars().count() < TELLING
        || !looked(turn)
    {
        return None;
    }
    if !asks(&question) && !statements.iter().any(Statement::is_cause) {
        return None;
    }
    // Whoever only ran something has told of it by how that went.
    if turn.read().next().is_none() && trials.mended.iter().any(|mended| mended.changed.is_empty()) {
        return None;
    }
    let cause = statements.iter().position(Statement::is_cause).map(|at| statements.remove(at).whole());
    let passages = passages(&answer);
    let title = cause.clone().unwrap_or_else(|| gist(&answer, TITLE));
    let mut draft =
        Draft::new(MemoryType::known(kind(&question, &answer)), as_title(&clipped(&title, TITLE)));
    draft.subtitle = format!("Asked: {question}");
    draft.facts = points(&passages, &title);
    draft.narrative = paragraphs(&passages, &draft.title);
    draft.concepts = vec![if cause.is_some() { "why-it-exists" } else { "how-it-works" }.to_owned()];
    draft.files = turn.read().take(MOST_FILES).map(|path| (path.to_owned(), Touch::Read)).collect();
    Some(Found { draft, trust: turn.agents_trust(), confidence: Confidence::percent(60), suspicion: None })
}

fn kind(question: &str, answer: &str) -> &'static str {
    let is_security = cues::is_about_security(question) && cues::is_about_security(answer);
    if is_security { "security" } else { "discovery" }
}

/// Whether the agent looked at anything of the project, or asked the world.
fn looked(turn: &Turn<'_>) -> bool {
    let looks = |call: &Call<'_>| match &call.deed {
        Deed::Read { .. }
        | Deed::Searched { .. }
        | Deed::Fetched { .. }
        | Deed::Ran { .. }
        | Deed::Delegated { .. } => true,
        Deed::Changed { .. } | Deed::Waited | Deed::Asked { .. } | Deed::Planned | Deed::Other => false,
    };
    turn.calls().any(looks)
}

/// Whether something is wanted to be known, and not to be done.
fn asks(question: &str) -> bool {
    const OPENERS: [&str; 24] = [
        "how ",
        "why ",
        "where ",
        "what ",
        "which ",
        "when ",
        "who ",
        "does ",
        "do we",
        "is ",
        "are ",
        "can ",
        "explain",
        "investigate",
        "find out",
        "look into",
        "describe",
        "tell me",
        "show me",
        "analyse",
        "analyze",
        "review",
        "check whether",
        "check if",
    ];
    let lower = question.to_lowercase();
    let elsewhere = [
        "なぜ",
        "どう",
        "どこ",
        "説明",
        "调查",
        "为什么",
        "如何",
        "怎么",
        "哪",
        "warum",
        "wieso",
        "pourquoi",
        "por qué",
        "cómo",
    ]
    .iter()
    .any(|word| lower.contains(word));
    question.ends_with(['?', '？']) || OPENERS.iter().any(|opener| lower.starts_with(opener)) || elsewhere
}

fn points(passages: &[Passage], title: &str) -> Vec<String> {
    let points = passages.iter().filter(|passage| passage.is_point && !title.contains(&passage.text));
    points.map(|passage| clipped(&passage.text, POINT)).take(MOST_POINTS).collect()
}

/// What is said beside the title and the points.
fn paragraphs(passages: &[Passage], title: &str) -> String {
    let is_title = |sentence: &str| {
        as_title(sentence).ends_with(title) || title.contains(sentence.trim_end_matches('.'))
    };
    let told = passages.iter().filter(|passage| !passage.is_point).map(|passage| {
        let rest: Vec<&str> = passage.sentences().filter(|sentence| !is_title(sentence)).collect();
        rest.join(" ")
    });
    let told: Vec<String> = told.filter(|rest| !rest.is_empty()).collect();
    clipped(&told.join("\n"), NARRATIVE)
}

/// Commands that failed until something else was run, or until they were called otherwise: nothing was wrong with the
/// code, and the next one meets the same.
pub(super) fn detours(turn: &Turn<'_>, trials: &Trials) -> Vec<Found> {
    trials
        .mended
        .iter()
        .filter(|mended| mended.changed.is_empty())
        .filter_map(|mended| detour(turn, mended))
        .collect()
}

/// The sentence of an answer that has most words in common with an error.
fn said_of(error: &str, answer: &str) -> Option<String> {
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 4);
        split.map(str::to_lowercase).collect()
    };
    let wanted = words(error);
    let shared = |sentence: &str| words(sentence).iter().filter(|word| wanted.contains(word)).count();
    let passages = passages(answer);
    let found = passages.iter().flat_map(Passage::sentences).map(|sentence| (shared(sentence), sentence));
    // Of those that share as much, the first.
    let best = found.filter(|(shared, _)| *shared > 0).min_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    best.map(|(_, sentence)| sentence.trim_end_matches('.').to_owned())
}

fn detour(turn: &Turn<'_>, mended: &Mended) -> Option<Found> {
    let error = mended.failed.error.as_deref()?;
    let (failed, passed) = (&mended.failed.what, &mended.passed.what);
    let title = match mended.ran.last() {
        Some(first) => format!("`{failed}` works only after `{first}`"),
        None if failed != passed => format!("`{failed}` fails; `{passed}` works"),
        // It failed and then did not: nothing is known of why.
        None => return None,
    };
    let mut draft = Draft::new(MemoryType::known("gotcha"), title);
    let asked = turn.asked();
    draft.subtitle = if asked.is_empty() { asked } else { format!("While asked: {asked}") };
    draft.facts = vec![format!("`{failed}` failed with: {error}")];
    let why = mended.cause.clone().or_else(|| said_of(error, &turn.answer()));
    draft.facts.extend(why.map(|why| format!("The agent said: {}", clipped(&why, POINT))));
    draft.facts.push(mended.passed.told());
    draft.concepts = vec!["gotcha".to_owned(), "problem-solution".to_owned()];
    let trust = turn.agents_trust().and(Trust::Tool);
    Some(Found { draft, trust, confidence: Confidence::percent(75), suspicion: None })
}
