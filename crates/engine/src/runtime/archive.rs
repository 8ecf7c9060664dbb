//! Opens the archive for writing: takes the lock, migrates, and recovers from a damaged file.
//!
//! A damaged archive is moved aside together with its search index, never deleted.

use super::env::Env;
use super::faults::record_here;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::fault::FaultKind;
use towline_store::home::unless_gone;
use towline_store::lock::{ArchiveLock, pauses};
use towline_store::{Archive, DataFolder, StoreError, archive};

/// The longest time one writer waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open archive together with its write lock.
pub struct Writable {
    pub archive: Archive,
    pub(crate) _lock: ArchiveLock,
}

impl Writable {
    /// Removes the remains of erased rows from the files of the archive.
    pub fn compact(self) -> Result<Writable, StoreError> {
        let Writable { archive, _lock } = self;
        Ok(Writable { archive: archive.compact(&_lock)?, _lock })
    }

    /// The next step of `compact`, if one is left.
    pub fn sweep(self) -> Result<Writable, StoreError> {
        let Writable { archive, _lock } = self;
        Ok(Writable { archive: archive.sweep(&_lock)?, _lock })
    }

    /// Releases the lock for a moment and keeps the connection: opening it anew reads the whole WAL. `None` if another
    /// writer then holds the lock for longer than `patience`.
    #[expect(clippy::disallowed_methods, reason = "others get the archive only while nobody holds it")]
    pub fn let_others_write(
        self,
        env: &Env,
        pause: Duration,
        patience: Duration,
    ) -> Result<Option<Writable>, StoreError> {
        let Writable { mut archive, _lock } = self;
        drop(_lock);
        std::thread::sleep(pause);
        let Some(lock) = lock(env, patience)? else { return Ok(None) };
        if !archive.is_current() {
            drop(archive);
            archive = Archive::open(&env.home, &lock, PATIENCE, env.uid())?;
        }
        Ok(Some(Writable { archive, _lock: lock }))
    }
}

/// Returns `None` if another writer holds the lock for longer than `patience`.
pub fn open(env: &Env, patience: Duration) -> Result<Option<Writable>, StoreError> {
    env.home.create().map_err(folder_error(env))?;
    let Some(lock) = lock(env, patience)? else { return Ok(None) };
    let archive = match Archive::open(&env.home, &lock, PATIENCE, env.uid()) {
        Err(StoreError::Damaged { source }) => begin_anew(env, &lock, &source.to_string())?,
        other => other?,
    };
    if archive.recovered() > 0 {
        let detail =
            format!("the archive lacked {} memories; they are back from the memory log", archive.recovered());
        record_here(env, FaultKind::Rebuilt, detail);
    }
    Ok(Some(Writable { archive, _lock: lock }))
}

fn lock(env: &Env, patience: Duration) -> Result<Option<ArchiveLock>, StoreError> {
    let take = |patience| ArchiveLock::take_within(&env.home, pauses(patience));
    env.take_turn("the archive", patience, take).map_err(folder_error(env))
}

/// The error of an operation on the data folder.
pub fn folder_error(env: &Env) -> impl Fn(io::Error) -> StoreError {
    |source| StoreError::Folder { path: env.home.folder().to_owned(), source }
}

/// Moves the archive aside, if there is one.
pub fn move_archive_aside(env: &Env) -> Result<(), StoreError> {
    let lock = lock(env, PATIENCE)?;
    match lock.filter(|_| env.home.archive().exists()) {
        Some(lock) => set_aside_with_index(env, &lock).map(drop),
        None => Ok(()),
    }
}

/// The index belongs to the archive being moved: its row ids mean nothing in the next one.
fn set_aside_with_index(env: &Env, lock: &ArchiveLock) -> Result<PathBuf, StoreError> {
    let aside = archive::set_aside(&env.home, lock, env.now).map_err(folder_error(env))?;
    forget_index(&env.home)?;
    Ok(aside)
}

/// Starts an archive that holds only the memories of the log. Transcripts can be imported again; the damaged file is kept
/// for manual repair.
fn begin_anew(env: &Env, lock: &ArchiveLock, cause: &str) -> Result<Archive, StoreError> {
    let aside = set_aside_with_index(env, lock)?;
    let detail = format!(
        "the archive was damaged ({cause}) and is kept at {}; run `tow data import` to read the transcripts again",
        aside.display()
    );
    record_here(env, FaultKind::Rebuilt, detail);
    Archive::open(&env.home, lock, PATIENCE, env.uid())
}

pub fn index_folder(home: &DataFolder) -> PathBuf {
    home.folder().join("index")
}

/// Deletes the whole index, because text erased from the archive must not remain in its files.
///
/// The next use rebuilds it. A concurrent index writer fails because its folder is gone, so it cannot write
/// erased text back.
pub fn forget_index(home: &DataFolder) -> Result<(), StoreError> {
    let folder = index_folder(home);
    let gone = folder.with_extension("gone");
    let failed = |path: &Path, source| StoreError::Folder { path: path.to_owned(), source };
    let remove = || unless_gone(fs::remove_dir_all(&gone));
    // A killed process may have left this folder behind.
    remove().map_err(|source| failed(&gone, source))?;
    unless_gone(fs::rename(&folder, &gone)).map_err(|source| failed(&folder, source))?;
    remove().map_err(|source| failed(&gone, source))
}
