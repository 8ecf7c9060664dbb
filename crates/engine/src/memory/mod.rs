//! Memories: distilling turns by rules or by a model, storing, recalling, warning.
//!
//! Leaves decisions to `core::memory`. Reads and writes the archive; captures nothing.

pub mod distil;
pub mod enrich;
pub mod gotchas;
pub mod model;
pub mod outside;
pub mod recall;
pub mod remember;
mod turn_content;
pub mod work;
