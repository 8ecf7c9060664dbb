//! The folders that a hook runs in: a home, a data folder with a given number of events, and a project.
//!
//! Every home is temporary and removed with its case. The user's own folders are never read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::bench::host::temporary_folder;
use crate::bench::seed;
use crate::outcome::Failure;

/// The folders of one case.
pub struct Home {
    folder: TempDir,
}

impl Home {
    pub fn user(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// A folder outside any repository.
    pub fn plain_folder(&self) -> PathBuf {
        self.folder.path().join("plain")
    }

    /// The size of the data folder in bytes.
    pub fn data_bytes(&self) -> u64 {
        bytes_below(&self.data())
    }

    fn empty() -> Result<Home, Failure> {
        let home = Home { folder: temporary_folder()? };
        let git = home.project().join(".git");
        for folder in [home.user(), home.plain_folder(), git.clone()] {
            std::fs::create_dir_all(&folder).map_err(Failure::write(&folder))?;
        }
        write(&git.join("HEAD"), "ref: refs/heads/main\n")?;
        write(&git.join("config"), "[remote \"origin\"]\n\turl = https://example.org/app.git\n")?;
        Ok(home)
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(Failure::write(path))
}

/// Stores that are filled once and copied for every case.
pub struct Seeds {
    tow: PathBuf,
    filled: RefCell<BTreeMap<u64, Home>>,
}

impl Seeds {
    pub fn new(tow: &Path) -> Seeds {
        Seeds { tow: tow.to_owned(), filled: RefCell::new(BTreeMap::new()) }
    }

    pub fn tow(&self) -> &Path {
        &self.tow
    }

    /// A new home whose store holds `events` events.
    pub fn home(&self, events: u64) -> Result<Home, Failure> {
        let mut filled = self.filled.borrow_mut();
        let seed = match filled.entry(events) {
            Entry::Occupied(seed) => seed.into_mut(),
            Entry::Vacant(place) => {
                let home = Home::empty()?;
                seed::events(&home.data(), events)?;
                place.insert(home)
            }
        };
        let home = Home::empty()?;
        copy(&seed.data(), &home.data())?;
        Ok(home)
    }
}

/// Copies a folder with its modes, which the store checks.
fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(to).map_err(Failure::write(to))?;
    let mode = std::fs::metadata(from).map_err(Failure::read(from))?.permissions();
    std::fs::set_permissions(to, mode).map_err(Failure::write(to))?;
    for entry in std::fs::read_dir(from).map_err(Failure::read(from))? {
        let entry = entry.map_err(Failure::read(from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target)?;
        } else {
            std::fs::copy(&source, &target).map_err(Failure::write(&target))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn home_is_a_copy_of_the_filled_store_with_its_modes() {
        let seeds = Seeds::new(Path::new("tow"));
        let [few, many] = [10, 1000].map(|events| seeds.home(events).unwrap());
        assert!(few.data_bytes() > 0 && many.data_bytes() > few.data_bytes());
        let home = many;
        assert_eq!(std::fs::metadata(home.data()).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(home.project().join(".git/HEAD").is_file());
    }

    #[test]
    fn two_homes_are_apart_and_gone_when_dropped() {
        let seeds = Seeds::new(Path::new("tow"));
        let (one, two) = (seeds.home(1).unwrap(), seeds.home(1).unwrap());
        assert_ne!(one.data(), two.data());
        let data = one.data();
        drop(one);
        assert!(!data.exists());
    }
}
