//! SQL functions: search for a needle in a text, and unpack a compressed text.
//!
//! They are registered on one connection at a time and hold no state.

use crate::archive::unpacked;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use std::sync::Arc;
use towline_core::forget::ForgetText;

const FLAGS: FunctionFlags = FunctionFlags::SQLITE_UTF8.union(FunctionFlags::SQLITE_DETERMINISTIC);

/// `holds(text)`: whether the text contains the needle; false for null.
pub(crate) fn add_holds(db: &Connection, needle: Arc<ForgetText>) -> rusqlite::Result<()> {
    db.create_scalar_function("holds", 1, FLAGS, move |context: &Context<'_>| {
        Ok(text(context, 0).is_some_and(|text| needle.is_in(text)))
    })
}

/// `unpacked(packed, content)`: the text of a detail; null if it cannot be unpacked.
pub(crate) fn add_unpacked(db: &Connection) -> rusqlite::Result<()> {
    db.create_scalar_function("unpacked", 2, FLAGS, |context: &Context<'_>| {
        Ok(unpacked(context.get(0)?, context.get::<Vec<u8>>(1)?))
    })
}

fn text<'a>(context: &'a Context<'_>, index: usize) -> Option<&'a str> {
    context.get_raw(index).as_str_or_null().ok().flatten()
}
