//! Bookmarks: points of a conversation to return to.
//!
//! A deleted bookmark keeps its row, so that it can be restored; only erasing removes rows.

use crate::archive::TimeSide;
use crate::columns::{Columns, from_row, values};
use crate::query::Query;
use crate::{Result, Store};
use towline_core::bookmark::{Bookmark, BookmarkReason, CodeState, CountPrecision, NewBookmark, Threshold};
use towline_core::id::{SessionKey, Uid};
use towline_core::text::SafeText;
use towline_core::time::Timestamp;

/// Ignores an existing bookmark: a journal may be read twice.
const ADD: &str = "
    insert into bookmarks (uid, machine, revision, session, at, after_turn, turn, how, threshold, count, counted, label,
        context_tokens)
    values (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) on conflict do nothing";

/// The first placement stands: a later one would see a later state.
const PLACE: &str = "
    update bookmarks set revision = revision + 1, placed_at = ?2, commit_id = ?3, branch = ?4, dirty = ?5,
        context_tokens = ifnull(?6, context_tokens)
    where uid = ?1 and placed_at is null";

const DELETE: &str = "
    update bookmarks set revision = revision + 1, deleted_at = ?2 where uid = ?1 and deleted_at is not ?2";

const COLUMNS: &str = "
    select s.agent || ':' || s.session, p.name, s.folder, b.uid, b.at, b.turn, b.how, b.after_turn, b.threshold, b.count,
        b.counted, b.label, b.context_tokens, b.commit_id, b.branch, b.dirty,
        (select max(e.at) from bookmarks e where e.session = b.session and e.at < b.at), b.placed_at, b.deleted_at
    from bookmarks b join sessions s on s.id = b.session left join projects p on p.id = s.project";

/// A bookmark with its session and current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookmarkRow {
    pub session: SessionKey,
    pub project: Option<String>,
    pub folder: Option<String>,
    pub bookmark: Bookmark,
    pub code: Option<CodeState>,
    /// When the session's previous bookmark was set, if there is one.
    pub before: Option<Timestamp>,
    /// When the state of code and context was recorded.
    pub placed_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
}

/// The state of code and context at a bookmark, recorded after it was set.
pub(crate) struct Placement<'a> {
    pub code: Option<&'a CodeState>,
    pub context_tokens: Option<u64>,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub struct BookmarkFilter<'a> {
    pub session: Option<&'a SessionKey>,
    /// By the name of the session's project.
    pub project: Option<&'a str>,
    pub deleted: DeletedBookmarks,
    pub most: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeletedBookmarks {
    LeftOut,
    Included,
}

impl Store {
    pub(crate) fn add_bookmark(&self, session: i64, bookmark: &Bookmark) -> Result<()> {
        let set = &bookmark.set;
        self.db.run(
            ADD,
            values! {
                bookmark.uid, self.machine, session, bookmark.at, set.after_turn, bookmark.turn, set.how,
                set.reason.map(|reason| reason.threshold), set.reason.map(|reason| reason.count),
                set.reason.map(|reason| reason.counted), set.label, bookmark.context_tokens
            },
        )
    }

    pub(crate) fn place_bookmark(&self, bookmark: Uid, placement: &Placement<'_>) -> Result<()> {
        let code = placement.code;
        let (commit, branch) = (code.map(|code| &code.commit), code.and_then(|code| code.branch.as_ref()));
        let (dirty, tokens) = (code.and_then(|code| code.dirty), placement.context_tokens);
        self.db.run(PLACE, values![bookmark, placement.at, commit, branch, dirty, tokens])
    }

    pub(crate) fn delete_bookmark(&self, bookmark: Uid, at: Option<Timestamp>) -> Result<()> {
        self.db.run(DELETE, (bookmark.0, at.map(|at| at.0)))
    }

    /// Bookmarks, newest first.
    pub fn bookmarks(&self, asked: &BookmarkFilter<'_>) -> Result<Vec<BookmarkRow>> {
        let query = format!(
            "{COLUMNS} where (?1 is null or s.agent || ':' || s.session = ?1) and (?2 is null or p.name = ?2)
             and (?3 or b.deleted_at is null) order by b.at desc, b.uid desc limit ?4"
        );
        let session = asked.session.map(ToString::to_string);
        let included = asked.deleted == DeletedBookmarks::Included;
        self.db.all(&query, (session, asked.project, included, asked.most))
    }

    /// The bookmarks of a project, or of all, nearest to a time, in chronological order, without deleted ones.
    pub fn bookmarks_around(
        &self,
        project: Option<&str>,
        at: Timestamp,
        side: TimeSide,
        most: u32,
    ) -> Result<Vec<BookmarkRow>> {
        let (compare, order) = side.words();
        let query = format!(
            "{COLUMNS} where b.at {compare} ?2 and (?1 is null or p.name = ?1) and b.deleted_at is null
             order by b.at {order} limit ?3"
        );
        let mut found: Vec<BookmarkRow> = self.db.all(&query, (project, at.0, most))?;
        found.sort_by_key(|row| row.bookmark.at);
        Ok(found)
    }

    /// The bookmarks whose id begins or ends with `part`, including deleted ones; at most 20.
    pub fn bookmarks_named(&self, part: &str) -> Result<Vec<BookmarkRow>> {
        let query = format!(
            "{COLUMNS} where substr(lower(hex(b.uid)), 1, length(?1)) = ?1
             or substr(lower(hex(b.uid)), -length(?1)) = ?1 order by b.at desc limit 20"
        );
        let part = part.replace('-', "").to_ascii_lowercase();
        self.db.all(&query, [part])
    }

    /// The bookmarks since a time whose code state is not recorded yet, oldest first.
    pub fn unplaced_bookmarks(&self, since: Timestamp) -> Result<Vec<BookmarkRow>> {
        let query = format!("{COLUMNS} where b.at >= ?1 and b.placed_at is null order by b.at limit 100");
        self.db.all(&query, [since.0])
    }
}

from_row!(BookmarkRow { session, project, folder, bookmark, code: code, before, placed_at, deleted_at });
from_row!(Bookmark { uid, at, turn, set, context_tokens });
from_row!(NewBookmark { how, after_turn, reason: reason, label });

fn code(columns: &mut Columns<'_>) -> rusqlite::Result<Option<CodeState>> {
    let (commit, branch, dirty): (Option<SafeText>, _, _) = columns.get()?;
    Ok(commit.map(|commit| CodeState { commit, branch, dirty }))
}

fn reason(columns: &mut Columns<'_>) -> rusqlite::Result<Option<BookmarkReason>> {
    let (threshold, count, counted): (Option<Threshold>, Option<u64>, Option<CountPrecision>) =
        columns.get()?;
    let count = count.unwrap_or(0);
    Ok(threshold.zip(counted).map(|(threshold, counted)| BookmarkReason { threshold, count, counted }))
}
