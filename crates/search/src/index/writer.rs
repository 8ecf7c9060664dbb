//! Index updates: documents are added, removed and erased in atomic commits.
//!
//! A commit carries the caller's checkpoint, so that index and checkpoint can never disagree. Uncommitted documents are
//! never found.

use std::collections::HashSet;

use tantivy::directory::{Directory, INDEX_WRITER_LOCK};
use tantivy::index::SegmentComponent::{
    self, Delete, FastFields, FieldNorms, Positions, Postings, Store, Terms,
};
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, NoMergePolicy};
use tantivy::{IndexWriter as TantivyWriter, TantivyDocument, TantivyError, Term};

use super::schema::FORMAT;
use super::tails::Tails;
use super::{BuildPlace, Payload, SearchIndex};
use crate::document::{Document, DocumentKind};
use crate::error::{IndexError, Result};
use crate::source::whole_tag;

/// Bytes buffered in memory before they become a segment.
const HEAP: usize = 40_000_000;
/// Number of similar-sized segments merged into one: fewer to search, more to write.
const SEGMENTS_TO_MERGE: usize = 6;
/// A segment with a larger share of deleted documents is rewritten.
const DELETED_AT_MOST: f32 = 0.3;

/// The files of a segment.
const PARTS: [SegmentComponent; 7] = [Terms, Store, Postings, Positions, FastFields, FieldNorms, Delete];

/// Whether the files hold anything of removed documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Purged {
    All,
    /// Large files still do.
    Rest,
}

/// The single writer of an index.
pub struct IndexWriter<'a> {
    index: &'a SearchIndex,
    writer: TantivyWriter,
    /// Ids added since the last commit.
    added: HashSet<i64>,
}

impl<'a> IndexWriter<'a> {
    pub(super) fn open(index: &'a SearchIndex) -> Result<IndexWriter<'a>> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(HEAP)
            .build();
        let writer: TantivyWriter = index.index.writer_with_options(options).map_err(open_error)?;
        let mut policy = LogMergePolicy::default();
        policy.set_min_num_segments(SEGMENTS_TO_MERGE);
        policy.set_del_docs_ratio_before_merge(DELETED_AT_MOST);
        writer.set_merge_policy(Box::new(policy));
        Ok(IndexWriter { index, writer, added: HashSet::new() })
    }

    /// Adds a document, replacing one with the same id. Only an existing one is removed: removals stay in memory until the
    /// commit, and each is looked up in every segment.
    pub fn add(&mut self, document: &Document) -> Result<()> {
        if self.added.contains(&document.id) || self.index.contains(document.id)? {
            self.remove(document.id);
        }
        self.add_new(document)
    }

    /// Adds a document whose id the index does not have.
    pub fn add_new(&mut self, document: &Document) -> Result<()> {
        self.writer.add_document(self.indexed(document)).map_err(IndexError::write)?;
        self.added.insert(document.id);
        Ok(())
    }

    /// The number of documents added since the last commit.
    pub fn uncommitted(&self) -> usize {
        self.added.len()
    }

    /// Removes a document, if present. Its words may stay in the files until they are merged: see `erase`.
    pub fn remove(&self, id: i64) {
        self.writer.delete_term(Term::from_field_i64(self.index.fields.id, id));
    }

    /// Removes all parts of a whole that were added before.
    pub fn remove_parts(&self, whole: i64) {
        self.writer.delete_term(Term::from_field_text(self.index.fields.tags, &whole_tag(whole)));
    }

    /// Commits all changes since the last commit together with the caller's `checkpoint`.
    pub fn commit(&mut self, checkpoint: i64) -> Result<()> {
        self.commit_as(Some(checkpoint), None)
    }

    /// Commits a part of a build, and where it goes on if this process ends.
    pub fn commit_part(&mut self, place: BuildPlace) -> Result<()> {
        self.commit_as(None, Some(place))
    }

    /// Removes documents, and rewrites the files that hold something of removed ones, smallest first, up to `most` documents;
    /// waits for it. Earlier changes are committed too; the checkpoint stays.
    pub fn erase(mut self, ids: &[i64], most: u32) -> Result<Purged> {
        // Segments that are merged meanwhile could not be named below.
        self.writer.set_merge_policy(Box::new(NoMergePolicy));
        ids.iter().for_each(|id| self.remove(*id));
        let Payload { checkpoint, build, .. } = self.index.payload()?;
        self.commit_as(checkpoint, build)?;
        let segments = self.index.index.searchable_segment_metas().map_err(IndexError::damaged)?;
        let mut touched: Vec<_> = segments.iter().filter(|segment| segment.num_deleted_docs() > 0).collect();
        touched.sort_by_key(|segment| segment.num_docs());
        let (mut spent, mut purged) = (0_u32, Purged::All);
        for segment in touched {
            spent = spent.saturating_add(segment.num_docs());
            if spent > most {
                purged = Purged::Rest;
                break;
            }
            self.writer.merge(&[segment.id()]).wait().map_err(IndexError::write)?;
        }
        self.index.reload()?;
        self.writer.garbage_collect_files().wait().map_err(IndexError::write)?;
        self.close()?;
        Ok(purged)
    }

    /// Waits for running merges, and records the ends of the files. A writer that is dropped leaves both to the next.
    pub fn close(self) -> Result<()> {
        self.writer.wait_merging_threads().map_err(IndexError::write)?;
        self.index.reload()?;
        // Waiting gave the lock back. Another writer that has it already records what it leaves.
        let Ok(_lock) = self.index.index.directory().acquire_lock(&INDEX_WRITER_LOCK) else { return Ok(()) };
        let segments = self.index.metas()?.segments;
        let files = segments.iter().flat_map(|segment| PARTS.map(|part| segment.relative_path(part)));
        Tails::record(&self.index.folder, files).map_err(IndexError::write)
    }

    fn commit_as(&mut self, checkpoint: Option<i64>, build: Option<BuildPlace>) -> Result<()> {
        let payload = Payload { format: FORMAT, checkpoint, build };
        let payload = serde_json::to_string(&payload).map_err(IndexError::write)?;
        let mut prepared = self.writer.prepare_commit().map_err(IndexError::write)?;
        prepared.set_payload(&payload);
        prepared.commit().map_err(IndexError::write)?;
        self.added.clear();
        self.index.reload()
    }

    fn indexed(&self, document: &Document) -> TantivyDocument {
        let fields = self.index.fields;
        let facts = document.facts();
        let mut made = TantivyDocument::default();
        made.add_i64(fields.id, facts.id);
        made.add_i64(fields.at, facts.at);
        made.add_u64(fields.session, facts.session);
        made.add_u64(fields.turn, u64::from(facts.turn));
        made.add_u64(fields.kind, kind_number(facts.kind));
        document.texts().into_iter().for_each(|text| made.add_text(fields.words, text));
        document.tags().into_iter().for_each(|tag| made.add_text(fields.tags, tag));
        let pieces: Vec<u8> = document.word_pieces().into_iter().flat_map(u16::to_le_bytes).collect();
        made.add_bytes(fields.pieces, &pieces);
        made
    }
}

/// A kind's number in the index.
fn kind_number(kind: DocumentKind) -> u64 {
    DocumentKind::ALL.iter().position(|known| *known == kind).unwrap_or_default() as u64
}

fn open_error(error: TantivyError) -> IndexError {
    if let TantivyError::LockFailure(..) = error { IndexError::Busy } else { IndexError::write(error) }
}
