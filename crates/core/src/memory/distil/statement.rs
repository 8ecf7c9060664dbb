//! What was stated in a turn and holds beyond it: decisions, preferences, causes, traps.
//!
//! A statement is a sentence as it was said, with the paragraph it stands in. Nothing is concluded from it.

use super::cues::{self, Claim, What};
use super::passage::{Passage, passages};
use super::{Found, Turn, as_title};
use crate::capture::{Speaker, Touch};
use crate::line::words::{Room, clipped, is_filler, without_greeting};
use crate::memory::{Confidence, Draft, MemoryType, Trust};

/// One sentence that claims something.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub claim: Claim,
    pub sentence: String,
    /// The sentence before it, where it cannot be understood without.
    before: Option<String>,
    paragraph: String,
    trust: Trust,
}

/// How many sentences of a prompt are a person's own: what is long was pasted.
const OF_BEGINNING: usize = 12;
const OF_END: usize = 6;
const MOST: usize = 5;

/// Everything that was stated, the person's first.
pub(super) fn all(turn: &Turn<'_>) -> Vec<Statement> {
    let mut found: Vec<Statement> = turn.persons_words().flat_map(of_person).collect();
    let trust = turn.agents_trust();
    let answer = turn.answer();
    let earlier: Vec<&str> =
        turn.said_by(Speaker::Agent).filter(|text| !answer.contains(text.trim())).collect();
    found.extend(of_agent(&answer, trust));
    // What is said on the way is often taken back later; a decision is not.
    let on_the_way = earlier.into_iter().flat_map(|text| of_agent(text, trust));
    found.extend(on_the_way.filter(|statement| statement.claim == Claim { what: What::Decision, sure: 75 }));
    let mut kept: Vec<Statement> = vec![];
    for statement in found {
        if kept.len() < MOST && !kept.iter().any(|known| known.sentence == statement.sentence) {
            kept.push(statement);
        }
    }
    kept
}

/// Why something went wrong, as the agent put it in this text.
pub(super) fn cause_in(text: &str) -> Option<String> {
    let is_cause = |statement: &Statement| statement.claim.what == What::Cause;
    of_agent(text, Trust::Agent).into_iter().find(is_cause).map(|statement| statement.whole())
}

fn of_person(text: &str) -> Vec<Statement> {
    let passages = passages(text);
    let sentences: Vec<(&Passage, &str)> = passages
        .iter()
        .flat_map(|passage| passage.typed_sentences().into_iter().map(move |sentence| (passage, sentence)))
        .collect();
    let from_end = sentences.len().saturating_sub(OF_END);
    let own = sentences.iter().enumerate().filter(|(at, _)| *at < OF_BEGINNING || *at >= from_end);
    let stated = own.filter_map(|(_, (passage, sentence))| {
        let bare = without_greeting(sentence);
        let claim = cues::of_person(sentence).or_else(|| cues::of_person(bare))?;
        let sentence = without_lead(bare).to_owned();
        Some(Statement {
            claim,
            sentence,
            before: None,
            paragraph: passage.text.clone(),
            trust: Trust::Person,
        })
    });
    stated.collect()
}

fn of_agent(text: &str, trust: Trust) -> Vec<Statement> {
    let mut found = vec![];
    for passage in passages(text).iter().filter(|passage| !passage.is_below(&super::summary::NEXT_STEPS)) {
        let mut before: Option<&str> = None;
        for sentence in passage.sentences() {
            if let Some(claim) = cues::of_agent(sentence, &passage.heading) {
                let before = before.filter(|_| leans(sentence)).map(str::to_owned);
                let (sentence, paragraph) = (without_lead(sentence).to_owned(), passage.text.clone());
                found.push(Statement { claim, sentence, before, paragraph, trust });
            }
            before = Some(sentence).filter(|sentence| !is_filler(sentence));
        }
    }
    found
}

/// Whether it speaks of something that was named before.
fn leans(sentence: &str) -> bool {
    let first = sentence.split_whitespace().next().unwrap_or("").to_lowercase();
    ["this", "that", "it", "these", "they", "those", "which", "so", "its", "both"].contains(&first.as_str())
}

/// `Root cause: the token …` is about the token.
fn without_lead(sentence: &str) -> &str {
    const LEADS: [&str; 14] = [
        "root cause",
        "cause",
        "note",
        "gotcha",
        "caveat",
        "decision",
        "important",
        "warning",
        "remember that",
        "please remember that",
        "note that",
        "remember",
        "for the record",
        "fyi",
    ];
    let lower = sentence.to_lowercase();
    let lead = LEADS.iter().find(|lead| {
        let after = lower.strip_prefix(**lead).unwrap_or("");
        after.starts_with([':', ',']) || lead.contains("that") && after.starts_with(' ')
    });
    let rest =
        lead.and_then(|lead| sentence.get(lead.len()..)).map(|rest| rest.trim_start_matches([':', ',', ' ']));
    rest.filter(|rest| rest.chars().count() >= 12).unwrap_or(sentence)
}

const TITLE: Room = Room { characters: 150, bytes: 450 };
const PARAGRAPH: Room = Room { characters: 700, bytes: 2000 };

impl Statement {
    /// With what it leans on.
    pub fn whole(&self) -> String {
        match &self.before {
            Some(before) => format!("{before} {}", self.sentence),
            None => self.sentence.clone(),
        }
    }

    pub fn is_cause(&self) -> bool {
        self.claim.what == What::Cause
    }

    /// None for what says too little by itself.
    pub fn into_found(self, turn: &Turn<'_>) -> Option<Found> {
        let whole = self.whole();
        let title = as_title(&clipped(self.told(&whole), TITLE));
        let files = self.files(turn);
        let mut draft = Draft::new(MemoryType::known(self.kind()), &title);
        let asked = turn.asked();
        let is_own = self.trust == Trust::Person && asked.contains(self.sentence.trim_end_matches('.'));
        draft.subtitle =
            if asked.is_empty() || is_own { String::new() } else { format!("While asked: {asked}") };
        draft.facts = if title.ends_with('…') { vec![whole.clone()] } else { vec![] };
        let paragraph = clipped(&self.paragraph, PARAGRAPH);
        let says_more = paragraph.len() > whole.len() + 20 && self.claim.what != What::Preference;
        draft.narrative = if says_more { paragraph } else { String::new() };
        draft.concepts = self.concepts();
        draft.files = files;
        let confidence = Confidence::percent(self.claim.sure);
        Some(Found { draft, trust: self.trust, confidence, suspicion: None })
    }

    /// Without what only leads to it.
    fn told<'t>(&self, whole: &'t str) -> &'t str {
        const LEADS: [&str; 20] = [
            "and ",
            "also ",
            "also, ",
            "but ",
            "so ",
            "so, ",
            "oh and ",
            "btw ",
            "btw, ",
            "it turns out that ",
            "it turned out that ",
            "turns out that ",
            "turns out ",
            "i decided to ",
            "we decided to ",
            "i've decided to ",
            "i chose to ",
            "decided to ",
            "let's ",
            "please ",
        ];
        let mut rest = whole;
        while let Some(lead) = LEADS.iter().find(|lead| rest.to_lowercase().starts_with(**lead)) {
            rest = rest.get(lead.len()..).unwrap_or("");
        }
        if rest.chars().count() >= 12 { rest } else { whole }
    }

    fn kind(&self) -> &'static str {
        let is_security = cues::is_about_security(&self.sentence);
        match self.claim.what {
            What::Preference => "preference",
            What::Decision => "decision",
            What::Cause | What::Gotcha | What::Told if is_security => "security",
            What::Cause | What::Told => "discovery",
            What::Gotcha => "gotcha",
        }
    }

    fn concepts(&self) -> Vec<String> {
        let concept = match self.claim.what {
            What::Decision => "trade-off",
            What::Preference => "preference",
            What::Cause => "why-it-exists",
            What::Gotcha => "gotcha",
            What::Told => "how-it-works",
        };
        vec![concept.to_owned()]
    }

    /// Files of the turn that the paragraph names; else those that were changed, if they are few.
    fn files(&self, turn: &Turn<'_>) -> Vec<(String, Touch)> {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let is_named = |path: &str| {
            let name = name(path);
            name.len() > 3 && self.paragraph.contains(&name)
        };
        let named: Vec<(String, Touch)> = turn
            .files
            .iter()
            .filter(|(path, _)| is_named(path))
            .map(|(path, how)| (path.to_string(), *how))
            .collect();
        if !named.is_empty() || self.trust == Trust::Person {
            return named;
        }
        let changed = turn.changed();
        let few = if changed.len() <= 3 { changed } else { vec![] };
        few.into_iter().map(|path| (path.to_owned(), Touch::Changed)).collect()
    }
}
