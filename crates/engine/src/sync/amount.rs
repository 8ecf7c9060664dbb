//! How much one run of the background work sends.
//!
//! Decides nothing: the user who waits or the worker does.

/// How much to sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Everything, for a waiting user.
    All,
    /// As much as fits into `A_WHILE`, for background work.
    AWhile,
}
