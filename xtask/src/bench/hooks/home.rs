//! The folders that a hook runs in: a home, a data folder with a given number of events, and a project.
//!
//! Every home is temporary and removed with its case. The user's own folders are never read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::failure::{Failure, stdout_of};

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
        let folder = tempfile::Builder::new().prefix("towline-bench-").tempdir();
        let home = Home { folder: folder.map_err(Failure::write(&std::env::temp_dir()))? };
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
            Entry::Vacant(place) => place.insert(self.fill(events)?),
        };
        let home = Home::empty()?;
        copy(&seed.data(), &home.data())?;
        Ok(home)
    }

    /// The only function that knows how to fill a store.
    fn fill(&self, events: u64) -> Result<Home, Failure> {
        let home = Home::empty()?;
        let mut command = Command::new(&self.tow);
        command.args(["bench-seed", "--events", &events.to_string()]);
        command.env_clear().env("HOME", home.user()).env("TOWLINE_HOME", home.data());
        let output = command.output().map_err(Failure::start("tow"))?;
        stdout_of("tow bench-seed", output)?;
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

    /// Stands in for `tow bench-seed`.
    fn fake_tow(folder: &Path) -> PathBuf {
        let tow = folder.join("tow");
        let script = "#!/bin/sh\nmkdir -p \"$TOWLINE_HOME/journal\"\nchmod 700 \"$TOWLINE_HOME\"\n\
            echo \"$*\" > \"$TOWLINE_HOME/journal/a\"\n";
        write(&tow, script).unwrap();
        std::fs::set_permissions(&tow, std::fs::Permissions::from_mode(0o755)).unwrap();
        tow
    }

    #[test]
    fn home_is_a_copy_of_the_filled_store_with_its_modes() {
        let folder = tempfile::tempdir().unwrap();
        let seeds = Seeds::new(&fake_tow(folder.path()));
        let home = seeds.home(1000).unwrap();
        let text = std::fs::read_to_string(home.data().join("journal/a")).unwrap();
        assert_eq!(text, "bench-seed --events 1000\n");
        assert_eq!(home.data_bytes(), 25);
        assert_eq!(std::fs::metadata(home.data()).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(home.project().join(".git/HEAD").is_file());
    }

    #[test]
    fn two_homes_are_apart_and_gone_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let seeds = Seeds::new(&fake_tow(folder.path()));
        let (one, two) = (seeds.home(1).unwrap(), seeds.home(1).unwrap());
        assert_ne!(one.data(), two.data());
        let data = one.data();
        drop(one);
        assert!(!data.exists());
    }
}
