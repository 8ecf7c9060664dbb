//! One empty file per session that is known to be working: the cheapest thing a hook can ask.
//!
//! A mark may be missing while its session works (the hook then folds, which is only slower), but must never be there
//! while it does not: it is removed before the change is saved and made only afterwards.

use crate::home::Home;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use towline_core::id::SessionKey;

/// Whether the session was working when it was last folded.
pub fn is_working(home: &Home, session: &SessionKey) -> bool {
    path(home, session).exists()
}

/// Whether any session is known to be working.
pub fn is_any(home: &Home) -> bool {
    fs::read_dir(home.marks()).is_ok_and(|mut marks| marks.next().is_some())
}

/// Lets the session's next tool result be folded: there is something to say to its agent. A mark that cannot be removed
/// keeps that waiting until the next prompt.
pub fn lift(home: &Home, session: &SessionKey) {
    let _ = remove(home, session);
}

pub(crate) fn make(home: &Home, session: &SessionKey) {
    // A mark that cannot be made costs time, nothing else.
    let _ = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path(home, session));
}

/// Fails only if the mark is still there afterwards.
pub(crate) fn remove(home: &Home, session: &SessionKey) -> std::io::Result<()> {
    match fs::remove_file(path(home, session)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes all marks: used when the database they were derived from is gone.
pub(crate) fn remove_all(home: &Home) -> std::io::Result<()> {
    let entries = match fs::read_dir(home.marks()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}

/// Both halves of a key are plain names, so the dot separates them safely.
fn path(home: &Home, session: &SessionKey) -> PathBuf {
    home.marks().join(format!("{}.{}", session.agent, session.id))
}
