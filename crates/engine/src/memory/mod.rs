//! Memories: distilling turns by rules or by a model, storing, recalling, warning.
//!
//! `core::memory` decides what is distilled, held back, ranked and how it is worded; `recall` decides by the user's switch
//! and chooses the candidates. Reads and writes the archive; captures nothing.

pub mod distil;
pub mod enrich;
pub mod gotchas;
pub mod model;
pub mod outside;
pub mod recall;
pub mod remember;
mod turn_content;
pub mod work;
