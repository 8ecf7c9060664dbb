//! One empty file per working session: the cheapest check that a hook can make.
//!
//! A mark may be missing while its session works (the hook then applies, which is only slower), but must never exist
//! while it does not: it is removed before the state change is saved and created only afterwards.

use crate::home::{DataFolder, if_exists, remove_file, session_file};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use towline_core::id::SessionKey;

/// Whether the session was working at the last apply.
pub fn is_working(home: &DataFolder, session: &SessionKey) -> bool {
    path(home, session).exists()
}

/// Whether any session is known to be working.
pub fn is_any(home: &DataFolder) -> bool {
    fs::read_dir(home.marks()).is_ok_and(|mut marks| marks.next().is_some())
}

/// Makes the session's next tool result get applied, because there is a message for its agent. If the mark cannot be
/// removed, the message waits until the next prompt.
pub fn unmark(home: &DataFolder, session: &SessionKey) {
    let _ = remove(home, session);
}

pub(crate) fn make(home: &DataFolder, session: &SessionKey) {
    // A mark that cannot be created costs time, nothing else.
    let _ = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path(home, session));
}

/// Fails only if the mark still exists afterwards.
pub(crate) fn remove(home: &DataFolder, session: &SessionKey) -> std::io::Result<()> {
    remove_file(&path(home, session))
}

/// Removes all marks, for when the database they were derived from is gone.
pub(crate) fn remove_all(home: &DataFolder) -> std::io::Result<()> {
    for entry in if_exists(fs::read_dir(home.marks()))?.into_iter().flatten() {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}

fn path(home: &DataFolder, session: &SessionKey) -> PathBuf {
    home.marks().join(session_file(session))
}
