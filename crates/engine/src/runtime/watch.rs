//! Wakes long-running commands when the data folder is written.
//!
//! Reads no database and decides nothing. Wakeups may be spurious but are never missed: a write between two
//! waits wakes the second. Without kernel notification, five files are polled a few times a second.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use towline_store::DataFolder;

/// The polling interval without kernel notification.
const PULSE: Duration = Duration::from_millis(200);

/// Watches the data folder for writes.
pub struct Watch {
    home: DataFolder,
    notices: Option<told::Notices>,
    seen: FileStamps,
}

/// Size and modification time of each file: a difference means the file was written.
type FileStamps = [Option<(u64, i64, i64)>; 5];

impl Watch {
    /// Reports every write from now on.
    pub fn on(home: &DataFolder) -> Watch {
        Watch { home: home.clone(), notices: told::Notices::of(home), seen: seen(home) }
    }

    /// Returns as soon as a file was written, or after `patience`. The result says whether one was.
    pub fn wait(&mut self, patience: Duration) -> bool {
        match &mut self.notices {
            Some(notices) => notices.wait(patience),
            None => self.look(patience),
        }
    }

    /// A descriptor that becomes readable after a possible write; `None` without kernel notification.
    pub fn end(&self) -> Option<BorrowedFd<'_>> {
        self.notices.as_ref().and_then(told::Notices::end)
    }

    fn look(&mut self, patience: Duration) -> bool {
        let mut left = patience;
        loop {
            let now = seen(&self.home);
            if std::mem::replace(&mut self.seen, now) != now {
                return true;
            }
            if left.is_zero() {
                return false;
            }
            let pause = left.min(PULSE);
            rest(&mut [], pause);
            left -= pause;
        }
    }
}

/// Sleeps until one of the descriptors is readable, at most for `patience`. Returns whether one is.
fn rest(ends: &mut [PollFd<'_>], patience: Duration) -> bool {
    let Ok(limit) = Timespec::try_from(patience) else { return false };
    poll(ends, Some(&limit)).is_ok_and(|ready| ready > 0)
}

fn seen(home: &DataFolder) -> FileStamps {
    let of = |path: &Path| {
        let meta = fs::metadata(path).ok()?;
        Some((meta.len(), meta.mtime(), meta.mtime_nsec()))
    };
    [
        of(&home.database()),
        of(&home.write_ahead_log()),
        of(&home.archive()),
        of(&home.archive_log()),
        of(&home.journal().join("active")),
    ]
}

#[cfg(target_os = "linux")]
mod told {
    //! Linux: inotify reports writes.

    use super::{PollFd, PollFlags, rest};
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::time::Duration;
    use towline_store::DataFolder;

    pub struct Notices(OwnedFd);

    /// Other files in the folder are written all the time.
    const OF_INTEREST: [&[u8]; 5] =
        [b"towline.db", b"towline.db-wal", b"archive.db", b"archive.db-wal", b"active"];

    impl Notices {
        /// Returns `None` if the inotify limit is reached.
        pub fn of(home: &DataFolder) -> Option<Notices> {
            let notices = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let written = WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::DELETE;
            add_watch(&notices, home.folder(), written).ok()?;
            add_watch(&notices, home.journal(), written).ok()?;
            Some(Notices(notices))
        }

        pub fn end(&self) -> Option<BorrowedFd<'_>> {
            Some(self.0.as_fd())
        }

        pub fn wait(&mut self, patience: Duration) -> bool {
            // An unrelated write ends the wait early: callers wait in a loop anyway.
            rest(&mut [PollFd::new(&self.0, PollFlags::IN)], patience) && self.drain()
        }

        /// Reads all notices and returns whether one is relevant. A queue overflow counts as relevant.
        fn drain(&self) -> bool {
            let mut room = [MaybeUninit::uninit(); 4096];
            let mut notices = Reader::new(&self.0, &mut room);
            let mut is_of_interest = false;
            while let Ok(notice) = notices.next() {
                is_of_interest |=
                    notice.file_name().is_none_or(|name| OF_INTEREST.contains(&name.to_bytes()));
            }
            is_of_interest
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod told {
    //! Other systems: no kernel notification.

    use std::os::fd::BorrowedFd;
    use std::time::Duration;
    use towline_store::DataFolder;

    pub struct Notices;

    impl Notices {
        pub fn of(_: &DataFolder) -> Option<Notices> {
            None
        }

        pub fn end(&self) -> Option<BorrowedFd<'_>> {
            None
        }

        pub fn wait(&mut self, _: Duration) -> bool {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    fn home() -> (tempfile::TempDir, DataFolder) {
        let folder = tempfile::tempdir().unwrap();
        let home = DataFolder::at(folder.path());
        home.create().unwrap();
        (folder, home)
    }

    fn both(home: &DataFolder) -> [Watch; 2] {
        let told = Watch::on(home);
        let looking = Watch { notices: None, ..Watch::on(home) };
        [told, looking]
    }

    #[test]
    fn what_was_written_before_the_wait_wakes_it() {
        let (_folder, home) = home();
        for mut watch in both(&home) {
            fs::write(home.write_ahead_log(), format!("{:?}", watch.seen)).unwrap();
            assert!(watch.wait(LONG));
            fs::write(home.journal().join("active"), format!("{:?} again", watch.seen)).unwrap();
            assert!(watch.wait(LONG));
        }
    }

    #[test]
    fn other_files_and_no_files_wake_nobody() {
        let (_folder, home) = home();
        for mut watch in both(&home) {
            fs::write(home.folder().join("hinted"), "x").unwrap();
            assert!(!watch.wait(Duration::from_millis(1)));
            assert!(!watch.wait(Duration::from_millis(1)));
        }
    }

    #[test]
    fn a_file_that_went_away_is_a_change() {
        let (_folder, home) = home();
        fs::write(home.database(), "x").unwrap();
        for mut watch in both(&home) {
            fs::remove_file(home.database()).unwrap();
            assert!(watch.wait(LONG));
            fs::write(home.database(), "x").unwrap();
            assert!(watch.wait(LONG));
        }
    }
}
