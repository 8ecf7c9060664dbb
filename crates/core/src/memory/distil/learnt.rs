//! Memories of turns without changes: the answer to a question, and the workaround for a failed command.
//!
//! An answer counts only if the agent looked something up for it: a model needs no memory of its own knowledge.

use super::cues;
use super::passage::{Passage, paragraphs, passages};
use super::runs::{Recovery, Trials};
use super::source::{DistilTurn, DistilledMemory, as_title};
use super::statement::Statement;
use crate::capture::FileAccess;
use crate::deed::ToolAction;
use crate::line::words::{TextLimit, clipped, gist};
use crate::memory::{ConfidencePercent, MemoryDraft, MemoryTrust, MemoryType};
use crate::phrases::Phrases;

const TITLE: TextLimit = TextLimit { characters: 150, bytes: 450 };
const NARRATIVE: TextLimit = TextLimit { characters: 1200, bytes: 2900 };
const POINT: TextLimit = TextLimit { characters: 240, bytes: 700 };
const MOST_POINTS: usize = 6;
const MOST_FILES: usize = 12;

/// Minimum characters of an answer.
const MIN_ANSWER_CHARS: usize = 80;

/// The memory of a question that the agent answered by looking something up. Moves a stated cause into it.
pub(super) fn answered(
    turn: &DistilTurn<'_>,
    trials: &Trials,
    statements: &mut Vec<Statement>,
) -> Option<DistilledMemory> {
    let question = turn.asked();
    let answer = turn.answer();
    if question.is_empty()
        || turn.stopped.is_some()
        || answer.trim().chars().count() < MIN_ANSWER_CHARS
        || !looked(turn)
    {
        return None;
    }
    if !asks(&question) && !statements.iter().any(Statement::is_cause) {
        return None;
    }
    // If the agent only ran commands, `detours` covers the result.
    if turn.read().next().is_none() && trials.recoveries.iter().any(|recovery| recovery.changed.is_empty()) {
        return None;
    }
    let passages = passages(&answer);
    if is_report(&passages) {
        return None;
    }
    let cause = statements.iter().position(Statement::is_cause).map(|at| statements.remove(at).full_text());
    let title = cause.clone().unwrap_or_else(|| gist(&answer, TITLE));
    let mut draft =
        MemoryDraft::new(MemoryType::known(kind(&question, &answer)), as_title(&clipped(&title, TITLE)));
    draft.subtitle = format!("Asked: {question}");
    draft.facts = points(&passages, &title);
    draft.narrative = narrative(&passages, &draft.title);
    draft.concepts = vec![if cause.is_some() { "why-it-exists" } else { "how-it-works" }.to_owned()];
    draft.files = turn.read().take(MOST_FILES).map(|path| (path.to_owned(), FileAccess::Read)).collect();
    Some(DistilledMemory {
        draft,
        trust: turn.agents_trust(),
        confidence: ConfidencePercent::percent(60),
        suspicion: None,
    })
}

/// Whether an answer lists findings by their lines, as a review does: true until the next edit.
fn is_report(passages: &[Passage]) -> bool {
    let names_line = |word: &str| {
        word.rsplit_once(':').is_some_and(|(path, line)| path.contains('.') && line.parse::<u32>().is_ok())
    };
    let is_located =
        |passage: &&Passage| passage.is_item && passage.text.split_whitespace().take(2).any(names_line);
    passages.iter().filter(is_located).count() >= 2
}

fn kind(question: &str, answer: &str) -> &'static str {
    let is_security = cues::is_about_security(question) && cues::is_about_security(answer);
    if is_security { "security" } else { "discovery" }
}

/// Whether the agent read, searched, fetched or ran anything.
fn looked(turn: &DistilTurn<'_>) -> bool {
    turn.calls().any(|call| {
        matches!(
            call.deed,
            ToolAction::Read { .. }
                | ToolAction::Searched { .. }
                | ToolAction::Fetched { .. }
                | ToolAction::Ran { .. }
                | ToolAction::Delegated { .. }
        )
    })
}

/// Whether the prompt is a question and not a task.
fn asks(question: &str) -> bool {
    const OPENERS: Phrases = Phrases(
        "how |why |where |what |which |when |who |does |do we|is |are |can |explain|investigate|find out|\
        look into|describe|tell me|show me|analyse|analyze|review|check whether|check if",
    );
    const ELSEWHERE: Phrases = Phrases(
        "なぜ|どう|どこ|説明|調べて|调查|为什么|如何|怎么|哪|warum|wieso|woran|schau bitte nach|pourquoi|por qué|cómo|\
        averigua",
    );
    let lower = question.to_lowercase();
    question.ends_with(['?', '？'])
        || OPENERS.any(|opener| lower.starts_with(opener))
        || ELSEWHERE.is_in(&lower)
}

fn points(passages: &[Passage], title: &str) -> Vec<String> {
    let points = passages.iter().filter(|passage| passage.is_item && !title.contains(&passage.text));
    points.map(|passage| clipped(&passage.text, POINT)).take(MOST_POINTS).collect()
}

/// The paragraphs, without the title and the list items.
fn narrative(passages: &[Passage], title: &str) -> String {
    let is_title = |sentence: &str| {
        as_title(sentence).ends_with(title) || title.contains(sentence.trim_end_matches('.'))
    };
    clipped(&paragraphs(passages, is_title), NARRATIVE)
}

/// Memories of commands that failed until another command was run or their arguments changed: the code was not at
/// fault, and the next session meets the same problem.
pub(super) fn detour_memories(turn: &DistilTurn<'_>, trials: &Trials) -> Vec<DistilledMemory> {
    trials
        .recoveries
        .iter()
        .filter(|recovery| recovery.changed.is_empty() && !is_of_moment(recovery))
        .filter_map(|recovery| detour(turn, recovery))
        .collect()
}

/// Whether only a state was waited for, or the session's own edits were taken back.
fn is_of_moment(recovery: &Recovery) -> bool {
    const UNDOING: Phrases = Phrases("git checkout|git restore|git reset|git stash|git revert");
    let waits =
        recovery.failed.command.split_whitespace().any(|word| matches!(word, "status" | "wait" | "logs"));
    waits || recovery.ran.iter().any(|command| UNDOING.any(|undoing| command.starts_with(undoing)))
}

/// The sentence of an answer that shares most words with an error.
fn sentence_about(error: &str, answer: &str) -> Option<String> {
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= 4);
        split.map(str::to_lowercase).collect()
    };
    let error_words = words(error);
    let shared = |sentence: &str| words(sentence).iter().filter(|word| error_words.contains(word)).count();
    let passages = passages(answer);
    let scored = passages.iter().flat_map(Passage::sentences).map(|sentence| (shared(sentence), sentence));
    // The first of several with the same count.
    let best = scored.filter(|(shared, _)| *shared > 0).min_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    best.map(|(_, sentence)| sentence.trim_end_matches('.').to_owned())
}

fn detour(turn: &DistilTurn<'_>, recovery: &Recovery) -> Option<DistilledMemory> {
    let error = recovery.failed.error.as_deref()?;
    let (failed, passed) = (&recovery.failed.command, &recovery.passed.command);
    let title = match recovery.ran.last() {
        Some(first) => format!("`{failed}` works only after `{first}`"),
        None if failed != passed => format!("`{failed}` fails; `{passed}` works"),
        // The same command failed and then passed: the reason is unknown.
        None => return None,
    };
    let mut draft = MemoryDraft::new(MemoryType::known("gotcha"), title);
    let asked = turn.asked();
    draft.subtitle = if asked.is_empty() { asked } else { format!("While asked: {asked}") };
    draft.facts = vec![format!("Before that it fails with: {error}")];
    let why = recovery.cause.clone().or_else(|| sentence_about(error, &turn.answer()));
    draft.facts.extend(why.map(|why| format!("The agent said: {}", clipped(&why, POINT))));
    draft.facts.push(recovery.passed.describe());
    draft.concepts = vec!["gotcha".to_owned(), "problem-solution".to_owned()];
    let trust = turn.agents_trust().and(MemoryTrust::Tool);
    Some(DistilledMemory { draft, trust, confidence: ConfidencePercent::percent(75), suspicion: None })
}
