//! The index in its folder: opened, written, searched, made anew.
//!
//! What was committed is there after a kill at any moment; what was not is as if it had never been. An index that
//! cannot be read is never repaired: the caller makes it anew from the truth.

mod fresh;
mod schema;
mod segment;
mod tokens;
mod writer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use tantivy::directory::MmapDirectory;
use tantivy::store::Compressor;
use tantivy::{IndexReader, IndexSettings, ReloadPolicy, Searcher};

use crate::document::Document;
use crate::query::Query;
use crate::rank::{self, Hit, Tier};
use crate::source::Source;
use crate::vectors::Near;

use fresh::Fresh;
use schema::{FORMAT, Fields, schema};
use segment::Segment;

pub use writer::Writer;

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder itself is the trouble.
    #[error("could not use the folder of the search index at {path}")]
    Folder { path: PathBuf, source: std::io::Error },
    /// Make it anew: `Index::rebuild`.
    #[error("the search index at {path} was made by another version")]
    OtherFormat { path: PathBuf },
    /// Make it anew: `Index::rebuild`.
    #[error("the search index is damaged: {complaint}")]
    Damaged { complaint: String },
    /// Somebody else writes; try later.
    #[error("the search index is being written by another process")]
    Busy,
    /// It was not written; what was there before still is.
    #[error("could not write the search index: {complaint}")]
    Write { complaint: String },
}

impl Error {
    /// Whether making the index anew mends it.
    pub fn calls_for_rebuild(&self) -> bool {
        match self {
            Error::OtherFormat { .. } | Error::Damaged { .. } => true,
            Error::Folder { .. } | Error::Busy | Error::Write { .. } => false,
        }
    }

    fn damaged(complaint: impl ToString) -> Error {
        Error::Damaged { complaint: complaint.to_string() }
    }

    fn write(complaint: impl ToString) -> Error {
        Error::Write { complaint: complaint.to_string() }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::damaged(error)
    }
}

/// What is kept with every commit.
#[derive(Serialize, Deserialize)]
struct Payload {
    format: u32,
    checkpoint: Option<i64>,
}

/// A folder with documents to be found.
pub struct Index {
    folder: PathBuf,
    index: tantivy::Index,
    reader: IndexReader,
    fields: Fields,
}

/// Small blocks: a search reads some two hundred documents from all over the index.
const BLOCK: usize = 4096;

/// Made by the library when there is something to open.
const META: &str = "meta.json";

impl Index {
    /// Opens the index, or makes an empty one where there is nothing.
    pub fn open(folder: &Path) -> Result<Index, Error> {
        shielded(|| Index::open_files(folder))
    }

    /// Opens the index if there is one, and makes nothing.
    pub fn open_existing(folder: &Path) -> Result<Option<Index>, Error> {
        if folder.join(META).exists() { Index::open(folder).map(Some) } else { Ok(None) }
    }

    fn open_files(folder: &Path) -> Result<Index, Error> {
        make_folder(folder)?;
        if !folder.join(META).exists() {
            make(folder)?;
        }
        let (index, fields) = files_in(folder)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).num_warming_threads(0);
        let reader = reader.try_into().map_err(Error::damaged)?;
        let index = Index { folder: folder.to_owned(), index, reader, fields };
        index.checkpoint()?;
        Ok(index)
    }

    /// Deletes whatever is in the folder, and makes an empty index there.
    pub fn rebuild(folder: &Path) -> Result<Index, Error> {
        match std::fs::remove_dir_all(folder) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::Folder { path: folder.to_owned(), source });
            }
            Ok(()) | Err(_) => {}
        }
        Index::open(folder)
    }

    /// What the last commit said of how far it goes. `None`: nothing was committed yet.
    pub fn checkpoint(&self) -> Result<Option<i64>, Error> {
        let meta = self.index.load_metas().map_err(Error::damaged)?;
        let Some(payload) = meta.payload else {
            let is_new = meta.segments.is_empty();
            return if is_new { Ok(None) } else { Err(self.of_other_format()) };
        };
        match serde_json::from_str::<Payload>(&payload) {
            Ok(payload) if payload.format == FORMAT => Ok(payload.checkpoint),
            Ok(_) | Err(_) => Err(self.of_other_format()),
        }
    }

    fn of_other_format(&self) -> Error {
        Error::OtherFormat { path: self.folder.clone() }
    }

    /// How many documents can be found.
    pub fn documents(&self) -> u64 {
        self.reader.searcher().num_docs()
    }

    /// Looks at what others have committed since this index was opened.
    pub fn reload(&self) -> Result<(), Error> {
        self.reader.reload().map_err(Error::damaged)
    }

    /// Compares every file with its checksum: what a doctor asks, not a search.
    pub fn verify(&self) -> Result<(), Error> {
        let broken = self.index.validate_checksum().map_err(Error::damaged)?;
        match broken.iter().next() {
            None => Ok(()),
            Some(file) => Err(Error::damaged(format!("{} is not what was written", file.display()))),
        }
    }

    /// Opens it for writing. At most one writer at a time, on the whole machine.
    pub fn writer(&self) -> Result<Writer<'_>, Error> {
        Writer::open(self)
    }

    /// The best hits, best first. `fresh` are documents that are not indexed yet, or in another form.
    pub fn search(&self, query: &Query, fresh: &[Document]) -> Result<Vec<Hit>, Error> {
        self.search_with(Tier::Whole, query, fresh)
    }

    /// The same, with less than all means: to measure what each is worth.
    pub fn search_with(&self, tier: Tier, query: &Query, fresh: &[Document]) -> Result<Vec<Hit>, Error> {
        self.answer(tier, query, fresh, None)
    }

    /// The same, with a model's vectors beside all other means.
    pub fn search_near(
        &self,
        query: &Query,
        fresh: &[Document],
        near: Option<&Near<'_>>,
    ) -> Result<Vec<Hit>, Error> {
        self.answer(Tier::Whole, query, fresh, near)
    }

    fn answer(
        &self,
        tier: Tier,
        query: &Query,
        fresh: &[Document],
        near: Option<&Near<'_>>,
    ) -> Result<Vec<Hit>, Error> {
        shielded(|| {
            let searcher = self.reader.searcher();
            let segments = self.segments(&searcher, fresh)?;
            let fresh = Fresh::new(fresh);
            let mut sources: Vec<&dyn Source> =
                segments.iter().map(|segment| segment as &dyn Source).collect();
            sources.push(&fresh);
            rank::rank(tier, query, &sources, near)
        })
    }

    fn segments<'a>(&self, searcher: &'a Searcher, fresh: &[Document]) -> Result<Vec<Segment<'a>>, Error> {
        let readers = searcher.segment_readers().iter();
        readers.map(|reader| Segment::open(reader, self.fields, fresh)).collect()
    }
}

/// Files that are not what was written can lead the library astray: it panics then, and the index is damaged.
fn shielded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::damaged("a file is not what was written")))
}

fn files_in(folder: &Path) -> Result<(tantivy::Index, Fields), Error> {
    let (schema, fields) = schema();
    let directory = MmapDirectory::open(folder).map_err(Error::damaged)?;
    let builder =
        tantivy::Index::builder().schema(schema).settings(settings()).tokenizers(schema::tokenizers());
    let index = builder.open_or_create(directory).map_err(|error| opening(folder, &error))?;
    Ok((index, fields))
}

/// Makes an empty index beside the folder and moves it there whole: who opens it at the same time sees all of it or nothing.
fn make(folder: &Path) -> Result<(), Error> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let aside = folder.with_extension(format!("new.{}.{number}", std::process::id()));
    make_folder(&aside)?;
    let moved = files_in(&aside).map(|_| std::fs::rename(&aside, folder).is_ok());
    // Where it was moved, nothing is left of it.
    let _ = std::fs::remove_dir_all(&aside);
    // Somebody else may have been faster.
    if moved? || folder.join(META).exists() {
        return Ok(());
    }
    Err(Error::damaged(format!("{META} is missing in {}", folder.display())))
}

fn make_folder(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(|source| Error::Folder { path: folder.to_owned(), source })
}

fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::Lz4,
        docstore_blocksize: BLOCK,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

fn opening(folder: &Path, error: &tantivy::TantivyError) -> Error {
    if let tantivy::TantivyError::SchemaError(_) | tantivy::TantivyError::IncompatibleIndex(_) = error {
        return Error::OtherFormat { path: folder.to_owned() };
    }
    Error::damaged(error)
}
