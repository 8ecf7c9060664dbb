//! Reads, writes and lists files; every error names the path.
//!
//! Must not choose a path: callers do.

use std::fs;
use std::path::{Path, PathBuf};

use crate::outcome::{Failure, Result};

pub fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(Failure::read(path))
}

/// Writes a file, and makes its folder before.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    create_folder(path.parent().unwrap_or(path))?;
    fs::write(path, content).map_err(Failure::write(path))
}

pub fn create_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(Failure::write(path))
}

pub fn remove_folder(path: &Path) -> Result<()> {
    fs::remove_dir_all(path).map_err(Failure::write(path))
}

pub fn remove(path: &Path) -> Result<()> {
    if path.exists() { fs::remove_file(path).map_err(Failure::write(path)) } else { Ok(()) }
}

/// Returns the files at and below `path`, ordered. Links are not followed.
pub fn below(path: &Path) -> Result<Vec<PathBuf>> {
    let kind = fs::symlink_metadata(path).map_err(Failure::read(path))?.file_type();
    if !kind.is_dir() {
        return Ok(if kind.is_file() { vec![path.to_owned()] } else { Vec::new() });
    }
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(Failure::read(path))? {
        entries.push(entry.map_err(Failure::read(path))?.path());
    }
    entries.sort();
    let mut files = Vec::new();
    for entry in entries {
        files.extend(below(&entry)?);
    }
    Ok(files)
}
