//! Installs the model's files from the network or a folder, each verified by its checksum.
//!
//! The checksum list is removed first and written last: files without it do not count as a model.

use super::{PROVEN, checksums, folder};
use crate::runtime::config::Search;
use crate::runtime::fetch::{FetchError, Wanted, fetch, sha256_of, take};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use towline_store::DataFolder;
use towline_store::home::unless_gone;

#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("could not write {path}")]
    Write { path: PathBuf, source: io::Error },
}

/// The source of the model's files.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    Net { certificates: Option<&'a Path> },
    Folder(&'a Path),
}

/// Progress callback: file name, bytes so far, and total.
pub type Seen<'a> = &'a mut dyn FnMut(&str, u64, Option<u64>);

/// Installs missing files. Existing files with the right checksum stay.
pub fn ask_for(
    home: &DataFolder,
    wanted: &Search,
    from: Origin<'_>,
    seen: Seen<'_>,
) -> Result<(), PlaceError> {
    let folder = folder(home);
    let unwritten = |path: &Path| {
        let path = path.to_owned();
        move |source| PlaceError::Write { path, source }
    };
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(unwritten(&folder))?;
    let proven = folder.join(PROVEN);
    unless_gone(fs::remove_file(&proven)).map_err(unwritten(&proven))?;
    for (name, sha256) in &wanted.model_sha256 {
        let into = folder.join(name);
        if into.is_file() && sha256_of(&into)?.eq_ignore_ascii_case(sha256) {
            continue;
        }
        let url = format!("{}/{name}", wanted.model_url);
        let file = Wanted { url, sha256: sha256.clone(), into, certificates: None };
        match from {
            Origin::Folder(other) => take(&file, &other.join(name))?,
            Origin::Net { certificates } => {
                let file = Wanted { certificates: certificates.map(Path::to_owned), ..file };
                fetch(&file, &mut |got, all| seen(name, got, all))?;
            }
        }
    }
    let new = folder.join("checksums.new");
    fs::write(&new, checksums(wanted)).map_err(unwritten(&new))?;
    fs::rename(&new, &proven).map_err(unwritten(&proven))
}

/// Removes the model and its embeddings. Returns the number of bytes freed.
pub fn remove(home: &DataFolder) -> Result<u64, PlaceError> {
    let vectors = super::vectors_file(home);
    let folders = [folder(home), vectors.parent().unwrap_or(&vectors).to_owned()];
    let mut freed = 0;
    for folder in folders {
        freed += size_of(&folder);
        let removed = unless_gone(fs::remove_dir_all(&folder));
        removed.map_err(|source| PlaceError::Write { path: folder, source })?;
    }
    Ok(freed)
}

pub fn size_of(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}
