//! Sessions with a private turn: one small file each, so that a hook knows before it writes anything.
//!
//! Holds no text. Made before the private prompt is recorded; the next prompt of the user ends the private turn.

use crate::home::{DataFolder, modified_at, remove_file, remove_old, replace_file, session_file};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use towline_core::id::SessionKey;
use towline_core::time::Timestamp;

/// A session's private turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivateTurn {
    Never,
    Running,
    /// An earlier turn was private: background work that it began may still report.
    Over,
}

const RUNNING: &[u8] = b"running\n";
const OVER: &[u8] = b"over\n";

/// A file that cannot be read counts as a running private turn.
pub fn of(home: &DataFolder, session: &SessionKey) -> PrivateTurn {
    match fs::read(path(home, session)) {
        Ok(text) if text == OVER => PrivateTurn::Over,
        Err(error) if error.kind() == io::ErrorKind::NotFound => PrivateTurn::Never,
        Ok(_) | Err(_) => PrivateTurn::Running,
    }
}

pub fn begin(home: &DataFolder, session: &SessionKey) -> io::Result<()> {
    replace_file(&path(home, session), RUNNING)
}

pub fn end(home: &DataFolder, session: &SessionKey) -> io::Result<()> {
    replace_file(&path(home, session), OVER)
}

pub(crate) fn remove(home: &DataFolder, session: &SessionKey) -> io::Result<()> {
    remove_file(&path(home, session))
}

/// Removes the files of sessions that had their last private turn before this time. A running turn keeps its file.
pub fn forget(home: &DataFolder, before: Timestamp) {
    let is_over = |path: &Path| fs::read(path).is_ok_and(|text| text == OVER);
    remove_old(&home.private(), |path| is_over(path) && modified_at(path).is_none_or(|at| at < before));
}

fn path(home: &DataFolder, session: &SessionKey) -> PathBuf {
    home.private().join(session_file(session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_turn_runs_until_the_next_prompt_and_leaves_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let (home, session) = (DataFolder::at(folder.path()), SessionKey::parse("a:one").unwrap());
        assert_eq!(of(&home, &session), PrivateTurn::Never);
        begin(&home, &session).unwrap();
        assert_eq!(of(&home, &session), PrivateTurn::Running);
        end(&home, &session).unwrap();
        assert_eq!(of(&home, &session), PrivateTurn::Over);
        forget(&home, Timestamp(0));
        assert_eq!(of(&home, &session), PrivateTurn::Over);
        forget(&home, Timestamp(i64::MAX));
        assert_eq!(of(&home, &session), PrivateTurn::Never);
        fs::create_dir_all(path(&home, &session)).unwrap();
        assert_eq!(of(&home, &session), PrivateTurn::Running, "unreadable");
    }
}
