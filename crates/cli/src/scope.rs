//! What every verb is given: the edge of the world, and where to write.
//!
//! Carries nothing that a verb could decide by itself.

use crate::edge::Edge;
use crate::output::Output;

pub struct Scope {
    pub edge: Edge,
    pub out: Output,
}
