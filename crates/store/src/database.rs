//! Opens and migrates the database, and moves it aside when it is damaged.
//!
//! The only `Connection::open` of the project. Writing needs the `ProjectionLock`; reading takes no lock and changes no row.

#[cfg(target_os = "linux")]
use crate::alloc;
use crate::home::{DataFolder, beside, open_or_make, size};
use crate::lock::ProjectionLock;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use crate::wal_index;
use crate::{marks, memory};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use towline_core::id::Uid;
use towline_core::patience::stretch;
use towline_core::time::Timestamp;

/// The schema version that this binary writes.
pub const SCHEMA: u32 = 9;

const MIGRATIONS: [&str; SCHEMA as usize] = [
    include_str!("migrations/0001_first.sql"),
    include_str!("migrations/0002_waits.sql"),
    include_str!("migrations/0003_inherit.sql"),
    include_str!("migrations/0004_type_safely.sql"),
    include_str!("migrations/0005_remember.sql"),
    include_str!("migrations/0006_batons_from_afar.sql"),
    include_str!("migrations/0007_terse_schema.sql"),
    include_str!("migrations/0008_untyped_columns.sql"),
    include_str!("migrations/0009_fewer_indexes.sql"),
];

/// More statements than any of our transactions uses: an evicted statement would be prepared again each time.
const STATEMENT_CACHE_SIZE: usize = 128;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("could not open the database at {path}")]
    Open { path: PathBuf, source: rusqlite::Error },
    #[error("the database is damaged")]
    Damaged { source: rusqlite::Error },
    #[error("the database is in use by another process")]
    Busy { source: rusqlite::Error },
    #[error("the database has schema {found}, which this version of tow may not write")]
    Newer { found: u32 },
    #[error("could not use the database")]
    Sql { source: rusqlite::Error },
    #[error("could not unpack what the archive holds")]
    Unpack { source: io::Error },
    #[error("another process still reads what was erased")]
    StillRead,
    #[error("the journal holds records of a newer version of tow")]
    NewerJournal,
    #[error("could not use the data folder {path}")]
    Folder { path: PathBuf, source: io::Error },
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl From<rusqlite::Error> for StoreError {
    fn from(source: rusqlite::Error) -> Self {
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged { source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { source },
            _ => StoreError::Sql { source },
        }
    }
}

pub struct Store {
    pub(crate) home: DataFolder,
    pub(crate) db: Connection,
    pub(crate) machine: Uid,
}

impl Store {
    /// Opens for writing; creates or migrates the database as needed. `new_machine` is the machine's id if it has none.
    pub fn open(
        home: &DataFolder,
        _lock: &ProjectionLock,
        patience: Duration,
        new_machine: Uid,
    ) -> Result<Store> {
        let db = open_for_writing(&home.database(), patience, &MIGRATIONS)?;
        let machine = machine_name(home, new_machine)?;
        Ok(Store { home: home.clone(), db, machine })
    }

    /// Opens for reading only; `None` if there is no database yet.
    pub fn read(home: &DataFolder, patience: Duration) -> Result<Option<Store>> {
        let db = open_for_reading(&home.database(), patience, &MIGRATIONS)?;
        Ok(db.map(|db| Store { home: home.clone(), db, machine: Uid([0; 16]) }))
    }

    /// Skips closing the connection: process exit is faster than SQLite freeing its structures. Committed data is in
    /// the WAL either way, since closing does not checkpoint. For hooks only: a server does not exit.
    pub fn exit_without_close(self) {
        std::mem::forget(self.db);
    }

    pub fn home(&self) -> &DataFolder {
        &self.home
    }

    pub fn schema(&self) -> Result<u32> {
        Ok(schema_of(&self.db)?)
    }

    /// Checks every page; an empty result means that the database is intact.
    pub fn complaints(&self) -> Result<Vec<String>> {
        complaints(&self.db)
    }
}

pub(crate) fn complaints(db: &Connection) -> Result<Vec<String>> {
    let mut check = db.prepare("pragma integrity_check(10)")?;
    let lines = check.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Gives up to `most` free pages back to the file system. Every step of the statement releases one page.
pub(crate) fn release_pages(db: &Connection, most: u32) -> Result<()> {
    let mut statement = db.prepare(&format!("pragma incremental_vacuum({most})"))?;
    let mut steps = statement.query([])?;
    while steps.next()?.is_some() {}
    Ok(())
}

/// How long erasing waits for other readers.
const READERS_TIMEOUT: Duration = Duration::from_secs(20);

/// Vacuums the database and truncates its WAL, so that no deleted data is left in a file.
pub(crate) fn compact(db: &Connection) -> Result<()> {
    db.busy_timeout(stretch(READERS_TIMEOUT))?;
    db.execute_batch("vacuum")?;
    empty_wal(db)
}

/// Writes the WAL back and truncates it; fails if another process still reads it.
pub(crate) fn empty_wal(db: &Connection) -> Result<()> {
    db.busy_timeout(stretch(READERS_TIMEOUT))?;
    let is_busy: bool = db.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))?;
    if is_busy { Err(StoreError::StillRead) } else { Ok(()) }
}

pub(crate) fn open_for_writing(path: &Path, patience: Duration, migrations: &[&str]) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = match connect_ours(path, flags) {
        Err(StoreError::Open { .. }) if !path.exists() => {
            // SQLite would create it world-readable; the -wal and -shm files inherit the mode set here.
            open_or_make(path).map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
            connect_ours(path, flags)?
        }
        opened => opened?,
    };
    db.busy_timeout(stretch(patience))?;
    // No checkpoint on close or, by the flags that SQLite is compiled with, on commit: the agent would wait for the disk.
    // `upkeep` does it while no agent waits.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    migrate(&db, migrations)?;
    Ok(db)
}

/// Opens a database read-only; `None` if it does not exist or is just being created. A database of an older version is
/// migrated first: our queries need the current tables.
pub(crate) fn open_for_reading(
    path: &Path,
    patience: Duration,
    migrations: &[&str],
) -> Result<Option<Connection>> {
    if !path.exists() {
        return Ok(None);
    }
    // Not read-only for SQLite itself: a reader of a WAL database may have to rebuild the WAL index.
    let db = connect_ours(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .or_else(|_| {
            connect_ours(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        })?;
    db.busy_timeout(stretch(patience))?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.pragma_update(None, "query_only", true)?;
    if matches!(schema_of(&db), Ok(found) if found > 0 && (found as usize) < migrations.len()) {
        drop(open_for_writing(path, patience, migrations)?);
    }
    Ok((!is_uninitialized(&db, path)).then_some(db))
}

/// Whether another process has created the file but not filled it yet. A file cut within its header looks the same to
/// SQLite, but is damaged.
fn is_uninitialized(db: &Connection, path: &Path) -> bool {
    const HEADER: u64 = 100;
    let is_cut = (1..HEADER).contains(&size(path));
    matches!(schema_of(db), Ok(0)) && !is_cut
}

/// Moves a damaged database aside, never deletes it, and returns its new path. Removes the marks derived from it.
pub fn set_aside(home: &DataFolder, _lock: &ProjectionLock, now: Timestamp) -> io::Result<PathBuf> {
    let aside = move_aside(&home.database(), now)?;
    marks::remove_all(home)?;
    Ok(aside)
}

/// Renames a database with its -wal and -shm files, and returns the new path.
pub(crate) fn move_aside(database: &Path, now: Timestamp) -> io::Result<PathBuf> {
    let beside = |suffix: &str| beside(database, suffix);
    let stamp = now.to_utc().replace(':', "");
    let numbered = (2..).map(|n| format!(".damaged-{stamp}-{n}"));
    let names = std::iter::once(format!(".damaged-{stamp}")).chain(numbered);
    let free = names.into_iter().find(|name| !beside(name).exists()).unwrap_or_default();
    for suffix in ["-wal", "-shm"] {
        if beside(suffix).exists() {
            fs::rename(beside(suffix), beside(&format!("{free}{suffix}")))?;
        }
    }
    fs::rename(database, beside(&free))?;
    Ok(beside(&free))
}

#[expect(clippy::disallowed_methods, reason = "the one place that opens a database")]
pub(crate) fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    #[cfg(target_os = "linux")]
    alloc::fill();
    memory::install();
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    wal_index::install();
    Connection::open_with_flags(path, flags)
}

/// For hooks: spares them reading the whole WAL if an earlier process left its index.
pub fn keep_wal_index() {
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    wal_index::trust();
}

fn connect_ours(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let db = connect(path, flags).map_err(|source| {
        let is_specific = source.sqlite_error_code().is_some_and(|code| code != ErrorCode::CannotOpen);
        if is_specific { source.into() } else { StoreError::Open { path: path.to_owned(), source } }
    })?;
    // Without it SQLite replans a statement whenever other values are bound, in case a partial index fits them.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
    Ok(db)
}

fn schema_of(db: &Connection) -> rusqlite::Result<u32> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Migrates in one transaction, so that a reader sees either all of it or none. Writes to a newer schema only if its
/// migration allowed it by setting the fact `writable_by` to our version or lower.
fn migrate(db: &Connection, migrations: &[&str]) -> Result<()> {
    let found = schema_of(db)?;
    let ours = u32::try_from(migrations.len()).unwrap_or(u32::MAX);
    if found > ours {
        return if writable_by(db)? <= ours { Ok(()) } else { Err(StoreError::Newer { found }) };
    }
    if found == ours {
        return Ok(());
    }
    if found == 0 {
        // Persistent, so set only once. Incremental vacuum must be chosen before the first table is created.
        db.pragma_update(None, "auto_vacuum", "incremental")?;
        db.pragma_update(None, "journal_mode", "wal")?;
    }
    let transaction = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
    // Another process may have migrated in the meantime.
    let found = schema_of(&transaction)?;
    for script in migrations.iter().skip(found as usize) {
        transaction.execute_batch(script)?;
    }
    transaction.pragma_update(None, "user_version", found.max(ours))?;
    Ok(transaction.commit()?)
}

fn writable_by(db: &Connection) -> rusqlite::Result<u32> {
    const QUERY: &str = "select cast(value as integer) from facts where name = 'writable_by'";
    let found = db.query_row(QUERY, [], |row| row.get(0));
    match found {
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(u32::MAX),
        other => other,
    }
}

fn known_name(path: &Path) -> Option<Uid> {
    // Longer than an id: one read tells all.
    let mut text = [0; 64];
    let length = File::open(path).and_then(|mut file| file.read(&mut text)).ok()?;
    Uid::parse(std::str::from_utf8(text.get(..length)?).ok()?.trim()).ok()
}

/// Returns the machine's id; it is kept beside the database, so that a rebuilt database has the same one.
pub(crate) fn machine_name(home: &DataFolder, new: Uid) -> Result<Uid> {
    let path = home.machine();
    let failed = |source| StoreError::Folder { path: path.clone(), source };
    if let Some(known) = known_name(&path) {
        return Ok(known);
    }
    let mut file = open_or_make(&path).map_err(failed)?;
    io::Write::write_all(&mut file, format!("{new}\n").as_bytes()).map_err(failed)?;
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Uid = Uid([7; 16]);

    fn fresh() -> (tempfile::TempDir, DataFolder, ProjectionLock) {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        let lock = ProjectionLock::try_take(&home).unwrap().unwrap();
        (folder, home, lock)
    }

    fn open(home: &DataFolder, lock: &ProjectionLock) -> Result<Store> {
        Store::open(home, lock, Duration::from_millis(50), MACHINE)
    }

    #[test]
    fn a_new_database_is_private_sound_and_in_wal_mode() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, home, lock) = fresh();
        let store = open(&home, &lock).unwrap();
        assert_eq!(store.schema().unwrap(), SCHEMA);
        assert_eq!(store.complaints().unwrap(), Vec::<String>::new());
        let mode: String = store.db.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
        let number = |name| store.db.pragma_query_value(None, name, |row| row.get::<_, u32>(0)).unwrap();
        let compiled_in = (number("synchronous"), number("wal_autocheckpoint"));
        assert_eq!(compiled_in, (1, 0), "LIBSQLITE3_FLAGS in .cargo/config.toml says so");
        for file in [home.database(), home.write_ahead_log()] {
            assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_machine_keeps_its_name() {
        let (_folder, home, lock) = fresh();
        assert_eq!(open(&home, &lock).unwrap().machine, MACHINE);
        let again = Store::open(&home, &lock, Duration::ZERO, Uid([9; 16])).unwrap();
        assert_eq!(again.machine, MACHINE);
    }

    #[test]
    fn a_newer_schema_is_refused_unless_it_says_we_may_write() {
        let (_folder, home, lock) = fresh();
        open(&home, &lock).unwrap().db.pragma_update(None, "user_version", SCHEMA + 1).unwrap();
        assert!(matches!(open(&home, &lock), Err(StoreError::Newer { found }) if found == SCHEMA + 1));
        let reader = Store::read(&home, Duration::ZERO).unwrap().unwrap();
        assert_eq!(reader.schema().unwrap(), SCHEMA + 1, "reading what we know stays possible");
        connect(&home.database(), OpenFlags::default())
            .unwrap()
            .execute("insert into facts values ('writable_by', '1')", [])
            .unwrap();
        assert!(open(&home, &lock).is_ok());
    }

    /// A database as an earlier version left it.
    fn of_version(home: &DataFolder, version: usize) -> Connection {
        open_or_make(&home.database()).unwrap();
        let old = connect(&home.database(), OpenFlags::default()).unwrap();
        migrate(&old, &MIGRATIONS[..version]).unwrap();
        old
    }

    #[test]
    fn a_migration_keeps_the_rows_of_an_older_database() {
        let (_folder, home, lock) = fresh();
        let old = of_version(&home, 2);
        old.execute_batch(
            "insert into sessions (id, uid, machine, revision, agent, session, state, since, seen, started_at, started_by,
                 last_event_at, presence, prompt, subagents, background, compactions, turns)
             values (1, x'01', x'02', 1, 'a', '1', 'idle', 3, 1, 3, 'startup', 9, 'terminal', 'go', '', 0, 0, 1);
             insert into turns values (1, x'03', x'02', 1, 1, 1, null, 'human', 'go', 3, 9, 'completed', 0, 0, 0);",
        )
        .unwrap();
        drop(old);
        let store = open(&home, &lock).unwrap();
        let count = |query: &str| store.db.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(store.schema().unwrap(), SCHEMA);
        assert_eq!(count("select count(*) from heard_turns where prompt = 'go'"), 1);
        let unasked = "select count(*) from sessions where inheriting = 'nothing' and prompted_at = 9";
        assert_eq!(count(unasked), 1, "who was there before has nothing to decide");
    }

    #[test]
    fn a_migration_to_batons_from_afar_keeps_local_batons() {
        let (_folder, home, lock) = fresh();
        let old = of_version(&home, 5);
        old.execute_batch(
            "insert into sessions (id, uid, machine, revision, agent, session, state, since, seen, started_at, started_by,
                 last_event_at, presence, subagents, background, compactions, turns)
             values (1, x'01', x'02', 1, 'a', '1', 'idle', 3, 1, 3, 'startup', 9, 'terminal', '', 0, 0, 1);
             insert into batons values (zeroblob(16), zeroblob(16), 1, 1, 'seat', null, 5, null, null, null);",
        )
        .unwrap();
        drop(old);
        let batons = open(&home, &lock).unwrap().batons().unwrap();
        let told: Vec<_> = batons.iter().map(|baton| (baton.session.to_string(), baton.passed_at)).collect();
        assert_eq!(told, [("a:1".to_owned(), Timestamp(5))]);
    }

    #[test]
    fn a_terse_schema_keeps_rows_keys_and_row_ids() {
        let (_folder, home, lock) = fresh();
        let old = of_version(&home, 6);
        let insert = "insert into waits values (x'01', x'02', 1, 'question', 3, 4)";
        old.pragma_update(None, "foreign_keys", false).unwrap();
        old.execute(insert, []).unwrap();
        let columns_before = columns_in(&old);
        migrate(&old, &MIGRATIONS[..8]).unwrap();
        assert_eq!(complaints(&old).unwrap(), Vec::<String>::new());
        let count = |query: &str| old.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("select count(*) from waits where reason = 'question' and ended_at = 4"), 1);
        let wordy = ["not null", " text,", " text)", "blob", "strict", " integer,", "integer)"];
        for word in wordy {
            let tables = format!("from sqlite_schema where type = 'table' and sql like '%{word}%'");
            assert_eq!(count(&format!("select count(*) {tables}")), 0, "{word}");
        }
        assert!(old.execute(insert, []).is_err(), "a key stays unique");
        let by_row_id = "select count(*) from sqlite_schema where sql like '%(id integer primary key%'";
        assert_eq!(count(by_row_id), 8, "a row id stays one");
        assert_eq!(columns_in(&old), columns_before, "a column stays");
        drop(old);
        assert_eq!(open(&home, &lock).unwrap().complaints().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_schema_with_fewer_indexes_keeps_rows_keys_and_order() {
        let (_folder, home, lock) = fresh();
        let old = of_version(&home, 8);
        let seat = "insert into seats (uid, key, kind) values (x'03', 'seat', 'tmux')";
        let turn =
            "insert into heard_turns (uid, session, ordinal, prompt) values (randomblob(16), 7, 2, 'second')";
        old.execute_batch(&format!(
            "insert into sessions (id, uid, agent, session, state, last_event_at, seat, recalled_at)
                 values (7, x'01', 'a', '1', 'idle', 7200001, 'seat', 5);
             insert into projects (id, uid, root, name) values (4, x'02', '/boat', 'boat');
             insert into jobs (id, uid, kind, subject, due_at, attempts) values (9, x'04', 'expire', 'all', 3, 1);
             insert into heard_turns (id, uid, session, ordinal, prompt) values (1, x'05', 7, 3, 'third');
             {seat}; {turn};"
        ))
        .unwrap();
        drop(old);
        let store = open(&home, &lock).unwrap();
        assert_eq!(store.complaints().unwrap(), Vec::<String>::new());
        let read = |query: &str| store.db.query_row(query, [], |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(
            read("select group_concat(prompt) from (select prompt from heard_turns where session = 7)"),
            "second,third"
        );
        assert_eq!(
            read("select id || session || active_hour || recalled_at || on_clear from sessions"),
            "7125always"
        );
        assert_eq!(read("select p.id || root || key || hex(s.uid) from projects p, seats s"), "4/boatseat03");
        assert_eq!(read("select id || kind || subject || due_at || attempts from jobs"), "9expireall31");
        for again in [seat, turn] {
            assert!(store.db.execute(again, []).is_err(), "a key stays unique: {again}");
        }
        let broken = "select count(*) || '' from sqlite_schema where instr(sql, char(10)) and type = 'table'";
        assert_eq!(read(broken), "0", "hooks parse no line ends");
    }

    /// The number of columns of all tables.
    fn columns_in(db: &Connection) -> i64 {
        let columns =
            "select count(*) from sqlite_schema t, pragma_table_info(t.name) where t.type = 'table'";
        db.query_row(columns, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn opening_an_older_database_for_reading_migrates_it() {
        let (_folder, home, _lock) = fresh();
        let old = of_version(&home, 2);
        assert_eq!(schema_of(&old).unwrap(), 2);
        let reader = Store::read(&home, Duration::from_millis(50)).unwrap().unwrap();
        assert_eq!(reader.schema().unwrap(), SCHEMA);
        assert!(reader.open_hops().unwrap().is_empty(), "there is such a table");
    }

    #[test]
    fn a_database_is_made_whole_or_not_at_all() {
        let (_folder, home, _lock) = fresh();
        open_or_make(&home.database()).unwrap();
        let db = connect(&home.database(), OpenFlags::default()).unwrap();
        assert!(migrate(&db, &[MIGRATIONS[0], "create table half (", MIGRATIONS[1]]).is_err());
        let tables: i64 = db.query_row("select count(*) from sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!((tables, schema_of(&db).unwrap()), (0, 0));
    }

    #[test]
    fn garbage_in_the_database_is_damage_and_is_moved_aside() {
        let (_folder, home, lock) = fresh();
        drop(open(&home, &lock).unwrap());
        fs::remove_file(home.write_ahead_log()).unwrap();
        fs::write(home.database(), vec![b'x'; 8192]).unwrap();
        assert!(matches!(open(&home, &lock), Err(StoreError::Damaged { .. })));
        let aside = set_aside(&home, &lock, Timestamp(0)).unwrap();
        assert_eq!(fs::read(aside).unwrap(), vec![b'x'; 8192]);
        assert!(open(&home, &lock).is_ok());
    }
}
