//! Extracts memories from turns with a model: the request, the provider, the validation and the budget.
//!
//! The archive's jobs ensure that each turn is processed once and none is lost. Reads no environment and no
//! clock, and uses only the provider it is given.

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
pub(crate) use gather::within;
pub use jobs::{READER, is_worth_enriching, make_jobs};
pub use provider::{AskError, Provider};
pub use request::{Request, Shape};
