//! A door for each transcript: the one capture that waits for its rest keeps it, whoever comes meanwhile knocks and goes.
//!
//! Nobody waits at it, and no knock is lost: who knocks does so before asking whether the door is kept, and who keeps it
//! listens once more after leaving it. A keeper that is killed leaves a door that nobody keeps. Where any of this fails,
//! one capture too many is started.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use towline_core::id::Mark;
use towline_store::Home;
use towline_store::home::private_folder;

/// Whether somebody waits for the rest of this transcript. If so, they wait a little longer now.
pub fn knock(home: &Home, transcript: &Path) -> bool {
    let Ok(mut door) = OpenOptions::new().append(true).open(place(home, transcript)) else { return false };
    door.write_all(KNOCK).is_ok() && matches!(door.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// A door's size is how often somebody knocked.
const KNOCK: &[u8] = b".";

/// A door, and who keeps it.
pub struct Door {
    place: PathBuf,
    file: File,
    /// The knocks that its keeper knows of.
    heard: u64,
}

impl Door {
    /// `None` if somebody else keeps it, who then hears of us.
    pub fn keep(home: &Home, transcript: &Path) -> io::Result<Option<Door>> {
        let place = place(home, transcript);
        let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(&place);
        let mut file = open().or_else(|_| private_folder(&home.doors()).and_then(|()| open()))?;
        file.write_all(KNOCK)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Door { heard: file.metadata()?.len(), place, file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether somebody knocked since this was asked last.
    pub fn is_knocked_at(&mut self) -> bool {
        let knocks = self.file.metadata().map_or(self.heard, |meta| meta.len());
        std::mem::replace(&mut self.heard, knocks) != knocks
    }

    /// From now on whoever comes starts a capture. It is taken away before it is let go: those who have it open are heard.
    pub fn leave(&mut self) {
        let _ = fs::remove_file(&self.place);
        let _ = self.file.unlock();
    }
}

fn place(home: &Home, transcript: &Path) -> PathBuf {
    home.doors().join(format!("{:016x}", Mark::of(&transcript.to_string_lossy()).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        (folder, home)
    }

    const FILE: &str = "/t/a.jsonl";

    fn keep(home: &Home) -> Option<Door> {
        Door::keep(home, Path::new(FILE)).unwrap()
    }

    fn knock_at(home: &Home) -> bool {
        knock(home, Path::new(FILE))
    }

    #[test]
    fn who_comes_while_a_door_is_kept_is_heard_and_need_not_stay() {
        let (_folder, home) = home();
        assert!(!knock_at(&home), "nobody waits");
        let mut door = keep(&home).unwrap();
        assert!(!door.is_knocked_at());
        assert!(knock_at(&home));
        assert!(door.is_knocked_at() && !door.is_knocked_at());
        assert!(keep(&home).is_none() && door.is_knocked_at(), "another capture knocks too");
        assert!(!knock(&home, Path::new("/t/b.jsonl")), "each transcript has a door of its own");
    }

    #[test]
    fn who_comes_after_a_door_was_left_stays() {
        let (_folder, home) = home();
        let mut door = keep(&home).unwrap();
        door.leave();
        assert!(!knock_at(&home));
        assert!(keep(&home).is_some() && !door.is_knocked_at());
        assert_eq!(fs::read_dir(home.doors()).unwrap().count(), 1);
    }

    #[test]
    fn who_has_knocked_before_a_door_was_left_is_heard_afterwards() {
        let (_folder, home) = home();
        let mut door = keep(&home).unwrap();
        let mut open = OpenOptions::new().append(true).open(place(&home, Path::new(FILE))).unwrap();
        open.write_all(KNOCK).unwrap();
        door.leave();
        assert!(door.is_knocked_at());
    }

    #[test]
    fn a_door_whose_keeper_was_killed_is_kept_by_nobody() {
        let (_folder, home) = home();
        drop(keep(&home).unwrap());
        assert!(!knock_at(&home));
        assert!(keep(&home).is_some_and(|mut door| !door.is_knocked_at()));
    }
}
