//! The rows that an erasure took: what others derived from their texts must go, too.
//!
//! Holds row ids only, never a text.

/// The rows whose texts an index must drop: erased ones, and those that were indexed with a text that is erased now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasedTexts {
    pub bodies: Vec<i64>,
    /// Turns that lost details: a conversation, and a turn of it.
    pub details: Vec<(i64, u32)>,
    pub memories: Vec<i64>,
    /// Conversations whose summary is gone.
    pub summaries: Vec<i64>,
    /// Any text may be affected.
    pub is_everywhere: bool,
}
