//! One lock file ("door") per transcript: the capture waiting for the rest holds it, others knock and exit.
//!
//! No process blocks on it and no knock is lost: callers knock before testing the lock, and the holder checks
//! for knocks again after releasing it. If the holder is killed, the lock is free. Any failure here only
//! starts one capture too many.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use towline_core::id::IdHash;
use towline_store::DataFolder;
use towline_store::home::private_folder;

/// Returns whether a capture is waiting for the rest of this transcript. If so, it now waits a little longer.
pub fn notify_capture(home: &DataFolder, transcript: &Path) -> bool {
    let Ok(mut door) = OpenOptions::new().append(true).open(place(home, transcript)) else { return false };
    door.write_all(KNOCK).is_ok() && matches!(door.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// The size of the file is the number of knocks.
const KNOCK: &[u8] = b".";

/// A door that this process holds.
pub struct Door {
    place: PathBuf,
    file: File,
    /// The number of knocks already seen.
    heard: u64,
}

impl Door {
    /// Takes the lock. `None` if another process holds it; that one then sees our knock.
    pub fn acquire(home: &DataFolder, transcript: &Path) -> io::Result<Option<Door>> {
        let place = place(home, transcript);
        let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(&place);
        let mut file = open().or_else(|_| private_folder(&home.capture_locks()).and_then(|()| open()))?;
        file.write_all(KNOCK)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Door { heard: file.metadata()?.len(), place, file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether there were knocks since the last call.
    pub fn was_notified(&mut self) -> bool {
        let knocks = self.file.metadata().map_or(self.heard, |meta| meta.len());
        std::mem::replace(&mut self.heard, knocks) != knocks
    }

    /// Releases the door. Unlinks first, so that knocks through handles already open still count.
    pub fn release(&mut self) {
        let _ = fs::remove_file(&self.place);
        let _ = self.file.unlock();
    }
}

fn place(home: &DataFolder, transcript: &Path) -> PathBuf {
    home.capture_locks().join(format!("{:016x}", IdHash::of(&transcript.to_string_lossy()).0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, DataFolder) {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        (folder, home)
    }

    const FILE: &str = "/t/a.jsonl";

    fn keep(home: &DataFolder) -> Option<Door> {
        Door::acquire(home, Path::new(FILE)).unwrap()
    }

    fn knock_at(home: &DataFolder) -> bool {
        notify_capture(home, Path::new(FILE))
    }

    #[test]
    fn who_comes_while_a_door_is_kept_is_heard_and_need_not_stay() {
        let (_folder, home) = home();
        assert!(!knock_at(&home), "nobody waits");
        let mut door = keep(&home).unwrap();
        assert!(!door.was_notified());
        assert!(knock_at(&home));
        assert!(door.was_notified() && !door.was_notified());
        assert!(keep(&home).is_none() && door.was_notified(), "another capture knocks too");
        assert!(!notify_capture(&home, Path::new("/t/b.jsonl")), "each transcript has a door of its own");
    }

    #[test]
    fn who_comes_after_a_door_was_left_stays() {
        let (_folder, home) = home();
        let mut door = keep(&home).unwrap();
        door.release();
        assert!(!knock_at(&home));
        assert!(keep(&home).is_some() && !door.was_notified());
        assert_eq!(fs::read_dir(home.capture_locks()).unwrap().count(), 1);
    }

    #[test]
    fn who_has_knocked_before_a_door_was_left_is_heard_afterwards() {
        let (_folder, home) = home();
        let mut door = keep(&home).unwrap();
        let mut open = OpenOptions::new().append(true).open(place(&home, Path::new(FILE))).unwrap();
        open.write_all(KNOCK).unwrap();
        door.release();
        assert!(door.was_notified());
    }

    #[test]
    fn a_door_whose_keeper_was_killed_is_kept_by_nobody() {
        let (_folder, home) = home();
        drop(keep(&home).unwrap());
        assert!(!knock_at(&home));
        assert!(keep(&home).is_some_and(|mut door| !door.was_notified()));
    }
}
