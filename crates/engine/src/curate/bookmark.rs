//! Takes a bookmark out of the list, or lists it again.
//!
//! Only hides it: `forget` alone removes it for good.

use crate::index::labels::{named, short};
use crate::ingest::live;
use crate::query::ownership;
use crate::runtime::{Env, Failure};
use towline_core::event::EventKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookmarkListing {
    Hidden,
    Listed,
}

/// Returns the short id of the bookmark that `part` names.
pub fn list_bookmark(env: &Env, part: &str, listing: BookmarkListing) -> Result<String, Failure> {
    let store = ownership::store(env)?;
    let known = named(&store, part)?;
    drop(store);
    let bookmark = known.bookmark.uid;
    let kind = match listing {
        BookmarkListing::Hidden => EventKind::BookmarkDeleted { bookmark },
        BookmarkListing::Listed => EventKind::BookmarkRestored { bookmark },
    };
    live::record(env, &known.session, kind)?;
    Ok(short(bookmark))
}
