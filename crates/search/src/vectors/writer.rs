//! Appends vectors to their file, one writer at a time.
//!
//! A row torn by a kill is padded to full length by the next writer, never truncated. Erasing rows writes a new file
//! and renames it over the old one.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{CHECKPOINT, HEADER, VectorFile, VectorFormat, row};

/// The single writer of a vector file.
pub struct VectorWriter {
    path: PathBuf,
    format: VectorFormat,
    file: File,
    _lock: File,
}

impl VectorWriter {
    /// Opens the file for writing and creates it if there is none of this model. `None` while another process writes.
    pub fn open(path: &Path, format: VectorFormat) -> Result<Option<VectorWriter>, Error> {
        let lock =
            OpenOptions::new().create(true).append(true).mode(0o600).open(path.with_extension("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if VectorFile::open(path, format)?.is_none() {
            replace(path, &format.header())?;
        }
        let mut file = OpenOptions::new().append(true).open(path)?;
        let length = file.seek(SeekFrom::End(0))? as usize;
        let torn = (length - HEADER) % format.row_len();
        if torn > 0 {
            file.write_all(&vec![0; format.row_len() - torn])?;
        }
        Ok(Some(VectorWriter { path: path.to_owned(), format, file, _lock: lock }))
    }

    /// Appends a document's vector, which replaces the former one. `mark` is the hash of the embedded text.
    pub fn add(&mut self, id: i64, mark: u64, vector: &[f32]) -> Result<(), Error> {
        if vector.len() != self.format.dimensions {
            return Err(Error::other(format!("a vector of {} numbers", vector.len())));
        }
        self.file.write_all(&row(id, mark, vector))
    }

    /// Records the caller's checkpoint.
    pub fn commit(&mut self, checkpoint: i64) -> Result<(), Error> {
        self.file.write_all(&row(CHECKPOINT, checkpoint as u64, &vec![0.0; self.format.dimensions]))
    }

    /// Rewrites the file with only the current rows for which `is_kept(id, mark)` holds, and removes the rest for good.
    pub fn keep_only(self, is_kept: &dyn Fn(i64, u64) -> bool) -> Result<VectorWriter, Error> {
        let Some(vectors) = VectorFile::open(&self.path, self.format)? else { return Ok(self) };
        let known = vectors.known();
        let counts = |id, mark| known.get(&id) == Some(&mark) && is_kept(id, mark);
        let mut bytes = self.format.header().to_vec();
        for row in vectors.rows().filter(|row| row.is_valid() && counts(row.id(), row.mark())) {
            bytes.extend(row.0);
        }
        if let Some(checkpoint) = vectors.checkpoint() {
            bytes.extend(row(CHECKPOINT, checkpoint as u64, &vec![0.0; self.format.dimensions]));
        }
        replace(&self.path, &bytes)?;
        let file = OpenOptions::new().append(true).open(&self.path)?;
        Ok(VectorWriter { file, ..self })
    }
}

/// Readers see the old file or the new one, never a part.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let new = path.with_extension("new");
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(new, path)
}
