//! Ranking: query terms select candidates, meaning and structure order them.
//!
//! Every hit carries the reasons for its rank. This module never writes, and no query is an error.

mod boosts;
mod candidates;
mod dates;
mod exact;
mod filter;
mod hit;
mod meaning;
mod order;
mod projects;
mod reference;
mod structure;
mod terms;
mod turns;

pub use hit::{Boost, BoostReason, Hit, RankingStages};
pub use order::rank;
