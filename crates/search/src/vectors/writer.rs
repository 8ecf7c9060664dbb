//! Adding vectors to their file, one writer at a time.
//!
//! A row is whole or passed over: what a kill cut off is filled up to a row's length by the next writer, never cut away.
//! What is to be gone for good goes by a new file in the place of the old.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{CHECKPOINT, HEAD, Vectors, VectorsOf, row};

/// The one writer of a file of vectors.
pub struct VectorWriter {
    path: PathBuf,
    of: VectorsOf,
    file: File,
    _lock: File,
}

impl VectorWriter {
    /// Opens the file for writing, and makes it where there is none of this model. `None` while somebody else writes.
    pub fn open(path: &Path, of: VectorsOf) -> Result<Option<VectorWriter>, Error> {
        let lock =
            OpenOptions::new().create(true).append(true).mode(0o600).open(path.with_extension("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if Vectors::open(path, of)?.is_none() {
            replace(path, &of.head())?;
        }
        let mut file = OpenOptions::new().append(true).open(path)?;
        let length = file.seek(SeekFrom::End(0))? as usize;
        let torn = (length - HEAD) % of.row();
        if torn > 0 {
            file.write_all(&vec![0; of.row() - torn])?;
        }
        Ok(Some(VectorWriter { path: path.to_owned(), of, file, _lock: lock }))
    }

    /// Adds a document's vector; the former one no longer counts. `mark` tells what was embedded of it.
    pub fn add(&mut self, id: i64, mark: u64, vector: &[f32]) -> Result<(), Error> {
        if vector.len() != self.of.dimensions {
            return Err(Error::other(format!("a vector of {} numbers", vector.len())));
        }
        self.file.write_all(&row(id, mark, vector))
    }

    /// Says how far the file goes now.
    pub fn commit(&mut self, checkpoint: i64) -> Result<(), Error> {
        self.file.write_all(&row(CHECKPOINT, checkpoint as u64, &vec![0.0; self.of.dimensions]))
    }

    /// Makes the file anew with those rows alone that still count and that `is_kept` wants, by document and mark. Of the
    /// others nothing is left.
    pub fn keep_only(self, is_kept: &dyn Fn(i64, u64) -> bool) -> Result<VectorWriter, Error> {
        let Some(vectors) = Vectors::open(&self.path, self.of)? else { return Ok(self) };
        let known = vectors.known();
        let counts = |id, mark| known.get(&id) == Some(&mark) && is_kept(id, mark);
        let mut bytes = self.of.head().to_vec();
        for row in vectors.rows().filter(|row| row.is_sound() && counts(row.id(), row.mark())) {
            bytes.extend(row.0);
        }
        if let Some(checkpoint) = vectors.checkpoint() {
            bytes.extend(row(CHECKPOINT, checkpoint as u64, &vec![0.0; self.of.dimensions]));
        }
        replace(&self.path, &bytes)?;
        let file = OpenOptions::new().append(true).open(&self.path)?;
        Ok(VectorWriter { file, ..self })
    }
}

/// Whoever reads has the old file or the new one, never a part.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let new = path.with_extension("new");
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(new, path)
}
