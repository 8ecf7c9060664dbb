//! Finds older memories that share words with a prompt. The index is not updated: an agent waits.
//!
//! A missing or unreadable index yields no memories. Writes nothing and ranks nothing; the caller ranks.

use super::documents::{IndexedRow, project_key};
use super::folder;
use towline_search::{DocumentKind, Filters, Query, RankingStages, SearchIndex};
use towline_store::DataFolder;

/// The number of characters of a prompt that are searched.
const READ: usize = 1000;

/// The numbers of at most `most` memories of the named project.
pub fn memories_for(home: &DataFolder, prompt: &str, project: &str, most: usize) -> Vec<i64> {
    let Ok(Some(index)) = SearchIndex::open_existing(&folder(home)) else { return vec![] };
    let query = Query {
        text: prompt.chars().take(READ).collect(),
        filters: Filters {
            kinds: vec![DocumentKind::Memory],
            project: Some(project_key(Some(project))),
            ..Filters::default()
        },
        limit: most,
        ..Query::default()
    };
    let hits = index.search_with(RankingStages::Words, &query, &[], None).unwrap_or_default();
    let number =
        |id| if let Some(IndexedRow::Memory(number)) = IndexedRow::of(id) { Some(number) } else { None };
    hits.into_iter().filter_map(|hit| number(hit.id)).collect()
}
