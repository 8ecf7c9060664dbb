//! The memory of a turn's work: changes, causes, fixed failures, test results and commits.
//!
//! One memory per turn, however much it did. The title is quoted: from a commit, else the agent, else the prompt.

use super::cues;
use super::passage::{Passage, paragraphs, passages};
use super::runs::{Recovery, Trials};
use super::source::{DistilTurn, DistilledMemory, as_title};
use super::statement::Statement;
use crate::capture::FileAccess;
use crate::deed::Commit;
use crate::line::command::RunPurpose;
use crate::line::runs::RunOutcome;
use crate::line::words::{TextLimit, clipped, is_filler};
use crate::memory::{ConfidencePercent, MemoryDraft, MemoryTrust, MemoryType};
use crate::phrases::Phrases;

const TITLE: TextLimit = TextLimit { characters: 150, bytes: 450 };
const POINT: TextLimit = TextLimit { characters: 240, bytes: 700 };
const NARRATIVE: TextLimit = TextLimit { characters: 900, bytes: 2900 };
const MOST_POINTS: usize = 5;
const MOST_COMMITS: usize = 4;
const MOST_OUTCOMES: usize = 3;
const MOST_READ: usize = 8;

/// The concept that marks memories of work.
pub(super) const WHAT_CHANGED: &str = "what-changed";
/// The prefix of a fact that states the cause of a fixed failure.
pub(crate) const CAUSE: &str = "Cause: ";
const UNFINISHED: &str = "unfinished";

/// The memory of the turn's work, if there was any. Moves stated causes from `statements` into its facts.
pub(super) fn done(
    turn: &DistilTurn<'_>,
    before: Option<&DistilTurn<'_>>,
    trials: &Trials,
    statements: &mut Vec<Statement>,
) -> Option<DistilledMemory> {
    let changed = turn.changed();
    let commits = turn.commits();
    // A mere commit of the previous turn's work: that turn has the memory, and the summary lists the commit.
    let is_recorded = before.is_some_and(|before| is_recorded(before));
    if changed.is_empty() && (commits.is_empty() || is_recorded) {
        return None;
    }
    // Work that still fails is no result: the session's state tells what fails, and a later turn what helped.
    if commits.is_empty() && !turn.is_unfinished() && is_still_failing(turn, trials) {
        return None;
    }
    let answer = turn.answer();
    let passages: Vec<Passage> =
        passages(&answer).into_iter().filter(|passage| !passage.is_below(cues::NEXT_STEPS)).collect();
    let recoveries: Vec<&Recovery> = trials.recoveries.iter().filter(|it| !it.changed.is_empty()).collect();
    let kind = kind(turn, &passages, &recoveries);
    let mut draft = MemoryDraft::new(MemoryType::known(kind), title(turn, &passages));
    let asked = turn.asked();
    let repeats = asked.eq_ignore_ascii_case(&draft.title);
    draft.subtitle = if asked.is_empty() || repeats { String::new() } else { format!("Asked: {asked}") };
    draft.facts = facts(turn, trials, &recoveries, points(&passages, &draft.title), statements);
    draft.narrative = narrative(&passages, &draft);
    draft.concepts = concepts(turn, kind, &recoveries);
    draft.files = files(turn);
    let quotes = recoveries.iter().any(|it| it.failed.error.is_some());
    let trust = if quotes { turn.agents_trust().and(MemoryTrust::Tool) } else { turn.agents_trust() };
    Some(DistilledMemory { draft, trust, confidence: confidence(turn, trials), suspicion: None })
}

/// Whether a turn has a memory of its work.
fn is_recorded(turn: &DistilTurn<'_>) -> bool {
    !turn.changed().is_empty() && !is_still_failing(turn, &super::runs::trials(turn, None))
}

/// Whether the last test or build failed, or the agent said so of its fix.
fn is_still_failing(turn: &DistilTurn<'_>, trials: &Trials) -> bool {
    const STILL: Phrases =
        Phrases("still fails|still failing|still broken|schlägt weiter fehl|sigue fallando");
    let answer = turn.answer().to_lowercase();
    trials.ends_with_failure() || STILL.any(|phrase| cues::has_phrase(&answer, phrase))
}

fn title(turn: &DistilTurn<'_>, passages: &[Passage]) -> String {
    let commits = turn.commits();
    let committed = match commits.as_slice() {
        [commit] => Some(without_prefix(&commit.subject)).filter(|subject| is_telling(subject)),
        [] | [_, ..] => None,
    };
    let reported = || passages.iter().flat_map(Passage::sentences).find_map(completed_work);
    let last_commit = || commits.last().map(|commit| without_prefix(&commit.subject).to_owned());
    let answered = || {
        let first = passages.iter().flat_map(Passage::sentences).find(|sentence| is_title_like(sentence));
        first.map(str::to_owned)
    };
    let asked = || Some(turn.asked()).filter(|asked| !asked.is_empty());
    let named = || format!("Changed {}", turn.shown_few(&turn.changed(), 3));
    if turn.is_unfinished() {
        return clipped(&format!("Unfinished: {}", asked().unwrap_or_else(named)), TITLE);
    }
    let title =
        committed.map(str::to_owned).or_else(reported).or_else(last_commit).or_else(answered).or_else(asked);
    as_title(&clipped(&title.unwrap_or_else(named), TITLE))
}

/// Whether a subject has at least three words; other scripts do not separate them.
fn is_telling(subject: &str) -> bool {
    subject.split_whitespace().count() >= 3 || (!subject.is_ascii() && subject.chars().count() >= 8)
}

/// Strips a conventional commit prefix: `fix(auth): wait for the token` becomes `wait for the token`.
fn without_prefix(subject: &str) -> &str {
    let Some((prefix, rest)) = subject.split_once(": ") else { return subject };
    let is_prefix =
        prefix.len() <= 24 && !prefix.contains(' ') && prefix.starts_with(|c: char| c.is_ascii_lowercase());
    if is_prefix { rest } else { subject }
}

const DONE: Phrases = Phrases(
    "fixed|added|implemented|removed|renamed|moved|refactored|updated|changed|replaced|extracted|created|\
    switched|introduced|made|rewrote|split|bumped|upgraded|configured|enabled|disabled|merged|deleted|\
    simplified|converted|migrated|wired|set|wrote|documented|corrected|patched|restored|hardened|\
    deduplicated",
);

/// The sentence without a leading `I have`, if it reports completed work.
fn completed_work(sentence: &str) -> Option<String> {
    const LEADS: Phrases =
        Phrases("i've now |i have now |i've also |i've |i have |we've |i |done: |done — |done, ");
    let plain = sentence.replace('’', "'");
    let lower = plain.to_lowercase();
    let lead = LEADS.iter().find(|lead| lower.starts_with(lead)).map_or(0, |lead| lead.len());
    let rest = plain.get(lead..)?;
    let first = rest.split_whitespace().next()?.to_lowercase();
    let begins = DONE.contains(first.trim_matches(|c: char| !c.is_alphanumeric()));
    let is_now = lower.starts_with("the ") && cues::has_phrase(&lower, "now") && !lower.contains("pass");
    let is_long_enough = rest.split_whitespace().count() >= 4 && !rest.ends_with([':', '?']);
    (is_long_enough && (begins || is_now)).then(|| rest.to_owned())
}

/// Whether a sentence can be a title: not `All tests pass`, not `Here is what I did:`.
fn is_title_like(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let is_verdict = lower.contains("pass") && lower.contains("test") && lower.len() < 60;
    let is_wide = !sentence.is_ascii() && sentence.chars().count() >= 10;
    let is_long = is_wide || sentence.split_whitespace().count() >= 4;
    is_long
        && !is_verdict
        && !is_filler(sentence)
        && !sentence.ends_with([':', '：', '?', '？'])
        && !cues::is_transient(sentence)
        && !cues::is_polite(sentence)
}

fn kind(turn: &DistilTurn<'_>, passages: &[Passage], recoveries: &[&Recovery]) -> &'static str {
    let asked = turn.asked();
    let commits = turn.commits();
    let subjects: Vec<&str> = commits.iter().map(|commit| commit.subject.as_str()).collect();
    let answer: String = passages.iter().take(3).map(|passage| format!("{} ", passage.text)).collect();
    let prefixed = || subjects.iter().rev().find_map(|subject| by_prefix(subject));
    let secure = || {
        let texts = [&asked, &subjects.join(" "), &answer];
        texts.into_iter().any(|text| cues::is_about_security(text)).then_some("security")
    };
    let mended = || (!recoveries.is_empty() && (by_keyword(&asked) == Some("bugfix"))).then_some("bugfix");
    let other = || if only_settings(turn) { Some("change") } else { None };
    let by_subject = || subjects.iter().rev().find_map(|subject| by_keyword(subject));
    secure()
        .or_else(prefixed)
        .or_else(mended)
        .or_else(|| by_keyword(&asked).filter(|kind| *kind != "feature" || other().is_none()))
        .or_else(other)
        .or_else(by_subject)
        .or_else(|| by_keyword(&answer))
        .unwrap_or("change")
}

fn by_prefix(subject: &str) -> Option<&'static str> {
    let (prefix, _) = subject.split_once(": ")?;
    match prefix.split(['(', '!']).next()? {
        "fix" | "hotfix" | "bugfix" => Some("bugfix"),
        "feat" | "feature" => Some("feature"),
        "refactor" => Some("refactor"),
        "docs" | "chore" | "build" | "ci" | "style" | "deps" | "test" | "perf" | "config" => Some("change"),
        "security" | "sec" => Some("security"),
        _ => None,
    }
}

/// Keywords of each type of work.
const KINDS: [(&str, Phrases); 3] = [
    (
        "bugfix",
        Phrases(
            "fix|fixed|fixes|bug|broken|crash|crashes|fails|failing|flaky|regression|doesn't work|\
            does not work|wrong|hangs|leak|leaks|error|mend|修正|直して|バグ|修复",
        ),
    ),
    (
        "refactor",
        Phrases(
            "refactor|refactored|rename|renamed|extract|extracted|clean up|simplify|simplified|move|moved|\
            split|restructure|deduplicate|inline|tidy|リファクタ|重构",
        ),
    ),
    (
        "feature",
        Phrases(
            "add|added|adds|implement|implemented|implements|create|created|new|support|introduce|introduced|\
            build|追加|実装|添加|实现|新增",
        ),
    ),
];

/// The type of the earliest keyword.
fn by_keyword(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    let first = |words: Phrases| {
        words.iter().filter(|word| cues::has_phrase(&lower, word)).filter_map(|word| lower.find(word)).min()
    };
    let matches = KINDS.iter().filter_map(|(kind, words)| Some((first(*words)?, *kind)));
    matches.min_by_key(|(at, _)| *at).map(|(_, kind)| kind)
}

/// Whether only settings, documents and dependency lists were changed.
fn only_settings(turn: &DistilTurn<'_>) -> bool {
    const ENDS: Phrases =
        Phrases(".toml|.json|.yaml|.yml|.md|.lock|.ini|.cfg|.conf|.txt|.env|.rst|.properties|Dockerfile");
    let changed = turn.changed();
    !changed.is_empty() && changed.iter().all(|path| ENDS.any(|end| path.ends_with(end)))
}

fn facts(
    turn: &DistilTurn<'_>,
    trials: &Trials,
    recoveries: &[&Recovery],
    points: Vec<String>,
    statements: &mut Vec<Statement>,
) -> Vec<String> {
    let mut facts: Vec<String> = vec![];
    while let Some(at) = statements.iter().position(Statement::is_cause) {
        facts.push(format!("{CAUSE}{}", statements.remove(at).full_text()));
    }
    if facts.is_empty() {
        facts.extend(
            recoveries.iter().find_map(|it| it.cause.as_ref()).map(|cause| format!("{CAUSE}{cause}")),
        );
    }
    facts.extend(recoveries.iter().filter_map(|recovery| recovery_fact(recovery)));
    facts.extend(points);
    let outcomes = trials.outcomes();
    // A failure is a state of the moment: `core::work` tells what fails as of now.
    let shown =
        outcomes.iter().filter(|run| run.outcome == RunOutcome::Passed && run.purpose == RunPurpose::Test);
    facts.extend(shown.rev().take(MOST_OUTCOMES).map(|run| run.describe()));
    facts.extend(commits(turn));
    let changed = turn.shown_few(&turn.changed(), 5);
    facts.extend((!changed.is_empty()).then(|| format!("Changed {changed}")));
    facts.extend(turn.stopped.map(|how| format!("Left unfinished: {}", how.name())));
    facts
}

/// A fact about an error and the changes that fixed it.
fn recovery_fact(recovery: &Recovery) -> Option<String> {
    let error = recovery.failed.error.as_deref()?;
    let changed = recovery.changed.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
    Some(format!("`{}` failed with: {error} — passed after changes to {changed}", recovery.failed.command))
}

fn points(passages: &[Passage], title: &str) -> Vec<String> {
    let is_worth = |passage: &&Passage| {
        passage.is_item
            && passage.text.chars().count() >= 15
            && !title.contains(passage.text.trim_end_matches('.'))
            && cues::of_agent(&passage.text, &passage.heading).is_none()
    };
    passages.iter().filter(is_worth).map(|passage| clipped(&passage.text, POINT)).take(MOST_POINTS).collect()
}

fn commits(turn: &DistilTurn<'_>) -> Vec<String> {
    let commits = turn.commits();
    let shown = commits.iter().rev().take(MOST_COMMITS).rev();
    let space = |commit: &Commit| if commit.hash.is_empty() { "" } else { " " };
    let mut facts: Vec<String> = shown
        .map(|commit| format!("Committed{}{}: {}", space(commit), commit.hash, commit.subject))
        .collect();
    let more = commits.len().saturating_sub(MOST_COMMITS);
    if more > 0 {
        facts.insert(0, format!("{more} earlier commits"));
    }
    facts
}

/// The agent's own text, without the title and the facts.
fn narrative(passages: &[Passage], draft: &MemoryDraft) -> String {
    let is_used = |sentence: &str| {
        let bare = sentence.trim_end_matches(['.', '。']);
        if is_momentary(sentence) {
            return true;
        }
        let is_title = completed_work(sentence).is_some_and(|work| as_title(&work) == draft.title)
            || as_title(bare) == draft.title;
        let bare = bare.split_once(": ").map_or(bare, |(_, rest)| rest);
        is_title || draft.facts.iter().any(|fact| fact.contains(bare))
    };
    clipped(&paragraphs(passages, is_used), NARRATIVE)
}

/// `The bundle is 1.1 MB now.`: true until the next change. Praise and apologies are not even that.
fn is_momentary(sentence: &str) -> bool {
    let bare = sentence.trim_end_matches(['.', '!']);
    (bare.ends_with(" now") && bare.contains(|c: char| c.is_ascii_digit())) || cues::is_polite(sentence)
}

fn concepts(turn: &DistilTurn<'_>, kind: &str, recoveries: &[&Recovery]) -> Vec<String> {
    if turn.is_unfinished() {
        return vec![UNFINISHED.to_owned()];
    }
    let solves = kind == "bugfix" || !recoveries.is_empty();
    let mut concepts = vec![WHAT_CHANGED.to_owned()];
    concepts.extend(solves.then(|| "problem-solution".to_owned()));
    concepts
}

fn files(turn: &DistilTurn<'_>) -> Vec<(String, FileAccess)> {
    let changed = turn.changed().into_iter().map(|path| (path.to_owned(), FileAccess::Changed));
    let read = turn.read().take(MOST_READ).map(|path| (path.to_owned(), FileAccess::Read));
    changed.chain(read).collect()
}

fn confidence(turn: &DistilTurn<'_>, trials: &Trials) -> ConfidencePercent {
    let is_green = trials
        .outcomes()
        .iter()
        .any(|run| run.purpose == RunPurpose::Test && run.outcome == RunOutcome::Passed);
    ConfidencePercent::percent(match () {
        () if turn.stopped.is_some() || trials.ends_with_failure() => 45,
        () if !turn.commits().is_empty() => 85,
        () if is_green => 80,
        () => 65,
    })
}
