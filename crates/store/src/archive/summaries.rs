//! Session summaries: the newest one of each session.
//!
//! Accepts only `Summary`, which is redacted.

use super::share::RegisterId;
use super::{Archive, Conversation};
use crate::Result;
use crate::columns::{Columns, FromRow, from_row, values};
use crate::query::Query;
use towline_core::id::{SessionKey, Uid};
use towline_core::memory::{MemoryAuthor, MemoryTrust, Summary, SummaryDraft};
use towline_core::time::Timestamp;

/// The summary of a session, with its range and its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSummary {
    pub summary: Summary,
    pub session: SessionKey,
    /// The last turn that it covers.
    pub turn: u32,
    pub maker: MemoryAuthor,
    pub trust: MemoryTrust,
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

/// How many of a project's latest sessions count as recent.
const RECENT: u32 = 100;

pub(super) const SUMMARY: &str = "
    select s.request, s.investigated, s.learned, s.completed, s.next_steps, s.notes, c.agent || ':' || c.session, s.turn,
        s.maker, s.trust, s.at, c.person is not null
    from summaries s join conversations c on c.id = s.conversation";

impl Archive {
    /// Replaces the previous summary.
    pub fn put_summary(&self, conversation: &Conversation, kept: &KeptSummary) -> Result<()> {
        self.in_transaction(|| {
            let words = &kept.summary;
            let uid = Uid::derived(conversation.first_at, &["summary", &conversation.session.to_string()]);
            let revision = self.next_revision(uid)?;
            self.db.change(
                PUT,
                values! {
                    uid, self.machine, conversation.id, kept.turn, words.request, words.investigated,
                    words.learned, words.completed, words.next_steps, words.notes, kept.maker, kept.trust,
                    kept.at, revision
                },
            )?;
            self.note_change("summary", conversation.id, None)
        })
    }

    /// The first revision of a summary: one that was withdrawn and is made again must be newer than its withdrawal.
    fn next_revision(&self, uid: Uid) -> Result<i64> {
        let revived = self.restore_withdrawn(uid)?;
        self.clear_stamp(uid, RegisterId::Words)?;
        Ok(revived.map_or(1, u64::cast_signed))
    }

    pub fn summary(&self, conversation: &Conversation) -> Result<Option<KeptSummary>> {
        let query = format!("{SUMMARY} where s.conversation = ?1");
        Ok(self.db.first::<Option<KeptSummary>>(&query, [conversation.id])?.flatten())
    }

    /// This user's latest summaries of a project, newest first: the next steps of teammates are not ours.
    pub fn latest_summaries(&self, project: Option<i64>, most: u32) -> Result<Vec<KeptSummary>> {
        let query = format!(
            "{SUMMARY} where (?1 is null or c.project = ?1) and c.person is null order by c.last_at desc limit ?2"
        );
        let found = self.db.all::<Option<KeptSummary>>(&query, (project, most))?;
        Ok(found.into_iter().flatten().collect())
    }

    /// As `latest_summaries`, among the latest sessions of the project alone: an agent waits, and most sessions may have
    /// no summary.
    pub fn recent_summaries(&self, project: i64, most: u32) -> Result<Vec<KeptSummary>> {
        let query = format!(
            "{SUMMARY} where c.id in (select id from conversations where project = ?1 order by last_at desc limit {RECENT})
                and c.person is null order by c.last_at desc limit ?2"
        );
        let found = self.db.all::<Option<KeptSummary>>(&query, (project, most))?;
        Ok(found.into_iter().flatten().collect())
    }
}

from_row!(SummaryDraft { request, investigated, learned, completed, next_steps, notes });

/// `None` if redaction left no text.
impl FromRow for Option<KeptSummary> {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let (draft, session, turn, maker): (SummaryDraft, String, _, _) = columns.get()?;
        let (trust, at, is_others): (String, _, bool) = columns.get()?;
        let (Some(summary), Ok(session)) = (Summary::of(&draft), SessionKey::parse(&session)) else {
            return Ok(None);
        };
        let trust = MemoryTrust::named(&trust).unwrap_or(MemoryTrust::Web);
        let trust = if is_others { trust.and(MemoryTrust::Team) } else { trust };
        Ok(Some(KeptSummary { summary, session, turn, maker, trust, at }))
    }
}
