//! What every verb is given: the env of the world, and where to write.
//!
//! Carries nothing that a verb could decide by itself.

use crate::output::Output;
use towline_engine::runtime::env::Env;

pub struct Scope {
    pub env: Env,
    pub out: Output,
}
