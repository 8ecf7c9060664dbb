//! What a fold does about bookmarks that are there already: what was found out about them, deleting, restoring.
//!
//! Decides nothing. A bookmark that is not known, because it was forgotten, stays unknown.

use super::Batch;
use crate::StoreError;
use crate::tables::bookmarks::Placing;
use towline_core::event::{Event, Happening};

impl Batch<'_> {
    pub(super) fn change_bookmark(&self, event: &Event) -> Result<(), StoreError> {
        if let Happening::BookmarkPlaced { bookmark, code, context_tokens } = &event.happening {
            let placing = Placing { code: code.as_ref(), context_tokens: *context_tokens, at: event.at };
            self.store.place_bookmark(*bookmark, &placing)?;
        }
        if let Happening::BookmarkDeleted { bookmark } = event.happening {
            self.store.delete_bookmark(bookmark, Some(event.at))?;
        }
        if let Happening::BookmarkRestored { bookmark } = event.happening {
            self.store.delete_bookmark(bookmark, None)?;
        }
        Ok(())
    }
}
