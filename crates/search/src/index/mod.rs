//! The index folder: open, write, search, rebuild.
//!
//! Committed documents survive a kill at any moment; uncommitted ones leave no trace. An unreadable index is never
//! repaired: the caller rebuilds it from the database.

mod cursors;
mod files;
mod fresh;
mod recall;
mod replace;
mod schema;
mod segment;
mod tails;
mod tokens;
mod writer;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tantivy::store::Compressor;
use tantivy::{IndexMeta, IndexReader, IndexSettings, ReloadPolicy, Searcher, Term};

use crate::document::Document;
use crate::error::{IndexError, Result};
use crate::query::Query;
use crate::rank::{self, Hit, RankingStages};
use crate::source::DocSource;
use crate::vectors::QuerySimilarity;

use files::IndexFiles;
use fresh::Fresh;
use replace::{aside, exchange, identity, remove_left_over};
use schema::{FORMAT, Fields, schema};
use segment::Segment;

pub use recall::memories_sharing;
pub use writer::{IndexWriter, Purged};

/// Data stored with every commit.
#[derive(Serialize, Deserialize)]
struct Payload {
    format: u32,
    checkpoint: Option<i64>,
    #[serde(default)]
    build: Option<BuildPlace>,
}

impl Payload {
    /// `None` if another version wrote it.
    fn of(meta: &IndexMeta) -> Option<Payload> {
        let Some(payload) = &meta.payload else {
            let empty = Payload { format: FORMAT, checkpoint: None, build: None };
            return meta.segments.is_empty().then_some(empty);
        };
        serde_json::from_str::<Payload>(payload).ok().filter(|payload| payload.format == FORMAT)
    }
}

/// How far a build has come that was not finished. The caller defines both numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildPlace {
    /// The checkpoint that the finished build will have.
    pub checkpoint: i64,
    /// The last row whose documents are committed.
    pub row: i64,
}

/// A search index in a folder.
pub struct SearchIndex {
    folder: PathBuf,
    index: tantivy::Index,
    reader: IndexReader,
    fields: Fields,
}

/// Small blocks: a search reads some two hundred documents from all over the index.
const BLOCK: usize = 4096;

/// How often something is read again that is replaced meanwhile.
const TRIES: usize = 5;

/// Created by the library with the first commit.
const META: &str = "meta.json";

impl SearchIndex {
    /// Opens the index, or creates an empty one if there is none.
    pub fn open(folder: &Path) -> Result<SearchIndex> {
        in_library(|| SearchIndex::open_files(folder))
    }

    /// Opens the index if there is one; creates nothing.
    pub fn open_existing(folder: &Path) -> Result<Option<SearchIndex>> {
        if folder.join(META).exists() { SearchIndex::open(folder).map(Some) } else { Ok(None) }
    }

    /// Opens again what was replaced while it was opened.
    fn open_files(folder: &Path) -> Result<SearchIndex> {
        let mut opened = Err(IndexError::damaged("it is replaced again and again"));
        for _ in 0..TRIES {
            let before = identity(folder);
            opened = SearchIndex::open_once(folder);
            if opened.is_ok() || before.is_none() || identity(folder) == before {
                break;
            }
        }
        opened
    }

    fn open_once(folder: &Path) -> Result<SearchIndex> {
        create_folder(folder)?;
        if !folder.join(META).exists() {
            create(folder)?;
        }
        let (index, fields) = open_or_create(folder)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).num_warming_threads(0);
        let reader = reader.try_into()?;
        let index = SearchIndex { folder: folder.to_owned(), index, reader, fields };
        // Refuses an index of another version.
        index.payload()?;
        Ok(index)
    }

    /// Replaces what is in the folder by an empty index. Concurrent openers see the one or the other.
    pub fn rebuild(folder: &Path) -> Result<SearchIndex> {
        remove_left_over(folder);
        if folder.exists() {
            let aside = aside(folder);
            create_folder(&aside)?;
            in_library(|| open_or_create(&aside)).map(drop)?;
            let replaced = exchange(&aside, folder);
            let removed = std::fs::remove_dir_all(&aside);
            let failed = |source| IndexError::Folder { path: folder.to_owned(), source };
            replaced.and(removed).map_err(failed)?;
        }
        SearchIndex::open(folder)
    }

    /// The checkpoint of the last commit; `None` before the first, and while the index is built.
    pub fn checkpoint(&self) -> Result<Option<i64>> {
        Ok(self.payload()?.checkpoint)
    }

    /// Where a build goes on that was not finished.
    pub fn unfinished_build(&self) -> Result<Option<BuildPlace>> {
        Ok(self.payload()?.build)
    }

    fn payload(&self) -> Result<Payload> {
        Payload::of(&self.metas()?).ok_or_else(|| IndexError::OtherFormat { path: self.folder.clone() })
    }

    /// The library opens the file by its path: if the folder is exchanged and the old one removed between two steps of that
    /// path, there is no such file, and the next attempt finds that of the new folder.
    fn metas(&self) -> Result<IndexMeta> {
        let mut read = self.index.load_metas();
        for _ in 1..TRIES {
            if read.is_ok() || !self.folder.join(META).exists() {
                break;
            }
            read = self.index.load_metas();
        }
        Ok(read?)
    }

    /// Whether a committed document has this id; it may have been removed since.
    fn contains(&self, id: i64) -> Result<bool> {
        let term = Term::from_field_i64(self.fields.id, id);
        for segment in self.reader.searcher().segment_readers() {
            if segment.inverted_index(self.fields.id)?.doc_freq(&term)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The number of searchable documents.
    pub fn documents(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Loads commits that other processes made since this index was opened.
    pub fn reload(&self) -> Result<()> {
        self.reader.reload().map_err(IndexError::damaged)
    }

    /// Compares every file with its checksum. For `doctor`; too slow for a search.
    pub fn verify(&self) -> Result<()> {
        let broken = self.index.validate_checksum().map_err(IndexError::damaged)?;
        match broken.iter().next() {
            None => Ok(()),
            Some(file) => Err(IndexError::damaged(format!("{} is not what was written", file.display()))),
        }
    }

    /// Opens the index for writing. There is at most one writer at a time, on the whole machine.
    pub fn writer(&self) -> Result<IndexWriter<'_>> {
        remove_left_over(&self.folder);
        IndexWriter::open(self)
    }

    /// The best hits, best first. `fresh` holds documents that are not indexed yet, or changed since.
    pub fn search(&self, query: &Query, fresh: &[Document]) -> Result<Vec<Hit>> {
        self.search_with(RankingStages::Whole, query, fresh, None)
    }

    /// `search` limited to some ranking stages, or with a model's vectors in addition.
    pub fn search_with(
        &self,
        tier: RankingStages,
        query: &Query,
        fresh: &[Document],
        near: Option<&QuerySimilarity<'_>>,
    ) -> Result<Vec<Hit>> {
        in_library(|| {
            let searcher = self.reader.searcher();
            let segments = self.segments(&searcher, fresh)?;
            let fresh = Fresh::new(fresh);
            let mut sources: Vec<&dyn DocSource> =
                segments.iter().map(|segment| segment as &dyn DocSource).collect();
            sources.push(&fresh);
            rank::rank(tier, query, &sources, near)
        })
    }

    fn segments<'a>(&self, searcher: &'a Searcher, fresh: &[Document]) -> Result<Vec<Segment<'a>>> {
        let readers = searcher.segment_readers().iter();
        readers.map(|reader| Segment::open(reader, self.fields, fresh)).collect()
    }
}

thread_local! {
    static IN_LIBRARY: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs code of the search library. Damaged files make it panic, and a panic ends the
/// process, so the panic hook asks.
pub fn is_in_library() -> bool {
    let own_threads = ["segment_updater", "merge_thread", "thrd-tantivy"];
    let current = std::thread::current();
    let is_own = current.name().is_some_and(|name| own_threads.iter().any(|start| name.starts_with(start)));
    is_own || IN_LIBRARY.get()
}

fn in_library<T>(work: impl FnOnce() -> T) -> T {
    let outer = IN_LIBRARY.replace(true);
    let result = work();
    IN_LIBRARY.set(outer);
    result
}

fn open_or_create(folder: &Path) -> Result<(tantivy::Index, Fields)> {
    let (schema, fields) = schema();
    let directory = IndexFiles::open(folder).map_err(IndexError::damaged)?;
    let builder =
        tantivy::Index::builder().schema(schema).settings(settings()).tokenizers(schema::tokenizers());
    let index = builder.open_or_create(directory).map_err(|error| open_error(folder, &error))?;
    Ok((index, fields))
}

/// Creates an empty index beside the folder and renames it into place: concurrent openers see all of it or nothing.
fn create(folder: &Path) -> Result<()> {
    let aside = aside(folder);
    create_folder(&aside)?;
    let moved = open_or_create(&aside).map(|_| std::fs::rename(&aside, folder).is_ok());
    // After a successful rename there is nothing to remove.
    let _ = std::fs::remove_dir_all(&aside);
    // Another process may have been faster.
    if moved? || folder.join(META).exists() {
        return Ok(());
    }
    Err(IndexError::damaged(format!("{META} is missing in {}", folder.display())))
}

fn create_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| IndexError::Folder { path: folder.to_owned(), source })
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Lz4,
        docstore_blocksize: BLOCK,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

fn open_error(folder: &Path, error: &tantivy::TantivyError) -> IndexError {
    if let tantivy::TantivyError::SchemaError(_) | tantivy::TantivyError::IncompatibleIndex(_) = error {
        return IndexError::OtherFormat { path: folder.to_owned() };
    }
    IndexError::damaged(error)
}
