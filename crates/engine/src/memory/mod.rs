//! What is remembered: distilling turns by rules or by a model, keeping, recalling, warning.
//!
//! Decides nothing that `core::memory` decides. Reads and writes the archive; captures nothing.

pub mod distil;
pub mod enrich;
pub mod gotchas;
pub mod model;
pub mod recall;
pub mod remember;
