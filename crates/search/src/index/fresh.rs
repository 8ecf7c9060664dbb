//! Documents that are not in the index yet, searched as they are.
//!
//! They are few: everything is counted in memory, by the same rules as in the index, and nothing is written.

use std::collections::{BTreeMap, HashMap};

use super::Error;
use crate::document::Document;
use crate::source::{Facts, Matches, Source, Weighed};
use crate::table::Piece;
use crate::words::{Kinship, Term, Vocabulary, each_term, is_kin};

pub struct Fresh {
    documents: Vec<Counted>,
    holders: HashMap<String, u32>,
    words: u64,
}

/// A document with its words counted.
struct Counted {
    facts: Facts,
    counts: HashMap<String, u32>,
    length: u32,
    marks: Vec<String>,
    pieces: Vec<Piece>,
}

impl Fresh {
    pub fn new(documents: &[Document]) -> Fresh {
        let documents: Vec<Counted> = documents.iter().map(counted).collect();
        let mut holders: HashMap<String, u32> = HashMap::new();
        for word in documents.iter().flat_map(|document| document.counts.keys()) {
            *holders.entry(word.clone()).or_default() += 1;
        }
        let words = documents.iter().map(|document| u64::from(document.length)).sum();
        Fresh { documents, holders, words }
    }

    fn places_that(&self, is_meant: impl Fn(&Counted) -> bool) -> Vec<u32> {
        (0u32..)
            .zip(&self.documents)
            .filter(|(_, document)| is_meant(document))
            .map(|(place, _)| place)
            .collect()
    }
}

fn counted(document: &Document) -> Counted {
    let mut counts: HashMap<String, u32> = HashMap::new();
    let mut length = 0;
    for text in document.texts() {
        each_term(text, &mut |term: Term<'_>| {
            *counts.entry(term.indexed.to_owned()).or_default() += 1;
            length += 1;
        });
    }
    Counted { facts: document.facts(), counts, length, marks: document.marks(), pieces: document.meant() }
}

impl Source for Fresh {
    fn places(&self) -> u32 {
        self.documents.len() as u32
    }

    fn words(&self) -> u64 {
        self.words
    }

    fn is_there(&self, place: u32) -> bool {
        (place as usize) < self.documents.len()
    }

    fn holders(&self, word: &str) -> Result<u32, Error> {
        Ok(self.holders.get(word).copied().unwrap_or_default())
    }

    fn matches(&self, sought: &[Weighed<'_>]) -> Result<Matches, Error> {
        let mut matches = Matches::none(self.places());
        for (place, document) in (0u32..).zip(&self.documents) {
            for (number, weighed) in sought.iter().enumerate() {
                for (spelling, worth) in weighed.spellings {
                    if let Some(count) = document.counts.get(spelling) {
                        let score = weighed.bm25.times(*worth).score(*count as f32, document.length as f32);
                        matches.add(place, score, number);
                    }
                }
            }
        }
        Ok(matches)
    }

    fn facts(&self, place: u32) -> Facts {
        self.documents[place as usize].facts
    }

    fn at(&self, place: u32) -> i64 {
        self.documents[place as usize].facts.at
    }

    fn place_of(&self, id: i64) -> Result<Option<u32>, Error> {
        Ok(self.places_that(|document| document.facts.id == id).pop())
    }

    fn members(&self, session: u64) -> Result<Vec<u32>, Error> {
        Ok(self.places_that(|document| document.facts.session == session))
    }

    fn marked(&self, mark: &str) -> Result<Vec<u32>, Error> {
        let is_it = |own: &String| own == mark || (mark.ends_with('/') && own.starts_with(mark));
        Ok(self.places_that(|document| document.marks.iter().any(is_it)))
    }

    fn marks(&self, beginning: &str) -> Result<Vec<String>, Error> {
        let marks = self.documents.iter().flat_map(|document| &document.marks);
        Ok(marks.filter(|mark| mark.starts_with(beginning)).cloned().collect())
    }

    fn pieces(&self, place: u32) -> Result<Vec<Piece>, Error> {
        Ok(self.documents[place as usize].pieces.clone())
    }
}

impl Vocabulary for Fresh {
    fn gather(&self, kinship: Kinship, word: &str, found: &mut BTreeMap<String, u32>) {
        for (spelling, holders) in self.holders.iter().filter(|(spelling, _)| is_kin(spelling, kinship, word))
        {
            *found.entry(spelling.clone()).or_default() += holders;
        }
    }
}
