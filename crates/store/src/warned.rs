//! Which memories a session was warned about before it touched a file: one small file each, so that no warning repeats.
//!
//! Numbers only. A lost file costs one warning too many.

use crate::home::{
    DataFolder, append_to, modified_at, private_folder, remove_file, remove_old, session_file,
};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;

/// The numbers of the memories that the session was warned about.
pub fn with(home: &DataFolder, session: &SessionKey) -> BTreeSet<i64> {
    let text = fs::read_to_string(path(home, session)).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

pub fn note(home: &DataFolder, session: &SessionKey, number: i64) -> io::Result<()> {
    private_folder(&home.warned())?;
    append_to(&path(home, session))?.write_all(format!("{number}\n").as_bytes())
}

/// Called when the model's context has lost the warnings.
pub fn remove(home: &DataFolder, session: &SessionKey) -> io::Result<()> {
    remove_file(&path(home, session))
}

/// Removes the files of sessions that were last warned before this time.
pub fn forget(home: &DataFolder, before: Timestamp) {
    remove_old(&home.warned(), |path| modified_at(path).is_none_or(|at| at < before));
}

fn path(home: &DataFolder, session: &SessionKey) -> PathBuf {
    home.warned().join(session_file(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_remembered_until_they_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let (home, session) = (DataFolder::at(folder.path()), SessionKey::parse("a:one").unwrap());
        assert!(with(&home, &session).is_empty());
        note(&home, &session, 12).unwrap();
        note(&home, &session, 7).unwrap();
        assert_eq!(with(&home, &session), [7, 12].into());
        forget(&home, Timestamp(0));
        assert_eq!(with(&home, &session).len(), 2);
        forget(&home, Timestamp(i64::MAX));
        assert!(with(&home, &session).is_empty());
        remove(&home, &session).unwrap();
    }
}
