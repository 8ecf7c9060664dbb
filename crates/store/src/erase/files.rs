//! Erasing from the small files of the data folder, and finding databases that were set aside.
//!
//! Derived files are removed, logs lose the matching lines. Databases that were set aside are left to the caller.

use crate::home::{DataFolder, if_exists, remove_file, replace_file_synced, session_file, size};
use crate::{marks, meters, private, shared, unwritten, warned};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use towline_core::forget::ForgetText;
use towline_core::id::SessionKey;

/// A database that was set aside, or a file that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFile {
    pub path: PathBuf,
    pub bytes: u64,
}

const BLOCK: usize = 4 << 20;

impl DamagedFile {
    pub fn remove(&self) -> io::Result<()> {
        remove_file(&self.path)
    }
}

/// Whether the raw bytes of a file contain the text; does not look into compressed content.
pub fn shows(path: &Path, needle: &ForgetText) -> io::Result<bool> {
    let Some(mut file) = if_exists(File::open(path))? else { return Ok(false) };
    let mut window = Vec::new();
    loop {
        let read = file.by_ref().take(BLOCK as u64).read_to_end(&mut window)?;
        if read == 0 {
            return Ok(false);
        }
        if needle.is_in_bytes(&window) {
            return Ok(true);
        }
        // Keeps the end of the block, for a match across two blocks.
        window.drain(..window.len().saturating_sub(needle.longest()));
    }
}

/// The files below the data folder whose bytes contain the text, except backups of the user's settings.
pub fn files_containing(home: &DataFolder, needle: &ForgetText) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    let mut folders = vec![home.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for path in files_in(&folder)? {
            if shows(&path, needle)? {
                found.push(path);
            }
        }
        folders.extend(folders_in(&folder)?.into_iter().filter(|below| *below != home.backups()));
    }
    found.sort();
    Ok(found)
}

/// The databases that were set aside when they were damaged or rebuilt.
pub fn set_aside_files(home: &DataFolder) -> io::Result<Vec<DamagedFile>> {
    let mut found = vec![];
    for path in files_in(home.folder())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains(".db.damaged-") {
            found.push(DamagedFile { bytes: size(&path), path });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Removes the lines that contain the text from a log; returns whether there were any.
pub fn remove_lines(log: &Path, needle: &ForgetText) -> io::Result<bool> {
    let Some(bytes) = if_exists(fs::read(log))? else { return Ok(false) };
    let (held, kept): (Vec<&[u8]>, Vec<&[u8]>) =
        bytes.split_inclusive(|byte| *byte == b'\n').partition(|line| needle.is_in_bytes(line));
    if held.is_empty() {
        return Ok(false);
    }
    replace_file_synced(log, &kept.concat())?;
    Ok(true)
}

/// Removes files that the next refresh recreates, and those about status bars that contain the text.
pub fn drop_derived(home: &DataFolder, needle: Option<&ForgetText>) -> io::Result<()> {
    for path in files_in(&home.bars())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // An unfinished temporary file begins with a dot.
        let is_derived = name.starts_with('.') || ["quiet", "strays"].contains(&name.as_str());
        let holds = |needle: &ForgetText| fs::read(&path).is_ok_and(|bytes| needle.is_in_bytes(&bytes));
        if is_derived || needle.is_some_and(holds) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Removes the small files of erased sessions.
pub(super) fn forget_sessions(home: &DataFolder, sessions: &BTreeSet<SessionKey>) -> io::Result<()> {
    for session in sessions {
        marks::lower(home, session)?;
        meters::remove(home, session)?;
        warned::remove(home, session)?;
        private::remove(home, session)?;
        shared::remove(home, session)?;
        unwritten::remove(home, session)?;
    }
    let prefixes: Vec<String> = sessions.iter().map(|key| session_file(key) + ".").collect();
    for path in files_in(&home.notified_file())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The files of a folder; empty if it does not exist.
fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_file()).collect())
}

fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir() && !path.is_symlink()).collect())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = if_exists(fs::read_dir(folder))?.into_iter().flatten();
    entries.map(|entry| Ok(entry?.path())).collect()
}
