//! The files of an index: readable by their owner alone, and mapped into memory except for stored documents.
//!
//! A search reads some hundred stored documents from all over their file. Each would map its surroundings, which counts as
//! memory of the process; reading copies one block. Decides nothing about the content.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, OwnedBytes, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

use super::tails::Tails;

/// The extension of files with stored documents.
const STORED: &str = "store";
/// The library's list of the files that it made.
const MANAGED: &str = ".managed.json";
const OWNER_ONLY: u32 = 0o600;

/// The folder of an index.
#[derive(Clone, Debug)]
pub struct IndexFiles {
    mapped: MmapDirectory,
    folder: PathBuf,
    /// `None` for readers of more than a few terms: a file that is opened late may be gone.
    tails: Option<Tails>,
}

impl IndexFiles {
    pub fn open(folder: &Path) -> Result<IndexFiles, OpenDirectoryError> {
        Ok(IndexFiles { mapped: MmapDirectory::open(folder)?, folder: folder.to_owned(), tails: None })
    }

    /// For a few lookups: opens files when more than their ends is read.
    pub fn open_for_lookup(folder: &Path) -> Result<IndexFiles, OpenDirectoryError> {
        Ok(IndexFiles { tails: Some(Tails::read(folder)), ..IndexFiles::open(folder)? })
    }
}

impl Directory for IndexFiles {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if let Some(file) = self.tails.as_ref().and_then(|tails| tails.file(&self.mapped, path)) {
            return Ok(file);
        }
        if path.extension().is_none_or(|extension| extension != STORED) {
            return self.mapped.get_file_handle(path);
        }
        let failed = |error: io::Error| {
            if error.kind() == io::ErrorKind::NotFound {
                return OpenReadError::FileDoesNotExist(path.to_owned());
            }
            OpenReadError::wrap_io_error(error, path.to_owned())
        };
        let file = File::open(self.folder.join(path)).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        Ok(Arc::new(ReadFile { file, length: usize::try_from(length).unwrap_or(usize::MAX) }))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let opened =
            OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(self.folder.join(path));
        let file = opened.map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                return OpenWriteError::FileAlreadyExists(path.to_owned());
            }
            OpenWriteError::wrap_io_error(error, path.to_owned())
        })?;
        Ok(BufWriter::new(Box::new(SyncedFile(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        // A lookup removes no files, so the library need not read the list of those that it made.
        if self.tails.is_some() && path == Path::new(MANAGED) {
            return Ok(b"[]".to_vec());
        }
        self.mapped.atomic_read(path)
    }

    /// The library writes a temporary file, which only the owner can read, and renames it.
    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.mapped.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.mapped.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let mut options = OpenOptions::new();
        let made = options.write(true).create(true).truncate(false).mode(OWNER_ONLY);
        made.open(self.folder.join(&lock.filepath)).map_err(|error| LockError::IoError(Arc::new(error)))?;
        self.mapped.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

/// A file that is read instead of mapped.
#[derive(Debug)]
struct ReadFile {
    file: File,
    length: usize,
}

impl HasLen for ReadFile {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for ReadFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mut bytes = vec![0; range.len()];
        self.file.read_exact_at(&mut bytes, range.start as u64)?;
        Ok(OwnedBytes::new(bytes))
    }
}

/// A file that is on disk once it is complete.
struct SyncedFile(File);

impl Write for SyncedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for SyncedFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.sync_data()
    }
}
