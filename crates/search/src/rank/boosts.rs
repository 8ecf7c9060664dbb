//! Boosts for a document's attributes: file, project, branch, time, and quoted phrases.
//!
//! A boost reorders documents that were found by their words; none finds anything by itself.

use std::collections::HashSet;

use super::candidates::{RankCandidate, SearchContext};
use super::exact::share_of_words;
use super::filter::file_tags;
use super::hit::{BoostReason, DocAddress};
use crate::document::DocumentKind;
use crate::error::Result;
use crate::query::Query;
use crate::source::{TagKind, tag};
use crate::table::{WordPiece, pieces};

const PHRASE: f32 = 0.3;
const FILE_NAMED: f32 = 0.2;
const FILE_HERE: f32 = 0.05;
const PROJECT_NAMED: f32 = 0.4;
const PROJECT_HERE: f32 = 0.1;
const BRANCH_HERE: f32 = 0.05;
const DATE: f32 = 0.7;
/// The boost of the newest, for a query that asks for what holds now; the next ones get a half, a third, and so on.
const RECENT: f32 = 0.3;
/// Only documents with this share of the words that the best one has are compared by age: others are about something else.
const ABOUT_THE_SAME: f32 = 0.7;

pub fn add(search: &SearchContext<'_>, candidates: &mut [RankCandidate]) -> Result<()> {
    let query = search.query;
    boost_tagged(search, candidates, BoostReason::File, FILE_NAMED, &files_named(&query.text))?;
    let files_here: Vec<String> = query.here.files.iter().flat_map(|file| file_tags(file)).collect();
    boost_tagged(search, candidates, BoostReason::File, FILE_HERE, &files_here)?;
    boost_tagged(search, candidates, BoostReason::Project, PROJECT_NAMED, &search.projects)?;
    let project_here: Vec<String> =
        query.here.project.iter().map(|project| tag(TagKind::Project, project)).collect();
    boost_tagged(search, candidates, BoostReason::Project, PROJECT_HERE, &project_here)?;
    let branch_here: Vec<String> =
        query.here.branch.iter().map(|branch| tag(TagKind::Branch, branch)).collect();
    boost_tagged(search, candidates, BoostReason::Branch, BRANCH_HERE, &branch_here)?;
    add_phrases(query, candidates);
    add_times(search, candidates);
    candidates
        .iter_mut()
        .for_each(|candidate| candidate.boost(BoostReason::Kind, kind_boost(candidate.facts.kind)));
    Ok(())
}

fn kind_boost(kind: DocumentKind) -> f32 {
    match kind {
        DocumentKind::Memory => 0.08,
        DocumentKind::Summary | DocumentKind::Bookmark => 0.05,
        DocumentKind::Prompt | DocumentKind::Body | DocumentKind::Line => 0.03,
        DocumentKind::Detail => 0.0,
    }
}

fn boost_tagged(
    search: &SearchContext<'_>,
    candidates: &mut [RankCandidate],
    why: BoostReason,
    by: f32,
    tags: &[String],
) -> Result<()> {
    let mut tagged = HashSet::new();
    for (source, documents) in search.sources.iter().enumerate() {
        let own = candidates.iter().map(|candidate| candidate.address).filter(|own| own.source == source);
        let mut docs: Vec<u32> = own.map(|address| address.doc).collect();
        docs.sort_unstable();
        for tag in tags {
            let found = documents.tagged_among(tag, &docs)?;
            tagged.extend(found.into_iter().map(|doc| DocAddress { source, doc }));
        }
    }
    candidates
        .iter_mut()
        .filter(|candidate| tagged.contains(&candidate.address))
        .for_each(|candidate| candidate.boost(why, by));
    Ok(())
}

/// Words of the query that look like a file: `login.rs`, `src/auth`.
fn files_named(text: &str) -> Vec<String> {
    let trimmed = text
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| "\"'`()[]{},;:?!".contains(letter)));
    let files = trimmed.map(|word| word.trim_end_matches('.')).filter(|word| is_like_a_file(word));
    files.take(16).flat_map(file_tags).collect()
}

fn is_like_a_file(word: &str) -> bool {
    let has_ending = word.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.bytes().any(|byte| byte.is_ascii_alphabetic())
    });
    has_ending || word.trim_matches('/').contains('/')
}

fn add_phrases(query: &Query, candidates: &mut [RankCandidate]) {
    for phrase in quoted(&query.text) {
        for candidate in candidates.iter_mut().filter(|candidate| contains(&candidate.pieces, &phrase)) {
            candidate.boost(BoostReason::Phrase, PHRASE);
        }
    }
}

/// Quoted phrases of more than one piece.
fn quoted(text: &str) -> Vec<Vec<WordPiece>> {
    let text = &text[..crate::source::boundary(text, 4096)];
    let inside = text.split('"').skip(1).step_by(2).take(8);
    inside.map(|phrase| pieces(phrase, 64)).filter(|phrase| phrase.len() > 1).collect()
}

fn contains(pieces: &[WordPiece], phrase: &[WordPiece]) -> bool {
    pieces.windows(phrase.len()).any(|window| window == phrase)
}

fn add_times(search: &SearchContext<'_>, candidates: &mut [RankCandidate]) {
    let times = &search.times;
    let others = search.terms.iter().filter(|term| !times.are_named_by(&term.word.written)).count();
    // The fewer other words the query has, the more its time counts.
    let date = DATE * (1.0 + 1.0 / others.max(1) as f32);
    if times.asks_for_latest() {
        boost_newest(search, candidates);
    }
    candidates
        .iter_mut()
        .filter(|candidate| times.contain(candidate.facts.at))
        .for_each(|candidate| candidate.boost(BoostReason::Date, date));
}

/// Of the documents that have most of what the query says, and are of the project that it names, the newest is preferred.
fn boost_newest(search: &SearchContext<'_>, candidates: &mut [RankCandidate]) {
    let is_named =
        |candidate: &RankCandidate| candidate.boosts.iter().any(|boost| boost.why == BoostReason::Project);
    let names_one = !search.projects.is_empty() && candidates.iter().any(is_named);
    let shares: Vec<f32> = candidates
        .iter()
        .map(
            |candidate| {
                if names_one && !is_named(candidate) { 0.0 } else { share_of_words(search, candidate) }
            },
        )
        .collect();
    let best = shares.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let alike = candidates.iter_mut().zip(shares).filter(|(_, share)| *share >= ABOUT_THE_SAME * best);
    let mut alike: Vec<&mut RankCandidate> = alike.map(|(candidate, _)| candidate).collect();
    alike.sort_by_key(|candidate| std::cmp::Reverse(candidate.facts.at));
    for same_time in alike.chunk_by_mut(|a, b| a.facts.at == b.facts.at).zip(1_u16..) {
        let (documents, place) = same_time;
        documents
            .iter_mut()
            .for_each(|document| document.boost(BoostReason::Recent, RECENT / f32::from(place)));
    }
}
