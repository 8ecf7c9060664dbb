//! Finding what was remembered, said and done: the search index of the archive, and questions to it.
//!
//! The truth is the archive; the index is derived from it and made anew whenever it is missing, damaged or of another
//! version. What was captured since the index was last written is searched as it is: nothing has to be indexed first.

mod documents;
mod found;
mod prompt;
mod question;
mod update;

pub use documents::{each as each_document, each_of, of_memory, project_key};
pub use found::Found;
pub use prompt::memories_for;
pub use question::{Library, Question, TeamRow, ask};
pub use update::{forget_index, read_up_to, update};

use std::path::PathBuf;
use towline_store::{Home, StoreError};

/// Why something could not be looked for.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] towline_search::Error),
    #[error(transparent)]
    Model(#[from] towline_search::ModelError),
}

/// Where the index of a data folder lies.
pub fn folder(home: &Home) -> PathBuf {
    home.folder().join("index")
}
