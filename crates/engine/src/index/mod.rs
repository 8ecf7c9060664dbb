//! Full-text and embedding search over memories, messages and tool output.
//!
//! The archive is the truth. The index is derived from it and rebuilt if it is missing, damaged or of another
//! version. Rows captured since the last index update are searched directly, without indexing them first.

mod actions;
mod beside;
pub mod damage;
mod deep;
mod documents;
pub mod embeddings;
mod erase;
mod found;
pub mod labels;
mod prompt;
mod question;
mod update;

pub use crate::runtime::archive::{forget_index, index_folder as folder};
pub use beside::{IndexCount, index_beside};
pub use deep::{DeepAnswer, deep};
pub use documents::{each as each_document, each_of, of_memory, project_key};
pub use erase::{erase, is_purge_due, purge};
pub use found::Found;
pub use prompt::memories_for;
pub use question::{Answer, Library, Question, TeamRow, ask, pending};
pub use towline_search::marks;
pub use update::{Seen, Updated, is_writable, read_up_to, unindexed_turns, update, update_within};

use towline_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Index(#[from] towline_search::IndexError),
    #[error(transparent)]
    Model(#[from] towline_search::ModelError),
}
