//! Search queries.
//!
//! A query is plain words: there is no syntax, hence no syntax error. Quoted words are wanted together.

use crate::document::DocumentKind;

/// A query to the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    pub text: String,
    pub filters: Filters,
    pub here: QueryContext,
    /// Milliseconds since 1970, the reference for words like "yesterday".
    pub now: i64,
    /// The user's offset from UTC in milliseconds, positive east of Greenwich.
    pub utc_offset_ms: i64,
    /// The maximum number of hits; the index returns at most 5000.
    pub limit: usize,
}

/// Conditions a hit must meet. An empty list or `None` is no condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub kinds: Vec<DocumentKind>,
    pub types: Vec<String>,
    pub concepts: Vec<String>,
    /// Paths, or prefixes or suffixes of paths in whole components: `login.rs`, `src/auth`.
    pub files: Vec<String>,
    pub project: Option<String>,
    pub agent: Option<String>,
    pub branch: Option<String>,
    pub session: Option<String>,
    /// The earliest timestamp, inclusive.
    pub from: Option<i64>,
    /// The latest timestamp, exclusive.
    pub until: Option<i64>,
}

/// The caller's current project, branch and files: documents that share them rank higher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryContext {
    pub project: Option<String>,
    pub branch: Option<String>,
    pub files: Vec<String>,
}
