//! Replaces a transcript as a whole and keeps a backup beside it, which is never overwritten.
//!
//! Fails if the file changed since it was read.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    #[error("could not read {path}")]
    Read { path: PathBuf, source: io::Error },
    #[error("could not keep a backup at {path}")]
    Backup { path: PathBuf, source: io::Error },
    #[error("could not write {path}")]
    Write { path: PathBuf, source: io::Error },
    #[error("{path} was written by somebody else meanwhile")]
    Changed { path: PathBuf },
}

/// A file as it was read.
#[derive(Debug)]
pub struct Kept {
    pub path: PathBuf,
    pub text: Vec<u8>,
    stamp: TranscriptStamp,
    mode: u32,
}

/// Changes whenever the file is written or replaced.
#[derive(Debug, PartialEq, Eq)]
struct TranscriptStamp {
    inode: u64,
    modified: (i64, i64),
    size: u64,
}

/// Resolves symlinks and reads the whole file.
pub fn read(path: &Path) -> Result<Kept, RepairError> {
    let failed = |source| RepairError::Read { path: path.to_owned(), source };
    let path = fs::canonicalize(path).map_err(failed)?;
    let (stamp, mode) = stamp(&path).map_err(failed)?;
    let text = fs::read(&path).map_err(failed)?;
    Ok(Kept { path, text, stamp, mode })
}

fn stamp(path: &Path) -> io::Result<(TranscriptStamp, u32)> {
    let meta = fs::metadata(path)?;
    let stamp =
        TranscriptStamp { inode: meta.ino(), modified: (meta.mtime(), meta.mtime_nsec()), size: meta.len() };
    Ok((stamp, meta.mode() & 0o7777))
}

/// Replaces the file and returns the path of its backup.
pub fn replace(kept: &Kept, text: &[u8]) -> Result<PathBuf, RepairError> {
    let backup = back_up(kept)?;
    put(kept, text).map(|()| backup)
}

/// Replaces the file without a backup: for content that can be regenerated.
pub fn put(kept: &Kept, text: &[u8]) -> Result<(), RepairError> {
    let failed = |source| RepairError::Write { path: kept.path.clone(), source };
    let part = beside(&kept.path, ".tow-part");
    write_new(&part, text, kept.mode).map_err(failed)?;
    let moved = unchanged(kept).and_then(|()| fs::rename(&part, &kept.path).map_err(failed));
    if moved.is_err() {
        let _ = fs::remove_file(&part);
    }
    moved
}

fn unchanged(kept: &Kept) -> Result<(), RepairError> {
    let read = |source| RepairError::Read { path: kept.path.clone(), source };
    let (now, _) = stamp(&kept.path).map_err(read)?;
    if now == kept.stamp { Ok(()) } else { Err(RepairError::Changed { path: kept.path.clone() }) }
}

/// Reuses a backup with the same bytes; otherwise takes the next free number.
fn back_up(kept: &Kept) -> Result<PathBuf, RepairError> {
    for number in 1.. {
        let path = backup(&kept.path, number);
        match write_new(&path, &kept.text, kept.mode) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if fs::read(&path).is_ok_and(|there| there == kept.text) {
                    return Ok(path);
                }
            }
            Err(source) => return Err(RepairError::Backup { path, source }),
        }
    }
    Err(RepairError::Changed { path: kept.path.clone() })
}

fn write_new(path: &Path, text: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = fill(&mut file, text, mode);
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}

fn fill(file: &mut File, text: &[u8], mode: u32) -> io::Result<()> {
    file.write_all(text)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

/// The backups of a file, oldest first.
pub fn backups(path: &Path) -> Vec<PathBuf> {
    (1..).map(|number| backup(path, number)).take_while(|path| path.exists()).collect()
}

fn backup(path: &Path, number: u32) -> PathBuf {
    let ending = if number == 1 { ".tow-backup".to_owned() } else { format!(".tow-backup.{number}") };
    beside(path, &ending)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        (folder, path)
    }

    #[test]
    fn tav_39_a_backup_is_never_overwritten_and_the_file_keeps_its_permissions() {
        let (_folder, path) = folder_with("first");
        let first = replace(&read(&path).unwrap(), b"second").unwrap();
        let second = replace(&read(&path).unwrap(), b"third").unwrap();
        assert_eq!(
            (fs::read(&first).unwrap(), fs::read(&second).unwrap()),
            (b"first".to_vec(), b"second".to_vec())
        );
        assert_eq!(backups(&path), [first.clone(), second]);
        assert_eq!(fs::read(&path).unwrap(), b"third");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
        assert_eq!(fs::metadata(&first).unwrap().mode() & 0o777, 0o640);
        let names = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(names, 3, "nothing else is left behind");
    }

    #[test]
    fn the_same_bytes_are_backed_up_once() {
        let (_folder, path) = folder_with("first");
        let one = replace(&read(&path).unwrap(), b"second").unwrap();
        put(&read(&path).unwrap(), b"first").unwrap();
        assert_eq!(replace(&read(&path).unwrap(), b"second").unwrap(), one);
    }

    #[test]
    fn a_file_that_was_written_meanwhile_is_left_as_it_is() {
        let (_folder, path) = folder_with("first");
        let kept = read(&path).unwrap();
        fs::write(&path, "first and more").unwrap();
        assert!(matches!(replace(&kept, b"second"), Err(RepairError::Changed { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"first and more");
    }
}
