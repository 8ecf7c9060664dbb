//! Export and import of captured work: one JSON object per line, or Markdown to read.
//!
//! The format is versioned and documented in docs/import.md. It contains nothing of this machine but
//! the paths that the captured sessions worked in.

mod jsonl;
mod markdown;
mod take_in;
pub mod wire;

pub use jsonl::jsonl;
pub use markdown::markdown;
pub use take_in::{Done, Errand, file, import};

use std::io;
use towline_store::StoreError;

/// The format that this binary writes; it reads no later one.
const FORMAT: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("could not read what was captured")]
    Store(#[from] StoreError),
    #[error("could not write the export")]
    Write(#[from] io::Error),
    #[error("could not put a row into words")]
    Words(#[from] serde_json::Error),
}
