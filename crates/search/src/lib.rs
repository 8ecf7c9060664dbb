//! Full-text search: plain documents in, ranked hits out.
//!
//! The index is derived data that can be rebuilt at any time. This crate knows no database, no agent and no
//! configuration; it reads no clock, prints nothing, and stores no text beyond what the index needs.

mod document;
mod error;
mod index;
mod minilm;
mod query;
mod rank;
mod snippet;
mod source;
mod table;
mod vectors;
mod words;

pub use document::{Document, DocumentKind};
pub use error::{IndexError, Result};
pub use index::{BuildPlace, IndexWriter, Purged, SearchIndex, is_in_library, memories_sharing};
pub use minilm::{Encoder, MODEL_FILES, ModelError, embedded, mark_of};
pub use query::{Filters, Query, QueryContext};
pub use rank::{Boost, BoostReason, Hit, RankingStages};
pub use snippet::{Snippet, marks, snippet, words_in};
pub use vectors::{QuerySimilarity, VectorFile, VectorFormat, VectorWriter};
pub use words::is_stop_word;
