//! Applies events about existing bookmarks: their place, deletion, restoring.
//!
//! Makes no decisions. An event about an unknown bookmark, because it was erased, has no effect.

use super::ProjectionBatch;
use crate::Result;
use crate::tables::bookmarks::Placement;
use towline_core::event::{Event, EventKind};

impl ProjectionBatch<'_> {
    pub(super) fn apply_bookmark_change(&self, event: &Event) -> Result<()> {
        if let EventKind::BookmarkPlaced { bookmark, code, context_tokens } = &event.happening {
            let placement = Placement { code: code.as_ref(), context_tokens: *context_tokens, at: event.at };
            self.store.place_bookmark(*bookmark, &placement)?;
        }
        if let EventKind::BookmarkDeleted { bookmark } = event.happening {
            self.store.delete_bookmark(bookmark, Some(event.at))?;
        }
        if let EventKind::BookmarkRestored { bookmark } = event.happening {
            self.store.delete_bookmark(bookmark, None)?;
        }
        Ok(())
    }
}
