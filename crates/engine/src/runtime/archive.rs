//! Opens the archive for writing: takes the lock, migrates, and recovers from a damaged file.
//!
//! A damaged archive is moved aside together with its search index, never deleted.

use super::env::Env;
use super::faults::record_here;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towline_core::fault::FaultKind;
use towline_store::lock::{ArchiveLock, pauses};
use towline_store::{Archive, DataFolder, StoreError, archive};

/// The longest time one writer waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open archive together with its write lock.
pub struct Writable {
    pub archive: Archive,
    pub(crate) _lock: ArchiveLock,
}

/// Returns `None` if another writer holds the lock for longer than `patience`.
pub fn open(env: &Env, patience: Duration) -> Result<Option<Writable>, StoreError> {
    let folder = |source| StoreError::Folder { path: env.home.folder().to_owned(), source };
    env.home.create().map_err(folder)?;
    let Some(lock) = ArchiveLock::take_within(&env.home, pauses(patience)).map_err(folder)? else {
        return Ok(None);
    };
    let archive = match Archive::open(&env.home, &lock, PATIENCE, env.uid()) {
        Err(StoreError::Damaged { source }) => begin_anew(env, &lock, &source.to_string())?,
        other => other?,
    };
    Ok(Some(Writable { archive, _lock: lock }))
}

/// Moves the archive aside, if there is one.
pub fn move_archive_aside(env: &Env) -> Result<(), StoreError> {
    let folder = |source| StoreError::Folder { path: env.home.folder().to_owned(), source };
    let lock = ArchiveLock::take_within(&env.home, pauses(PATIENCE)).map_err(folder)?;
    match lock.filter(|_| env.home.archive().exists()) {
        Some(lock) => set_aside_with_index(env, &lock).map(drop),
        None => Ok(()),
    }
}

/// The index belongs to the archive being moved: its row ids mean nothing in the next one.
fn set_aside_with_index(env: &Env, lock: &ArchiveLock) -> Result<PathBuf, StoreError> {
    let folder = |source| StoreError::Folder { path: env.home.folder().to_owned(), source };
    let aside = archive::set_aside(&env.home, lock, env.now).map_err(folder)?;
    forget_index(&env.home)?;
    Ok(aside)
}

/// Starts an empty archive. Transcripts can be imported again; the damaged file is kept for manual repair.
fn begin_anew(env: &Env, lock: &ArchiveLock, cause: &str) -> Result<Archive, StoreError> {
    let aside = set_aside_with_index(env, lock)?;
    let detail = format!(
        "the archive was damaged ({cause}) and is kept at {}; run `tow import` to read the transcripts again",
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
    // A killed process may have left this folder behind.
    remove(&gone).map_err(|source| failed(&gone, source))?;
    match fs::rename(&folder, &gone) {
        Err(source) if source.kind() != ErrorKind::NotFound => return Err(failed(&folder, source)),
        Ok(()) | Err(_) => {}
    }
    remove(&gone).map_err(|source| failed(&gone, source))
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(source),
        Ok(()) | Err(_) => Ok(()),
    }
}
