//! Statements of a turn that hold beyond it: decisions, preferences, causes, traps.
//!
//! A statement is a quoted sentence with its paragraph. Draws no conclusions from it.

use super::cues::{self, Claim, ClaimKind};
use super::passage::{Passage, passages};
use super::pasted::{self, PromptParts, pasted_trust};
use super::source::{DistilTurn, DistilledMemory, as_title};
use crate::capture::{FileAccess, Speaker};
use crate::line::words::{TextLimit, clipped, is_filler, without_greeting};
use crate::memory::{ConfidencePercent, MemoryDraft, MemoryTrust, MemoryType};
use crate::phrases::Phrases;
use crate::text::distinct_by;

/// A sentence with a claim.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub claim: Claim,
    pub sentence: String,
    /// The sentence before it, if it refers back to that.
    before: Option<String>,
    paragraph: String,
    trust: MemoryTrust,
}

/// How many sentences at each end of a prompt count as the user's own: the middle of a long prompt is pasted text.
const FIRST_SENTENCES: usize = 12;
const LAST_SENTENCES: usize = 6;
const MOST: usize = 5;

/// All statements of a turn, the user's first.
pub(super) fn all(turn: &DistilTurn<'_>) -> Vec<Statement> {
    let trust = turn.agents_trust();
    // A program may repeat what it read, as an agent may: text from outside lowers its prompts, too.
    let of_prompts = if turn.prompts < MemoryTrust::Person { turn.prompts.and(trust) } else { turn.prompts };
    let mut all: Vec<Statement> = turn.user_texts().flat_map(|text| of_prompt(text, of_prompts)).collect();
    let answer = turn.answer();
    let earlier: Vec<&str> =
        turn.said_by(Speaker::Agent).filter(|text| !answer.contains(text.trim())).collect();
    all.extend(of_agent(&answer, trust));
    // Agents often revise what they say before the answer, but not decisions; of causes the last one counts.
    let mut before_answer: Vec<Statement> =
        earlier.into_iter().flat_map(|text| of_agent(text, trust)).collect();
    let cause = before_answer.iter().rposition(Statement::is_cause).map(|at| before_answer.remove(at));
    all.extend(cause.filter(|_| !all.iter().any(Statement::is_cause)));
    before_answer.retain(|statement| statement.claim == Claim { kind: ClaimKind::Decision, sure: 75 });
    all.extend(before_answer);
    let mut kept = distinct_by(all, |known, statement| known.sentence == statement.sentence);
    kept.truncate(MOST);
    kept
}

/// The cause of a failure stated in an agent's text.
pub(super) fn cause_in(text: &str) -> Option<String> {
    let is_cause = |statement: &Statement| statement.claim.kind == ClaimKind::Cause;
    of_agent(text, MemoryTrust::Agent).into_iter().find(is_cause).map(|statement| statement.full_text())
}

/// A sentence with a reason: between a failure and its fix it tells the cause.
pub(super) fn reason_in(text: &str) -> Option<String> {
    const REASONS: Phrases = Phrases(" because | weil | porque |ため|因为");
    let passages = passages(text);
    let gives_reason =
        |sentence: &&str| REASONS.any(|word| sentence.contains(word)) && !cues::is_transient(sentence);
    passages.iter().flat_map(Passage::sentences).find(gives_reason).map(str::to_owned)
}

/// The statements of a prompt: the user's own, then those of pasted text.
fn of_prompt(text: &str, trust: MemoryTrust) -> Vec<Statement> {
    let PromptParts { own, pasted } = pasted::split(text);
    let mut statements = stated(&own, trust);
    statements.extend(pasted_trust(text).map(|trust| stated(&pasted, trust)).unwrap_or_default());
    statements
}

fn stated(text: &str, trust: MemoryTrust) -> Vec<Statement> {
    let passages = passages(text);
    let sentences: Vec<(&Passage, &str)> = passages
        .iter()
        .flat_map(|passage| passage.typed_sentences().into_iter().map(move |sentence| (passage, sentence)))
        .collect();
    let from_end = sentences.len().saturating_sub(LAST_SENTENCES);
    let own = sentences.iter().enumerate().filter(|(at, _)| *at < FIRST_SENTENCES || *at >= from_end);
    let stated = own.filter_map(|(_, (passage, sentence))| {
        let bare = without_greeting(sentence);
        let claim = cues::of_person(sentence).or_else(|| cues::of_person(bare))?;
        let sentence = without_lead(bare).to_owned();
        Some(Statement { claim, sentence, before: None, paragraph: passage.text.clone(), trust })
    });
    stated.collect()
}

fn of_agent(text: &str, trust: MemoryTrust) -> Vec<Statement> {
    let mut statements = vec![];
    for passage in passages(text).iter().filter(|passage| !passage.is_below(cues::NEXT_STEPS)) {
        let mut before: Option<&str> = None;
        for sentence in passage.sentences() {
            if let Some(claim) = cues::of_agent(sentence, &passage.heading) {
                let (sentence, paragraph) = (without_lead(sentence).to_owned(), passage.text.clone());
                let before = before.filter(|_| refers_back(&sentence)).map(str::to_owned);
                statements.push(Statement { claim, sentence, before, paragraph, trust });
            }
            before = Some(sentence).filter(|sentence| !is_filler(sentence));
        }
    }
    statements
}

/// Whether a sentence refers back to the one before.
fn refers_back(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().unwrap_or("").to_lowercase();
    ["this", "that", "it", "these", "they", "those", "which", "so", "its", "both"].contains(&first.as_str())
}

/// Strips a leading label: `Root cause: the token …` becomes `the token …`.
fn without_lead(sentence: &str) -> &str {
    const LEADS: Phrases = Phrases(
        "root cause|cause|note|gotcha|caveat|decision|important|warning|remember that|please remember that|\
        note that|remember|for the record|fyi|be careful|achtung|vorsicht|cuidado|注意|需要注意",
    );
    let lower = sentence.to_lowercase();
    let lead = LEADS.iter().find(|lead| {
        let after = lower.strip_prefix(*lead).unwrap_or("");
        after.starts_with([':', ',', '：', '，']) || lead.contains("that") && after.starts_with(' ')
    });
    let rest = lead
        .and_then(|lead| sentence.get(lead.len()..))
        .map(|rest| rest.trim_start_matches([':', ',', '：', '，', ' ']));
    rest.filter(|rest| rest.chars().count() >= 12).unwrap_or(sentence)
}

const TITLE: TextLimit = TextLimit { characters: 150, bytes: 450 };
const PARAGRAPH: TextLimit = TextLimit { characters: 700, bytes: 2000 };

impl Statement {
    /// The sentence with the one it refers to.
    pub fn full_text(&self) -> String {
        match &self.before {
            Some(before) => format!("{before} {}", as_title(&self.sentence)),
            None => self.sentence.clone(),
        }
    }

    pub fn is_cause(&self) -> bool {
        self.claim.kind == ClaimKind::Cause
    }

    pub fn into_memory(self, turn: &DistilTurn<'_>) -> Option<DistilledMemory> {
        let whole = self.full_text();
        let title = as_title(&clipped(self.without_filler(&whole), TITLE));
        let files = self.files(turn);
        let mut draft = MemoryDraft::new(MemoryType::known(self.kind()), &title);
        let asked = turn.asked();
        let is_own = self.trust == MemoryTrust::Person && asked.contains(self.sentence.trim_end_matches('.'));
        draft.subtitle =
            if asked.is_empty() || is_own { String::new() } else { format!("While asked: {asked}") };
        draft.facts = if title.ends_with('…') { vec![whole.clone()] } else { vec![] };
        let paragraph = clipped(&self.paragraph, PARAGRAPH);
        let says_more = paragraph.len() > whole.len() + 20 && self.claim.kind != ClaimKind::Preference;
        draft.narrative = if says_more { paragraph } else { String::new() };
        draft.concepts = self.concepts();
        draft.files = files;
        let confidence = ConfidencePercent::percent(self.claim.sure);
        Some(DistilledMemory { draft, trust: self.trust, confidence, suspicion: None })
    }

    /// Strips leading filler words.
    fn without_filler<'t>(&self, whole: &'t str) -> &'t str {
        const LEADS: Phrases = Phrases(
            "and |also |also, |but |so |so, |oh and |btw |btw, |it turns out that |it turned out that |\
            turns out that |turns out |i decided to |we decided to |i've decided to |i chose to |\
            decided to |let's |please ",
        );
        let mut rest = whole;
        while let Some(lead) = LEADS.iter().find(|lead| rest.to_lowercase().starts_with(lead)) {
            rest = rest.get(lead.len()..).unwrap_or("");
        }
        if rest.chars().count() >= 12 { rest } else { whole }
    }

    fn kind(&self) -> &'static str {
        let is_security = cues::is_about_security(&self.sentence);
        match self.claim.kind {
            // Only the user can want something: a rule of somebody else is a finding.
            ClaimKind::Preference if self.trust < MemoryTrust::Person => "discovery",
            ClaimKind::Preference => "preference",
            ClaimKind::Decision => "decision",
            ClaimKind::Cause | ClaimKind::Gotcha | ClaimKind::Fact if is_security => "security",
            ClaimKind::Cause | ClaimKind::Fact => "discovery",
            ClaimKind::Gotcha => "gotcha",
        }
    }

    fn concepts(&self) -> Vec<String> {
        let concept = match self.claim.kind {
            ClaimKind::Decision => "trade-off",
            ClaimKind::Preference if self.trust < MemoryTrust::Person => "how-it-works",
            ClaimKind::Preference => "preference",
            ClaimKind::Cause => "why-it-exists",
            ClaimKind::Gotcha => "gotcha",
            ClaimKind::Fact => "how-it-works",
        };
        vec![concept.to_owned()]
    }

    /// Files of the turn named in the paragraph, else the changed files if there are at most three.
    fn files(&self, turn: &DistilTurn<'_>) -> Vec<(String, FileAccess)> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let is_named = |path: &str| {
            let name = name(path);
            name.len() > 3 && self.paragraph.contains(&name)
        };
        let named: Vec<(String, FileAccess)> = turn
            .files
            .iter()
            .filter(|(path, _)| is_named(path))
            .map(|(path, how)| (path.to_string(), *how))
            .collect();
        if !named.is_empty() || self.trust == MemoryTrust::Person {
            return named;
        }
        let changed = turn.changed();
        let few = if changed.len() <= 3 { changed } else { vec![] };
        few.into_iter().map(|path| (path.to_owned(), FileAccess::Changed)).collect()
    }
}
