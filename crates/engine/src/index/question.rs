//! Runs a search query: combines the index, unindexed rows, bookmarks and hub rows into ranked hits.
//!
//! Only reads, and never waits for the index: what it lacks is searched directly if that is quick, else reported as
//! pending. Rows that no longer exist are never returned, even if the index still holds them.

use super::documents::{IndexedRow, each_of, project_key};
use super::update::open;
use super::{FindError, Found, found};
use crate::index::embeddings::Asked;
use crate::index::labels::Labels;
use crate::runtime::calendar::utc_offset_ms;
use std::collections::HashSet;
use std::time::Duration;
use towline_core::time::Timestamp;
use towline_search::{
    Document, DocumentKind, Filters, Hit, Query, QueryContext, QuerySimilarity, RankingStages, SearchIndex,
};
use towline_store::archive::{Archive, ArchiveChange, MemoryQuery};
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

/// Up to this many documents, of about this many bytes, are searched without indexing them.
const FRESH: usize = 1_000;
const FRESH_BYTES: usize = 1 << 20;
/// The number of changes that they are taken from.
const CHANGES: u32 = 500;
/// Pending turns are counted up to here.
const COUNTED: u32 = 100_000;
const BOOKMARKS: u32 = 200;
const PATIENCE: Duration = Duration::from_millis(300);

/// The hits, and how many turns wait to be indexed.
pub struct Answer {
    pub hits: Vec<Found>,
    pub pending: u64,
}

pub fn ask(library: &Library<'_>, question: &Question) -> Result<Answer, FindError> {
    let Library { home, archive, now, sentences, team } = *library;
    let index = open(home, archive)?;
    let Unindexed { documents: mut fresh, pending } = Unindexed::of(archive, &index)?;
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
        utc_offset_ms: utc_offset_ms(now),
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
    let hits = shown(archive, question, &Candidates { hits: &hits, bookmarks: &bookmarks, team })?;
    Ok(Answer { hits, pending })
}

/// The number of turns that a search does not find because they wait to be indexed.
pub fn pending(home: &DataFolder, archive: &Archive) -> Result<u64, FindError> {
    Ok(Unindexed::of(archive, &open(home, archive)?)?.pending)
}

/// Rows that the index lacks.
#[derive(Default)]
struct Unindexed {
    /// The newest of them, to be searched directly.
    documents: Vec<Document>,
    /// The number of turns that wait to be indexed, if they are too many to be searched directly.
    pending: u64,
}

impl Unindexed {
    fn of(archive: &Archive, index: &SearchIndex) -> Result<Unindexed, FindError> {
        let checkpoint = index.checkpoint()?;
        let built = index.unfinished_build()?.map_or(0, |place| place.row);
        let changes = match checkpoint {
            Some(checkpoint) => {
                let newest = archive.newest_changes_after(checkpoint, CHANGES)?;
                newest.into_iter().map(|(_, change)| change).collect()
            }
            None => newest_rows(archive, built)?,
        };
        let mut found = Unindexed::default();
        let mut is_all = changes.len() < CHANGES as usize;
        let (mut known, mut bytes) = (HashSet::new(), 0);
        for change in changes {
            let room = FRESH.saturating_sub(found.documents.len());
            if bytes > FRESH_BYTES || !fits(archive, change, room)? {
                is_all = false;
                continue;
            }
            each_of(archive, change, &mut |document| {
                if known.insert(document.id) {
                    bytes += document.text.len();
                    found.documents.push(document);
                }
                Ok(())
            })?;
        }
        if !is_all {
            let turns = match checkpoint {
                Some(checkpoint) => archive.count_turns_changed_after(checkpoint, COUNTED)?,
                None => archive.count_turns_after(built, COUNTED)?,
            };
            found.pending = turns.max(1);
        }
        Ok(found)
    }
}

/// The newest rows of an archive that was not indexed whole yet.
fn newest_rows(archive: &Archive, built: i64) -> Result<Vec<ArchiveChange>, FindError> {
    let memories = archive.memories(&MemoryQuery { limit: CHANGES / 2, ..MemoryQuery::default() })?;
    let memories = memories.iter().map(|memory| ArchiveChange::Memory { number: memory.number });
    let rows = archive.newest_conversation_rows_after(built, CHANGES / 4)?;
    let rows = rows.into_iter().flat_map(|row| {
        [ArchiveChange::Conversation { row, from_turn: 0 }, ArchiveChange::Summary { conversation: row }]
    });
    Ok(memories.chain(rows).collect())
}

fn fits(archive: &Archive, change: ArchiveChange, room: usize) -> Result<bool, FindError> {
    match change {
        ArchiveChange::Conversation { row, from_turn } => {
            Ok(archive.count_texts(row, from_turn, room as u32 + 1)? <= room as u64)
        }
        ArchiveChange::Memory { .. } | ArchiveChange::Summary { .. } => Ok(room > 0),
    }
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
            Some(IndexedRow::Text(_, row)) => found::text(archive, row, question)?,
            Some(IndexedRow::Actions(row, turn)) => found::actions(archive, row, turn, question)?,
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
