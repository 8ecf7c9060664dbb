//! The data folder: where each file is, and that nobody else can read it.
//!
//! Knows names and permissions only. Which folder it is comes from the caller.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use towline_core::id::Mark;
use towline_core::time::Timestamp;

/// The data folder of one user on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    folder: PathBuf,
}

impl Home {
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn database(&self) -> PathBuf {
        self.folder.join("towline.db")
    }

    pub fn write_ahead_log(&self) -> PathBuf {
        self.folder.join("towline.db-wal")
    }

    /// What was captured from the agents' transcripts.
    pub fn archive(&self) -> PathBuf {
        self.folder.join("archive.db")
    }

    pub fn archive_log(&self) -> PathBuf {
        self.folder.join("archive.db-wal")
    }

    pub(crate) fn archive_lock(&self) -> PathBuf {
        self.folder.join("archive.lock")
    }

    /// What must not be captured again: marks and times, no text.
    pub(crate) fn forgotten(&self) -> PathBuf {
        self.folder.join("forgotten")
    }

    /// There while something is being erased: what it leaves behind is not gone yet.
    pub fn erasing(&self) -> PathBuf {
        self.folder.join("erasing")
    }

    pub fn journal(&self) -> PathBuf {
        self.folder.join("journal")
    }

    pub fn marks(&self) -> PathBuf {
        self.folder.join("working")
    }

    /// What is remembered of the bars of other programs.
    pub fn bars(&self) -> PathBuf {
        self.folder.join("bars")
    }

    /// The last number of each session's meter.
    pub fn meters(&self) -> PathBuf {
        self.folder.join("meters")
    }

    /// What was told of which session, and when.
    pub fn told(&self) -> PathBuf {
        self.folder.join("told")
    }

    /// Which gotchas each session was warned of.
    pub fn warned(&self) -> PathBuf {
        self.folder.join("warned")
    }

    /// There since a person was told what is given to sessions.
    pub fn hinted(&self) -> PathBuf {
        self.folder.join("hinted")
    }

    /// One file for each transcript whose rest a capture waits for.
    pub fn doors(&self) -> PathBuf {
        self.folder.join("doors")
    }

    /// Held by the one process that waits for the end of usage limits.
    pub fn wake_lock(&self) -> PathBuf {
        self.folder.join("wake.lock")
    }

    /// Held by the one process that tells later what is still unseen then.
    pub fn alert_lock(&self) -> PathBuf {
        self.folder.join("alert.lock")
    }

    /// Where that process can be woken before its time.
    pub fn alert_socket(&self) -> PathBuf {
        self.folder.join("alert.sock")
    }

    /// Who types where, and whether nothing is to be typed at all.
    pub fn typing(&self) -> PathBuf {
        self.folder.join("typing")
    }

    /// There while nothing is to be typed: until when, or for ever if it is empty.
    pub fn typing_pause(&self) -> PathBuf {
        self.typing().join("paused")
    }

    /// Held by the one process that types into this seat.
    pub fn typing_lock(&self, seat: &str) -> PathBuf {
        self.typing().join(format!("{:016x}.lock", Mark::of(seat).0))
    }

    /// The tokens of the server, and where it listens.
    pub fn serving(&self) -> PathBuf {
        self.folder.join("serve")
    }

    /// Copies of the agents' settings as they were before us.
    pub fn backups(&self) -> PathBuf {
        self.folder.join("backups")
    }

    /// For copies that are needed for a moment only.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.folder.join("scratch")
    }

    /// Faults that even the journal could not take.
    pub fn fault_log(&self) -> PathBuf {
        self.folder.join("faults.log")
    }

    pub(crate) fn fold_lock(&self) -> PathBuf {
        self.folder.join("fold.lock")
    }

    pub(crate) fn work_lock(&self) -> PathBuf {
        self.folder.join("work.lock")
    }

    pub(crate) fn hub_lock(&self) -> PathBuf {
        self.folder.join("hub.lock")
    }

    pub(crate) fn machine(&self) -> PathBuf {
        self.folder.join("machine")
    }

    /// Makes the folder and those inside it, for their owner alone.
    pub fn create(&self) -> io::Result<()> {
        for folder in [&self.folder, &self.journal(), &self.marks()] {
            private_folder(folder)?;
        }
        Ok(())
    }
}

/// When a file was changed last, by the clock of the disk.
pub(crate) fn modified_at(path: &Path) -> Option<Timestamp> {
    let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp)
}

/// Makes a folder and its parents; those that are new are for their owner alone.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Writes a small file whole, for its owner alone: a reader finds either what was there or what is new.
pub fn put_small(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let open = || OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft);
    let mut file = open().or_else(|_| private_folder(folder).and_then(|()| open()))?;
    file.write_all(bytes)?;
    fs::rename(&draft, path)
}

/// Like `put_small`, and it has reached the disk when this returns.
pub(crate) fn put_for_good(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put_small(path, bytes)?;
    File::open(path)?.sync_all()?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Opens or makes a file that only its owner can read, for appending.
pub(crate) fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Opens or makes a file that only its owner can read, for reading and writing in place.
pub(crate) fn open_or_make(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// The size of a file, 0 if there is none.
pub(crate) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}
