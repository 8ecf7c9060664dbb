//! Summaries: what each session did, the newest account of each.
//!
//! Takes only `Summary`, which went through redaction.

use super::share::Part;
use super::{Archive, Conversation};
use crate::StoreError;
use rusqlite::{OptionalExtension, Row, params};
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::{Maker, Summary, SummaryDraft, Trust};
use towline_core::time::Timestamp;

/// The summary of a session, with what it tells of and who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSummary {
    pub summary: Summary,
    pub session: SessionKey,
    /// The last turn that it tells of.
    pub turn: u32,
    pub maker: Maker,
    pub trust: Trust,
    pub at: Timestamp,
}

const PUT: &str = "
    insert into summaries (uid, machine, revision, conversation, turn, request, investigated, learned, completed, next_steps,
        notes, maker, trust, at)
    values (?1, ?2, ?14, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
    on conflict (conversation) do update set revision = revision + 1, turn = excluded.turn, request = excluded.request,
        investigated = excluded.investigated, learned = excluded.learned, completed = excluded.completed,
        next_steps = excluded.next_steps, notes = excluded.notes, maker = excluded.maker, trust = excluded.trust,
        at = excluded.at";

pub(super) const SUMMARY: &str = "
    select s.request, s.investigated, s.learned, s.completed, s.next_steps, s.notes, c.agent || ':' || c.session, s.turn,
        s.maker, s.trust, s.at, c.person is not null
    from summaries s join conversations c on c.id = s.conversation";

impl Archive {
    /// Keeps it in the place of the one before.
    pub fn put_summary(&self, of: &Conversation, kept: &KeptSummary) -> Result<(), StoreError> {
        self.as_one(|| {
            let words = &kept.summary;
            let uid = Uid::derived(of.first_at, &["summary", &of.session.to_string()]);
            let revision = self.revision_raised(uid)?;
            self.db.prepare_cached(PUT)?.execute(params![
                uid.0,
                self.machine.0,
                of.id,
                kept.turn,
                words.request,
                words.investigated,
                words.learned,
                words.completed,
                words.next_steps,
                words.notes,
                kept.maker.name(),
                kept.trust.name(),
                kept.at.0,
                revision,
            ])?;
            self.note_change("summary", of.id, None)
        })
    }

    /// How often it will have been written: one that went and is made again is newer than its going.
    fn revision_raised(&self, uid: Uid) -> Result<i64, StoreError> {
        let raised = self.raise(uid)?;
        self.clear_stamp(uid, Part::Words)?;
        Ok(raised.map_or(1, u64::cast_signed))
    }

    pub fn summary(&self, of: &Conversation) -> Result<Option<KeptSummary>, StoreError> {
        let query = format!("{SUMMARY} where s.conversation = ?1");
        let found = self.db.prepare_cached(&query)?.query_row([of.id], summary).optional()?;
        Ok(found.flatten())
    }

    /// This person's newest of a project, the newest first: what others mean to do next is theirs.
    pub fn latest_summaries(&self, project: Option<i64>, most: u32) -> Result<Vec<KeptSummary>, StoreError> {
        let query = format!(
            "{SUMMARY} where (?1 is null or c.project = ?1) and c.person is null order by c.last_at desc limit ?2"
        );
        let mut statement = self.db.prepare_cached(&query)?;
        let found = statement.query_map((project, most), summary)?.collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// None where nothing was left of its words.
pub(super) fn summary(row: &Row<'_>) -> rusqlite::Result<Option<KeptSummary>> {
    let draft = SummaryDraft {
        request: row.get(0)?,
        investigated: row.get(1)?,
        learned: row.get(2)?,
        completed: row.get(3)?,
        next_steps: row.get(4)?,
        notes: row.get(5)?,
    };
    let key: String = row.get(6)?;
    let (Some(summary), Ok(session)) = (Summary::of(&draft), SessionKey::parse(&key)) else {
        return Ok(None);
    };
    let trust = Trust::named(&row.get::<_, String>(9)?).unwrap_or(Trust::Web);
    let is_others: bool = row.get(11)?;
    Ok(Some(KeptSummary {
        summary,
        session,
        turn: row.get(7)?,
        maker: Maker::named(&row.get::<_, String>(8)?),
        trust: if is_others { trust.and(Trust::Team) } else { trust },
        at: Timestamp(row.get(10)?),
    }))
}
