//! Projects: one row for all worktrees, subfolders and clones of the same repository.
//!
//! Looked up by remote first, since that survives a move, then by root.

use crate::columns::from_row;
use crate::query::Query;
use crate::{Result, Store};
use rusqlite::Connection;
use std::path::Path;
use towline_core::id::Uid;
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;

const BY_REMOTE: &str = "select id, root, remote, name from projects where remote = ?1";
const BY_ROOT: &str = "select id, root, remote, name from projects where root = ?1";
const ADD: &str = "
    insert into projects (uid, machine, revision, root, remote, name, first_seen) values (?1, ?2, 1, ?3, ?4, ?5, ?6)";
const CHANGE: &str =
    "update projects set revision = revision + 1, remote = ?2, name = ?3, root = ?4 where id = ?1";
const NAMES: &str = "select name, root, remote from projects order by id";

pub(crate) struct StoredProject {
    pub id: i64,
    pub root: String,
    pub remote: Option<String>,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProjectLocation {
    pub name: String,
    pub root: String,
    pub remote: Option<String>,
}

from_row!(StoredProject { id, root, remote, name });
from_row!(ProjectLocation { name, root, remote });

/// The projects of one database, and the machine id for new rows.
pub(crate) struct ProjectTable<'a> {
    pub db: &'a Connection,
    pub machine: Uid,
}

impl ProjectTable<'_> {
    /// The id of the project's row, inserted or updated. `uid` is its id if it is new.
    pub fn row(&self, traces: &ProjectIdentity, uid: Uid, at: Timestamp) -> Result<i64> {
        Ok(self.stored(traces, uid, at)?.id)
    }

    /// The project's row, inserted or updated.
    pub fn stored(&self, traces: &ProjectIdentity, uid: Uid, at: Timestamp) -> Result<StoredProject> {
        if let Some(known) = self.lookup(traces)? {
            return self.refresh_project(known, traces);
        }
        let ProjectIdentity { root, remote, .. } = traces;
        self.db.change(ADD, (uid.0, self.machine.0, root, remote, traces.display_name(), at.0))?;
        let (id, name) = (self.db.last_insert_rowid(), traces.display_name().to_owned());
        Ok(StoredProject { id, root: root.clone(), remote: remote.clone(), name })
    }

    pub fn all(&self) -> Result<Vec<ProjectLocation>> {
        self.db.all(NAMES, [])
    }

    /// Stores a remote that was added or changed, a new name, and the new root of a repository that was moved;
    /// a second clone changes nothing.
    fn refresh_project(&self, known: StoredProject, traces: &ProjectIdentity) -> Result<StoredProject> {
        let is_elsewhere = known.root != traces.root;
        let was_moved =
            is_elsewhere && !Path::new(&known.root).exists() && !self.db.exists(BY_ROOT, [&traces.root])?;
        let root = if was_moved { &traces.root } else { &known.root };
        let remote = traces.remote.as_ref().or(known.remote.as_ref());
        let keeps_name = is_elsewhere && !was_moved && traces.name.is_none();
        let name = if keeps_name { &known.name } else { traces.display_name() };
        if remote == known.remote.as_ref() && name == known.name && *root == known.root {
            return Ok(known);
        }
        self.db.change(CHANGE, (known.id, remote, name, root))?;
        Ok(StoredProject { id: known.id, root: root.clone(), remote: remote.cloned(), name: name.to_owned() })
    }

    /// The project's row, if it exists.
    pub fn find(&self, traces: &ProjectIdentity) -> Result<Option<i64>> {
        Ok(self.lookup(traces)?.map(|known| known.id))
    }

    fn lookup(&self, traces: &ProjectIdentity) -> Result<Option<StoredProject>> {
        let by_remote = traces.remote.as_deref().map(|remote| self.db.first(BY_REMOTE, [remote]));
        match by_remote.transpose()?.flatten() {
            Some(known) => Ok(Some(known)),
            None => self.db.first(BY_ROOT, [&traces.root]),
        }
    }
}

impl Store {
    pub(crate) fn project(&self, traces: &ProjectIdentity, uid: Uid, at: Timestamp) -> Result<StoredProject> {
        ProjectTable { db: &self.db, machine: self.machine }.stored(traces, uid, at)
    }

    /// Name, root and remote of every project.
    pub fn projects(&self) -> Result<Vec<(String, String, Option<String>)>> {
        self.db.all(NAMES, [])
    }
}
