//! Waking when something was written into the data folder: for surfaces that stay before a person.
//!
//! Reads no database and decides nothing. It may wake for nothing new, and never sleeps through something that is: what is
//! written between two waits wakes the second. Where the system does not tell, four files are looked at a few times a
//! second.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use towline_store::Home;

/// How often it is looked where the system does not tell.
const PULSE: Duration = Duration::from_millis(200);

/// Somebody who wants to know when something was written.
pub struct Watch {
    home: Home,
    notices: Option<told::Notices>,
    seen: Seen,
}

/// Size and time of each file: another one means that it was written.
type Seen = [Option<(u64, i64, i64)>; 5];

impl Watch {
    /// From now on whatever is written is noticed.
    pub fn on(home: &Home) -> Watch {
        Watch { home: home.clone(), notices: told::Notices::of(home), seen: seen(home) }
    }

    /// Comes back at once when something was written, or after `patience`; whether something was.
    pub fn wait(&mut self, patience: Duration) -> bool {
        match &mut self.notices {
            Some(notices) => notices.wait(patience),
            None => self.look(patience),
        }
    }

    /// What can be read when something may have been written; none where nobody tells.
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

/// Sleeps until one of these can be read, or for so long. Whether one can.
fn rest(ends: &mut [PollFd<'_>], patience: Duration) -> bool {
    let Ok(limit) = Timespec::try_from(patience) else { return false };
    poll(ends, Some(&limit)).is_ok_and(|ready| ready > 0)
}

fn seen(home: &Home) -> Seen {
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
    //! The kernel tells.

    use super::{PollFd, PollFlags, rest};
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::time::Duration;
    use towline_store::Home;

    pub struct Notices(OwnedFd);

    /// Files of the folder that are of no interest here are written all the time.
    const OF_INTEREST: [&[u8]; 5] =
        [b"towline.db", b"towline.db-wal", b"archive.db", b"archive.db-wal", b"active"];

    impl Notices {
        /// None where no more can be watched.
        pub fn of(home: &Home) -> Option<Notices> {
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
            // What is of no interest uses up the time: whoever waits asks again anyway.
            rest(&mut [PollFd::new(&self.0, PollFlags::IN)], patience) && self.drain()
        }

        /// Takes all notices; whether one is of interest. When there were too many of them, one was.
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
    //! Nobody tells.

    use std::os::fd::BorrowedFd;
    use std::time::Duration;
    use towline_store::Home;

    pub struct Notices;

    impl Notices {
        pub fn of(_: &Home) -> Option<Notices> {
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

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        home.create().unwrap();
        (folder, home)
    }

    fn both(home: &Home) -> [Watch; 2] {
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
