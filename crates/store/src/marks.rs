//! One empty file per session, writable while the session works: the cheapest check that a hook can make.
//!
//! A mark may be missing while its session works (the hook then applies, which is only slower), but must never be set
//! while it does not: it is lowered before the state change is saved and raised only afterwards. Its file stays until the
//! session ends: making it anew for each prompt took 70 µs of 1,000, and removing it 35; changing its mode takes 5.

use crate::home::{DataFolder, if_exists, remove_file, session_file};
use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;

const WORKING: u32 = 0o600;
const RESTING: u32 = 0o400;

/// Whether the session was working at the last apply.
pub fn is_working(home: &DataFolder, session: &SessionKey) -> bool {
    fs::metadata(path(home, session)).is_ok_and(|mark| is_set(&mark))
}

/// Whether any session is known to be working.
pub fn is_any(home: &DataFolder) -> bool {
    let is_marked = |entry: io::Result<fs::DirEntry>| {
        entry.and_then(|entry| entry.metadata()).is_ok_and(|mark| is_set(&mark))
    };
    fs::read_dir(home.marks()).is_ok_and(|mut marks| marks.any(is_marked))
}

fn is_set(mark: &Metadata) -> bool {
    mark.mode() & WORKING == WORKING
}

/// Makes the session's next tool result get applied, because there is a message for its agent. If the mark cannot be
/// lowered, the message waits until the next prompt.
pub fn unmark(home: &DataFolder, session: &SessionKey) {
    let _ = lower(home, session);
}

/// A mark that cannot be set costs time, nothing else.
pub(crate) fn raise(home: &DataFolder, session: &SessionKey) {
    let path = path(home, session);
    if change(&path, WORKING).is_err() {
        let _ = OpenOptions::new().write(true).create(true).truncate(false).mode(WORKING).open(path);
    }
}

/// Fails only if the mark is still set afterwards.
pub(crate) fn lower(home: &DataFolder, session: &SessionKey) -> io::Result<()> {
    if_exists(change(&path(home, session), RESTING)).map(drop)
}

fn change(mark: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(mark, Permissions::from_mode(mode))
}

/// For a session that has ended. Fails only if the mark still exists afterwards.
pub(crate) fn remove(home: &DataFolder, session: &SessionKey) -> io::Result<()> {
    remove_file(&path(home, session))
}

/// Removes the marks of sessions that have rested since `before`: most of them have ended, and nothing told of it.
pub(crate) fn remove_resting(home: &DataFolder, before: Timestamp) -> io::Result<()> {
    for entry in if_exists(fs::read_dir(home.marks()))?.into_iter().flatten() {
        let path = entry?.path();
        let Some(mark) = if_exists(fs::metadata(&path))? else { continue };
        if !is_set(&mark) && mark.ctime() < before.0 / 1000 {
            remove_file(&path)?;
        }
    }
    Ok(())
}

/// Removes all marks, for when the database they were derived from is gone.
pub(crate) fn remove_all(home: &DataFolder) -> io::Result<()> {
    for entry in if_exists(fs::read_dir(home.marks()))?.into_iter().flatten() {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}

fn path(home: &DataFolder, session: &SessionKey) -> PathBuf {
    home.marks().join(session_file(session))
}
