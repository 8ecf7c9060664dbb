//! Making vectors of what can be found, behind everybody's back: the newest first, and only of what has none yet.
//!
//! Killed anywhere, it goes on: a vector is there or is not, and how far all of them go is said last. No statement of the
//! archive stays open while the model thinks.

use super::{Model, vectors_file};
use crate::index;
use crate::index::FindError;
use std::collections::{HashMap, HashSet};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use towline_search::{
    Document, Encoder, Kind, ModelError, VectorWriter, Vectors, VectorsOf, embedded, mark_of,
};
use towline_store::Home;
use towline_store::archive::{Archive, Change, MemoriesAsked};

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    pub documents: u64,
    /// There was no time for all of it.
    pub more: bool,
    /// Somebody else is at it.
    pub busy: bool,
}

/// What is looked through for texts without a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What changed since the last time.
    New,
    /// All there is.
    All,
}

const CHANGES_AT_ONCE: u32 = 200;
const ROWS_AT_ONCE: u32 = 500;

/// Makes the vectors that are missing, for as long as there is time. `has_time` is told how many were made.
pub fn embed(
    (home, archive): (&Home, &Archive),
    model: &Model,
    extent: Extent,
    has_time: &mut dyn FnMut(u64) -> bool,
) -> Result<Embedded, FindError> {
    let encoder = Encoder::open(&model.folder)?;
    let of = VectorsOf { model: model.mark, dimensions: encoder.dimensions() };
    let file = vectors_file(home);
    let failed = |source| unusable(&file, source);
    if let Some(folder) = file.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    let Some(mut writer) = VectorWriter::open(&file, of).map_err(failed)? else {
        return Ok(Embedded { busy: true, ..Embedded::default() });
    };
    let Some(vectors) = Vectors::open(&file, of).map_err(failed)? else { return Ok(Embedded::default()) };
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

/// Leaves no vector of anything that is no longer there. Where somebody is making vectors at this moment, all of them go.
pub fn shed(home: &Home, archive: &Archive) -> Result<(), FindError> {
    let file = vectors_file(home);
    let failed = |source| unusable(&file, source);
    let Some(of) = VectorsOf::of_file(&file).map_err(failed)? else { return remove(&file).map_err(failed) };
    let Some(writer) = VectorWriter::open(&file, of).map_err(failed)? else {
        return remove(&file).map_err(failed);
    };
    let mut there = HashSet::new();
    index::each_document(archive, &mut |document| {
        there.insert((document.id, mark_of(&embedded(&document))));
        Ok(())
    })?;
    writer.keep_only(&|id, mark| there.contains(&(id, mark))).map_err(failed)?;
    Ok(())
}

fn remove(file: &std::path::Path) -> io::Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
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

/// A text that a vector is wanted of.
struct Wanted {
    id: i64,
    mark: u64,
    text: String,
}

impl Making<'_> {
    /// Whether it came to the end.
    fn go_on(&mut self, mut checkpoint: i64) -> Result<bool, FindError> {
        let last = self.archive.last_change()?;
        loop {
            let changes = self.archive.changes_after(checkpoint, CHANGES_AT_ONCE)?;
            let next = changes.first().map(|(seq, _)| *seq);
            // Changes that were dropped in between are not known any more.
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

    fn wanted_of(&self, changes: impl IntoIterator<Item = Change>) -> Result<Vec<Wanted>, FindError> {
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

    /// The newest first.
    fn memories(&mut self) -> Result<bool, FindError> {
        let mut before = None;
        loop {
            let asked = MemoriesAsked { before, limit: ROWS_AT_ONCE, ..MemoriesAsked::default() };
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

    /// The newest first.
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
            let both = [Change::Summary { conversation: row }, Change::Conversation { row, from_turn: 0 }];
            let wanted = self.wanted_of(both)?;
            if !self.make(wanted)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is to be embedded of a document: nothing of what tools gave, or of what has its vector already.
    fn wanted(&self, document: &Document) -> Option<Wanted> {
        match document.kind {
            Kind::Memory | Kind::Summary | Kind::Prompt | Kind::Body => {}
            Kind::Line | Kind::Detail | Kind::Bookmark => return None,
        }
        let text = embedded(document);
        let (id, mark) = (document.id, mark_of(&text));
        (self.known.get(&id) != Some(&mark) && !text.trim().is_empty()).then_some(Wanted { id, mark, text })
    }

    /// Whether there was time for all of them.
    fn make(&mut self, wanted: Vec<Wanted>) -> Result<bool, FindError> {
        for Wanted { id, mark, text } in wanted {
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
