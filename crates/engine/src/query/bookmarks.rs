//! Bookmarks, newest first, with their labels.
//!
//! Only reads. Labels are computed here, so a search reads more bookmarks than it lists.

use super::ownership;
use crate::index::labels::{Labels, named};
use crate::runtime::{Env, Failure};
use towline_core::bookmark::BookmarkOrigin;
use towline_core::escape::escape_for_terminal;
use towline_store::{BookmarkFilter, BookmarkRow, DeletedBookmarks, Store, StoreError};

/// How many bookmarks a search reads.
const MOST_SEARCHED: u32 = 2_000;

pub struct BookmarksRequest<'a> {
    /// Only of this session: how its id begins or ends.
    pub session: Option<&'a str>,
    /// Without it, the project of the current folder.
    pub project: Option<&'a str>,
    pub all_projects: bool,
    /// Only those whose label, reason, branch or commit contains this text.
    pub search: Option<&'a str>,
    pub with_deleted: bool,
    pub limit: usize,
}

pub struct LabelledBookmark {
    pub row: BookmarkRow,
    pub label: String,
}

pub struct BookmarkList {
    pub bookmarks: Vec<LabelledBookmark>,
    pub has_more: bool,
    /// Description of the searched scope.
    pub looked: String,
}

/// A bookmark, and the lines of the turns since the one before.
pub struct ShownBookmark {
    pub bookmark: LabelledBookmark,
    pub lines: Vec<String>,
}

pub fn bookmarks(env: &Env, request: &BookmarksRequest<'_>) -> Result<BookmarkList, Failure> {
    let store = ownership::store(env)?;
    let session = request.session.map(|name| ownership::named(&store, name)).transpose()?;
    let is_everywhere = request.all_projects || session.is_some();
    let project = ownership::project_or_all(&store, request.project, is_everywhere, "tow bookmark list")?;
    let filter = BookmarkFilter {
        session: session.as_ref().map(|session| &session.key),
        project: project.as_deref(),
        deleted: if request.with_deleted { DeletedBookmarks::Included } else { DeletedBookmarks::LeftOut },
        most: match request.search {
            Some(_) => MOST_SEARCHED,
            None => u32::try_from(request.limit).unwrap_or(u32::MAX).saturating_add(1),
        },
    };
    let mut bookmarks = labelled(&store, &filter)?;
    if let Some(text) = request.search {
        let text = text.to_lowercase();
        bookmarks.retain(|bookmark| is_about(bookmark, &text));
    }
    let has_more = bookmarks.len() > request.limit;
    bookmarks.truncate(request.limit);
    let looked = project
        .map_or_else(|| "every project".to_owned(), |name| format!("project {}", escape_for_terminal(&name)));
    Ok(BookmarkList { bookmarks, has_more, looked })
}

/// The bookmark whose id begins or ends like this.
pub fn bookmark(env: &Env, id: &str) -> Result<ShownBookmark, Failure> {
    let store = ownership::store(env)?;
    let row = named(&store, id)?;
    let mut labels = Labels::of(&store)?;
    let label = labels.label(&row)?;
    let lines = labels.lines(&row)?;
    Ok(ShownBookmark { bookmark: LabelledBookmark { row, label }, lines })
}

fn labelled(store: &Store, filter: &BookmarkFilter<'_>) -> Result<Vec<LabelledBookmark>, StoreError> {
    let mut labels = Labels::of(store)?;
    let with_label = |row: BookmarkRow| Ok(LabelledBookmark { label: labels.label(&row)?, row });
    store.bookmarks(filter)?.into_iter().map(with_label).collect()
}

fn is_about(LabelledBookmark { row, label }: &LabelledBookmark, text: &str) -> bool {
    let code = row.code.as_ref();
    let branch = code.and_then(|code| code.branch.as_ref()).map_or("", |branch| branch.as_str());
    let commit = code.map_or("", |code| code.commit.as_str());
    [label.as_str(), &bookmark_reason(row), branch, commit]
        .iter()
        .any(|held| held.to_lowercase().contains(text))
}

/// Why the bookmark was set, as text.
pub fn bookmark_reason(row: &BookmarkRow) -> String {
    let set = &row.bookmark.set;
    let origin = match set.how {
        BookmarkOrigin::Typed => "a typed marker",
        BookmarkOrigin::Manual => "set by hand",
        BookmarkOrigin::Silent => "set by itself",
    };
    set.reason.map_or(origin.to_owned(), |reason| reason.label())
}
