//! The files of the journal: the active one, and the sealed ones with their numbers.
//!
//! The active file has no number in its name: it is always one above the highest sealed number. So the highest sealed
//! segment is never removed, and an appender needs only one file name.

use super::JournalPosition;
use super::rewrite::{SceneOf, keep_only_written};
use crate::home::{DataFolder, if_exists, size};
use crate::lock::ProjectionLock;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

pub(super) fn active(home: &DataFolder) -> PathBuf {
    home.journal().join("active")
}

pub fn unsealed_bytes(home: &DataFolder) -> u64 {
    size(&active(home))
}

/// The segments that exist, in order; the last one is active.
#[derive(Debug)]
pub struct Segments {
    files: BTreeMap<u64, PathBuf>,
    /// The active file, if it was opened to look at its mark: a hook reads it next.
    opened: Option<(u64, File)>,
}

impl Segments {
    pub fn list(home: &DataFolder) -> io::Result<Segments> {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(home.journal())? {
            let path = entry?.path();
            if let Some(number) = sealed_number(&path) {
                files.insert(number, path);
            }
        }
        let last = files.keys().next_back().copied().unwrap_or(0);
        files.insert(last + 1, active(home));
        Ok(Segments { files, opened: None })
    }

    /// The active file alone, under this number.
    pub(crate) fn active_as(home: &DataFolder, number: u64) -> Segments {
        let path = active(home);
        let opened = File::open(&path).ok().map(|file| (number, file));
        Segments { files: BTreeMap::from([(number, path)]), opened }
    }

    pub fn path(&self, number: u64) -> &Path {
        self.files.get(&number).map_or(Path::new(""), PathBuf::as_path)
    }

    pub fn size(&self, number: u64) -> u64 {
        size(self.path(number))
    }

    pub fn total_bytes(&self) -> u64 {
        self.files.values().map(|path| size(path)).sum()
    }

    /// A fingerprint that tells this file from another of the same name: length and checksum of its first record.
    pub fn mark(&self, number: u64) -> u64 {
        let mut head = [0; 12];
        let read = self.with_file(number, |file| file.read_exact_at(&mut head, 0));
        if !matches!(read, Ok(Some(()))) {
            return 0;
        }
        head[4..].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    /// Passes the segment's file to `read`; `None` if there is none.
    pub(super) fn with_file<T>(
        &self,
        number: u64,
        read: impl FnOnce(&File) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        match &self.opened {
            Some((opened, file)) if *opened == number => read(file).map(Some),
            _ => if_exists(File::open(self.path(number)))?.map(|file| read(&file)).transpose(),
        }
    }

    /// The number of the next segment, if there is one.
    pub fn after(&self, number: u64) -> Option<u64> {
        self.files.range(number + 1..).next().map(|(number, _)| *number)
    }

    /// The position after the last byte.
    pub fn end(&self) -> JournalPosition {
        let segment = self.files.keys().next_back().copied().unwrap_or(1);
        JournalPosition { segment, offset: self.size(segment) }
    }

    /// Whether the position exists.
    pub fn holds(&self, position: JournalPosition) -> bool {
        self.files.contains_key(&position.segment) && position.offset <= self.size(position.segment)
    }

    /// Moves a stored position to one that exists: one before the oldest segment to that segment's start, and one
    /// behind the end to the start of the active segment, since the journal was replaced by a younger one.
    pub fn clamp(&self, position: JournalPosition) -> JournalPosition {
        if self.files.contains_key(&position.segment) {
            let shrunk = self.size(position.segment) < position.offset;
            return if shrunk { JournalPosition { offset: 0, ..position } } else { position };
        }
        let segment = self.after(position.segment).or(self.files.keys().next_back().copied()).unwrap_or(1);
        JournalPosition { segment, offset: 0 }
    }

    /// The files in order, the active one last.
    pub(crate) fn paths(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.files.values().map(PathBuf::as_path)
    }

    /// Bytes from `position` to the end.
    pub fn bytes_after(&self, position: JournalPosition) -> u64 {
        let position = self.clamp(position);
        let all: u64 = self.files.range(position.segment..).map(|(_, path)| size(path)).sum();
        all.saturating_sub(position.offset)
    }
}

fn sealed_number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_suffix(".sealed")?.parse().ok()
}

/// Syncs the active file to disk: the database must not get ahead of the journal that it is projected from.
pub fn sync(home: &DataFolder) -> io::Result<()> {
    if_exists(File::open(active(home)))?.map_or(Ok(()), |file| file.sync_data())
}

/// Gives the active file a number; the next append creates a new one. Waits for running appends.
pub fn seal(home: &DataFolder, _lock: &ProjectionLock) -> io::Result<()> {
    let path = active(home);
    let file = File::open(&path)?;
    file.lock()?;
    let number = Segments::list(home)?.files.keys().next_back().copied().unwrap_or(1);
    fs::rename(&path, home.journal().join(format!("{number:08}.sealed")))
}

/// Removes the oldest applied segments until the journal holds no more than `keep_bytes`, except for what the user wrote.
/// Keeps the newest sealed one: the number of the active file follows from it.
pub fn expire(
    home: &DataFolder,
    applied: JournalPosition,
    keep_bytes: u64,
    scene_of: SceneOf<'_>,
) -> io::Result<u64> {
    let segments = Segments::list(home)?;
    let mut excess = segments.total_bytes().saturating_sub(keep_bytes);
    let mut removed = 0;
    let sealed = segments.files.len().saturating_sub(1);
    for (number, path) in segments.files.iter().take(sealed.saturating_sub(1)) {
        if excess == 0 || *number >= applied.segment {
            break;
        }
        let freed = keep_only_written(path, scene_of)?;
        excess = excess.saturating_sub(freed);
        removed += freed;
    }
    Ok(removed)
}
