//! Runs a search query: combines the index, unindexed rows, bookmarks and hub rows into ranked hits.
//!
//! Only reads, except that an index that is far behind is updated first. Rows that no longer exist are never
//! returned, even if the index still holds them.

use super::documents::{IndexedRow, each_of, project_key};
use super::update::{open, update};
use super::{FindError, Found, found};
use crate::index::embeddings::Asked;
use crate::index::labels::Labels;
use std::collections::HashSet;
use std::time::Duration;
use towline_core::time::Timestamp;
use towline_search::{
    Document, DocumentKind, Filters, Hit, Query, QueryContext, QuerySimilarity, RankingStages, SearchIndex,
};
use towline_store::archive::Archive;
use towline_store::{BookmarkFilter, BookmarkRow, DataFolder, DeletedBookmarks, Store};

/// A search query.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub text: String,
    pub filters: Filters,
    pub here: QueryContext,
    pub limit: usize,
    /// Include replaced memories.
    pub with_replaced: bool,
}

/// The data to search.
pub struct Library<'a> {
    pub home: &'a DataFolder,
    pub archive: &'a Archive,
    pub now: Timestamp,
    /// The embedding of the query, if a model is available.
    pub sentences: Option<&'a Asked>,
    /// Candidates from the hub.
    pub team: &'a [TeamRow],
}

/// A row from the hub: the document to rank and the hit to display.
pub struct TeamRow {
    /// The id is assigned when the row is ranked.
    pub document: Document,
    pub found: Found,
    /// Similarity to the query by the model of `sentences`, if the hub computed it.
    pub nearness: Option<f32>,
}

/// Up to this many new documents are searched without indexing; more are indexed first.
const FRESH: usize = 1_000;
/// The number of changes read to determine that.
const CHANGES: u32 = 500;
/// Retry intervals while another process updates the index: three seconds in all.
const WAITS_MS: [u64; 9] = [5, 10, 20, 50, 100, 200, 400, 800, 1600];
const BOOKMARKS: u32 = 200;
const PATIENCE: Duration = Duration::from_millis(300);

pub fn ask(library: &Library<'_>, question: &Question) -> Result<Vec<Found>, FindError> {
    let Library { home, archive, now, sentences, team } = *library;
    let (index, mut fresh) = caught_up(home, archive)?;
    let bookmarks = bookmarks(home, question)?;
    fresh.extend(bookmarks.iter().zip(0..).map(|((known, label), row)| of_bookmark(known, label, row)));
    let numbered = |(row, number): (&TeamRow, i64)| Document {
        id: IndexedRow::Team(number).id(),
        ..row.document.clone()
    };
    fresh.extend(team.iter().zip(0..).map(numbered));
    let query = Query {
        text: question.text.clone(),
        filters: Filters {
            project: question.filters.project.as_deref().map(|name| project_key(Some(name))),
            ..question.filters.clone()
        },
        here: QueryContext {
            project: question.here.project.as_deref().map(|name| project_key(Some(name))),
            ..question.here.clone()
        },
        now: now.0,
        utc_offset_ms: 0,
        limit: question.limit * 3 + 10,
    };
    let near = sentences.map(|asked| {
        let here = asked.vectors.as_ref().map(|vectors| QuerySimilarity::to(vectors, &asked.meaning));
        let of_team = team
            .iter()
            .zip(0..)
            .filter_map(|(row, number)| Some((IndexedRow::Team(number).id(), row.nearness?)));
        here.unwrap_or_default().with_others(of_team)
    });
    let hits = index.search_with(RankingStages::Whole, &query, &fresh, near.as_ref())?;
    shown(archive, question, &Candidates { hits: &hits, bookmarks: &bookmarks, team })
}

/// Opens the index and loads missing rows. An index far behind is updated first, here or by its writer.
#[expect(clippy::disallowed_methods, reason = "who writes the index tells nobody when it is done")]
fn caught_up(home: &DataFolder, archive: &Archive) -> Result<(SearchIndex, Vec<Document>), FindError> {
    for wait_ms in WAITS_MS {
        let index = open(home)?;
        if let Some(fresh) = fresh(archive, &index)? {
            return Ok((index, fresh));
        }
        if update(home, archive, &mut |_| {})?.busy {
            std::thread::sleep(Duration::from_millis(wait_ms));
        }
    }
    let index = open(home)?;
    let fresh = fresh(archive, &index)?.unwrap_or_default();
    Ok((index, fresh))
}

/// The rows the index lacks; `None` if there are too many.
fn fresh(archive: &Archive, index: &SearchIndex) -> Result<Option<Vec<Document>>, FindError> {
    let Some(checkpoint) = index.checkpoint()? else { return Ok(None) };
    if !archive.holds_changes_after(checkpoint)? {
        return Ok(None);
    }
    let changes = archive.changes_after(checkpoint, CHANGES)?;
    if changes.len() == CHANGES as usize {
        return Ok(None);
    }
    let mut documents: Vec<Document> = vec![];
    let mut known = HashSet::new();
    for (_, change) in changes {
        each_of(archive, change, &mut |document| {
            if known.insert(document.id) {
                documents.push(document);
            }
            Ok(())
        })?;
        if documents.len() > FRESH {
            return Ok(None);
        }
    }
    Ok(Some(documents))
}

/// Bookmarks are few and in another database, so they are never indexed.
fn bookmarks(home: &DataFolder, question: &Question) -> Result<Vec<(BookmarkRow, String)>, FindError> {
    let kinds = &question.filters.kinds;
    let is_wanted = kinds.is_empty() || kinds.contains(&DocumentKind::Bookmark);
    let Some(store) = Store::read(home, PATIENCE)?.filter(|_| is_wanted) else { return Ok(vec![]) };
    let project = question.filters.project.as_deref();
    let asked =
        BookmarkFilter { session: None, project, deleted: DeletedBookmarks::LeftOut, most: BOOKMARKS };
    let mut labels = Labels::of(&store)?;
    let labelled = store.bookmarks(&asked)?.into_iter().map(|known| {
        let label = labels.label(&known)?;
        Ok((known, label))
    });
    labelled.collect()
}

fn of_bookmark(known: &BookmarkRow, label: &str, row: i64) -> Document {
    let branch = known.code.as_ref().and_then(|code| code.branch.as_ref());
    Document {
        title: label.to_owned(),
        project: project_key(known.project.as_deref()),
        branch: branch.map_or_else(String::new, |branch| branch.as_str().to_owned()),
        agent: known.session.agent.as_str().to_owned(),
        session: known.session.id.as_str().to_owned(),
        turn: known.bookmark.set.after_turn,
        at: known.bookmark.at.0,
        ..Document::plain(IndexedRow::Bookmark(row).id(), DocumentKind::Bookmark, label)
    }
}

/// The ranked hits, and the sources of those that are not in the archive.
struct Candidates<'a> {
    hits: &'a [Hit],
    bookmarks: &'a [(BookmarkRow, String)],
    team: &'a [TeamRow],
}

fn shown(
    archive: &Archive,
    question: &Question,
    candidates: &Candidates<'_>,
) -> Result<Vec<Found>, FindError> {
    let mut shown = vec![];
    for hit in candidates.hits {
        if shown.len() == question.limit {
            break;
        }
        let found = match IndexedRow::of(hit.id) {
            Some(IndexedRow::Memory(number)) => found::memory(archive, number, question)?,
            Some(IndexedRow::Summary(row)) => found::summary(archive, row, question)?,
            Some(IndexedRow::Text(kind, row)) => found::text(archive, kind, row, question)?,
            Some(IndexedRow::Bookmark(row)) => {
                let listed = usize::try_from(row).ok().and_then(|row| candidates.bookmarks.get(row));
                listed.map(|(known, label)| found::bookmark(known, label))
            }
            Some(IndexedRow::Team(row)) => {
                usize::try_from(row).ok().and_then(|row| Some(candidates.team.get(row)?.found.clone()))
            }
            None => None,
        };
        let reasons = hit.boosts.iter().map(|boost| format!("{:?}", boost.why).to_lowercase()).collect();
        shown.extend(found.map(|found| Found {
            score: hit.score,
            reasons,
            words: hit.words.clone(),
            ..found
        }));
    }
    Ok(shown)
}
