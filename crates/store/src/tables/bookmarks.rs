//! Bookmarks: points of a conversation to return to.
//!
//! A deleted bookmark keeps its row, so that it can be restored; only erasing removes rows.

use super::batons::key;
use super::heard_turns::kept;
use crate::archive::TimeSide;
use crate::query::{Query, parse_column};
use crate::{Store, StoreError};
use rusqlite::Row;
use towline_core::bookmark::{
    Bookmark, BookmarkOrigin, BookmarkReason, CodeState, CountPrecision, NewBookmark, Threshold,
};
use towline_core::id::{SessionKey, TurnId, Uid};
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
    select b.uid, s.agent || ':' || s.session, p.name, b.at, b.after_turn, b.turn, b.how, b.threshold, b.count, b.counted,
        b.label, b.commit_id, b.branch, b.dirty, b.context_tokens, b.placed_at, b.deleted_at, s.folder,
        (select max(e.at) from bookmarks e where e.session = b.session and e.at < b.at)
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
    pub(crate) fn add_bookmark(&self, session: i64, bookmark: &Bookmark) -> Result<(), StoreError> {
        let set = &bookmark.set;
        self.db.change(
            ADD,
            rusqlite::params![
                bookmark.uid.0,
                self.machine.0,
                session,
                bookmark.at.0,
                set.after_turn,
                bookmark.turn.as_ref().map(TurnId::as_str),
                set.how.name(),
                set.reason.map(|reason| reason.threshold.name()),
                set.reason.map(|reason| reason.count.cast_signed()),
                set.reason.map(|reason| reason.counted.name()),
                set.label.as_ref().map(SafeText::as_str),
                bookmark.context_tokens.map(u64::cast_signed),
            ],
        )?;
        Ok(())
    }

    pub(crate) fn place_bookmark(&self, bookmark: Uid, placement: &Placement<'_>) -> Result<(), StoreError> {
        let code = placement.code;
        self.db.change(
            PLACE,
            (
                bookmark.0,
                placement.at.0,
                code.map(|code| code.commit.as_str()),
                code.and_then(|code| code.branch.as_ref()).map(SafeText::as_str),
                code.and_then(|code| code.dirty),
                placement.context_tokens.map(u64::cast_signed),
            ),
        )?;
        Ok(())
    }

    pub(crate) fn delete_bookmark(&self, bookmark: Uid, at: Option<Timestamp>) -> Result<(), StoreError> {
        self.db.change(DELETE, (bookmark.0, at.map(|at| at.0)))?;
        Ok(())
    }

    /// Bookmarks, newest first.
    pub fn bookmarks(&self, asked: &BookmarkFilter<'_>) -> Result<Vec<BookmarkRow>, StoreError> {
        let query = format!(
            "{COLUMNS} where (?1 is null or s.agent || ':' || s.session = ?1) and (?2 is null or p.name = ?2)
             and (?3 or b.deleted_at is null) order by b.at desc, b.uid desc limit ?4"
        );
        let session = asked.session.map(ToString::to_string);
        let included = asked.deleted == DeletedBookmarks::Included;
        self.db.all(&query, (session, asked.project, included, asked.most), known_bookmark)
    }

    /// The bookmarks of a project, or of all, nearest to a time, in chronological order, without deleted ones.
    pub fn bookmarks_around(
        &self,
        project: Option<&str>,
        at: Timestamp,
        side: TimeSide,
        most: u32,
    ) -> Result<Vec<BookmarkRow>, StoreError> {
        let (compare, order) = side.words();
        let query = format!(
            "{COLUMNS} where b.at {compare} ?2 and (?1 is null or p.name = ?1) and b.deleted_at is null
             order by b.at {order} limit ?3"
        );
        let mut statement = self.db.prepare_cached(&query)?;
        let found = statement.query_map((project, at.0, most), known_bookmark)?;
        let mut found = found.collect::<Result<Vec<_>, _>>()?;
        found.sort_by_key(|known_bookmark| known_bookmark.bookmark.at);
        Ok(found)
    }

    /// The bookmarks whose id begins or ends with `part`, including deleted ones; at most 20.
    pub fn bookmarks_named(&self, part: &str) -> Result<Vec<BookmarkRow>, StoreError> {
        let query = format!(
            "{COLUMNS} where substr(lower(hex(b.uid)), 1, length(?1)) = ?1
             or substr(lower(hex(b.uid)), -length(?1)) = ?1 order by b.at desc limit 20"
        );
        let part = part.replace('-', "").to_ascii_lowercase();
        self.db.all(&query, [part], known_bookmark)
    }

    /// The bookmarks since a time whose code state is not recorded yet, oldest first.
    pub fn unplaced_bookmarks(&self, since: Timestamp) -> Result<Vec<BookmarkRow>, StoreError> {
        let query = format!("{COLUMNS} where b.at >= ?1 and b.placed_at is null order by b.at limit 100");
        self.db.all(&query, [since.0], known_bookmark)
    }
}

fn known_bookmark(row: &Row<'_>) -> rusqlite::Result<BookmarkRow> {
    let text =
        |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(column)?.map(|text| kept(&text)));
    let (commit, branch, dirty) = (text(11)?, text(12)?, row.get(13)?);
    let set = NewBookmark {
        how: parse_column(row, 6, BookmarkOrigin::parse)?,
        after_turn: row.get(4)?,
        reason: reason(row)?,
        label: text(10)?,
    };
    let bookmark = Bookmark {
        uid: Uid(row.get(0)?),
        at: Timestamp(row.get(3)?),
        turn: row.get::<_, Option<String>>(5)?.and_then(|id| TurnId::parse(&id).ok()),
        set,
        context_tokens: row.get::<_, Option<i64>>(14)?.map(i64::cast_unsigned),
    };
    let time = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(Timestamp));
    Ok(BookmarkRow {
        session: key(row, 1)?,
        project: row.get(2)?,
        folder: row.get(17)?,
        bookmark,
        code: commit.map(|commit| CodeState { commit, branch, dirty }),
        before: time(18)?,
        placed_at: time(15)?,
        deleted_at: time(16)?,
    })
}

fn reason(row: &Row<'_>) -> rusqlite::Result<Option<BookmarkReason>> {
    if row.get::<_, Option<String>>(7)?.is_none() {
        return Ok(None);
    }
    let counted = parse_column(row, 9, CountPrecision::parse)?;
    let count = row.get::<_, Option<i64>>(8)?.map_or(0, i64::cast_unsigned);
    Ok(Some(BookmarkReason { threshold: parse_column(row, 7, Threshold::parse)?, count, counted }))
}
