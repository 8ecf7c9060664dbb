//! The terms of a query as they are looked up: other endings and words, typos, and how much each counts.
//!
//! A query whose words alone are to be scored gets its words, and spellings for those that no document has.

use std::collections::{BTreeMap, HashSet};

use super::dates::Times;
use super::hit::RankingStages;
use crate::error::Result;
use crate::query::Query;
use crate::source::DocSource;
use crate::words::{
    Bm25, Collection, Column, Expansion, Language, MAX_TERMS, QueryTerm, Role, Synonym, TermDictionary,
    expand, synonyms, words_of,
};

/// The most other words of a term that are looked up.
const SYNONYMS: usize = 12;
/// How much more another word counts for one that no document has.
const FOR_UNKNOWN: f32 = 2.0;
/// The weight of a translation: of a word that documents have as it is, and of one that none has.
const TRANSLATION: f32 = 0.3;
const TRANSLATION_OF_UNKNOWN: f32 = 0.5;
/// Documents are in a language if one in so many has one of its common words.
const ONE_IN: f32 = 5000.0;
/// How much a part of an identifier counts that is found as a whole.
const PART: f32 = 0.3;
/// How much the words of a named project count.
const OF_PROJECT: f32 = 0.5;
/// How much words count that name a time.
const OF_TIME: f32 = 0.2;

pub fn collection(sources: &[&dyn DocSource]) -> Collection {
    let documents: u32 = sources.iter().map(|source| source.doc_count()).sum();
    let words: u64 = sources.iter().map(|source| source.words()).sum();
    Collection { documents: documents as f32, mean_length: words as f32 / documents.max(1) as f32 }
}

/// A query, with the documents that its terms are looked up in, and the times and projects that it names.
pub struct TermLookup<'a> {
    pub query: &'a Query,
    pub sources: &'a [&'a dyn DocSource],
    pub collection: Collection,
    pub times: &'a Times,
    /// Tags of the projects that the query names.
    pub projects: &'a [String],
}

/// Other words for what a term says, with their weights and the number of documents that have them.
type OtherWords = BTreeMap<String, (f32, u32)>;

impl TermLookup<'_> {
    /// The query's terms, expanded if no document contains them; the rarest of too many.
    pub fn terms(&self, tier: RankingStages) -> Result<Vec<QueryTerm>> {
        let text = &self.query.text;
        let mut terms = self.looked_up()?;
        let dictionaries: Vec<&dyn TermDictionary> =
            self.sources.iter().map(|source| *source as &dyn TermDictionary).collect();
        if let Some(language) = Language::of(text) {
            terms.iter_mut().for_each(|term| language.widen(term, &dictionaries));
        }
        if tier != RankingStages::Words {
            self.add_synonyms(&mut terms)?;
        }
        for scope in [Expansion::Indexed, Expansion::FullScan] {
            let finds_nothing = terms.iter().all(|term| term.doc_freq == 0);
            if scope == Expansion::Indexed || finds_nothing {
                let widened = terms.iter_mut().filter(|term| !self.times.are_named_by(&term.word.written));
                widened.for_each(|term| widen(term, scope, &dictionaries));
            }
        }
        if tier != RankingStages::Words {
            weigh_parts(&mut terms);
            weigh(&mut terms, OF_TIME, &|term| self.names_time(term));
            let named = self.words_of_projects();
            weigh(&mut terms, OF_PROJECT, &|term| named.contains(&term.word.indexed));
        }
        Ok(terms)
    }

    fn looked_up(&self) -> Result<Vec<QueryTerm>> {
        let mut looked_up = Vec::new();
        for word in words_of(&self.query.text) {
            let doc_freq = self.doc_freq(&word.indexed)?;
            looked_up.push(QueryTerm::exact(word, doc_freq));
        }
        if looked_up.len() > MAX_TERMS {
            looked_up.retain(|term| term.doc_freq > 0);
            looked_up.sort_by_key(|term| term.doc_freq);
            looked_up.truncate(MAX_TERMS);
        }
        Ok(looked_up)
    }

    fn doc_freq(&self, word: &str) -> Result<u32> {
        self.sources.iter().map(|source| source.doc_freq(word)).sum()
    }

    /// Adds other words for what the terms say. One counts by its own rarity, and never more than the term.
    fn add_synonyms(&self, terms: &mut [QueryTerm]) -> Result<()> {
        let mut of_terms: BTreeMap<usize, [OtherWords; 2]> = BTreeMap::new();
        for Synonym { term, indexed, weight, is_translation } in
            synonyms(&self.query.text, terms, &self.languages()?)
        {
            let is_known = terms[term].spellings.iter().any(|(spelling, _)| *spelling == indexed);
            let found = &mut of_terms.entry(term).or_default()[usize::from(is_translation)];
            if let Some((most, _)) = found.get_mut(&indexed) {
                *most = most.max(weight);
            } else if !is_known {
                let doc_freq = self.doc_freq(&indexed)?;
                if doc_freq > 0 {
                    found.insert(indexed, (weight, doc_freq));
                }
            }
        }
        let translation = translation_of_unknown(terms);
        for (number, [mut same, mut translations]) in of_terms {
            let term = &mut terms[number];
            translations.retain(|word, _| !same.contains_key(word));
            let is_unknown = term.doc_freq == 0;
            let (synonym, translation) =
                if is_unknown { (FOR_UNKNOWN, translation) } else { (1.0, TRANSLATION) };
            same.values_mut().for_each(|(weight, _)| *weight *= synonym);
            translations.values_mut().for_each(|(weight, _)| *weight *= translation);
            let rarest = same.values().chain(translations.values()).map(|(_, doc_freq)| *doc_freq).min();
            if is_unknown {
                term.doc_freq = rarest.unwrap_or_default();
            }
            term.spellings.extend(self.by_rarity(same, term.doc_freq));
            term.translations = self.by_rarity(translations, term.doc_freq);
        }
        Ok(())
    }

    /// The languages that some documents are in.
    fn languages(&self) -> Result<Vec<Column>> {
        let least = (self.collection.documents / ONE_IN) as u32;
        let mut languages = Vec::new();
        for column in Column::ALL {
            for word in column.common_words() {
                if self.doc_freq(word)? > least {
                    languages.push(column);
                    break;
                }
            }
        }
        Ok(languages)
    }

    fn by_rarity(&self, words: OtherWords, doc_freq: u32) -> Vec<(String, f32)> {
        let rarity = |doc_freq: u32| Bm25::new(self.collection, doc_freq as f32).most();
        let own = rarity(doc_freq).max(f32::MIN_POSITIVE);
        let weighted = words.into_iter().map(|(word, found)| {
            let (weight, doc_freq) = found;
            (word, weight * (rarity(doc_freq) / own).min(1.0))
        });
        let mut weighted: Vec<(String, f32)> = weighted.collect();
        weighted.sort_by(|a, b| b.1.total_cmp(&a.1));
        weighted.truncate(SYNONYMS);
        weighted
    }

    /// Whether the term names a time: documents of that time rarely contain the word.
    fn names_time(&self, term: &QueryTerm) -> bool {
        self.times.are_named_by(&term.word.written) || Times::are_now(&term.word.written)
    }

    /// The words of a project's name are in all of its documents: its boost says so already.
    fn words_of_projects(&self) -> HashSet<String> {
        let names = self.projects.iter().filter_map(|tag| tag.get(2..));
        names.flat_map(words_of).map(|word| word.indexed).collect()
    }
}

/// A query of which no document has any word is in another language than the documents.
fn translation_of_unknown(terms: &[QueryTerm]) -> f32 {
    if terms.iter().all(|term| term.doc_freq == 0) { 1.0 } else { TRANSLATION_OF_UNKNOWN }
}

/// Changes the weight of some terms, unless all are of their kind.
fn weigh(terms: &mut [QueryTerm], by: f32, is_one: &dyn Fn(&QueryTerm) -> bool) {
    if terms.iter().all(is_one) {
        return;
    }
    terms.iter_mut().filter(|term| is_one(term)).for_each(|term| term.weight *= by);
}

/// The parts of an identifier that is found say little more than the identifier.
fn weigh_parts(terms: &mut [QueryTerm]) {
    let mut is_found = false;
    for term in terms {
        match term.word.role {
            Role::Word | Role::Whole => is_found = term.doc_freq > 0,
            Role::Part if is_found => term.weight = PART,
            Role::Part => {}
        }
    }
}

/// Expands a term that no document contains to related spellings.
fn widen(term: &mut QueryTerm, scope: Expansion, dictionaries: &[&dyn TermDictionary]) {
    if term.doc_freq == 0 {
        (term.spellings, term.doc_freq) = expand(&term.word, scope, dictionaries);
    }
}
