//! Bookmarks and batons in the form that is sent to a hub.
//!
//! Only those of sessions that ran here, and batons of the user's other machines that were taken here. A deleted,
//! withdrawn, taken or dropped one is sent as such, with a higher count.

use crate::archive::{RowContent, SharedProject, SyncRow};
use crate::query::Query;
use crate::{Result, Store};
use rusqlite::Row;
use towline_core::id::{SessionKey, Uid};
use towline_core::share::{Registers, RowKind, RowLife, RowProvenance, SharedRow, WriteStamp};
use towline_core::time::Timestamp;

const BOOKMARKS: &str = "
    select b.uid, b.machine, b.revision, s.agent || ':' || s.session, b.after_turn, b.at,
        json_object('label', b.label, 'how', b.how, 'commit', b.commit_id, 'branch', b.branch, 'dirty', b.dirty,
            'deleted_at', b.deleted_at), false
    from bookmarks b join sessions s on s.id = b.session join projects p on p.id = s.project
    where p.root = ?1 or p.remote is not null and p.remote = ?2 order by b.at";
const BATONS: &str = "
    select b.uid, b.machine, b.revision, ifnull(b.far, s.agent || ':' || s.session), null, b.passed_at,
        json_object('passed_at', b.passed_at, 'taken_by', ifnull(b.heir, h.agent || ':' || h.session),
            'taken_at', b.taken_at, 'dropped_at', b.dropped_at,
            'withdrawn', json(iif(s.fresh_at is not null or b.withdrawn, 'true', 'false'))),
        b.far is not null
    from batons b left join sessions s on s.id = b.session join projects p on p.id = b.project
    left join sessions h on h.id = b.taken_by
    where (b.far is null or b.taken_by is not null) and (p.root = ?1 or p.remote is not null and p.remote = ?2)
    order by b.passed_at";

impl Store {
    /// The bookmarks and batons of a shared project, for a member of this name on this machine.
    pub fn sync_notes(&self, of: &SharedProject, person: &str, here: Uid) -> Result<Vec<SyncRow<String>>> {
        let mut all = vec![];
        for (query, kind) in [(BOOKMARKS, RowKind::Bookmark), (BATONS, RowKind::Baton)] {
            all.extend(
                self.db
                    .all_with(query, (&of.root, &of.remote), |row| note(row, kind, of.id, person, here))?,
            );
        }
        Ok(all)
    }
}

fn note(
    row: &Row<'_>,
    kind: RowKind,
    project: Uid,
    person: &str,
    here: Uid,
) -> rusqlite::Result<SyncRow<String>> {
    let (machine, count) = (Uid(row.get(1)?), row.get::<_, i64>(2)?.cast_unsigned());
    let is_from_afar: bool = row.get(7)?;
    let stamp = match is_from_afar {
        // The machine that owns it may write it at the same time.
        true => WriteStamp { count: count.saturating_add(WriteStamp::AHEAD), machine: here },
        false => WriteStamp { count, machine },
    };
    let from = RowProvenance {
        person: person.to_owned(),
        machine,
        session: SessionKey::parse(&row.get::<_, String>(3)?).ok(),
        turn: row.get(4)?,
        made_at: Timestamp(row.get(5)?),
    };
    let life = RowLife::Lives(Box::new(Registers::of_words(String::new(), stamp)));
    let shared = SharedRow { uid: Uid(row.get(0)?), kind, project, from, life };
    Ok(SyncRow { row: shared, words: Some(RowContent::Noted(row.get(6)?)) })
}
