//! Functions that statements may use: whether a text holds what is looked for, what a packed text says, what is left of
//! a text when it is redacted.
//!
//! They exist for the connection that asked for them, and remember nothing.

use crate::archive::unpacked;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use std::sync::Arc;
use towline_core::forget::Needle;

const FLAGS: FunctionFlags = FunctionFlags::SQLITE_UTF8.union(FunctionFlags::SQLITE_DETERMINISTIC);

/// `holds(text)`: whether it holds what is looked for; a missing text holds nothing.
pub(crate) fn add_holds(db: &Connection, needle: Arc<Needle>) -> rusqlite::Result<()> {
    db.create_scalar_function("holds", 1, FLAGS, move |given: &Context<'_>| {
        Ok(text(given, 0).is_some_and(|text| needle.is_in(text)))
    })
}

/// `unpacked(packed, content)`: the text of a detail. One that cannot be unpacked is no text any more.
pub(crate) fn add_unpacked(db: &Connection) -> rusqlite::Result<()> {
    db.create_scalar_function("unpacked", 2, FLAGS, |given: &Context<'_>| {
        Ok(unpacked(given.get(0)?, given.get::<Vec<u8>>(1)?))
    })
}

fn text<'a>(given: &'a Context<'_>, index: usize) -> Option<&'a str> {
    given.get_raw(index).as_str_or_null().ok().flatten()
}
