//! A user with transcripts, in temporary folders.
//!
//! Knows nothing about what is measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::bench::host::temporary_folder;
use crate::outcome::{Failure, stdout_of};

/// A user with transcripts.
pub struct Person {
    folder: TempDir,
    tow: PathBuf,
}

impl Person {
    pub fn new(tow: &Path) -> Result<Person, Failure> {
        Ok(Person { folder: temporary_folder()?, tow: tow.to_owned() })
    }

    /// Disables distilling: it runs in the background for minutes and would compete with the measured
    /// process.
    pub fn without_work(&self) -> Result<(), Failure> {
        let file = self.config();
        let folder = file.parent().unwrap_or(&file);
        fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        fs::write(&file, "[distil]\nrules = false\n").map_err(Failure::write(&file))
    }

    /// Imports everything, then runs the background work.
    pub fn import(&self) -> Result<(), Failure> {
        self.without_work()?;
        self.run(&["import"])?;
        fs::remove_file(self.config()).map_err(Failure::write(&self.config()))?;
        self.run(&["work"]).map(drop)
    }

    fn config(&self) -> PathBuf {
        self.home().join(".config/towline/config.toml")
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn tow(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.tow);
        command.args(arguments).current_dir(self.folder.path());
        command.env_clear().env("HOME", self.home()).env("TOWLINE_HOME", self.data()).env("TZ", "UTC");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Result<String, Failure> {
        let output = self.tow(arguments).output().map_err(Failure::start("tow"))?;
        stdout_of(&format!("tow {}", arguments.join(" ")), output)
    }

    pub fn forget_everything(&self) -> Result<(), Failure> {
        fs::remove_dir_all(self.data()).map_err(Failure::write(&self.data()))
    }
}
