//! One empty file per session whose transcript was awaited in vain: the ends of its next turns wait no more.
//!
//! Says nothing of the transcript itself, which may come later. A lost file costs one more wait.

use crate::home::{DataFolder, modified_at, private_folder, remove_file, remove_old, session_file};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;

/// Whether the end of an earlier turn has waited for the transcript.
pub fn was_awaited(home: &DataFolder, session: &SessionKey) -> bool {
    path(home, session).exists()
}

pub fn note(home: &DataFolder, session: &SessionKey) {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let _ = private_folder(&home.unwritten()).and_then(|()| options.open(path(home, session)));
}

pub(crate) fn remove(home: &DataFolder, session: &SessionKey) -> std::io::Result<()> {
    remove_file(&path(home, session))
}

/// Removes the files of waits before this time.
pub fn forget(home: &DataFolder, before: Timestamp) {
    remove_old(&home.unwritten(), |path| modified_at(path).is_none_or(|at| at < before));
}

fn path(home: &DataFolder, session: &SessionKey) -> PathBuf {
    home.unwritten().join(session_file(session))
}
