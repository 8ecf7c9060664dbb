//! The folders that a measured `tow` runs in: a home, a data folder and a project.
//!
//! A home is temporary and removed when it is dropped, unless the caller names its folder. The user's own folders are
//! never read.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use towline_testkit::script_arguments;

use super::host::temporary_folder;
use super::seed;
use crate::files;
use crate::outcome::{Failure, Result, output_of};

/// The folders of one case, or of one user with transcripts.
pub struct Home {
    folder: PathBuf,
    /// Removes the folder when it is dropped.
    _temporary: Option<TempDir>,
    tow: PathBuf,
}

impl Home {
    pub fn new(tow: &Path) -> Result<Home> {
        let folder = temporary_folder()?;
        let home = Home::at(folder.path(), tow)?;
        Ok(Home { _temporary: Some(folder), ..home })
    }

    /// A home that stays, in this folder.
    pub fn at(folder: &Path, tow: &Path) -> Result<Home> {
        let home = Home { folder: folder.to_owned(), _temporary: None, tow: tow.to_owned() };
        files::create_folder(&home.user())?;
        files::create_folder(&home.plain_folder())?;
        let git = home.project().join(".git");
        files::write(&git.join("HEAD"), "ref: refs/heads/main\n")?;
        files::write(&git.join("config"), "[remote \"origin\"]\n\turl = https://example.org/app.git\n")?;
        Ok(home)
    }

    pub fn user(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// A folder outside any repository.
    pub fn plain_folder(&self) -> PathBuf {
        self.folder.join("plain")
    }

    pub fn config(&self) -> PathBuf {
        self.user().join(".config/towline/config.toml")
    }

    /// The size of the data folder in bytes.
    pub fn data_bytes(&self) -> u64 {
        let files = files::below(&self.data()).unwrap_or_default();
        files.iter().map(|file| fs::metadata(file).map_or(0, |metadata| metadata.len())).sum()
    }

    /// `tow` with this home and no other variables.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.tow);
        command.env_clear().env("HOME", self.user()).env("TOWLINE_HOME", self.data());
        command
    }

    /// A command of `tow` as a user in UTC types it.
    pub fn tow(&self, arguments: &[&str]) -> Command {
        let mut command = self.command();
        command.args(arguments).current_dir(&self.folder).env("TZ", "UTC");
        command
    }

    /// The same in the foreground of a terminal, as a person runs it.
    pub fn on_terminal(&self, arguments: &[&str]) -> Result<Command> {
        // A terminal counts by the name of its program.
        let terminal = self.plain_folder().join("xterm");
        if !terminal.exists() {
            fs::copy("/usr/bin/script", &terminal).map_err(Failure::read(&terminal))?;
        }
        let mut command = Command::new(terminal);
        command.args(script_arguments(&self.tow, arguments, "")).env_clear().current_dir(self.plain_folder());
        command
            .env("HOME", self.user())
            .env("TOWLINE_HOME", self.data())
            .env("TZ", "UTC")
            .env("TERM", "xterm");
        command.env("PATH", "/usr/bin:/bin").env("SHELL", "/bin/sh");
        Ok(command)
    }

    pub fn run(&self, arguments: &[&str]) -> Result<String> {
        output_of(&format!("tow {}", arguments.join(" ")), &mut self.tow(arguments))
    }

    /// Disables distilling: it runs in the background for minutes and would compete with the measured
    /// process.
    pub fn without_work(&self) -> Result<()> {
        files::write(&self.config(), "[distil]\nrules = false\n")
    }

    /// Imports all transcripts, then runs the background work.
    pub fn import(&self) -> Result<()> {
        self.without_work()?;
        self.run(&["import"])?;
        files::remove(&self.config())?;
        self.run(&["work"]).map(drop)
    }
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

    /// A new home whose store holds `events` events.
    pub fn home(&self, events: u64) -> Result<Home> {
        let mut filled = self.filled.borrow_mut();
        let seed = match filled.entry(events) {
            Entry::Occupied(seed) => seed.into_mut(),
            Entry::Vacant(place) => {
                let home = Home::new(&self.tow)?;
                seed::events(&home.data(), events)?;
                place.insert(home)
            }
        };
        let home = Home::new(&self.tow)?;
        // With the modes, which the store checks.
        output_of("cp", Command::new("cp").arg("-a").arg(seed.data()).arg(home.data()))?;
        Ok(home)
    }
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
        assert_eq!(fs::metadata(home.data()).unwrap().permissions().mode() & 0o777, 0o700);
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
