//! Finds older memories that share words with a prompt. The index is not updated: an agent waits.
//!
//! Writes nothing and ranks nothing; the caller ranks.

use super::documents::{IndexedRow, project_key};
use super::folder;
use towline_core::text::clip;
use towline_search::memories_sharing;
use towline_store::DataFolder;

/// The number of bytes of a prompt that are searched.
const READ: usize = 1000;

/// The numbers of at most `most` memories of the named project; `None` if the index cannot tell.
pub fn memories_for(home: &DataFolder, prompt: &str, project: &str, most: usize) -> Option<Vec<i64>> {
    let project = project_key(Some(project));
    let ids = memories_sharing(&folder(home), &project, clip(prompt, READ), most).ok()??;
    let number =
        |id| if let Some(IndexedRow::Memory(number)) = IndexedRow::of(id) { Some(number) } else { None };
    Some(ids.into_iter().filter_map(number).collect())
}
