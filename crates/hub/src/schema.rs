//! The hub's schema: one idempotent script that creates or upgrades it.
//!
//! `init` runs the same text that a user may run by hand. It needs only an ordinary login that owns a database: no
//! superuser, no new roles.

use crate::error::{HubError, Result};
use crate::{HubClient, Need};
use tokio_postgres::Row;

/// Numbered, and never changed once released.
const MIGRATIONS: [&str; 2] =
    [include_str!("migrations/0001_begin.sql"), include_str!("migrations/0002_owners.sql")];

/// Objects that depend on the server's extensions: run each time.
const EXTENSIONS: &str = include_str!("migrations/extensions.sql");

/// The version that this program creates and requires.
pub const VERSION: u32 = MIGRATIONS.len() as u32;

/// The oldest program version that may write to this schema.
const WRITABLE_BY: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitOptions {
    /// The number of partitions that rows are spread over by team. Fixed when the hub is created.
    pub partitions: u16,
}

impl Default for InitOptions {
    fn default() -> InitOptions {
        InitOptions { partitions: 16 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitOutcome {
    /// `None` if there was no hub.
    pub before: Option<u32>,
    pub now: u32,
}

/// The server, and this login's status on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubStatus {
    /// Such as `15.18 (Debian …)`.
    pub server: String,
    pub login: String,
    /// The login that created the hub; `None` if there is none.
    pub owner: Option<String>,
    pub schema: HubSchema,
    pub trigrams: Extension,
    pub vectors: Extension,
    /// Makes searching one project of many cheap.
    pub project_index: Extension,
}

/// The hub in a database, as this login sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HubSchema {
    Absent,
    /// It exists, but this login is no member of any team.
    Closed,
    Open {
        version: u32,
        writable_by: u32,
    },
}

/// A PostgreSQL extension's availability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    Used,
    /// Available, but an administrator must create it in this database.
    Offered,
    Missing,
}

/// Uses the catalogues alone: it must work without a hub.
const STANDING: &str = "
    select
        current_setting('server_version') as server,
        session_user::text as login,
        (select pg_get_userbyid(nspowner)::text from pg_namespace where nspname = 'towline') as owner,
        coalesce((select has_schema_privilege(oid, 'usage') from pg_namespace where nspname = 'towline'), false)
            as is_open,
        array(select extname::text from pg_extension) as used,
        array(select name::text from pg_available_extensions) as offered";

const FACTS: &str = "
    select
        (select value::bigint from towline.facts where name = 'version') as version,
        (select value::bigint from towline.facts where name = 'writable_by') as writable_by";

impl HubClient {
    /// The script that creates a hub, for an administrator to read and run.
    pub fn sql(wanted: &InitOptions) -> String {
        let partitions = wanted.partitions.clamp(1, 1024);
        let mut script = format!(
            "-- Makes Towline's hub (schema towline), or brings it up to date. Run it as the login that is to own it, which\n\
             -- needs CREATE on this database and nothing more; it may be run again at any time. Each member needs a login\n\
             -- of their own: create role NAME login password '…';\n\
             begin;\n\
             set local client_min_messages = warning;\n\
             select pg_advisory_xact_lock({LOCK});\n\
             {OWNER}\
             create table if not exists towline.facts (name text primary key, value text not null);\n\
             insert into towline.facts values ('version', '0'), ('writable_by', '0'), ('partitions', '{partitions}')\n    \
             on conflict do nothing;\n"
        );
        for (migration, number) in MIGRATIONS.iter().zip(1_u32..) {
            script.push_str(&step(migration, number));
        }
        script.push_str(EXTENSIONS);
        script.push_str("commit;\n");
        script
    }

    /// Creates or upgrades the hub. A newer one is left alone.
    pub fn init(&mut self, wanted: &InitOptions) -> Result<InitOutcome> {
        let before = match self.server_status()?.schema {
            HubSchema::Absent => None,
            HubSchema::Closed => {
                let why = "this hub is another login's".to_owned();
                return Err(HubError::Refused { place: self.place(), why });
            }
            HubSchema::Open { version, .. } => Some(version),
        };
        if before.is_none_or(|before| before <= VERSION) {
            self.link.run(&HubClient::sql(wanted))?;
        }
        self.schema = None;
        Ok(InitOutcome { before, now: before.unwrap_or(0).max(VERSION) })
    }

    /// The server's and this login's status.
    pub fn server_status(&mut self) -> Result<HubStatus> {
        let rows = self.link.query(STANDING, Vec::new())?;
        let row = self.link.only(&rows)?;
        let owner: Option<String> = self.link.read(row, "owner")?;
        let is_open: bool = self.link.read(row, "is_open")?;
        let schema = match (&owner, is_open) {
            (None, _) => HubSchema::Absent,
            (Some(_), false) => HubSchema::Closed,
            (Some(_), true) => self.facts()?,
        };
        Ok(HubStatus {
            server: self.link.read(row, "server")?,
            login: self.link.read(row, "login")?,
            owner,
            schema,
            trigrams: self.extension(row, "pg_trgm")?,
            vectors: self.extension(row, "vector")?,
            project_index: self.extension(row, "btree_gin")?,
        })
    }

    /// Checks once per connection that this program and the hub are compatible.
    pub(crate) fn ready(&mut self, need: Need) -> Result<()> {
        let schema = match self.schema {
            Some(schema) => schema,
            None => self.facts()?,
        };
        self.schema = Some(schema);
        let place = self.place();
        match (schema, need) {
            (HubSchema::Absent | HubSchema::Closed, _) => Err(HubError::NoSchema { place }),
            (HubSchema::Open { version, .. }, _) if version < VERSION => {
                Err(HubError::SchemaTooOld { place, found: version, wanted: VERSION })
            }
            (HubSchema::Open { writable_by, .. }, Need::Write) if writable_by > VERSION => {
                Err(HubError::SchemaTooNew { place })
            }
            (HubSchema::Open { .. }, Need::Read | Need::Write) => Ok(()),
        }
    }

    fn facts(&mut self) -> Result<HubSchema> {
        let rows = self.link.query(FACTS, Vec::new())?;
        let row = self.link.only(&rows)?;
        let number = |name| -> Result<u32> {
            let number: Option<i64> = self.link.read(row, name)?;
            Ok(number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0))
        };
        Ok(HubSchema::Open { version: number("version")?, writable_by: number("writable_by")? })
    }

    fn extension(&self, row: &Row, name: &str) -> Result<Extension> {
        let has = |column| -> Result<bool> {
            let names: Vec<String> = self.link.read(row, column)?;
            Ok(names.iter().any(|installed| installed == name))
        };
        Ok(match (has("used")?, has("offered")?) {
            (true, _) => Extension::Used,
            (false, true) => Extension::Offered,
            (false, false) => Extension::Missing,
        })
    }
}

/// An arbitrary advisory lock id: the letters of the name.
const LOCK: i64 = 0x0074_6f77_6c69_6e65;

/// The functions run as their owner: if that were a superuser, no policy would apply to them.
const OWNER: &str = "create schema if not exists towline;
do $$ begin
    if (select rolsuper or rolbypassrls from pg_roles where rolname = current_user) then
        raise exception 'policies do not hold for %: make the hub under a login without superuser and bypassrls', current_user
            using errcode = 'TW002';
    elsif (select nspowner from pg_namespace where nspname = 'towline') <> current_user::regrole then
        raise exception 'this hub is another login''s' using errcode = 'TW002';
    end if;
end $$;
";

/// Runs a migration if the schema is older than it.
fn step(migration: &str, number: u32) -> String {
    format!(
        "do $towline_step$ begin\n\
         if (select value::int from towline.facts where name = 'version') < {number} then\n\
         execute $towline_text${migration}$towline_text$;\n\
         update towline.facts set value = '{number}' where name = 'version';\n\
         update towline.facts set value = '{WRITABLE_BY}' where name = 'writable_by';\n\
         end if;\n\
         end $towline_step$;\n"
    )
}
