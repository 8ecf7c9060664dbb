//! Documents that are not indexed yet, searched in memory.
//!
//! They are few: all terms are counted by the same rules as in the index, and nothing is written.

use std::collections::{BTreeMap, HashMap};

use crate::document::Document;
use crate::error::Result;
use crate::source::{DocFacts, DocSource, Match, WeightedTerm};
use crate::table::WordPiece;
use crate::words::{Relation, Term, TermDictionary, each_term, is_related};

pub struct Fresh {
    documents: Vec<FreshDocument>,
    doc_freq: HashMap<String, u32>,
    words: u64,
}

/// A document with its terms counted.
struct FreshDocument {
    facts: DocFacts,
    counts: HashMap<String, u32>,
    length: u32,
    tags: Vec<String>,
    pieces: Vec<WordPiece>,
}

impl Fresh {
    pub fn new(documents: &[Document]) -> Fresh {
        let documents: Vec<FreshDocument> = documents.iter().map(count_terms).collect();
        let mut doc_freq: HashMap<String, u32> = HashMap::new();
        for word in documents.iter().flat_map(|document| document.counts.keys()) {
            *doc_freq.entry(word.clone()).or_default() += 1;
        }
        let words = documents.iter().map(|document| u64::from(document.length)).sum();
        Fresh { documents, doc_freq, words }
    }

    fn docs_where(&self, matches: impl Fn(&FreshDocument) -> bool) -> Vec<u32> {
        (0u32..).zip(&self.documents).filter(|(_, document)| matches(document)).map(|(doc, _)| doc).collect()
    }
}

impl FreshDocument {
    fn matching(&self, terms: &[WeightedTerm<'_>]) -> Match {
        let mut found = Match::default();
        for (number, term) in terms.iter().enumerate() {
            for (spelling, weight) in term.spellings {
                if let Some(count) = self.counts.get(spelling) {
                    found.add(term.bm25.times(*weight).score(*count as f32, self.length as f32), number);
                }
            }
        }
        found
    }
}

fn count_terms(document: &Document) -> FreshDocument {
    let mut counts: HashMap<String, u32> = HashMap::new();
    let mut length = 0;
    for text in document.texts() {
        each_term(text, &mut |term: Term<'_>| {
            *counts.entry(term.indexed.to_owned()).or_default() += 1;
            length += 1;
        });
    }
    FreshDocument {
        facts: document.facts(),
        counts,
        length,
        tags: document.tags(),
        pieces: document.word_pieces(),
    }
}

impl DocSource for Fresh {
    fn doc_count(&self) -> u32 {
        self.documents.len() as u32
    }

    fn words(&self) -> u64 {
        self.words
    }

    fn is_live(&self, doc: u32) -> bool {
        (doc as usize) < self.documents.len()
    }

    fn doc_freq(&self, word: &str) -> Result<u32> {
        Ok(self.doc_freq.get(word).copied().unwrap_or_default())
    }

    fn each_match(&self, terms: &[WeightedTerm<'_>], each: &mut dyn FnMut(u32, f32) -> f32) -> Result<()> {
        for (doc, document) in (0u32..).zip(&self.documents) {
            let found = document.matching(terms);
            if found.words != 0 {
                each(doc, found.score);
            }
        }
        Ok(())
    }

    fn matches_of(&self, terms: &[WeightedTerm<'_>], docs: &[u32]) -> Result<Vec<Match>> {
        Ok(docs.iter().map(|doc| self.documents[*doc as usize].matching(terms)).collect())
    }

    fn facts(&self, doc: u32) -> DocFacts {
        self.documents[doc as usize].facts
    }

    fn at(&self, doc: u32) -> i64 {
        self.documents[doc as usize].facts.at
    }

    fn find_id(&self, id: i64) -> Result<Option<u32>> {
        Ok(self.docs_where(|document| document.facts.id == id).pop())
    }

    fn in_session(&self, session: u64) -> Result<Vec<u32>> {
        Ok(self.docs_where(|document| document.facts.session == session))
    }

    fn tagged(&self, tag: &str) -> Result<Vec<u32>> {
        let is_match = |own: &String| own == tag || (tag.ends_with('/') && own.starts_with(tag));
        Ok(self.docs_where(|document| document.tags.iter().any(is_match)))
    }

    fn tagged_among(&self, tag: &str, docs: &[u32]) -> Result<Vec<u32>> {
        Ok(self.tagged(tag)?.into_iter().filter(|doc| docs.binary_search(doc).is_ok()).collect())
    }

    fn tags(&self, prefix: &str) -> Result<Vec<String>> {
        let tags = self.documents.iter().flat_map(|document| &document.tags);
        Ok(tags.filter(|tag| tag.starts_with(prefix)).cloned().collect())
    }

    fn pieces(&self, doc: u32) -> Result<Vec<WordPiece>> {
        Ok(self.documents[doc as usize].pieces.clone())
    }
}

impl TermDictionary for Fresh {
    fn gather(&self, relation: Relation, word: &str, found: &mut BTreeMap<String, u32>) {
        for (spelling, doc_freq) in
            self.doc_freq.iter().filter(|(spelling, _)| is_related(spelling, relation, word))
        {
            *found.entry(spelling.clone()).or_default() += doc_freq;
        }
    }
}
