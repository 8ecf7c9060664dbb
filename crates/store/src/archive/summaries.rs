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
const RECENT: u32 = 40;

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

    /// As `latest_summaries`, among the latest sessions of the project alone: an agent waits. Indexes tell which of them
    /// have a summary; reading the others took a tenth of a first prompt.
    pub fn recent_summaries(&self, project: i64, most: u32) -> Result<Vec<KeptSummary>> {
        let found = self.db.all::<Option<KeptSummary>>(&recent(), (project, most))?;
        Ok(found.into_iter().flatten().collect())
    }
}

fn recent() -> String {
    format!(
        "{SUMMARY} where s.id in (select r.id
            from (select id, last_at from conversations where project = ?1 order by last_at desc limit {RECENT}) l
            cross join summaries r on r.conversation = l.id cross join conversations o on o.id = l.id
            where o.person is null order by l.last_at desc limit ?2)
        order by c.last_at desc"
    )
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

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, HOUR};
    use super::*;

    fn summarize(archive: &Archive, session: &str) {
        let session = SessionKey::parse(session).unwrap();
        let conversation = archive.latest_conversations(None, 9).unwrap();
        let conversation = conversation.into_iter().find(|found| found.session == session).unwrap();
        let draft = SummaryDraft { request: "paint".into(), ..SummaryDraft::default() };
        let kept = KeptSummary {
            summary: Summary::of(&draft).unwrap(),
            session,
            turn: 1,
            maker: MemoryAuthor::Rules,
            trust: MemoryTrust::Agent,
            at: conversation.last_at,
        };
        archive.put_summary(&conversation, &kept).unwrap();
    }

    #[test]
    fn recent_summaries_are_those_of_the_projects_latest_sessions() {
        let bench = Bench::new();
        let archive = &bench.archive;
        let sessions = [("a:1", "boat"), ("a:2", "boat"), ("a:3", "pier"), ("a:4", "boat"), ("a:5", "boat")];
        for ((session, project), at) in sessions.into_iter().zip(1..) {
            bench.session(session, project, &[(at * HOUR, at * HOUR + 1)]);
        }
        ["a:4", "a:3", "a:2", "a:1"].into_iter().for_each(|session| summarize(archive, session));
        let boat = archive.db.value("select project from conversations where session = '1'", ()).unwrap();
        let recent = archive.recent_summaries(boat, 2).unwrap();
        let sessions: Vec<String> = recent.iter().map(|kept| kept.session.to_string()).collect();
        assert_eq!(sessions, ["a:4", "a:2"]);
    }

    #[test]
    fn the_row_of_every_recent_session_was_read() {
        let plan = Bench::new().plan(&recent());
        let listed = plan.lines().position(|line| line.contains("COVERING INDEX conversations_by_project"));
        let probed = plan.lines().position(|line| line.contains("SEARCH r USING COVERING INDEX"));
        let read = plan.lines().position(|line| line.contains("SEARCH o USING INTEGER PRIMARY KEY"));
        assert!(listed.is_some() && listed < probed && probed < read, "{plan}");
    }
}
