//! Opening a database that belongs to somebody else, so that not one byte beside it or in it changes.
//!
//! No lock that its owner could notice for long, no companion file in its folder. Where a log of changes is not yet
//! written back, only a copy can be read without joining in; the copy loses its name before the first row is read.

use super::ForeignError;
use crate::database::connect;
use crate::home::{Home, private_folder};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const PATIENCE: Duration = Duration::from_secs(2);
/// How often a copy is tried while somebody writes.
const TRIES: usize = 5;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

pub(super) struct Opened {
    pub db: Connection,
    pub stamp: Stamp,
}

/// By which a file that was written since is known: size and time of the database and of its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stamp([Option<(u64, SystemTime)>; 2]);

impl Stamp {
    pub fn of(path: &Path) -> io::Result<Stamp> {
        let of = |path: &Path| match fs::metadata(path) {
            Ok(meta) => Ok(Some((meta.len(), meta.modified()?))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        Ok(Stamp([of(path)?, of(&beside(path, "-wal"))?]))
    }

    fn has_log(&self) -> bool {
        self.0[1].is_some_and(|(size, _)| size > 0)
    }
}

pub(super) fn open(path: &Path, home: &Home) -> Result<Opened, ForeignError> {
    let unreadable = |source| ForeignError::Read { path: path.to_owned(), source };
    let failed = |source| ForeignError::of(path, source);
    let stamp = Stamp::of(path).map_err(unreadable)?;
    let keeps_log = keeps_log(path)?;
    if stamp.has_log() {
        return copied(path, home);
    }
    // Without `immutable`, a database that keeps a log would get one, and its index, from the first reader.
    let in_place = if keeps_log { "immutable=1" } else { "mode=ro" };
    match read_in_place(path, in_place) {
        Ok(db) => Ok(Opened { db, stamp }),
        // Left in the middle of a change: only somebody who may write can bring it back to what it was.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => copied(path, home),
        Err(error) => Err(failed(error)),
    }
}

/// Whether it keeps its changes in a log, by what its first bytes say.
fn keeps_log(path: &Path) -> Result<bool, ForeignError> {
    let unreadable = |source| ForeignError::Read { path: path.to_owned(), source };
    let mut head = [0; 20];
    let mut file = File::open(path).map_err(unreadable)?;
    match file.read_exact(&mut head) {
        Ok(()) if head.starts_with(MAGIC) => Ok(head[18] == 2 || head[19] == 2),
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(unreadable(error)),
        Ok(()) | Err(_) => Err(ForeignError::NoDatabase { path: path.to_owned() }),
    }
}

fn read_in_place(path: &Path, how: &str) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let db = connect(Path::new(&format!("file:{}?{how}", escaped(path))), flags)?;
    prepare(&db)?;
    Ok(db)
}

/// What has a meaning in a URI, and what is no plain letter, by its number.
fn escaped(path: &Path) -> String {
    let letter = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => char::from(*byte).to_string(),
        other => format!("%{other:02X}"),
    };
    path.as_os_str().as_bytes().iter().map(letter).collect()
}

/// Its schema is not ours: nothing in it may run, and nothing of it may reach a file.
fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(PATIENCE)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    db.pragma_update(None, "temp_store", "memory")?;
    db.pragma_update(None, "mmap_size", 0)?;
    db.pragma_update(None, "query_only", true)?;
    db.query_row("select count(*) from sqlite_schema", [], |_| Ok(()))
}

fn copied(path: &Path, home: &Home) -> Result<Opened, ForeignError> {
    let unreadable = |source| ForeignError::Read { path: path.to_owned(), source };
    let scratch = Scratch::new(home).map_err(unreadable)?;
    let copy = scratch.folder.join("copy.db");
    let stamp = copy_whole(path, &copy).map_err(unreadable)?;
    let Some(stamp) = stamp else { return Err(ForeignError::Busy { path: path.to_owned() }) };
    let opened = connect(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .and_then(|db| {
            // All files are opened now and stay so: their names can go.
            db.pragma_update(None, "locking_mode", "exclusive")?;
            prepare(&db)?;
            Ok(db)
        });
    opened.map(|db| Opened { db, stamp }).map_err(|source| ForeignError::of(path, source))
}

/// Copies a database with its companions; `None` if somebody wrote all the while. No companion is no reason to fail.
fn copy_whole(path: &Path, copy: &Path) -> io::Result<Option<Stamp>> {
    for _ in 0..TRIES {
        let before = Stamp::of(path)?;
        for suffix in ["", "-wal", "-journal"] {
            copy_file(&beside(path, suffix), &beside(copy, suffix))?;
        }
        if Stamp::of(path)? == before {
            return Ok(Some(before));
        }
    }
    Ok(None)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Ok(_) => fs::set_permissions(to, Permissions::from_mode(0o600)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A folder for a copy, for its owner alone. What it holds is as it was written by others: it goes with this value, and
/// what a killed process left goes with the next one.
struct Scratch {
    folder: PathBuf,
    /// The data folder, if there was none before.
    made: Option<PathBuf>,
}

impl Scratch {
    fn new(home: &Home) -> io::Result<Scratch> {
        let made = (!home.folder().exists()).then(|| home.folder().to_owned());
        let folder = home.scratch();
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        private_folder(&folder)?;
        Ok(Scratch { folder, made })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
        let _ = self.made.as_ref().map(fs::remove_dir);
    }
}
