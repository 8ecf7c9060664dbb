//! The optional embedding model: its installation, query embeddings, and the file of document embeddings.
//!
//! No command waits for it or fails without it: the compiled-in table serves instead, and the caller gets a
//! reason to show. Hooks never open it.

mod embed;
mod place;

pub use embed::{Extent, embed, remove_deleted};
pub use place::{Origin, PlaceError, ask_for, remove, size_of};

use crate::runtime::chain;
use crate::runtime::config::{Search, SearchTier};
use std::fs;
use std::path::{Path, PathBuf};
use towline_search::{Encoder, MODEL_FILES, ModelError, VectorFile, VectorFormat};
use towline_store::DataFolder;

/// An installed and verified model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    pub folder: PathBuf,
    /// Identifies the model: the beginning of its weights' checksum.
    pub mark: u64,
}

/// The state of the configured model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Only the compiled-in table is configured.
    NotWanted,
    /// Configured but unusable, with the reason.
    Missing(String),
    Ready(Model),
}

/// The list of verified checksums, written last.
const PROVEN: &str = "checksums";

pub fn folder(home: &DataFolder) -> PathBuf {
    home.folder().join("model")
}

/// The file of document embeddings.
pub fn vectors_file(home: &DataFolder) -> PathBuf {
    home.folder().join("vectors").join("rows")
}

pub fn standing(home: &DataFolder, wanted: &Search) -> Standing {
    match wanted.tier {
        SearchTier::Static => Standing::NotWanted,
        SearchTier::MiniLm => found(home, wanted).map_or_else(Standing::Missing, Standing::Ready),
    }
}

/// The model that the settings name, whether it is used or not; or the reason it is unusable.
pub fn found(home: &DataFolder, wanted: &Search) -> Result<Model, String> {
    let folder = folder(home);
    let proven = fs::read_to_string(folder.join(PROVEN)).map_err(|_| "it was not fetched yet".to_owned())?;
    if proven != checksums(wanted) {
        return Err("another one lies there than search.model_sha256 names".to_owned());
    }
    if let Some(gone) = MODEL_FILES.into_iter().find(|name| !folder.join(name).is_file()) {
        return Err(format!("{} is gone", folder.join(gone).display()));
    }
    let weights = wanted.model_sha256.iter().find(|(name, _)| name == MODEL_FILES[0]);
    let mark = weights.and_then(|(_, sum)| u64::from_str_radix(sum.get(..16)?, 16).ok()).unwrap_or_default();
    Ok(Model { folder, mark })
}

/// One line per file, sorted.
fn checksums(wanted: &Search) -> String {
    let mut lines: Vec<String> =
        wanted.model_sha256.iter().map(|(name, sum)| format!("{sum}  {name}\n")).collect();
    lines.sort();
    lines.concat()
}

/// The embedding of a query, and the document embeddings to compare it with.
pub struct Asked {
    /// `None` if none were computed yet: the hub may have some.
    pub vectors: Option<VectorFile>,
    pub meaning: Vec<f32>,
    /// Identifies the model.
    pub model: u64,
}

/// Embeds a query. Returns `None` if only the table serves, with the reason if a model is configured.
pub fn asked(home: &DataFolder, wanted: &Search, text: &str) -> (Option<Asked>, Option<String>) {
    match standing(home, wanted) {
        Standing::NotWanted => (None, None),
        Standing::Missing(why) => (None, Some(format!("{why}; run `tow data model get`"))),
        Standing::Ready(model) => match understood(home, &model, text) {
            Ok(asked) if asked.vectors.is_some() => (Some(asked), None),
            Ok(asked) => (Some(asked), Some("no vectors were made yet; run `tow data reindex`".to_owned())),
            Err(error) => (None, Some(format!("{}; run `tow data model get`", chain(&error)))),
        },
    }
}

fn understood(home: &DataFolder, model: &Model, text: &str) -> Result<Asked, ModelError> {
    let encoder = Encoder::open(&model.folder)?;
    let vectors = kept(home, model, &encoder)?;
    Ok(Asked { vectors, meaning: encoder.embed(text), model: model.mark })
}

/// The document embeddings computed by this model, if there are any.
pub fn kept(home: &DataFolder, model: &Model, encoder: &Encoder) -> Result<Option<VectorFile>, ModelError> {
    let file = vectors_file(home);
    let of = VectorFormat { model: model.mark, dimensions: encoder.dimensions() };
    let vectors = VectorFile::open(&file, of).map_err(|source| ModelError::Read { path: file, source })?;
    Ok(vectors.filter(|vectors| !vectors.is_empty()))
}

/// The number and file size of the document embeddings, whichever model computed them.
pub fn vectors_there(file: &Path) -> (usize, u64) {
    let of = VectorFormat::of_file(file).ok().flatten();
    let vectors = of.and_then(|of| VectorFile::open(file, of).ok().flatten());
    (vectors.map_or(0, |vectors| vectors.known().len()), fs::metadata(file).map_or(0, |meta| meta.len()))
}
