//! The context of every verb: the environment, and the output.
//!
//! Carries nothing that a verb could decide by itself.

use crate::output::Output;
use towline_engine::runtime::Env;

pub struct Scope {
    pub env: Env,
    pub out: Output,
}
