//! Older memories that share words with a prompt, by the index as it stands: an agent waits, so nothing is brought up to date.
//!
//! No index, or one that cannot be read, finds nothing. Nothing is written, and nothing is ranked: whoever asked does that.

use super::documents::{Place, project_key};
use super::folder;
use towline_search::{Filters, Index, Kind, Query, Tier};
use towline_store::Home;

/// So much of a prompt is looked at.
const READ: usize = 1000;
/// A search takes the longer the more there is: beyond this, too long for an agent that waits.
const LARGEST: u64 = 200_000;

/// The numbers of at most so many memories of a project, by its name.
pub fn memories_for(home: &Home, prompt: &str, project: &str, most: usize) -> Vec<i64> {
    let Ok(Some(index)) = Index::open_existing(&folder(home)) else { return vec![] };
    if index.documents() > LARGEST {
        return vec![];
    }
    let query = Query {
        text: prompt.chars().take(READ).collect(),
        filters: Filters {
            kinds: vec![Kind::Memory],
            project: Some(project_key(Some(project))),
            ..Filters::default()
        },
        limit: most,
        ..Query::default()
    };
    let hits = index.search_with(Tier::Words, &query, &[]).unwrap_or_default();
    let number = |id| if let Some(Place::Memory(number)) = Place::of(id) { Some(number) } else { None };
    hits.into_iter().filter_map(|hit| number(hit.id)).collect()
}
