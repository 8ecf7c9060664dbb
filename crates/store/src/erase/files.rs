//! Small files of the data folder that may hold what is erased, and databases that were set aside.
//!
//! What is derived is removed, what is a log loses its lines. A database that was set aside cannot be cleaned: whoever
//! asks decides what becomes of it.

use crate::home::{Home, put_for_good, size};
use crate::{marks, meters, warned};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use towline_core::forget::Needle;
use towline_core::id::SessionKey;

/// A database that was set aside, or a file that goes with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aside {
    pub path: PathBuf,
    pub bytes: u64,
}

/// Read at a time when a file is looked through.
const BLOCK: usize = 4 << 20;

impl Aside {
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Whether the bytes of a file hold the text; what is packed in it cannot be seen so.
pub fn shows(path: &Path, needle: &Needle) -> io::Result<bool> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    let mut window = Vec::new();
    loop {
        let read = file.by_ref().take(BLOCK as u64).read_to_end(&mut window)?;
        if read == 0 {
            return Ok(false);
        }
        if needle.is_in_bytes(&window) {
            return Ok(true);
        }
        // What lies across two blocks is in the end of the one and the beginning of the other.
        window.drain(..window.len().saturating_sub(needle.longest()));
    }
}

/// The files below the data folder whose bytes hold the text, the user's own settings that were kept left out.
pub fn holding(home: &Home, needle: &Needle) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    let mut folders = vec![home.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for path in listed(&folder)? {
            if shows(&path, needle)? {
                found.push(path);
            }
        }
        folders.extend(folders_in(&folder)?.into_iter().filter(|below| *below != home.backups()));
    }
    found.sort();
    Ok(found)
}

/// The databases that were set aside when they were damaged or made anew.
pub fn set_aside_files(home: &Home) -> io::Result<Vec<Aside>> {
    let mut found = vec![];
    for path in listed(home.folder())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains(".db.damaged-") {
            found.push(Aside { bytes: size(&path), path });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Takes the lines out of a log that hold the text; whether there were any.
pub fn shed_lines(log: &Path, needle: &Needle) -> io::Result<bool> {
    let bytes = match fs::read(log) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        bytes => bytes?,
    };
    let (held, kept): (Vec<&[u8]>, Vec<&[u8]>) =
        bytes.split_inclusive(|byte| *byte == b'\n').partition(|line| needle.is_in_bytes(line));
    if held.is_empty() {
        return Ok(false);
    }
    put_for_good(log, &kept.concat())?;
    Ok(true)
}

/// Removes what the next refresh makes anew: what it compares, and whatever of the bars holds the text.
pub fn drop_derived(home: &Home, needle: Option<&Needle>) -> io::Result<()> {
    for path in listed(&home.bars())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // A draft that nobody finished begins with a dot.
        let is_derived = name.starts_with('.') || ["quiet", "strays"].contains(&name.as_str());
        let holds = |needle: &Needle| fs::read(&path).is_ok_and(|bytes| needle.is_in_bytes(&bytes));
        if is_derived || needle.is_some_and(holds) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Removes what is remembered of sessions that are no more.
pub(super) fn forget_sessions(home: &Home, sessions: &BTreeSet<SessionKey>) -> io::Result<()> {
    for session in sessions {
        marks::remove(home, session)?;
        meters::remove(home, session)?;
        warned::remove(home, session)?;
    }
    let beginnings: Vec<String> = sessions.iter().map(|key| format!("{}.{}.", key.agent, key.id)).collect();
    for path in listed(&home.told())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if beginnings.iter().any(|beginning| name.starts_with(beginning)) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// The files of a folder; none if it is not there.
fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_file()).collect())
}

fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir() && !path.is_symlink()).collect())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(vec![]),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}
