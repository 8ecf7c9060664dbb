//! The rank of each question's answer, by engine.
//!
//! Ranks are positions among turns. All engines search the same documents and get the same filters.

use std::collections::HashMap;
use std::path::Path;

use towline_search::{
    Document, Encoder, Filters, Hit, Query, QuerySimilarity, RankingStages, SearchIndex, VectorFile,
    VectorFormat, VectorWriter, embedded, mark_of,
};

use super::{Question, QuestionSet, documents, read};

/// Hits looked at.
const LIMIT: usize = 100;
/// The number of hits in which different turns are counted.
const FIRST: usize = 10;

/// Prints a line `kind, rank, turns among the first ten hits, question` per question of one half. 0: not found.
pub fn rank(file: &Path, engine: &str, half: &str, model: Option<&Path>) {
    let set = read(file);
    let ranking = Ranking::new(&set, file, model);
    for question in set.questions.iter().filter(|question| question.locked == (half == "locked")) {
        let ids = ranking.ids(engine, question);
        let mut turns: Vec<String> = Vec::new();
        let mut distinct = 0;
        for (at, id) in ids.iter().enumerate() {
            let key = set.turns[*id as usize / 4].key();
            if !turns.contains(&key) {
                turns.push(key);
            }
            if at < FIRST {
                distinct = turns.len() * FIRST / (at + 1);
            }
        }
        let rank = turns.iter().position(|turn| question.answers.contains(turn)).map_or(0, |at| at + 1);
        crate::print_line(&format!("{}\t{rank}\t{distinct}\t{}", question.kind, question.text));
    }
}

pub struct Ranking {
    index: SearchIndex,
    documents: HashMap<i64, Document>,
    model: Option<(Encoder, VectorFile)>,
    _folder: tempfile::TempDir,
}

impl Ranking {
    pub fn new(set: &QuestionSet, file: &Path, model: Option<&Path>) -> Ranking {
        let folder = tempfile::tempdir().unwrap();
        let index = SearchIndex::open(folder.path()).unwrap();
        let documents = documents(&set.turns);
        let mut writer = index.writer().unwrap();
        documents.iter().for_each(|document| writer.add_new(document).unwrap());
        writer.commit(1).unwrap();
        writer.close().unwrap();
        let index = SearchIndex::open(folder.path()).unwrap();
        let model = model.map(|model| vectors(&documents, &file.with_extension("vectors"), model));
        let documents = documents.into_iter().map(|document| (document.id, document)).collect();
        Ranking { index, documents, model, _folder: folder }
    }

    fn ids(&self, engine: &str, question: &Question) -> Vec<i64> {
        match engine {
            "MiniLM" => self.nearest(&asked(question)),
            _ => self.hits(engine, question).into_iter().map(|hit| hit.id).collect(),
        }
    }

    /// The hits of one of our engines.
    pub fn hits(&self, engine: &str, question: &Question) -> Vec<Hit> {
        let query = asked(question);
        let search = |stages, near: Option<&QuerySimilarity<'_>>| {
            self.index.search_with(stages, &query, &[], near).unwrap()
        };
        match engine {
            "BM25" => search(RankingStages::Words, None),
            "table" => search(RankingStages::Meaning, None),
            "Towline" => search(RankingStages::Whole, None),
            "Towline + MiniLM" => {
                let (encoder, vectors) = self.model.as_ref().unwrap();
                let near = QuerySimilarity::to(vectors, &encoder.embed(&query.text));
                search(RankingStages::Whole, Some(&near))
            }
            other => panic!("unknown engine {other}"),
        }
    }

    /// The documents whose vectors are nearest.
    fn nearest(&self, query: &Query) -> Vec<i64> {
        let (encoder, vectors) = self.model.as_ref().unwrap();
        let near = QuerySimilarity::to(vectors, &encoder.embed(&query.text));
        let is_allowed = |id: &i64| {
            let document = &self.documents[id];
            let Filters { files, from, until, .. } = &query.filters;
            from.is_none_or(|from| document.at >= from)
                && until.is_none_or(|until| document.at < until)
                && files.iter().all(|file| document.files.contains(file))
        };
        near.nearest(-1.0, usize::MAX).into_iter().filter(is_allowed).take(LIMIT).collect()
    }
}

fn asked(question: &Question) -> Query {
    let filters = Filters {
        files: question.files.clone(),
        from: question.from,
        until: question.until,
        ..Filters::default()
    };
    let Question { now, utc_offset_ms, .. } = *question;
    Query { text: question.text.clone(), filters, now, utc_offset_ms, limit: LIMIT, ..Query::default() }
}

/// The vectors of all documents, computed once per set.
fn vectors(documents: &[Document], file: &Path, model: &Path) -> (Encoder, VectorFile) {
    let encoder = Encoder::open(model).unwrap();
    let of = VectorFormat { model: 1, dimensions: encoder.dimensions() };
    let known = VectorFile::open(file, of).unwrap().map(|vectors| vectors.known()).unwrap_or_default();
    let mut writer = VectorWriter::open(file, of).unwrap().unwrap();
    let mut made: HashMap<String, Vec<f32>> = HashMap::new();
    for document in documents {
        let text = embedded(document);
        if known.get(&document.id) != Some(&mark_of(&text)) {
            let vector = made.entry(text.clone()).or_insert_with(|| encoder.embed(&text));
            writer.add(document.id, mark_of(&text), vector).unwrap();
        }
    }
    drop(writer);
    let vectors = VectorFile::open(file, of).unwrap().unwrap();
    (encoder, vectors)
}
