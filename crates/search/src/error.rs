//! Why the index cannot be used, and whether a rebuild helps.
//!
//! Names causes only: it opens and repairs nothing.

use std::path::PathBuf;

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The folder itself cannot be used.
    #[error("could not use the folder of the search index at {path}")]
    Folder { path: PathBuf, source: std::io::Error },
    /// Rebuild it: `SearchIndex::rebuild`.
    #[error("the search index at {path} was made by another version")]
    OtherFormat { path: PathBuf },
    /// Rebuild it: `SearchIndex::rebuild`.
    #[error("the search index is damaged: {complaint}")]
    Damaged { complaint: String },
    /// Another process writes; try later.
    #[error("the search index is being written by another process")]
    Busy,
    /// The write failed; the previous content is intact.
    #[error("could not write the search index: {complaint}")]
    Write { complaint: String },
}

pub type Result<T, E = IndexError> = std::result::Result<T, E>;

impl IndexError {
    /// Whether a rebuild fixes the error.
    pub fn needs_rebuild(&self) -> bool {
        matches!(self, IndexError::OtherFormat { .. } | IndexError::Damaged { .. })
    }

    pub(crate) fn damaged(complaint: impl ToString) -> IndexError {
        IndexError::Damaged { complaint: complaint.to_string() }
    }

    pub(crate) fn write(complaint: impl ToString) -> IndexError {
        IndexError::Write { complaint: complaint.to_string() }
    }
}

impl From<std::io::Error> for IndexError {
    fn from(error: std::io::Error) -> IndexError {
        IndexError::damaged(error)
    }
}

impl From<tantivy::TantivyError> for IndexError {
    fn from(error: tantivy::TantivyError) -> IndexError {
        IndexError::damaged(error)
    }
}
