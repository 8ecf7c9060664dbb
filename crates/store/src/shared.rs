//! One empty file per session that was open in two panes at once: its hooks then say which pane they come from.
//!
//! Created while events are applied, so a rebuilt database has it again. A lost file costs nothing but that detail.

use crate::home::{
    DataFolder, modified_at, open_or_make, private_folder, remove_file, remove_old, session_file,
};
use std::path::PathBuf;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;

/// Whether the session was ever open in two panes.
pub fn is_shared(home: &DataFolder, session: &SessionKey) -> bool {
    path(home, session).exists()
}

pub(crate) fn make(home: &DataFolder, session: &SessionKey) {
    let _ = private_folder(&home.shared()).and_then(|()| open_or_make(&path(home, session)));
}

pub(crate) fn remove(home: &DataFolder, session: &SessionKey) -> std::io::Result<()> {
    remove_file(&path(home, session))
}

/// Removes the files of sessions that were resumed before this time.
pub fn forget(home: &DataFolder, before: Timestamp) {
    remove_old(&home.shared(), |path| modified_at(path).is_none_or(|at| at < before));
}

fn path(home: &DataFolder, session: &SessionKey) -> PathBuf {
    home.shared().join(session_file(session))
}
