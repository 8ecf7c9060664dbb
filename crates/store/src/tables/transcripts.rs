//! Transcripts that may have grown: those of sessions that are live or ended recently.
//!
//! Queries use the index of live sessions and the latest rows; only background work reads the whole history.

use crate::columns::from_row;
use crate::query::Query;
use crate::{Result, Store};
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;

/// Sessions without a seat are not in the index of live sessions, so the latest rows are checked too.
const LIVE: &str = "
    select s.agent, s.transcript, p.root, p.remote, null from sessions s left join projects p on p.id = s.project
    where s.ended_at is null and s.seat is not null and s.active_hour >= ?1 / 3600000
     and s.last_event_at >= ?1 and s.transcript is not null
    union
    select s.agent, s.transcript, p.root, p.remote, null
    from (select * from sessions order by id desc limit 64) s left join projects p on p.id = s.project
    where s.transcript is not null and s.last_event_at >= ?1 and (s.state <> 'ended' or s.ended_at >= ?2)";

/// Reads every session: only for background work.
const HEARD: &str = "
    select agent, transcript, null, null, null from sessions
    where last_event_at between ?1 and ?2 and transcript is not null";

/// A session's transcript that may have grown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveTranscript {
    pub agent: String,
    pub path: String,
    pub project: Option<ProjectIdentity>,
}

from_row!(LiveTranscript { agent, path, project });

impl Store {
    /// Transcripts of sessions with an event since `heard` that have not ended, or ended at or after `ended`.
    pub fn live_transcripts(&self, heard: Timestamp, ended: Timestamp) -> Result<Vec<LiveTranscript>> {
        self.db.all(LIVE, (heard.0, ended.0))
    }

    /// Transcripts of all sessions whose last event is within these times, without their projects.
    pub fn transcripts_heard(&self, since: Timestamp, until: Timestamp) -> Result<Vec<LiveTranscript>> {
        self.db.all(HEARD, (since.0, until.0))
    }
}

#[cfg(test)]
mod tests {
    use super::LIVE;
    use crate::journal::JournalRecord;
    use crate::lock::ProjectionLock;
    use crate::{DataFolder, Store, archive, journal, marks};
    use std::fs;
    use std::time::Duration;
    use towline_core::fault::{FaultKind, FaultRecord};
    use towline_core::id::{SessionKey, Uid};
    use towline_core::time::Timestamp;

    const ADD: &str = "
        insert into sessions (uid, machine, revision, agent, session, state, since, seen, started_at, started_by,
            last_event_at, ended_at, presence, transcript, seat, subagents, background, compactions, turns,
            active_hour)
        values (randomblob(16), x'', 1, 'alpha', ?1, ?2, 0, 0, 0, 'startup', ?3, ?4, 'terminal', '/' || ?1, ?5, '', 0, 0, 0, 0)";

    #[test]
    fn live_and_recently_ended_sessions_are_found_through_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let lock = ProjectionLock::try_take(&home).unwrap().unwrap();
        let store = Store::open(&home, &lock, Duration::ZERO, Uid([7; 16])).unwrap();
        let add = |name: &str, state: &str, (heard, ended): (i64, Option<i64>), seat: Option<&str>| {
            store.db.execute(ADD, (name, state, heard, ended, seat)).unwrap();
        };
        add("sits-for-long", "idle", (90, None), Some("seat"));
        (0..70).for_each(|n| add(&format!("old-{n}"), "ended", (20, Some(20)), None));
        add("silent", "idle", (10, None), Some("seat"));
        add("headless", "working", (95, None), None);
        add("just-ended", "ended", (95, Some(95)), None);
        add("ended", "ended", (60, Some(60)), None);
        let found = store.live_transcripts(Timestamp(50), Timestamp(80)).unwrap();
        let paths: Vec<_> = found.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(paths, ["/headless", "/just-ended", "/sits-for-long"]);
        assert_eq!(store.transcripts_heard(Timestamp(20), Timestamp(94)).unwrap().len(), 72, "all but three");
        let mut plan = store.db.prepare(&format!("explain query plan {LIVE}")).unwrap();
        let plan = plan.query_map((0, 0), |row| row.get::<_, String>(3)).unwrap();
        let plan: Vec<String> = plan.map(|line| line.unwrap()).collect();
        assert!(
            plan.iter().any(|line| line.contains("USING INDEX live_sessions (active_hour>?)")),
            "{plan:?}"
        );
    }

    #[test]
    fn the_last_append_the_last_archive_write_and_working_sessions_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        assert_eq!(archive::written_at(&home), None);
        let fault = FaultRecord { at: Timestamp(1), kind: FaultKind::Store, detail: String::new() };
        journal::append(&home, &[JournalRecord::Fault(fault)]).unwrap();
        fs::write(home.archive(), "").unwrap();
        let year_2020 = Some(Timestamp(1_577_836_800_000));
        assert!(journal::last_append_at(&home) > year_2020 && archive::written_at(&home) > year_2020);
        assert!(!marks::is_any(&home));
        marks::raise(&home, &SessionKey::parse("alpha:1").unwrap());
        assert!(marks::is_any(&home));
    }
}
