//! Finding what was remembered, said and done: the search index of the archive, and questions to it.
//!
//! The truth is the archive; the index is derived from it and made anew whenever it is missing, damaged or of another
//! version. What was captured since the index was last written is searched as it is: nothing has to be indexed first.

mod documents;
pub mod embeddings;
mod found;
pub mod labels;
mod prompt;
mod question;
mod update;

pub use crate::runtime::archive::{forget_index, index_folder as folder};
pub use documents::{each as each_document, each_of, of_memory, project_key};
pub use found::Found;
pub use prompt::memories_for;
pub use question::{Library, Question, TeamRow, ask};
pub use update::{read_up_to, update};

use towline_store::StoreError;

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
