//! The originals of the files that we edit, and a note on each: what `tow uninstall` gives back.
//!
//! A backup is never overwritten and never deleted. A damaged note counts as none. Of a file that holds more than settings
//! nothing is kept but the bytes that we replaced.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::plan::{Containers, Plan};
use super::refusal::{Cause, Refusal};
use super::subject::Subject;
use super::swap;

/// The folder in which originals are kept, one folder per owner below it.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
}

/// What is known about a file that we wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The file, for a person who reads this.
    pub file: String,
    /// Whether there was a file before us.
    pub existed: bool,
    /// The topmost folder that we made for it.
    pub made_folder: Option<PathBuf>,
    /// Name of the backup with the original bytes.
    pub backup: Option<String>,
    /// How the original bytes are made from what we wrote, where the whole of them is not ours to keep.
    #[serde(default)]
    pub undo: Option<Splice>,
    /// What we wrote last.
    pub written: Fingerprint,
    /// The containers that stood in the file before us.
    pub kept: Containers,
}

/// Enough of a file's content to tell whether somebody else changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fingerprint {
    bytes: usize,
    crc32: u32,
}

/// The one place in which two texts differ: how much of the later one goes, and what stood there in the earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Splice {
    start: usize,
    bytes: usize,
    was: Vec<u8>,
}

impl Splice {
    fn between(earlier: &[u8], later: &[u8]) -> Self {
        let alike = |(one, other): &(&u8, &u8)| one == other;
        let start = earlier.iter().zip(later).take_while(alike).count();
        let rest = earlier[start..].iter().rev().zip(later[start..].iter().rev());
        let end = rest.take_while(alike).count();
        Self { start, bytes: later.len() - start - end, was: earlier[start..earlier.len() - end].to_vec() }
    }

    fn undone(&self, later: &[u8]) -> Option<Vec<u8>> {
        let behind = later.get(self.start + self.bytes..)?;
        Some([&later[..self.start], &self.was, behind].concat())
    }
}

impl Fingerprint {
    pub fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len(), crc32: crc32fast::hash(bytes) }
    }
}

impl Record {
    /// Whether the file still is what we wrote last.
    pub fn is_ours_alone(&self, current: Option<&[u8]>) -> bool {
        current.is_some_and(|bytes| Fingerprint::of(bytes) == self.written)
    }
}

impl Archive {
    /// An archive in `folder`, which is made when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The note on the subject's file.
    pub(super) fn recall(&self, subject: &dyn Subject) -> Option<Record> {
        let note = fs::read(self.note(subject)).ok()?;
        serde_json::from_slice(&note).ok()
    }

    /// The original bytes that a note speaks of, of a file that is still what we wrote.
    pub(super) fn original(
        &self,
        subject: &dyn Subject,
        record: &Record,
        current: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        if let Some(undo) = &record.undo {
            return undo.undone(current?);
        }
        let name = record.backup.as_deref()?;
        fs::read(self.owner_folder(subject).join(Path::new(name).file_name()?)).ok()
    }

    /// Keeps what is about to be replaced, and notes what replaces it. Returns where the backup is.
    ///
    /// The first original stays the one to give back for as long as only we have written since.
    pub(super) fn keep(
        &self,
        subject: &dyn Subject,
        plan: &Plan,
        made_folder: Option<PathBuf>,
    ) -> Result<Option<PathBuf>, Refusal> {
        let known = self.recall(subject);
        let kept = match &known {
            Some(record) => record.kept.clone(),
            None => subject.containers_without_us(plan.before.as_deref())?,
        };
        let written = Fingerprint::of(plan.after.as_deref().unwrap_or_default());
        let record = match known {
            Some(record) if record.is_ours_alone(plan.before.as_deref()) => {
                let original = self.original(subject, &record, plan.before.as_deref());
                let undo = record.undo.as_ref().and(original).map(|original| undoing(&original, plan));
                Record { written, undo, ..record }
            }
            _ => {
                let before = plan.before.as_deref();
                Record {
                    file: subject.file().display().to_string(),
                    existed: before.is_some(),
                    made_folder,
                    backup: self.back_up(subject, before).map_err(|e| self.refuse(subject, e))?,
                    undo: before.filter(|_| !subject.is_ours_to_keep()).map(|before| undoing(before, plan)),
                    written,
                    kept,
                }
            }
        };
        self.write(subject, &record).map_err(|error| self.refuse(subject, error))?;
        Ok(record.backup.map(|name| self.owner_folder(subject).join(name)))
    }

    /// Keeps bytes that are not our own work, before a removal. Returns where the backup is.
    pub(super) fn keep_foreign(
        &self,
        subject: &dyn Subject,
        bytes: Option<&[u8]>,
    ) -> Result<Option<PathBuf>, Refusal> {
        if self.recall(subject).is_some_and(|record| record.is_ours_alone(bytes)) {
            return Ok(None);
        }
        let name = self.back_up(subject, bytes).map_err(|error| self.refuse(subject, error))?;
        Ok(name.map(|name| self.owner_folder(subject).join(name)))
    }

    /// Forgets the note: there is nothing of ours in the file any more. Backups stay.
    pub(super) fn forget(&self, subject: &dyn Subject) -> Result<(), Refusal> {
        match fs::remove_file(self.note(subject)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.refuse(subject, error)),
            _ => Ok(()),
        }
    }

    fn back_up(&self, subject: &dyn Subject, bytes: Option<&[u8]>) -> io::Result<Option<String>> {
        let Some(bytes) = bytes.filter(|_| subject.is_ours_to_keep()) else {
            return Ok(None);
        };
        DirBuilder::new().recursive(true).mode(0o700).create(self.owner_folder(subject))?;
        let mut number = 1_u32;
        loop {
            let name = format!("{}.{number}.bak", self.stem(subject));
            match swap::put_new(&self.owner_folder(subject).join(&name), bytes) {
                Ok(()) => return Ok(Some(name)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&self, subject: &dyn Subject, record: &Record) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(self.owner_folder(subject))?;
        let mut note = serde_json::to_vec_pretty(record)?;
        note.push(b'\n');
        swap::put_whole(&self.note(subject), &note)
    }

    fn owner_folder(&self, subject: &dyn Subject) -> PathBuf {
        self.folder.join(subject.owner())
    }

    fn note(&self, subject: &dyn Subject) -> PathBuf {
        self.owner_folder(subject).join(format!("{}.json", self.stem(subject)))
    }

    /// One owner can have several settings files, in several homes: the path tells them apart.
    fn stem(&self, subject: &dyn Subject) -> String {
        let name = subject.file().file_stem().unwrap_or_default().to_string_lossy();
        format!("{name}-{:08x}", crc32fast::hash(subject.file().as_os_str().as_bytes()))
    }

    fn refuse(&self, subject: &dyn Subject, source: io::Error) -> Refusal {
        subject.refuse(Cause::CannotBackUp { folder: self.owner_folder(subject), source })
    }
}

fn undoing(original: &[u8], plan: &Plan) -> Splice {
    Splice::between(original, plan.after.as_deref().unwrap_or_default())
}
