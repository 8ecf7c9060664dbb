//! Putting turns into words by a model: what it is shown, whom it is asked of, what of its answer is kept, what it costs.
//!
//! Nothing of a turn is lost here and nothing is kept twice: the archive's jobs see to it. Reads no environment and no
//! clock; never asks anybody but the one provider that it is given.

mod answer;
mod digest;
mod drain;
mod gather;
mod jobs;
pub mod provider;
mod request;

pub use answer::{Checked, checked};
pub use digest::{Call, Digest, Material, digest};
pub use drain::{Drained, Draining, Left, Opened, drain};
pub use gather::gather;
pub use jobs::{READER, is_worth, make_jobs};
pub use provider::{Provider, Unanswered};
pub use request::{Request, Shape};
