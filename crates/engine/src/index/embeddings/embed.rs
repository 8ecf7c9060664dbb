//! Computes missing embeddings in the background, newest first.
//!
//! A killed run resumes: each vector is complete or absent, and the checkpoint is written last. No archive
//! statement stays open while the model computes.

use super::{Model, vectors_file};
use crate::index::{self, FindError};
use std::collections::{HashMap, HashSet};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use towline_search::{
    Document, DocumentKind, Encoder, ModelError, VectorFile, VectorFormat, VectorWriter, embedded, mark_of,
};
use towline_store::DataFolder;
use towline_store::archive::{Archive, ArchiveChange, MemoryQuery};
use towline_store::home::unless_gone;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    pub documents: u64,
    /// Time ran out before all were computed.
    pub more: bool,
    /// Another process is computing embeddings.
    pub busy: bool,
}

/// The rows to check for missing embeddings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Rows changed since the last run.
    New,
    All,
}

const CHANGES_AT_ONCE: u32 = 200;
const ROWS_AT_ONCE: u32 = 500;

/// Computes missing embeddings until time runs out. `has_time` receives the number computed so far.
pub fn embed(
    home: &DataFolder,
    archive: &Archive,
    model: &Model,
    extent: Extent,
    has_time: &mut dyn FnMut(u64) -> bool,
) -> Result<Embedded, FindError> {
    let encoder = Encoder::open(&model.folder)?;
    let of = VectorFormat { model: model.mark, dimensions: encoder.dimensions() };
    let file = vectors_file(home);
    let failed = |source| unusable(&file, source);
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    let Some(mut writer) = VectorWriter::open(&file, of).map_err(failed)? else {
        return Ok(Embedded { busy: true, ..Embedded::default() });
    };
    let Some(vectors) = VectorFile::open(&file, of).map_err(failed)? else { return Ok(Embedded::default()) };
    let known = vectors.known();
    let checkpoint = vectors.checkpoint();
    if vectors.len() > known.len() * 2 + 1000 {
        writer = writer.keep_only(&|_, _| true).map_err(failed)?;
    }
    drop(vectors);
    let mut making = Making { archive, encoder, writer, file, known, made: 0, has_time };
    let is_done = match checkpoint.filter(|_| extent == Extent::New) {
        Some(checkpoint) => making.go_on(checkpoint)?,
        None => making.all()?,
    };
    Ok(Embedded { documents: making.made, more: !is_done, busy: false })
}

/// Removes the embeddings of deleted rows. If another process is computing embeddings, removes all of them.
pub fn remove_deleted(home: &DataFolder, archive: &Archive) -> Result<(), FindError> {
    let file = vectors_file(home);
    let failed = |source| unusable(&file, source);
    let Some(of) = VectorFormat::of_file(&file).map_err(failed)? else {
        return unless_gone(std::fs::remove_file(&file)).map_err(failed);
    };
    let Some(writer) = VectorWriter::open(&file, of).map_err(failed)? else {
        return unless_gone(std::fs::remove_file(&file)).map_err(failed);
    };
    let mut there = HashSet::new();
    index::each_document(archive, &mut |document| {
        there.insert((document.id, mark_of(&embedded(&document))));
        Ok(())
    })?;
    writer.keep_only(&|id, mark| there.contains(&(id, mark))).map_err(failed)?;
    Ok(())
}

fn unusable(file: &std::path::Path, source: io::Error) -> FindError {
    FindError::Model(ModelError::Read { path: file.to_owned(), source })
}

struct Making<'a> {
    archive: &'a Archive,
    encoder: Encoder,
    writer: VectorWriter,
    file: PathBuf,
    known: HashMap<i64, u64>,
    made: u64,
    has_time: &'a mut dyn FnMut(u64) -> bool,
}

/// A text that lacks an embedding.
struct MissingVector {
    id: i64,
    mark: u64,
    text: String,
}

impl Making<'_> {
    /// Returns whether all changes were processed.
    fn go_on(&mut self, mut checkpoint: i64) -> Result<bool, FindError> {
        let last = self.archive.last_change()?;
        loop {
            let changes = self.archive.changes_after(checkpoint, CHANGES_AT_ONCE)?;
            let next = changes.first().map(|(seq, _)| *seq);
            // Pruned changes are unknown, so everything is checked.
            if next.is_none_or(|next| next > checkpoint + 1) && checkpoint < last {
                return self.all();
            }
            let Some((end, _)) = changes.last().copied() else { return Ok(true) };
            let wanted = self.wanted_of(changes.into_iter().map(|(_, change)| change))?;
            if !self.make(wanted)? {
                return Ok(false);
            }
            checkpoint = end;
            self.commit(checkpoint)?;
        }
    }

    fn wanted_of(
        &self,
        changes: impl IntoIterator<Item = ArchiveChange>,
    ) -> Result<Vec<MissingVector>, FindError> {
        let mut wanted = vec![];
        for change in changes {
            index::each_of(self.archive, change, &mut |document| {
                wanted.extend(self.wanted(&document));
                Ok(())
            })?;
        }
        Ok(wanted)
    }

    fn all(&mut self) -> Result<bool, FindError> {
        let last = self.archive.last_change()?;
        if !(self.memories()? && self.conversations()?) {
            return Ok(false);
        }
        self.commit(last)?;
        Ok(true)
    }

    fn memories(&mut self) -> Result<bool, FindError> {
        let mut before = None;
        loop {
            let asked = MemoryQuery { before, limit: ROWS_AT_ONCE, ..MemoryQuery::default() };
            let memories = self.archive.memories(&asked)?;
            let Some(last) = memories.last() else { return Ok(true) };
            before = Some(last.number);
            let wanted =
                memories.iter().filter_map(|memory| self.wanted(&index::of_memory(memory))).collect();
            if !self.make(wanted)? {
                return Ok(false);
            }
        }
    }

    fn conversations(&mut self) -> Result<bool, FindError> {
        let mut rows: Vec<i64> = vec![];
        loop {
            let more =
                self.archive.conversation_rows_after(rows.last().copied().unwrap_or(0), ROWS_AT_ONCE)?;
            if more.is_empty() {
                break;
            }
            rows.extend(more);
        }
        for row in rows.into_iter().rev() {
            let both = [
                ArchiveChange::Summary { conversation: row },
                ArchiveChange::Conversation { row, from_turn: 0 },
            ];
            let wanted = self.wanted_of(both)?;
            if !self.make(wanted)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The text to embed; `None` for tool output and for documents with an up-to-date embedding.
    fn wanted(&self, document: &Document) -> Option<MissingVector> {
        match document.kind {
            DocumentKind::Memory | DocumentKind::Summary | DocumentKind::Prompt | DocumentKind::Body => {}
            DocumentKind::Line | DocumentKind::Detail | DocumentKind::Bookmark => return None,
        }
        let text = embedded(document);
        let (id, mark) = (document.id, mark_of(&text));
        (self.known.get(&id) != Some(&mark) && !text.trim().is_empty()).then_some(MissingVector {
            id,
            mark,
            text,
        })
    }

    /// Returns whether time sufficed for all of them.
    fn make(&mut self, wanted: Vec<MissingVector>) -> Result<bool, FindError> {
        for MissingVector { id, mark, text } in wanted {
            if !(self.has_time)(self.made) {
                return Ok(false);
            }
            let vector = self.encoder.embed(&text);
            self.writer.add(id, mark, &vector).map_err(|source| unusable(&self.file, source))?;
            self.known.insert(id, mark);
            self.made += 1;
        }
        Ok(true)
    }

    fn commit(&mut self, checkpoint: i64) -> Result<(), FindError> {
        self.writer.commit(checkpoint).map_err(|source| unusable(&self.file, source))
    }
}
