//! The documents of one index segment.
//!
//! BM25 is computed from the postings (`cursors`), since the library's constants are fixed. Nothing is held for every
//! document: a search takes no more memory in a larger segment.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::store::StoreReader;
use tantivy::{InvertedIndexReader, SegmentReader, TantivyDocument, Term};

use super::cursors::Cursors;
use super::schema::{AT, Fields, ID, KIND, SESSION, TURN};
use crate::document::{Document, DocumentKind};
use crate::error::Result;
use crate::source::{DocFacts, DocSource, Match, WeightedTerm};
use crate::table::{PIECES, WordPiece};
use crate::words::{
    EditAutomaton, Relation, SCANNED_TERMS, SubstringAutomaton, TermDictionary, short_hashes,
};

/// The number of cached doc store blocks: neighbouring documents often share one.
const BLOCKS_KEPT: usize = 8;

pub struct Segment<'a> {
    reader: &'a SegmentReader,
    fields: Fields,
    words: Arc<InvertedIndexReader>,
    tags: Arc<InvertedIndexReader>,
    sessions: Arc<InvertedIndexReader>,
    ids: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    store: StoreReader,
    columns: Columns,
    /// Documents with a newer version among the fresh ones.
    outdated: HashSet<u32>,
}

struct Columns {
    id: Column<i64>,
    session: Column<u64>,
    turn: Column<u64>,
    at: Column<i64>,
    kind: Column<u64>,
}

impl<'a> Segment<'a> {
    pub fn open(reader: &'a SegmentReader, fields: Fields, fresh: &[Document]) -> Result<Segment<'a>> {
        let columns = reader.fast_fields();
        Ok(Segment {
            reader,
            fields,
            words: reader.inverted_index(fields.words)?,
            tags: reader.inverted_index(fields.tags)?,
            sessions: reader.inverted_index(fields.session)?,
            ids: reader.inverted_index(fields.id)?,
            lengths: reader.get_fieldnorms_reader(fields.words)?,
            store: reader.get_store_reader(BLOCKS_KEPT)?,
            columns: Columns {
                id: columns.i64(ID)?,
                session: columns.u64(SESSION)?,
                turn: columns.u64(TURN)?,
                at: columns.i64(AT)?,
                kind: columns.u64(KIND)?,
            },
            outdated: outdated(reader, fields, fresh)?,
        })
    }

    fn word(&self, word: &str) -> Term {
        Term::from_field_text(self.fields.words, word)
    }
}

fn outdated(reader: &SegmentReader, fields: Fields, fresh: &[Document]) -> Result<HashSet<u32>> {
    let mut docs = HashSet::new();
    if fresh.is_empty() {
        return Ok(docs);
    }
    let ids = reader.inverted_index(fields.id)?;
    for document in fresh {
        let found = postings(&ids, &Term::from_field_i64(fields.id, document.id))?;
        docs.extend(found);
    }
    Ok(docs)
}

/// All documents that contain a term.
pub(super) fn postings(index: &InvertedIndexReader, term: &Term) -> std::io::Result<Vec<u32>> {
    let mut docs = Vec::new();
    if let Some(mut blocks) = index.read_block_postings(term, IndexRecordOption::Basic)? {
        while blocks.block_len() > 0 {
            docs.extend_from_slice(blocks.docs());
            blocks.advance();
        }
    }
    Ok(docs)
}

impl DocSource for Segment<'_> {
    fn doc_count(&self) -> u32 {
        self.reader.max_doc()
    }

    fn words(&self) -> u64 {
        self.words.total_num_tokens()
    }

    fn is_live(&self, doc: u32) -> bool {
        !self.reader.is_deleted(doc) && !self.outdated.contains(&doc)
    }

    fn doc_freq(&self, word: &str) -> Result<u32> {
        Ok(self.words.doc_freq(&self.word(word))?)
    }

    fn each_match(&self, terms: &[WeightedTerm<'_>], each: &mut dyn FnMut(u32, f32) -> f32) -> Result<()> {
        if let Some(cursors) = self.cursors(terms)? {
            cursors.each_match(each);
        }
        Ok(())
    }

    fn matches_of(&self, terms: &[WeightedTerm<'_>], docs: &[u32]) -> Result<Vec<Match>> {
        Ok(self
            .cursors(terms)?
            .map_or_else(|| vec![Match::default(); docs.len()], |cursors| cursors.matches_of(docs)))
    }

    fn facts(&self, doc: u32) -> DocFacts {
        let columns = &self.columns;
        let kind = columns.kind.first(doc).unwrap_or_default() as usize;
        DocFacts {
            id: columns.id.first(doc).unwrap_or_default(),
            kind: DocumentKind::ALL.get(kind).copied().unwrap_or(DocumentKind::Body),
            at: self.at(doc),
            session: columns.session.first(doc).unwrap_or_default(),
            turn: u32::try_from(columns.turn.first(doc).unwrap_or_default()).unwrap_or(u32::MAX),
        }
    }

    fn at(&self, doc: u32) -> i64 {
        self.columns.at.first(doc).unwrap_or_default()
    }

    fn find_id(&self, id: i64) -> Result<Option<u32>> {
        let docs = postings(&self.ids, &Term::from_field_i64(self.fields.id, id))?;
        Ok(docs.into_iter().find(|doc| self.is_live(*doc)))
    }

    fn in_session(&self, session: u64) -> Result<Vec<u32>> {
        Ok(postings(&self.sessions, &Term::from_field_u64(self.fields.session, session))?)
    }

    fn tagged(&self, tag: &str) -> Result<Vec<u32>> {
        if !tag.ends_with('/') {
            return Ok(postings(&self.tags, &Term::from_field_text(self.fields.tags, tag))?);
        }
        let mut docs = Vec::new();
        for tag in self.tags(tag)? {
            docs.extend(postings(&self.tags, &Term::from_field_text(self.fields.tags, &tag))?);
        }
        docs.sort_unstable();
        Ok(docs)
    }

    fn tagged_among(&self, tag: &str, docs: &[u32]) -> Result<Vec<u32>> {
        let tags = if tag.ends_with('/') { self.tags(tag)? } else { vec![tag.to_owned()] };
        let mut found = Vec::new();
        for tag in tags {
            let term = Term::from_field_text(self.fields.tags, &tag);
            if let Some(mut blocks) = self.tags.read_block_postings(&term, IndexRecordOption::Basic)? {
                found.extend(docs.iter().filter(|doc| {
                    let at = blocks.seek(**doc);
                    blocks.docs().get(at) == Some(doc)
                }));
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn tags(&self, prefix: &str) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut stream = self.tags.terms().range().ge(prefix).into_stream()?;
        while stream.advance() && stream.key().starts_with(prefix.as_bytes()) {
            found.push(String::from_utf8_lossy(stream.key()).into_owned());
        }
        Ok(found)
    }

    fn pieces(&self, doc: u32) -> Result<Vec<WordPiece>> {
        let document: TantivyDocument = self.store.get(doc)?;
        let bytes =
            document.get_first(self.fields.pieces).and_then(|value| value.as_bytes()).unwrap_or_default();
        let pieces = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        Ok(pieces.filter(|piece| usize::from(*piece) < PIECES).collect())
    }
}

impl Segment<'_> {
    /// The postings of all spellings; `None` without a term.
    fn cursors(&self, terms: &[WeightedTerm<'_>]) -> Result<Option<Cursors<'_>>> {
        let Some(first) = terms.first() else { return Ok(None) };
        let mut cursors = Cursors::new(first.bm25, &self.lengths);
        for (number, term) in terms.iter().enumerate() {
            for (spelling, weight) in term.spellings {
                let postings =
                    self.words.read_block_postings(&self.word(spelling), IndexRecordOption::WithFreqs)?;
                if let Some(postings) = postings {
                    cursors.add(postings, term.bm25.times(*weight), number);
                }
            }
        }
        Ok(Some(cursors))
    }

    fn gather_related(
        &self,
        relation: Relation,
        word: &str,
        found: &mut BTreeMap<String, u32>,
    ) -> std::io::Result<()> {
        let terms = self.words.terms();
        let mut add = |spelling: &[u8], doc_freq: u32| {
            *found.entry(String::from_utf8_lossy(spelling).into_owned()).or_default() += doc_freq;
        };
        match relation {
            Relation::Prefix => {
                for shorter in short_hashes(word) {
                    if let Some(info) = terms.get(shorter)? {
                        add(shorter.as_bytes(), info.doc_freq);
                    }
                }
            }
            Relation::Extension => {
                let mut stream = terms.range().ge(word).into_stream()?;
                while stream.advance() && stream.key().starts_with(word.as_bytes()) {
                    add(stream.key(), stream.value().doc_freq);
                }
            }
            Relation::EditDistance(distance) => {
                let first = word.as_bytes().first().copied().unwrap_or_default();
                let edits = terms
                    .search(EditAutomaton::new(word, distance))
                    .ge([first])
                    .lt([first.saturating_add(1)]);
                let mut stream = edits.into_stream()?;
                while stream.advance() {
                    add(stream.key(), stream.value().doc_freq);
                }
            }
            Relation::Containing if terms.num_terms() > SCANNED_TERMS => {}
            Relation::Containing => {
                let mut stream = terms.search(SubstringAutomaton::new(word)).into_stream()?;
                while stream.advance() {
                    add(stream.key(), stream.value().doc_freq);
                }
            }
        }
        Ok(())
    }
}

impl TermDictionary for Segment<'_> {
    fn gather(&self, relation: Relation, word: &str, found: &mut BTreeMap<String, u32>) {
        // Expansion only helps where nothing was found: without it the search still works.
        if self.gather_related(relation, word, found).is_err() {
            found.clear();
        }
    }
}
