//! Memories, summaries and turns before and after a time.
//!
//! Reads no more rows than requested; those of one project through its index.

use super::ask::standing;
use super::memories::MEMORY;
use super::read::{Conversation, TURN, TurnRow};
use super::summaries::SUMMARY;
use super::{Archive, KeptSummary};
use crate::Result;
use crate::query::Query;
use towline_core::memory::Memory;
use towline_core::time::Timestamp;

/// Before or after a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSide {
    Before,
    /// Includes the time itself.
    After,
}

impl TimeSide {
    /// The SQL comparison, and the order that puts the nearest row first.
    pub(crate) fn words(self) -> (&'static str, &'static str) {
        match self {
            TimeSide::Before => ("<", "desc"),
            TimeSide::After => (">=", "asc"),
        }
    }
}

impl Archive {
    /// The nearest memories, in order of time. For all projects, reads the nearest of each: the index is by project,
    /// and without it all memories would have to be sorted.
    pub fn memories_around(
        &self,
        project: Option<i64>,
        at: Timestamp,
        side: TimeSide,
        most: u32,
    ) -> Result<Vec<Memory>> {
        let projects = match project {
            Some(project) => vec![Some(project)],
            // Those without a project, too.
            None => self.project_rows()?.iter().map(|project| Some(project.row)).chain([None]).collect(),
        };
        let mut found = vec![];
        for project in projects {
            found.extend(self.db.all::<Memory>(&nearest(side), (project, at.0, most))?);
        }
        found.sort_by_key(|memory| (memory.made_at, memory.number));
        let surplus = found.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
        match side {
            TimeSide::Before => drop(found.drain(..surplus)),
            TimeSide::After => found.truncate(found.len() - surplus),
        }
        Ok(found)
    }

    /// The nearest summaries, in order of time.
    pub fn summaries_around(
        &self,
        project: Option<i64>,
        at: Timestamp,
        side: TimeSide,
        most: u32,
    ) -> Result<Vec<KeptSummary>> {
        let (compare, order) = side.words();
        let query = format!(
            "{SUMMARY} where (?1 is null or c.project = ?1) and s.at {compare} ?2 order by s.at {order} limit ?3"
        );
        let found = self.db.all::<Option<KeptSummary>>(&query, (project, at.0, most))?;
        let mut found: Vec<KeptSummary> = found.into_iter().flatten().collect();
        found.sort_by_key(|kept| kept.at);
        Ok(found)
    }

    /// The nearest turns with a request that were not reverted, in order of time.
    pub fn turns_around(
        &self,
        project: Option<i64>,
        at: Timestamp,
        side: TimeSide,
        most: u32,
    ) -> Result<Vec<(Conversation, TurnRow)>> {
        let (compare, order) = side.words();
        let standing = standing!("", "");
        let query = format!(
            "{TURN} cross join conversations c on c.id = t.conversation
             where t.at {compare} ?2 and (?1 is null or c.project = ?1) and {standing}
             order by t.at {order}, t.conversation {order}, t.ordinal {order} limit ?3"
        );
        let mut turns: Vec<TurnRow> = self.db.all(&query, (project, at.0, most))?;
        turns.sort_by_key(|turn| (turn.at, turn.conversation, turn.ordinal));
        let with = |turn: TurnRow| Ok((self.conversation_by_row(turn.conversation)?, turn));
        turns.into_iter().map(with).collect()
    }
}

fn nearest(side: TimeSide) -> String {
    let (compare, order) = side.words();
    format!(
        "{MEMORY} where m.project is ?1 and m.made_at {compare} ?2 order by m.made_at {order}, m.id {order} limit ?3"
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, MINUTE};
    use super::*;

    #[test]
    fn the_nearest_memories_of_a_project_are_read_by_its_index() {
        for side in [TimeSide::Before, TimeSide::After] {
            let plan = Bench::new().plan(&nearest(side));
            assert!(plan.contains("memories_by_project (project=? AND made_at"), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{plan}");
        }
    }

    #[test]
    fn the_nearest_turns_of_a_project_are_found_on_either_side() {
        let bench = Bench::new();
        bench.session("a:1", "boat", &[(MINUTE, MINUTE), (3 * MINUTE, 3 * MINUTE), (5 * MINUTE, 5 * MINUTE)]);
        bench.session("a:2", "car", &[(2 * MINUTE, 2 * MINUTE), (4 * MINUTE, 4 * MINUTE)]);
        let archive = &bench.archive;
        let boat = archive.project_rows().unwrap().iter().find(|row| row.name == "boat").unwrap().row;
        let minutes = |project, side, most| -> Vec<i64> {
            let found = archive.turns_around(project, Timestamp(3 * MINUTE), side, most).unwrap();
            found.iter().map(|(_, turn)| turn.at.0 / MINUTE).collect()
        };
        assert_eq!(minutes(None, TimeSide::Before, 5), [1, 2]);
        assert_eq!(minutes(None, TimeSide::After, 2), [3, 4]);
        assert_eq!(minutes(Some(boat), TimeSide::Before, 1), [1]);
        assert_eq!(minutes(Some(boat), TimeSide::After, 5), [3, 5]);
    }
}
