//! The data folder: the path of each file, and permissions for its owner only.
//!
//! Knows names and permissions only. The caller chooses the folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use towline_core::id::IdHash;
use towline_core::time::Timestamp;

/// The data folder of one user on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolder {
    folder: PathBuf,
}

impl DataFolder {
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

    /// The database of messages and tool details captured from transcripts.
    pub fn archive(&self) -> PathBuf {
        self.folder.join("archive.db")
    }

    pub fn archive_log(&self) -> PathBuf {
        self.folder.join("archive.db-wal")
    }

    pub(crate) fn archive_lock(&self) -> PathBuf {
        self.folder.join("archive.lock")
    }

    /// Marks and time ranges that must not be captured again; no text.
    pub(crate) fn forgotten(&self) -> PathBuf {
        self.folder.join("forgotten")
    }

    /// Exists while an erase is in progress: some of the erased data may still be on disk.
    pub fn erasing(&self) -> PathBuf {
        self.folder.join("erasing")
    }

    pub fn journal(&self) -> PathBuf {
        self.folder.join("journal")
    }

    pub fn marks(&self) -> PathBuf {
        self.folder.join("working")
    }

    /// State kept about other programs' status bars.
    pub fn bars(&self) -> PathBuf {
        self.folder.join("bars")
    }

    /// The last context usage of each session.
    pub fn meters(&self) -> PathBuf {
        self.folder.join("meters")
    }

    /// When which session's state was last notified.
    pub fn notified_file(&self) -> PathBuf {
        self.folder.join("told")
    }

    /// Which gotchas each session was warned of.
    pub fn warned(&self) -> PathBuf {
        self.folder.join("warned")
    }

    /// Exists once the user was told that sessions are given memory.
    pub fn hinted(&self) -> PathBuf {
        self.folder.join("hinted")
    }

    /// One file for each transcript that a capture is waiting for.
    pub fn capture_locks(&self) -> PathBuf {
        self.folder.join("doors")
    }

    /// Held by the one process that waits for usage limits to end.
    pub fn wake_lock(&self) -> PathBuf {
        self.folder.join("wake.lock")
    }

    /// Held by the one process that notifies later of states that are still unseen by then.
    pub fn alert_lock(&self) -> PathBuf {
        self.folder.join("alert.lock")
    }

    /// Wakes that process early.
    pub fn alert_socket(&self) -> PathBuf {
        self.folder.join("alert.sock")
    }

    /// Locks of the processes that type into panes, and the pause file.
    pub fn typing(&self) -> PathBuf {
        self.folder.join("typing")
    }

    /// Exists while typing is paused: holds the end of the pause, or is empty for an indefinite one.
    pub fn typing_pause(&self) -> PathBuf {
        self.typing().join("paused")
    }

    /// Held by the one process that types into this pane.
    pub fn typing_lock(&self, seat: &str) -> PathBuf {
        self.typing().join(format!("{:016x}.lock", IdHash::of(seat).0))
    }

    /// The server's tokens and its address.
    pub fn serving(&self) -> PathBuf {
        self.folder.join("serve")
    }

    /// Copies of the agents' settings from before we changed them.
    pub fn backups(&self) -> PathBuf {
        self.folder.join("backups")
    }

    /// For short-lived copies.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.folder.join("scratch")
    }

    /// Faults that could not be written to the journal.
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

    /// Creates the folder and its subfolders, accessible to the owner only.
    pub fn create(&self) -> io::Result<()> {
        for folder in [&self.folder, &self.journal(), &self.marks()] {
            private_folder(folder)?;
        }
        Ok(())
    }
}

/// The file's modification time.
pub(crate) fn modified_at(path: &Path) -> Option<Timestamp> {
    let since = fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp)
}

/// Creates a folder and its parents; new ones are accessible to the owner only.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Replaces a small file atomically, readable by its owner only.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let open = || OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft);
    let mut file = open().or_else(|_| private_folder(folder).and_then(|()| open()))?;
    file.write_all(bytes)?;
    fs::rename(&draft, path)
}

/// Like `replace_file`, but synced to disk.
pub(crate) fn replace_file_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_file(path, bytes)?;
    File::open(path)?.sync_all()?;
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Opens or creates a file for appending that only its owner can read.
pub(crate) fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Opens or creates a file for reading and writing in place that only its owner can read.
pub(crate) fn open_or_make(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// The size of a file, 0 if it does not exist.
pub(crate) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}
