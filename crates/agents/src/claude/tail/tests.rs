//! How recorded conversations end.
