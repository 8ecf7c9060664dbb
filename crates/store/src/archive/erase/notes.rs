//! Erasing what came of other machines' bookmarks and batons: with the session that they are of, by time, by their words.
//!
//! Those of this machine are not in the archive.

use super::{KnownProject, Work};
use crate::StoreError;
use rusqlite::ToSql;
use rusqlite::types::Null;
use towline_core::forget::Stretch;
use towline_core::id::SessionKey;

const OF_SESSION: &str = "e.session = ?1 and e.made_at between ?2 and ?3";
const OF_PROJECT: &str = "e.made_at between ?1 and ?2
    and e.project in (select id from projects where root = ?3 or remote is not null and remote = ?4)";
const OF_THEN: &str = "e.made_at between ?1 and ?2";
/// Their words are looked at as they travelled.
const WITH_WORDS: &str = "holds(e.words)";

/// How many values a condition names at most.
const NAMED: usize = 4;

const BURY: &str = "
    insert into tombs (uid, kind, project, person, machine, session, turn, made_at, at, by, fate, told)
    select e.uid, e.kind, s.id, e.person, e.machine, e.session, e.turn, e.made_at, ?5, ?6,
        iif(e.person is null, ?7, ?8), iif(e.person is null, ?7, ?8) = 'away'
    from others_notes e join shared_projects s on s.project = e.project";
const DROP: &str = "delete from others_notes as e";

impl Work<'_> {
    pub(super) fn notes_of_session(
        &mut self,
        session: &SessionKey,
        stretch: Stretch,
    ) -> Result<(), StoreError> {
        self.notes(OF_SESSION, &[&session.to_string(), &stretch.from.0, &stretch.until.0])
    }

    pub(super) fn notes_of_project(
        &mut self,
        project: &KnownProject,
        stretch: Stretch,
    ) -> Result<(), StoreError> {
        self.notes(OF_PROJECT, &[&stretch.from.0, &stretch.until.0, &project.root, &project.remote])
    }

    pub(super) fn notes_of_then(&mut self, stretch: Stretch) -> Result<(), StoreError> {
        self.notes(OF_THEN, &[&stretch.from.0, &stretch.until.0])
    }

    pub(super) fn notes_with_words(&mut self) -> Result<(), StoreError> {
        self.notes(WITH_WORDS, &[])
    }

    /// Those that fit are buried, then dropped.
    fn notes(&mut self, fits: &str, named: &[&dyn ToSql]) -> Result<(), StoreError> {
        let (own, others) = (self.burial.of_own.name(), self.burial.of_others.name());
        let mut values = named.to_vec();
        values.resize(NAMED, &Null);
        values.extend([&self.burial.at.0 as &dyn ToSql, &self.burial.by, &own, &others]);
        self.archive.change(&format!("{BURY} where {fits} on conflict (uid) do nothing"), &*values)?;
        self.erased.others += self.archive.change(&format!("{DROP} where {fits}"), named)?;
        Ok(())
    }
}
