//! Documents of one part of the index.
//!
//! Scores are our own, read from the postings: the library's constants are fixed, and all documents are scored once.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use tantivy::columnar::Column;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::schema::{IndexRecordOption, Value};
use tantivy::store::StoreReader;
use tantivy::{InvertedIndexReader, SegmentReader, TantivyDocument, TantivyError, Term};

use super::Error;
use super::schema::{AT, Fields, ID, KIND, SESSION, TURN};
use crate::document::{Document, Kind};
use crate::source::{Facts, Matches, Source, Weighed};
use crate::table::{PIECES, Piece};
use crate::words::{Bm25, Kinship, Slips, Vocabulary, Within, shortened};

/// So many blocks of pieces are kept: neighbours often lie in one.
const BLOCKS_KEPT: usize = 8;

pub struct Segment<'a> {
    reader: &'a SegmentReader,
    fields: Fields,
    words: Arc<InvertedIndexReader>,
    marks: Arc<InvertedIndexReader>,
    sessions: Arc<InvertedIndexReader>,
    ids: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    store: StoreReader,
    columns: Columns,
    /// Places whose document is there in a newer form.
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
    pub fn open(reader: &'a SegmentReader, fields: Fields, fresh: &[Document]) -> Result<Segment<'a>, Error> {
        Segment::read(reader, fields, fresh).map_err(Error::damaged)
    }

    fn read(
        reader: &'a SegmentReader,
        fields: Fields,
        fresh: &[Document],
    ) -> Result<Segment<'a>, TantivyError> {
        let columns = reader.fast_fields();
        Ok(Segment {
            reader,
            fields,
            words: reader.inverted_index(fields.words)?,
            marks: reader.inverted_index(fields.marks)?,
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

fn outdated(
    reader: &SegmentReader,
    fields: Fields,
    fresh: &[Document],
) -> Result<HashSet<u32>, TantivyError> {
    let mut places = HashSet::new();
    if fresh.is_empty() {
        return Ok(places);
    }
    let ids = reader.inverted_index(fields.id)?;
    for document in fresh {
        let found = postings(&ids, &Term::from_field_i64(fields.id, document.id))?;
        places.extend(found);
    }
    Ok(places)
}

/// All places that hold a term.
fn postings(index: &InvertedIndexReader, term: &Term) -> std::io::Result<Vec<u32>> {
    let mut places = Vec::new();
    if let Some(mut blocks) = index.read_block_postings(term, IndexRecordOption::Basic)? {
        while blocks.block_len() > 0 {
            places.extend_from_slice(blocks.docs());
            blocks.advance();
        }
    }
    Ok(places)
}

impl Source for Segment<'_> {
    fn places(&self) -> u32 {
        self.reader.max_doc()
    }

    fn words(&self) -> u64 {
        self.words.total_num_tokens()
    }

    fn is_there(&self, place: u32) -> bool {
        !self.reader.is_deleted(place) && !self.outdated.contains(&place)
    }

    fn holders(&self, word: &str) -> Result<u32, Error> {
        Ok(self.words.doc_freq(&self.word(word))?)
    }

    fn matches(&self, sought: &[Weighed<'_>]) -> Result<Matches, Error> {
        let mut matches = Matches::none(self.places());
        for (number, weighed) in sought.iter().enumerate() {
            for (spelling, worth) in weighed.spellings {
                self.add_matches(spelling, weighed.bm25.times(*worth), number, &mut matches)?;
            }
        }
        Ok(matches)
    }

    fn facts(&self, place: u32) -> Facts {
        let columns = &self.columns;
        let kind = columns.kind.first(place).unwrap_or_default() as usize;
        Facts {
            id: columns.id.first(place).unwrap_or_default(),
            kind: Kind::ALL.get(kind).copied().unwrap_or(Kind::Body),
            at: self.at(place),
            session: columns.session.first(place).unwrap_or_default(),
            turn: u32::try_from(columns.turn.first(place).unwrap_or_default()).unwrap_or(u32::MAX),
        }
    }

    fn at(&self, place: u32) -> i64 {
        self.columns.at.first(place).unwrap_or_default()
    }

    fn place_of(&self, id: i64) -> Result<Option<u32>, Error> {
        let places = postings(&self.ids, &Term::from_field_i64(self.fields.id, id))?;
        Ok(places.into_iter().find(|place| self.is_there(*place)))
    }

    fn members(&self, session: u64) -> Result<Vec<u32>, Error> {
        Ok(postings(&self.sessions, &Term::from_field_u64(self.fields.session, session))?)
    }

    fn marked(&self, mark: &str) -> Result<Vec<u32>, Error> {
        if !mark.ends_with('/') {
            return Ok(postings(&self.marks, &Term::from_field_text(self.fields.marks, mark))?);
        }
        let mut places = Vec::new();
        for mark in self.marks(mark)? {
            places.extend(postings(&self.marks, &Term::from_field_text(self.fields.marks, &mark))?);
        }
        places.sort_unstable();
        Ok(places)
    }

    fn marks(&self, beginning: &str) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        let mut stream = self.marks.terms().range().ge(beginning).into_stream()?;
        while stream.advance() && stream.key().starts_with(beginning.as_bytes()) {
            found.push(String::from_utf8_lossy(stream.key()).into_owned());
        }
        Ok(found)
    }

    fn pieces(&self, place: u32) -> Result<Vec<Piece>, Error> {
        let document: TantivyDocument = self.store.get(place).map_err(Error::damaged)?;
        let bytes =
            document.get_first(self.fields.pieces).and_then(|value| value.as_bytes()).unwrap_or_default();
        let pieces = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        Ok(pieces.filter(|piece| usize::from(*piece) < PIECES).collect())
    }
}

impl Segment<'_> {
    fn add_matches(
        &self,
        spelling: &str,
        bm25: Bm25,
        number: usize,
        matches: &mut Matches,
    ) -> Result<(), Error> {
        let term = self.word(spelling);
        let Some(mut blocks) = self.words.read_block_postings(&term, IndexRecordOption::WithFreqs)? else {
            return Ok(());
        };
        let damping: [f32; 256] =
            std::array::from_fn(|id| bm25.damping(FieldNormReader::id_to_fieldnorm(id as u8) as f32));
        while blocks.block_len() > 0 {
            for (place, count) in blocks.docs().iter().zip(blocks.freqs()) {
                let damping = damping[usize::from(self.lengths.fieldnorm_id(*place))];
                matches.add(*place, bm25.score_damped(*count as f32, damping), number);
            }
            blocks.advance();
        }
        Ok(())
    }

    fn gather_within(
        &self,
        kinship: Kinship,
        word: &str,
        found: &mut BTreeMap<String, u32>,
    ) -> std::io::Result<()> {
        let terms = self.words.terms();
        let mut add = |spelling: &[u8], holders: u32| {
            *found.entry(String::from_utf8_lossy(spelling).into_owned()).or_default() += holders;
        };
        match kinship {
            Kinship::Shortened => {
                for shorter in shortened(word) {
                    if let Some(info) = terms.get(shorter)? {
                        add(shorter.as_bytes(), info.doc_freq);
                    }
                }
            }
            Kinship::Longer => {
                let mut stream = terms.range().ge(word).into_stream()?;
                while stream.advance() && stream.key().starts_with(word.as_bytes()) {
                    add(stream.key(), stream.value().doc_freq);
                }
            }
            Kinship::Near(distance) => {
                let first = word.as_bytes().first().copied().unwrap_or_default();
                let slips =
                    terms.search(Slips::new(word, distance)).ge([first]).lt([first.saturating_add(1)]);
                let mut stream = slips.into_stream()?;
                while stream.advance() {
                    add(stream.key(), stream.value().doc_freq);
                }
            }
            Kinship::Around => {
                let mut stream = terms.search(Within::new(word)).into_stream()?;
                while stream.advance() {
                    add(stream.key(), stream.value().doc_freq);
                }
            }
        }
        Ok(())
    }
}

impl Vocabulary for Segment<'_> {
    fn gather(&self, kinship: Kinship, word: &str, found: &mut BTreeMap<String, u32>) {
        // Kin are a help where nothing was found: without them the search is as it was.
        if self.gather_within(kinship, word, found).is_err() {
            found.clear();
        }
    }
}
