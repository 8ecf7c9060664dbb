//! Counts over the whole archive and by project, and the context size of a conversation over time.
//!
//! Counts by index, reads no text.

use super::{Archive, Conversation};
use crate::Result;
use crate::columns::from_row;
use crate::query::Query;
use towline_core::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveCounts {
    pub projects: u64,
    pub sessions: u64,
    pub turns: u64,
    pub details: u64,
    pub memories: u64,
    pub pinned: u64,
    pub summaries: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectCounts {
    pub name: String,
    pub root: String,
    pub remote: Option<String>,
    pub sessions: u64,
    pub memories: u64,
    /// When it was last active.
    pub last_at: Option<Timestamp>,
}

/// The context size at one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextPoint {
    pub at: Timestamp,
    pub turn: u32,
    pub tokens: u64,
}

from_row!(ArchiveCounts { projects, sessions, turns, details, memories, pinned, summaries });
from_row!(ProjectCounts { name, root, remote, sessions, memories, last_at });
from_row!(ContextPoint { at, turn, tokens });

const COUNTS: &str = "
    select (select count(*) from projects), (select count(*) from conversations), (select count(*) from turns),
        (select count(*) from details), (select count(*) from memories),
        (select count(*) from memories where pinned_at is not null), (select count(*) from summaries)";

const PROJECTS: &str = "
    select p.name, p.root, p.remote,
        (select count(*) from conversations c where c.project = p.id),
        (select count(*) from memories m where m.project = p.id),
        (select max(c.last_at) from conversations c where c.project = p.id)
    from projects p order by 6 desc, p.name";

/// The last answer of each turn has the turn's largest context. Subagents have contexts of their own.
const CONTEXT: &str = "
    select max(at), turn, input + cache_read + cache_write from usage
    where conversation = ?1 and subagent is null and turn > 0 group by turn order by turn";

const JOBS_CHECKSUM: &str = "
    select count(*) * 31 + total(id) + total(lease) * 7 + total(due_at % 1000003)
        + total(length(state)) * 13 + total(ifnull(leased_until, 0) % 1000033) from jobs";

impl Archive {
    pub fn counts(&self) -> Result<ArchiveCounts> {
        self.db.value(COUNTS, [])
    }

    /// The most recently active project first.
    pub fn project_counts(&self) -> Result<Vec<ProjectCounts>> {
        self.db.all(PROJECTS, [])
    }

    /// One point for each turn, in order.
    pub fn context_points(&self, conversation: &Conversation) -> Result<Vec<ContextPoint>> {
        self.db.all(CONTEXT, [conversation.id])
    }

    /// A checksum that changes whenever a job is made, leased, tried, ended or deleted.
    pub fn jobs_mark(&self) -> Result<i64> {
        Ok(self.db.value::<f64>(JOBS_CHECKSUM, [])? as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, MINUTE};
    use super::*;

    #[test]
    fn rows_are_counted_over_all_and_by_project() {
        let bench = Bench::new();
        bench.session("a:1", "boat", &[(MINUTE, MINUTE), (3 * MINUTE, 3 * MINUTE)]);
        bench.session("a:2", "car", &[(2 * MINUTE, 9 * MINUTE)]);
        let counts = bench.archive.counts().unwrap();
        assert_eq!((counts.projects, counts.sessions, counts.turns, counts.memories), (2, 2, 3, 0));
        let projects = bench.archive.project_counts().unwrap();
        let named: Vec<_> =
            projects.iter().map(|project| (project.name.as_str(), project.sessions)).collect();
        assert_eq!(named, [("car", 1), ("boat", 1)]);
        assert_eq!(projects[0].last_at, Some(Timestamp(9 * MINUTE)));
    }

    #[test]
    fn without_any_job_the_checksum_stays() {
        let bench = Bench::new();
        assert_eq!(bench.archive.jobs_mark().unwrap(), bench.archive.jobs_mark().unwrap());
    }
}
