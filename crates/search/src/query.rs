//! What is asked.
//!
//! A query is plain words; there is no syntax that could be wrong. Quoted words are wanted together.

use crate::document::Kind;

/// A question to the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub text: String,
    pub filters: Filters,
    pub here: Here,
    /// Milliseconds since 1970: what "yesterday" is counted from.
    pub now: i64,
    /// What the user's clock shows more than UTC, in milliseconds.
    pub utc_offset_ms: i64,
    /// How many hits are wanted at most; never more than 5000 are given.
    pub limit: usize,
}

/// What a hit must be. An empty list and `None` ask for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub kinds: Vec<Kind>,
    pub types: Vec<String>,
    pub concepts: Vec<String>,
    /// Paths or ends or beginnings of paths, in whole components: `login.rs`, `src/auth`.
    pub files: Vec<String>,
    pub project: Option<String>,
    pub agent: Option<String>,
    pub branch: Option<String>,
    pub session: Option<String>,
    /// The first moment that counts.
    pub from: Option<i64>,
    /// The first moment that no longer counts.
    pub until: Option<i64>,
}

/// Where the question is asked: what is near is more likely to be meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Here {
    pub project: Option<String>,
    pub branch: Option<String>,
    pub files: Vec<String>,
}
