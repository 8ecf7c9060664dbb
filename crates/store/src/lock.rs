//! File locks: at most one process at a time writes the database, and one the archive. A lock dies with its holder.
//!
//! Holding a `ProjectionLock` is the proof that the database may be opened for writing, migrated or moved aside.
//! There is no unlock: dropping the value, or process exit, releases the lock.

use crate::home::{DataFolder, is_file_at, open_or_make};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;
use towline_core::patience::stretch;

/// A right that one process at a time has, by the lock of a file of the data folder.
macro_rules! rights {
    ($($(#[$doc:meta])* $right:ident = $file:ident,)*) => {
        $($(#[$doc])*
        #[derive(Debug)]
        pub struct $right(#[expect(dead_code, reason = "held for its lock, which ends when it is dropped")] File);

        impl $right {
            pub fn try_take(home: &DataFolder) -> io::Result<Option<$right>> {
                $right::take_within(home, [])
            }

            /// Takes the lock, retrying after each of `pauses`; `None` when they are used up.
            pub fn take_within(
                home: &DataFolder,
                pauses: impl IntoIterator<Item = Duration>,
            ) -> io::Result<Option<$right>> {
                Ok(wait_for(&home.$file(), pauses)?.map($right))
            }
        })*
    };
}

rights! {
    /// The right to write the database.
    ProjectionLock = apply_lock,
    /// The right to be the only `tow data work` of this data folder.
    WorkLock = work_lock,
    /// The right to be the only process that syncs with the hub.
    HubLock = hub_lock,
    /// The right to write the archive.
    ArchiveLock = archive_lock,
}

impl WorkLock {
    /// Asks the holder for another round. Returns whether there is one: the request is recorded before the lock is
    /// tested, and the holder looks for it after releasing the lock, so it is never lost.
    pub fn ask_holder(home: &DataFolder) -> bool {
        let is_held = || WorkLock::is_held(home);
        is_held() && open_or_make(&home.work_request()).is_ok() && is_held()
    }

    pub fn is_held(home: &DataFolder) -> bool {
        matches!(WorkLock::try_take(home), Ok(None))
    }

    /// Whether another round was requested since the last call.
    pub fn was_asked(home: &DataFolder) -> bool {
        fs::remove_file(home.work_request()).is_ok()
    }
}

/// Locks a file, retrying after each of `pauses`. The lock lasts until the last duplicate of the returned file is
/// closed, in whichever process that is.
pub fn wait_for(path: &Path, pauses: impl IntoIterator<Item = Duration>) -> io::Result<Option<File>> {
    let mut pauses = pauses.into_iter();
    loop {
        if let Some(file) = try_lock(path)? {
            return Ok(Some(file));
        }
        let Some(pause) = pauses.next() else { return Ok(None) };
        sleep(pause);
    }
}

/// Locks a file that [`remove_unheld`] may delete, if it is free now. Between opening and locking, the file may have
/// been deleted and replaced by one that another process holds: only the file at `path` is the lock.
pub fn take_removable(path: &Path) -> io::Result<Option<File>> {
    loop {
        let Some(file) = try_lock(path)? else { return Ok(None) };
        if is_file_at(&file, path)? {
            return Ok(Some(file));
        }
    }
}

/// Removes such a file unless it is held. Returns whether it is gone.
pub fn remove_unheld(path: &Path) -> io::Result<bool> {
    let Some(_held) = take_removable(path)? else { return Ok(false) };
    fs::remove_file(path).map(|()| true)
}

/// Pauses that start short, since applying mostly is, and add up to about `total`, stretched on a slow machine.
pub fn pauses(total: Duration) -> impl Iterator<Item = Duration> {
    let total = stretch(total);
    let lengths =
        [1u64, 1, 2, 2, 4, 4, 8].into_iter().chain(std::iter::repeat(10)).map(Duration::from_millis);
    lengths.scan(Duration::ZERO, move |spent, pause| {
        *spent += pause;
        (*spent <= total).then_some(pause)
    })
}

fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = open_or_make(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[expect(clippy::disallowed_methods, reason = "waiting for a lock that has no timed wait")]
fn sleep(pause: Duration) {
    std::thread::sleep(pause);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn only_one_holds_the_lock_and_it_ends_with_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        let first = ProjectionLock::try_take(&home).unwrap().unwrap();
        assert!(ProjectionLock::take_within(&home, [Duration::ZERO; 2]).unwrap().is_none());
        drop(first);
        assert!(ProjectionLock::try_take(&home).unwrap().is_some());
    }

    #[test]
    fn a_request_to_the_holder_of_the_work_lock_is_seen_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        assert!(!WorkLock::ask_holder(&home) && !WorkLock::was_asked(&home), "nobody works");
        let held = WorkLock::try_take(&home).unwrap().unwrap();
        assert!(WorkLock::ask_holder(&home));
        drop(held);
        assert!(WorkLock::was_asked(&home) && !WorkLock::was_asked(&home));
    }

    #[test]
    fn a_lock_that_is_removed_repeatedly_never_has_two_holders() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seat.lock");
        let (holders, taken, removed) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
        let is_enough = || taken.load(Ordering::SeqCst) > 2_000 && removed.load(Ordering::SeqCst) > 200;
        let take = || {
            while !is_enough() {
                let Some(held) = take_removable(&path).unwrap() else { continue };
                assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0, "somebody else holds it too");
                assert!(is_file_at(&held, &path).unwrap(), "nobody takes away what is held");
                taken.fetch_add(1, Ordering::SeqCst);
                holders.fetch_sub(1, Ordering::SeqCst);
            }
        };
        let remove = || {
            while !is_enough() {
                removed.fetch_add(u32::from(remove_unheld(&path).unwrap()), Ordering::SeqCst);
            }
        };
        std::thread::scope(|scope| {
            (0..3).for_each(|_| drop(scope.spawn(take)));
            scope.spawn(remove);
        });
    }

    #[test]
    fn pauses_add_up_to_no_more_than_the_patience() {
        let total: Duration = pauses(Duration::from_millis(100)).sum();
        assert!(total <= Duration::from_millis(100) && total >= Duration::from_millis(90), "{total:?}");
    }
}
