//! Reads a settings file and replaces it whole, provided that it did not change meanwhile.
//!
//! Never writes into the file itself, never through a link's name, and never to a device or a pipe.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::refusal::RefusalCause;

/// Far above the size of any settings file.
const MAX_BYTES: u64 = 16 << 20;
/// As many links as Linux follows.
const MAX_LINKS: usize = 40;
/// Foreign writes between two exchanges after which we give up.
const MAX_EXCHANGES: usize = 8;
const OWNER_ONLY: u32 = 0o600;

/// The result of an attempt to replace the file.
#[derive(Debug)]
pub(super) enum FileSwap {
    /// The file was replaced. Holds the old file, since a slow writer may still be writing to it.
    Done(Option<File>),
    /// Another program wrote first; its version stays.
    Raced,
}

/// Follows symbolic links to their target, which need not exist.
pub(super) fn resolve(file: &Path) -> Result<PathBuf, RefusalCause> {
    let mut path = file.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = folder_of(&path).join(link),
            Err(_) => return Ok(path),
        }
    }
    Err(RefusalCause::LinkLoop)
}

/// The file's bytes; `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, RefusalCause> {
    match open(path)? {
        Some(mut file) => reread(&mut file).map(Some).map_err(|source| cannot_read(path, source)),
        None => Ok(None),
    }
}

/// The bytes behind an open file, from its start.
pub(super) fn reread(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Changes whenever the file is written, truncated or replaced.
pub(super) fn change_stamp(path: &Path) -> Option<(u64, i64, i64, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.ino(), metadata.mtime(), metadata.mtime_nsec(), metadata.len()))
}

/// Creates the file's folder. Returns the topmost folder that had to be created.
pub(super) fn make_folder(path: &Path) -> Result<Option<PathBuf>, RefusalCause> {
    let folder = folder_of(path);
    let missing =
        folder.ancestors().take_while(|ancestor| !ancestor.as_os_str().is_empty() && !ancestor.exists());
    let topmost = missing.last().map(Path::to_owned);
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| cannot_write(folder, source))?;
    Ok(topmost)
}

/// Replaces `expected` by `new`, or leaves the file alone if it is no longer `expected`. An existing file keeps its
/// mode; a new one gets `mode`.
pub(super) fn swap(
    path: &Path,
    mode: u32,
    expected: Option<&[u8]>,
    new: Option<&[u8]>,
) -> Result<FileSwap, RefusalCause> {
    let mut old = open(path)?;
    let found = match &mut old {
        Some(file) => Some(reread(file).map_err(|source| cannot_read(path, source))?),
        None => None,
    };
    if found.as_deref() != expected {
        return Ok(FileSwap::Raced);
    }
    let ended = match (expected, new) {
        (None, None) => Ok(RenameOutcome::Done),
        (Some(expected), None) => delete(path, expected),
        (None, Some(new)) => stage(path, new, mode).and_then(|staged| put_first(&staged, path)),
        (Some(expected), Some(new)) => {
            stage(path, new, mode).and_then(|staged| exchange(&staged, path, expected, new))
        }
    };
    match ended.and_then(|ended| sync_folder(path).map(|()| ended)) {
        Ok(RenameOutcome::Done) => Ok(FileSwap::Done(old)),
        Ok(RenameOutcome::Raced) => Ok(FileSwap::Raced),
        Err(source) => Err(cannot_write(path, source)),
    }
}

/// Writes a file that only we write: our own backups and records.
pub(super) fn write_own_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let staged = stage(path, bytes, OWNER_ONLY)?;
    fs::rename(&staged.path, path)?;
    sync_folder(path)
}

pub(super) fn create_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    sync_folder(path)
}

enum RenameOutcome {
    Done,
    Raced,
}

/// A new file beside the old one, deleted on drop.
struct Staged {
    path: PathBuf,
}

impl Drop for Staged {
    fn drop(&mut self) {
        // Already gone if it was renamed into place.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> Result<Option<File>, RefusalCause> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(cannot_read(path, source)),
    };
    // Checked before opening: opening a pipe waits for its other end.
    if !metadata.is_file() {
        return Err(RefusalCause::NotAFile { path: path.to_owned() });
    }
    if metadata.len() > MAX_BYTES {
        return Err(RefusalCause::TooLarge { bytes: metadata.len(), limit: MAX_BYTES });
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(cannot_read(path, source)),
    }
}

fn stage(path: &Path, bytes: &[u8], mode: u32) -> io::Result<Staged> {
    let (mut file, staged) = new_neighbour(path)?;
    file.write_all(bytes)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    if let Ok(old) = fs::metadata(path) {
        let new = file.metadata()?;
        if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()))?;
        }
        file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
    }
    file.sync_all()?;
    Ok(staged)
}

/// Concurrent edits, in one process or several, never share a name; names left by a crash are skipped.
fn new_neighbour(path: &Path) -> io::Result<(File, Staged)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let pid = std::process::id();
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let neighbour = folder_of(path).join(format!("{name}.tow.{pid}.{number}"));
        match OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(&neighbour) {
            Ok(file) => return Ok((file, Staged { path: neighbour })),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn put_first(staged: &Staged, path: &Path) -> io::Result<RenameOutcome> {
    match renameat_with(CWD, &staged.path, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(RenameOutcome::Done),
        Err(rustix::io::Errno::EXIST) => Ok(RenameOutcome::Raced),
        Err(errno) if is_unsupported(errno) => fs::rename(&staged.path, path).map(|()| RenameOutcome::Done),
        Err(errno) => Err(errno.into()),
    }
}

/// Exchanges the two files and compares the swapped-out one, so that no concurrent write is lost.
///
/// If the swapped-out file isn't the version we read, someone wrote first: swap theirs back.
fn exchange(staged: &Staged, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<RenameOutcome> {
    let (mut believed, mut put) = (expected.to_vec(), new.to_vec());
    for _ in 0..MAX_EXCHANGES {
        match renameat_with(CWD, &staged.path, CWD, path, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(rustix::io::Errno::NOENT) => return Ok(RenameOutcome::Raced),
            Err(errno) if is_unsupported(errno) => return rename_over(staged, path, expected),
            Err(errno) => return Err(errno.into()),
        }
        let out = fs::read(&staged.path)?;
        if out == believed {
            return Ok(if put == new { RenameOutcome::Done } else { RenameOutcome::Raced });
        }
        believed = std::mem::replace(&mut put, out);
    }
    Ok(RenameOutcome::Raced)
}

/// For file systems that cannot exchange: leaves a gap of microseconds between the comparison and the rename.
fn rename_over(staged: &Staged, path: &Path, expected: &[u8]) -> io::Result<RenameOutcome> {
    if fs::read(path)? != expected {
        return Ok(RenameOutcome::Raced);
    }
    fs::rename(&staged.path, path).map(|()| RenameOutcome::Done)
}

/// Moves the file aside, and deletes it only if it is the expected version.
fn delete(path: &Path, expected: &[u8]) -> io::Result<RenameOutcome> {
    let (_, aside) = new_neighbour(path)?;
    fs::rename(path, &aside.path)?;
    if fs::read(&aside.path)? == expected {
        return Ok(RenameOutcome::Done);
    }
    put_first(&aside, path).map(|_| RenameOutcome::Raced)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

fn is_unsupported(errno: rustix::io::Errno) -> bool {
    use rustix::io::Errno;
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP].contains(&errno)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn cannot_read(path: &Path, source: io::Error) -> RefusalCause {
    RefusalCause::CannotRead { path: path.to_owned(), source }
}

fn cannot_write(path: &Path, source: io::Error) -> RefusalCause {
    RefusalCause::CannotWrite { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn file_that_changed_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        fs::write(&path, "theirs").unwrap();
        assert!(matches!(swap(&path, OWNER_ONLY, Some(b"old"), Some(b"ours")), Ok(FileSwap::Raced)));
        assert!(matches!(swap(&path, OWNER_ONLY, None, Some(b"ours")), Ok(FileSwap::Raced)));
        assert!(matches!(swap(&path, OWNER_ONLY, Some(b"old"), None), Ok(FileSwap::Raced)));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(names(folder.path()), ["s.json"]);
    }

    #[test]
    fn write_that_slips_in_before_the_exchange_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        fs::write(&path, "old").unwrap();
        let staged = stage(&path, b"ours", OWNER_ONLY).unwrap();
        fs::write(&path, "theirs").unwrap();
        let ended = exchange(&staged, &path, b"old", b"ours").unwrap();
        assert!(matches!(ended, RenameOutcome::Raced));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn file_created_meanwhile_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        let staged = stage(&path, b"ours", OWNER_ONLY).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(matches!(put_first(&staged, &path).unwrap(), RenameOutcome::Raced));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
    }

    #[test]
    fn file_changed_before_its_deletion_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        fs::write(&path, "theirs").unwrap();
        assert!(matches!(delete(&path, b"ours").unwrap(), RenameOutcome::Raced));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(names(folder.path()), ["s.json"]);
    }

    #[test]
    fn mode_is_kept_and_a_new_file_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        let mode = || fs::metadata(&path).unwrap().mode() & 0o7777;
        assert!(matches!(swap(&path, OWNER_ONLY, None, Some(b"a")), Ok(FileSwap::Done(None))));
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(swap(&path, OWNER_ONLY, Some(b"a"), Some(b"b")), Ok(FileSwap::Done(Some(_)))));
        assert_eq!(mode(), 0o644);
        assert_eq!(names(folder.path()), ["s.json"]);
    }

    #[test]
    fn write_to_the_file_that_was_replaced_can_still_be_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        fs::write(&path, "old").unwrap();
        let mut slow = OpenOptions::new().write(true).truncate(false).open(&path).unwrap();
        let Ok(FileSwap::Done(Some(mut old))) = swap(&path, OWNER_ONLY, Some(b"old"), Some(b"ours")) else {
            panic!("nobody else writes")
        };
        slow.write_all(b"late").unwrap();
        assert_eq!(reread(&mut old).unwrap(), b"late");
    }

    #[test]
    fn pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.json");
        rustix::fs::mknodat(CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        assert!(matches!(read(&path), Err(RefusalCause::NotAFile { .. })));
    }
}
