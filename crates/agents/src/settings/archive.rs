//! The originals of edited files, and a record on each, from which `tow uninstall` restores them.
//!
//! A backup is never overwritten and never deleted. A damaged record counts as absent. Of a file that holds more than
//! settings, only the replaced bytes are kept.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::change::{Containers, EditPlan, common_ends};
use super::refusal::{EditRefusal, RefusalCause};
use super::subject::ManagedContent;
use super::swap;

/// The folder with the originals, one subfolder per owner.
#[derive(Debug, Clone)]
pub struct OriginalsArchive {
    folder: PathBuf,
}

/// Our record of a file that we wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EditRecord {
    /// The file's path, for human readers.
    pub file: String,
    /// Whether the file existed before us.
    pub existed: bool,
    /// The topmost folder that we created for it.
    pub made_folder: Option<PathBuf>,
    /// Name of the backup with the original bytes.
    pub backup: Option<String>,
    /// The edit that restores the original from our version, for files that may not be kept whole.
    #[serde(default)]
    pub undo: Option<Splice>,
    /// The version we wrote last.
    pub written: Fingerprint,
    /// The containers that the file had before us.
    pub kept: Containers,
}

/// Enough of a file's contents to detect foreign changes.
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
        let (start, end) = common_ends(earlier, later);
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

impl EditRecord {
    /// Whether the file still is the version we wrote last.
    pub fn is_unchanged(&self, current: Option<&[u8]>) -> bool {
        current.is_some_and(|bytes| Fingerprint::of(bytes) == self.written)
    }
}

impl OriginalsArchive {
    /// An archive in `folder`, which is created on demand.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The record on the subject's file.
    pub(super) fn recall(&self, subject: &dyn ManagedContent) -> Option<EditRecord> {
        let record_file = fs::read(self.record_file(subject)).ok()?;
        serde_json::from_slice(&record_file).ok()
    }

    /// The original bytes of a file that is still the version we wrote.
    pub(super) fn original(
        &self,
        subject: &dyn ManagedContent,
        record: &EditRecord,
        current: Option<&[u8]>,
    ) -> Option<Vec<u8>> {
        if let Some(undo) = &record.undo {
            return undo.undone(current?);
        }
        let name = record.backup.as_deref()?;
        fs::read(self.owner_folder(subject).join(Path::new(name).file_name()?)).ok()
    }

    /// Backs up the bytes about to be replaced, and records the new version. Returns the backup's path.
    ///
    /// The first original remains the one to restore as long as only we have written since.
    pub(super) fn record_edit(
        &self,
        subject: &dyn ManagedContent,
        plan: &EditPlan,
        made_folder: Option<PathBuf>,
    ) -> Result<Option<PathBuf>, EditRefusal> {
        let known = self.recall(subject);
        let kept = match &known {
            Some(record) => record.kept.clone(),
            None => subject.containers_without_us(plan.before.as_deref())?,
        };
        let written = Fingerprint::of(plan.after.as_deref().unwrap_or_default());
        let record = match known {
            Some(record) if record.is_unchanged(plan.before.as_deref()) => {
                let original = self.original(subject, &record, plan.before.as_deref());
                let undo = record.undo.as_ref().and(original).map(|original| undo_splice(&original, plan));
                EditRecord { written, undo, ..record }
            }
            _ => {
                let before = plan.before.as_deref();
                EditRecord {
                    file: subject.file().display().to_string(),
                    existed: before.is_some(),
                    made_folder,
                    backup: self.back_up(subject, before).map_err(|e| self.refuse(subject, e))?,
                    undo: before
                        .filter(|_| !subject.is_ours_to_keep())
                        .map(|before| undo_splice(before, plan)),
                    written,
                    kept,
                }
            }
        };
        self.write(subject, &record).map_err(|error| self.refuse(subject, error))?;
        Ok(record.backup.map(|name| self.owner_folder(subject).join(name)))
    }

    /// Backs up bytes that are not our own work, before a removal. Returns the backup's path.
    pub(super) fn keep_foreign(
        &self,
        subject: &dyn ManagedContent,
        bytes: Option<&[u8]>,
    ) -> Result<Option<PathBuf>, EditRefusal> {
        if self.recall(subject).is_some_and(|record| record.is_unchanged(bytes)) {
            return Ok(None);
        }
        let name = self.back_up(subject, bytes).map_err(|error| self.refuse(subject, error))?;
        Ok(name.map(|name| self.owner_folder(subject).join(name)))
    }

    /// Deletes the record once the file has no content of ours. Backups stay.
    pub(super) fn forget(&self, subject: &dyn ManagedContent) -> Result<(), EditRefusal> {
        match fs::remove_file(self.record_file(subject)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.refuse(subject, error)),
            _ => Ok(()),
        }
    }

    fn back_up(&self, subject: &dyn ManagedContent, bytes: Option<&[u8]>) -> io::Result<Option<String>> {
        let Some(bytes) = bytes.filter(|_| subject.is_ours_to_keep()) else {
            return Ok(None);
        };
        DirBuilder::new().recursive(true).mode(0o700).create(self.owner_folder(subject))?;
        let mut number = 1_u32;
        loop {
            let name = format!("{}.{number}.bak", self.stem(subject));
            match swap::create_file(&self.owner_folder(subject).join(&name), bytes) {
                Ok(()) => return Ok(Some(name)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&self, subject: &dyn ManagedContent, record: &EditRecord) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(self.owner_folder(subject))?;
        let mut record_file = serde_json::to_vec_pretty(record)?;
        record_file.push(b'\n');
        swap::write_own_file(&self.record_file(subject), &record_file)
    }

    fn owner_folder(&self, subject: &dyn ManagedContent) -> PathBuf {
        self.folder.join(subject.owner())
    }

    fn record_file(&self, subject: &dyn ManagedContent) -> PathBuf {
        self.owner_folder(subject).join(format!("{}.json", self.stem(subject)))
    }

    /// One owner can have several settings files, in several homes: a hash of the path distinguishes them.
    fn stem(&self, subject: &dyn ManagedContent) -> String {
        let name = subject.file().file_stem().unwrap_or_default().to_string_lossy();
        format!("{name}-{:08x}", crc32fast::hash(subject.file().as_os_str().as_bytes()))
    }

    fn refuse(&self, subject: &dyn ManagedContent, source: io::Error) -> EditRefusal {
        subject.refuse(RefusalCause::CannotBackUp { folder: self.owner_folder(subject), source })
    }
}

fn undo_splice(original: &[u8], plan: &EditPlan) -> Splice {
    Splice::between(original, plan.after.as_deref().unwrap_or_default())
}
