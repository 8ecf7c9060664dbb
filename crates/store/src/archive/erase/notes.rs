//! Erases bookmarks and batons of other machines: by session, turn, time or text; and the queries needed for it.
//!
//! This machine's own are in the other database; the archive has at most the changes that another machine made to them.

use super::ArchiveEraser;
use crate::Result;
use crate::archive::Archive;
use crate::query::Query;
use rusqlite::ToSql;
use rusqlite::types::Null;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;

pub(super) const OF_SESSION: &str = "e.session = ?1 and e.made_at between ?2 and ?3";
pub(super) const OF_PROJECT: &str = "e.made_at between ?1 and ?2
    and e.project in (select id from projects where root = ?3 or remote is not null and remote = ?4)";
pub(super) const IN_RANGE: &str = "e.made_at between ?1 and ?2";
pub(super) const OF_TURN: &str = "e.session = ?1 and e.turn = ?2";
/// Searches only text values, not field names; if the JSON is of a newer version, everything.
pub(super) const WITH_WORDS: &str = "iif(json_valid(e.words), exists (
        select 1 from json_tree(e.words) j where j.type = 'text' and j.key is not 'how' and holds(j.atom)),
    holds(e.words))";

/// Maximum number of parameters of a condition.
const MAX_PARAMETERS: usize = 4;

const BURY: &str = "
    insert into tombs (uid, kind, project, person, machine, session, turn, made_at, at, by, fate, told)
    select e.uid, e.kind, s.id, e.person, e.machine, e.session, e.turn, e.made_at, ?5, ?6,
        iif(e.person is null, ?7, ?8), iif(e.person is null, ?7, ?8) = 'away'
    from others_notes e join shared_projects s on s.project = e.project";
const DROP: &str = "delete from others_notes as e";

const LAST: &str = "select max(made_at) from others_notes where session = ?1";
const CALLED: &str = "
    select distinct session from others_notes where session = ?1 or substr(session, -length(?1)) = ?1
        or substr(session, instr(session, ':') + 1, length(?1)) = ?1
    order by session limit 20";
const IN_PROJECT: &str =
    "select distinct session from others_notes where project = ?1 and session is not null";

impl Archive {
    /// When the last bookmark or baton of another machine's session was set, by that machine's clock.
    pub fn last_noted(&self, session: &SessionKey) -> Result<Option<Timestamp>> {
        self.db.value(LAST, [session.to_string()])
    }

    /// Sessions of other machines with a bookmark or baton whose id begins or ends with `name`.
    pub fn noted_sessions_called(&self, name: &str) -> Result<Vec<SessionKey>> {
        let found = self.db.all::<String>(CALLED, [name])?;
        Ok(found.iter().filter_map(|key| SessionKey::parse(key).ok()).collect())
    }

    /// The same for a project, by its row.
    pub fn noted_sessions_in(&self, project: i64) -> Result<Vec<SessionKey>> {
        let found = self.db.all::<String>(IN_PROJECT, [project])?;
        Ok(found.iter().filter_map(|key| SessionKey::parse(key).ok()).collect())
    }
}

impl ArchiveEraser<'_> {
    /// Buries the matching notes, then deletes them.
    pub(super) fn erase_notes(&mut self, condition: &str, parameters: &[&dyn ToSql]) -> Result<()> {
        let (own, others) = (self.burial.own_fate.name(), self.burial.others_fate.name());
        let mut values = parameters.to_vec();
        values.resize(MAX_PARAMETERS, &Null);
        values.extend([&self.burial.at.0 as &dyn ToSql, &self.burial.by, &own, &others]);
        self.archive
            .db
            .change(&format!("{BURY} where {condition} on conflict (uid) do nothing"), &*values)?;
        self.erased.others += self.archive.db.change(&format!("{DROP} where {condition}"), parameters)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::archive::bench::Bench;
    use crate::archive::{EraseMode, EraseScope, PulledRows, RowContent, ShareLevel, SharedProject, SyncRow};
    use crate::query::Query;
    use crate::tables::projects::ProjectLocation;
    use std::sync::Arc;
    use towline_core::forget::{ForgetText, TimeRange};
    use towline_core::id::{SessionKey, Uid};
    use towline_core::project::ProjectIdentity;
    use towline_core::share::{Registers, RowKind, RowLife, RowProvenance, SharedRow, WriteStamp};
    use towline_core::time::Timestamp;

    const NOW: Timestamp = Timestamp(90);
    const THERE: Uid = Uid([3; 16]);

    /// A bookmark of another machine, set in turn 2 of session `a:1`.
    fn bookmark(
        project: &SharedProject,
        person: &str,
        at: i64,
    ) -> SyncRow<towline_core::text::CleanText<'static>> {
        let words =
            r#"{"label":"before the storm","how":"typed","branch":"main","commit":null,"deleted_at":null}"#;
        let from = RowProvenance {
            person: person.to_owned(),
            machine: THERE,
            session: SessionKey::parse("a:1").ok(),
            turn: Some(2),
            made_at: Timestamp(at),
        };
        let stamp = WriteStamp { count: 1, machine: THERE };
        let life = RowLife::Lives(Box::new(Registers::of_words(words.to_owned(), stamp)));
        let uid = Uid::derived(Timestamp(at), &[person]);
        let row = SharedRow { uid, kind: RowKind::Bookmark, project: project.id, from, life };
        SyncRow { row, words: Some(RowContent::Noted(words.to_owned())) }
    }

    fn noted() -> (Bench, SharedProject) {
        let mut bench = Bench::new();
        let archive = &mut bench.archive;
        let traces = ProjectIdentity { root: "/boat".into(), remote: None, name: None, branch: None };
        let row = archive.project_made(&traces).unwrap();
        let project = archive.share_project(row, "boat", ShareLevel::Lines, NOW).unwrap();
        archive.set_person("ann").unwrap();
        take(&mut bench, &project);
        (bench, project)
    }

    /// One of this user's and one of a teammate's.
    fn take(bench: &mut Bench, project: &SharedProject) {
        let rows = vec![bookmark(project, "ann", 10), bookmark(project, "bob", 20)];
        bench.archive.take(project, PulledRows { rows, after: 2, now: NOW }).unwrap();
    }

    fn left(bench: &Bench) -> Vec<i64> {
        let found = bench.archive.remote_rows(RowKind::Bookmark, None, 9).unwrap();
        found.into_iter().map(|note| note.made_at.0).rev().collect()
    }

    /// `fate told` of each tomb, by creation time.
    fn tombs(bench: &Bench) -> Vec<String> {
        let query = "select fate || ' ' || told from tombs order by made_at";
        bench.archive.db.all(query, []).unwrap()
    }

    /// Checks the remaining notes, the tombs of the others, and that those are not taken in again.
    #[track_caller]
    fn check(extent: &EraseScope<'_>, expected: &[i64], told: &[&str]) {
        let (mut bench, project) = noted();
        let rehearsed = bench.archive.erase(extent, EraseMode::Rehearsal, NOW).unwrap();
        assert_eq!(left(&bench), [10, 20]);
        assert_eq!(bench.archive.erase(extent, EraseMode::ForGood, NOW).unwrap(), rehearsed);
        assert_eq!((rehearsed.others, left(&bench)), (2 - expected.len(), expected.to_vec()));
        assert_eq!(tombs(&bench), told);
        take(&mut bench, &project);
        assert_eq!(left(&bench), expected, "it comes no more");
    }

    #[test]
    fn notes_of_other_machines_go_with_what_is_forgotten() {
        let stretch = |from, until| TimeRange { from: Timestamp(from), until: Timestamp(until) };
        let sessions = [SessionKey::parse("a:1").unwrap()];
        let named = |stretch| EraseScope::Sessions { sessions: &sessions, stretch };
        check(&named(stretch(0, 90)), &[], &["forgotten 0", "away 1"]);
        check(&named(stretch(15, 90)), &[10], &["away 1"]);
        let others = [SessionKey::parse("a:2").unwrap()];
        check(&EraseScope::Sessions { sessions: &others, stretch: stretch(0, 90) }, &[10, 20], &[]);
        let project = ProjectLocation { root: "/boat".into(), remote: None, name: "boat".into() };
        check(
            &EraseScope::Project { project: &project, stretch: stretch(0, 90) },
            &[],
            &["forgotten 0", "away 1"],
        );
        check(&EraseScope::Everyone { stretch: stretch(0, 15) }, &[20], &["forgotten 0"]);
    }

    #[test]
    fn an_administrator_forgets_a_teammates_notes_everywhere_by_naming_their_session() {
        let (mut bench, _) = noted();
        bench.archive.set_admin(true).unwrap();
        let (sessions, stretch) =
            ([SessionKey::parse("a:1").unwrap()], TimeRange { from: Timestamp(0), until: NOW });
        let named = EraseScope::Sessions { sessions: &sessions, stretch };
        bench.archive.erase(&named, EraseMode::ForGood, NOW).unwrap();
        assert_eq!(tombs(&bench), ["forgotten 0", "forgotten 0"]);
    }

    #[test]
    fn a_teammates_note_for_a_session_that_was_captured_here_is_not_taken() {
        let (mut bench, project) = noted();
        bench.archive.db.change("delete from others_notes", []).unwrap();
        bench.session("a:1", "boat", &[(1, 5)]);
        take(&mut bench, &project);
        assert_eq!(left(&bench), [10], "that of another machine of this user is");
    }

    #[test]
    fn a_text_is_searched_in_values_not_in_field_names() {
        let text = |text: &str| EraseScope::Text(Arc::new(ForgetText::new(text).unwrap()));
        check(&text("STORM"), &[], &["forgotten 0", "away 1"]);
        check(&text("main"), &[], &["forgotten 0", "away 1"]);
        for name in ["label", "branch", "null", "typed", "deleted"] {
            check(&text(name), &[10, 20], &[]);
        }
    }

    #[test]
    fn late_notes_of_a_forgotten_session_are_not_taken_in() {
        let (mut bench, project) = noted();
        let sessions = [SessionKey::parse("a:1").unwrap()];
        assert_eq!(bench.archive.last_noted(&sessions[0]).unwrap(), Some(Timestamp(20)));
        assert_eq!(bench.archive.noted_sessions_called("1").unwrap(), sessions);
        assert_eq!(bench.archive.noted_sessions_in(project.row).unwrap(), sessions);
        let stretch = TimeRange { from: Timestamp(0), until: NOW };
        bench
            .archive
            .erase(&EraseScope::Sessions { sessions: &sessions, stretch }, EraseMode::ForGood, NOW)
            .unwrap();
        let late = vec![bookmark(&project, "ann", 30), bookmark(&project, "ann", 95)];
        bench.archive.take(&project, PulledRows { rows: late, after: 3, now: NOW }).unwrap();
        assert_eq!(left(&bench), [95], "what is newer than the forgetting is another matter");
    }
}
