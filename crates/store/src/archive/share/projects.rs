//! Shared projects: how much of each is shared, and the cursor of its pull.
//!
//! Only projects listed here are shared. A project's key gives it the same id on every machine.

use crate::Result;
use crate::archive::Archive;
use crate::columns::{Columns, FromRow};
use crate::query::Query;
use rusqlite::Params;
use towline_core::id::Uid;
use towline_core::time::Timestamp;

towline_core::named_enum! {
    /// How much of a project is shared; each level includes the previous one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ShareLevel as named {
        /// Memories, summaries, lines, bookmarks, batons.
        Lines = "lines",
        /// And the messages of the turns.
        Bodies = "bodies",
        /// And tool inputs and outputs.
        Details = "details",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedProject {
    /// The project's row here.
    pub row: i64,
    /// The same on all machines.
    pub id: Uid,
    pub key: String,
    pub extent: ShareLevel,
    /// The hub's sequence number up to which rows were pulled.
    pub cursor: u64,
    pub since: Timestamp,
    pub name: String,
    pub root: String,
    pub remote: Option<String>,
}

const ALL: &str = "
    select s.extent, s.project, s.id, s.key, s.cursor, s.since, p.name, p.root, p.remote
    from shared_projects s join projects p on p.id = s.project";
const SHARE: &str = "
    insert into shared_projects (project, id, key, extent, cursor, since) values (?1, ?2, ?3, ?4, 0, ?5)
    on conflict (project) do update set extent = excluded.extent, id = excluded.id, key = excluded.key,
        cursor = case when id = excluded.id then cursor else 0 end";
const UNSHARE: &str = "delete from shared_projects where project = ?1";
/// Removes everything known of a hub. Forgotten rows stay forgotten.
const LEAVE: &str = "
    delete from sent; delete from shared_projects; delete from others_notes; delete from proposals;
    delete from leaving_projects;
    delete from facts
        where name in ('hub person', 'hub admin', 'hub scan', 'hub leave', 'hub machines of this person',
            'hub machines of others', 'read up to by hub')";
const MOVE_CURSOR: &str = "update shared_projects set cursor = ?2 where project = ?1";

/// The fact that holds this user's name in the team.
const PERSON: &str = "hub person";
/// The fact that says whether the user administers the team.
const ADMIN: &str = "hub admin";

impl Archive {
    pub fn shared_projects(&self) -> Result<Vec<SharedProject>> {
        self.shared(&format!("{ALL} order by p.name, s.project"), [])
    }

    pub(super) fn shared_project(&self, row: i64) -> Result<Option<SharedProject>> {
        Ok(self.shared(&format!("{ALL} where s.project = ?1"), [row])?.pop())
    }

    pub(crate) fn shared_project_of(&self, conversation: i64) -> Result<Option<SharedProject>> {
        const OF: &str = "select project from conversations where id = ?1";
        let row: Option<i64> = self.db.first(OF, [conversation])?.flatten();
        row.map_or(Ok(None), |row| self.shared_project(row))
    }

    fn shared(&self, query: &str, params: impl Params) -> Result<Vec<SharedProject>> {
        let found: Vec<Option<SharedProject>> = self.db.all(query, params)?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Shares a project with all its rows, or changes how much of it is shared.
    pub fn share_project(
        &self,
        row: i64,
        key: &str,
        extent: ShareLevel,
        now: Timestamp,
    ) -> Result<SharedProject> {
        self.in_transaction(|| {
            let id = project_id(key);
            self.db.change(SHARE, (row, id.0, key, extent.name(), now.0))?;
            self.begin_scan()?;
            let shared = self.shared_project(row)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            self.share_again(&shared)?;
            Ok(shared)
        })
    }

    /// Stops the exchange of a project. Rows received before stay.
    pub fn unshare_project(&self, row: i64) -> Result<bool> {
        Ok(self.db.change(UNSHARE, [row])? > 0)
    }

    /// Sets this user's name in the team, when a hub is joined.
    pub fn set_person(&self, name: &str) -> Result<()> {
        self.set_fact(PERSON, name)
    }

    /// Empty if no hub was joined.
    pub fn own_person(&self) -> Result<String> {
        Ok(self.fact(PERSON)?.unwrap_or_default())
    }

    /// Sets whether this user administers the team. Writes only a change.
    pub fn set_admin(&self, is_admin: bool) -> Result<()> {
        if self.is_admin()? == is_admin {
            return Ok(());
        }
        self.set_fact(ADMIN, if is_admin { "1" } else { "0" })
    }

    /// Whether the hub lets this user forget rows of others, as of the last sync.
    pub fn is_admin(&self) -> Result<bool> {
        Ok(self.fact(ADMIN)?.is_some_and(|fact| fact == "1"))
    }

    /// Removes all hub state.
    pub fn leave_hub(&self) -> Result<()> {
        self.in_transaction(|| Ok(self.db.execute_batch(LEAVE)?))
    }

    pub(super) fn move_cursor(&self, project: i64, after: u64) -> Result<()> {
        self.db.run(MOVE_CURSOR, (project, after.cast_signed()))
    }

    /// This machine's id.
    pub fn machine(&self) -> Uid {
        self.machine
    }
}

pub fn project_id(key: &str) -> Uid {
    Uid::derived(Timestamp(0), &["project", key])
}

/// `None` for an extent of a newer version.
impl FromRow for Option<SharedProject> {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let extent = columns.lenient(ShareLevel::named)?;
        let (row, id, key, cursor, since) = columns.get()?;
        let (name, root, remote) = columns.get()?;
        Ok(extent.map(|extent| SharedProject { row, id, key, extent, cursor, since, name, root, remote }))
    }
}
