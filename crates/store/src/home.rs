//! The data folder: the path of each file, and permissions for its owner only.
//!
//! Knows names and permissions only. The caller chooses the folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use towline_core::id::{IdHash, SessionKey};
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

    /// Exists while typing is paused: holds the end of the pause, or is empty for an indefinite one.
    pub fn typing_pause(&self) -> PathBuf {
        self.typing().join("paused")
    }

    /// Held by the one process that types into this pane.
    pub fn typing_lock(&self, seat: &str) -> PathBuf {
        self.typing().join(format!("{:016x}.lock", IdHash::of(seat).0))
    }

    /// Creates the folder and its subfolders, accessible to the owner only.
    pub fn create(&self) -> io::Result<()> {
        for folder in [&self.folder, &self.journal()] {
            private_folder(folder)?;
        }
        Ok(())
    }
}

/// One method for each file or folder that has a fixed name.
macro_rules! paths {
    ($($(#[$doc:meta])* $vis:vis $method:ident = $name:literal,)*) => {
        impl DataFolder {
            $($(#[$doc])* $vis fn $method(&self) -> PathBuf {
                self.folder.join($name)
            })*
        }
    };
}

paths! {
    pub database = "towline.db",
    pub write_ahead_log = "towline.db-wal",
    /// The database of messages and tool details captured from transcripts.
    pub archive = "archive.db",
    pub archive_log = "archive.db-wal",
    /// Memories that were told or changed by hand, in case the archive is lost.
    pub memory_log = "memories.log",
    pub archive_lock = "archive.lock",
    /// Marks and time ranges that must not be captured again; no text.
    pub(crate) forgotten = "forgotten",
    /// Exists while an erase is in progress: some of the erased data may still be on disk.
    pub erasing = "erasing",
    pub journal = "journal",
    /// Which sessions work.
    pub marks = "marks",
    /// State kept about other programs' status bars.
    pub bars = "bars",
    /// The last context usage of each session.
    pub meters = "meters",
    /// When which session's state was last notified.
    pub notified_file = "told",
    /// Which gotchas each session was warned of.
    pub warned = "warned",
    /// Which sessions were open in two panes.
    pub(crate) shared = "shared",
    /// Which sessions have no transcript at the end of a turn.
    pub(crate) unwritten = "unwritten",
    /// Which sessions have a private turn.
    pub private = "private",
    /// Exists once the user was told that sessions are given memory.
    pub hinted = "hinted",
    /// One file for each transcript that a capture is waiting for.
    pub capture_locks = "doors",
    /// Held by the one process that waits for usage limits to end.
    pub wake_lock = "wake.lock",
    /// Held by the one process that notifies later of states that are still unseen by then.
    pub alert_lock = "alert.lock",
    /// Wakes that process early.
    pub alert_socket = "alert.sock",
    /// Locks of the processes that type into panes, and the pause file.
    pub typing = "typing",
    /// The server's tokens and its address.
    pub serving = "serve",
    /// Copies of the agents' settings from before we changed them.
    pub backups = "backups",
    /// For short-lived copies.
    pub(crate) scratch = "scratch",
    /// Faults that could not be written to the journal.
    pub fault_log = "faults.log",
    pub apply_lock = "fold.lock",
    pub(crate) work_lock = "work.lock",
    pub(crate) work_request = "work.again",
    pub capture_request = "capture.again",
    pub(crate) hub_lock = "hub.lock",
    pub(crate) machine = "machine",
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

/// The result of removing a file or a folder, which may be gone already.
pub fn unless_gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
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
pub fn open_or_make(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Removes a file; one that does not exist is gone already.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    if_exists(fs::remove_file(path)).map(drop)
}

/// `None` if the file or folder does not exist.
pub(crate) fn if_exists<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Whether `path` still names this file, which may have been removed or renamed since it was opened.
pub(crate) fn is_file_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    let found = if_exists(fs::symlink_metadata(path))?;
    Ok(found.is_some_and(|found| (found.dev(), found.ino()) == (held.dev(), held.ino())))
}

/// The path with a suffix: `towline.db-wal`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes the files of a folder that `is_old` chooses. One that stays costs nothing but space.
pub(crate) fn remove_old(folder: &Path, is_old: impl Fn(&Path) -> bool) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for path in entries.map(|entry| entry.path()).filter(|path| is_old(path)) {
        let _ = fs::remove_file(path);
    }
}

/// The name of a session's file. Both halves of a key contain no dot, so the dot separates them safely.
pub(crate) fn session_file(session: &SessionKey) -> String {
    format!("{}.{}", session.agent, session.id)
}

/// The size of a file, 0 if it does not exist.
pub(crate) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}
