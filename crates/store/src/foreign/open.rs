//! Opens another program's database without changing a byte in it or beside it.
//!
//! Takes no lock that its owner would notice for long, and creates no file in its folder. If its WAL is not
//! checkpointed, a copy is read instead, since reading in place would join the WAL; it is unlinked before it is read.

use super::ForeignError;
use crate::database::connect;
use crate::home::{DataFolder, beside, if_exists, private_folder};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const PATIENCE: Duration = Duration::from_secs(2);
/// How often a copy is retried while the owner writes.
const TRIES: usize = 5;
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

pub(super) struct OpenedForeign {
    pub db: Connection,
    pub stamp: FileStamp,
}

/// Detects writes: size and modification time of the database and of its WAL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileStamp([Option<(u64, SystemTime)>; 2]);

impl FileStamp {
    pub fn of(path: &Path) -> io::Result<FileStamp> {
        let of = |path: &Path| -> io::Result<_> {
            if_exists(fs::metadata(path))?.map(|meta| Ok((meta.len(), meta.modified()?))).transpose()
        };
        Ok(FileStamp([of(path)?, of(&beside(path, "-wal"))?]))
    }

    pub(super) fn has_wal(&self) -> bool {
        self.0[1].is_some_and(|(size, _)| size > 0)
    }
}

pub(super) fn open(path: &Path, home: &DataFolder) -> Result<OpenedForeign, ForeignError> {
    let unreadable = |source| ForeignError::Read { path: path.to_owned(), source };
    let failed = |source| ForeignError::of(path, source);
    let stamp = FileStamp::of(path).map_err(unreadable)?;
    let is_wal_mode = is_wal_mode(path)?;
    if stamp.has_wal() {
        return copied(path, home);
    }
    // Without `immutable`, the first reader of a WAL-mode database would create a WAL and its index.
    let in_place = if is_wal_mode { "immutable=1" } else { "mode=ro" };
    match read_in_place(path, in_place) {
        Ok(db) => Ok(OpenedForeign { db, stamp }),
        // A hot journal: only a writer can roll it back.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => copied(path, home),
        Err(error) => Err(failed(error)),
    }
}

/// Whether the database is in WAL mode, according to its header.
pub(super) fn is_wal_mode(path: &Path) -> Result<bool, ForeignError> {
    let unreadable = |source| ForeignError::Read { path: path.to_owned(), source };
    let mut head = [0; 20];
    let mut file = File::open(path).map_err(unreadable)?;
    match file.read_exact(&mut head) {
        Ok(()) if head.starts_with(MAGIC) => Ok(head[18] == 2 || head[19] == 2),
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => Err(unreadable(error)),
        Ok(()) | Err(_) => Err(ForeignError::NoDatabase { path: path.to_owned() }),
    }
}

pub(super) fn read_in_place(path: &Path, parameter: &str) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let db = connect(Path::new(&format!("file:{}?{parameter}", escaped(path))), flags)?;
    prepare(&db)?;
    Ok(db)
}

/// The path percent-encoded for a URI.
fn escaped(path: &Path) -> String {
    let letter = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => char::from(*byte).to_string(),
        other => format!("%{other:02X}"),
    };
    path.as_os_str().as_bytes().iter().map(letter).collect()
}

/// Does not trust the schema: no code in it may run, and no data may reach a temporary file.
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

fn copied(path: &Path, home: &DataFolder) -> Result<OpenedForeign, ForeignError> {
    let unreadable = |source| ForeignError::Read { path: path.to_owned(), source };
    let scratch = Scratch::new(home).map_err(unreadable)?;
    let copy = scratch.folder.join("copy.db");
    let stamp = copy_whole(path, &copy).map_err(unreadable)?;
    let Some(stamp) = stamp else { return Err(ForeignError::Busy { path: path.to_owned() }) };
    let opened = connect(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .and_then(|db| {
            // Exclusive mode opens all files now and keeps them open, so that they can be unlinked.
            db.pragma_update(None, "locking_mode", "exclusive")?;
            prepare(&db)?;
            Ok(db)
        });
    opened.map(|db| OpenedForeign { db, stamp }).map_err(|source| ForeignError::of(path, source))
}

/// Copies a database with its -wal and -journal files, if they exist; `None` if every copy was interrupted by a write.
fn copy_whole(path: &Path, copy: &Path) -> io::Result<Option<FileStamp>> {
    for _ in 0..TRIES {
        let before = FileStamp::of(path)?;
        for suffix in ["", "-wal", "-journal"] {
            copy_file(&beside(path, suffix), &beside(copy, suffix))?;
        }
        if FileStamp::of(path)? == before {
            return Ok(Some(before));
        }
    }
    Ok(None)
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let copied = if_exists(fs::copy(from, to))?;
    copied.map_or(Ok(()), |_| fs::set_permissions(to, Permissions::from_mode(0o600)))
}

/// A folder for a copy, accessible to its owner only. The copy is unredacted: it is removed with this value, and the
/// leftovers of a killed process by the next one.
struct Scratch {
    folder: PathBuf,
    /// The data folder, if it did not exist before.
    made: Option<PathBuf>,
}

impl Scratch {
    fn new(home: &DataFolder) -> io::Result<Scratch> {
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
