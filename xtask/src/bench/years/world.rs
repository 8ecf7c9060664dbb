//! A home with years of transcripts, written or found, and the data that `tow` makes of them.
//!
//! Measures nothing. Must not be the user's home: it is temporary, or one that the caller names.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::home::Home;
use crate::bench::rounds::ENVIRONMENT;
use crate::corpus::{self, Shape, Written};
use crate::files;
use crate::outcome::{Failure, Result};

pub struct World {
    pub home: Home,
    pub written: Written,
    /// Whether `tow` has imported the transcripts in an earlier run.
    pub is_imported: bool,
}

impl World {
    /// Transcripts of this shape, in a temporary folder or in `kept`, where those of an earlier run are taken again.
    pub fn prepare(kept: Option<&Path>, tow: &Path, crates: &Path, shape: Shape) -> Result<World> {
        let home = match kept {
            Some(folder) => {
                files::create_folder(folder)?;
                let folder = folder.canonicalize().map_err(Failure::read(folder))?;
                Home::at(&folder, tow)?
            }
            None => Home::new(tow)?,
        };
        let note = home.plain_folder().join("written.json");
        let written = match fs::read(&note) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| Failure::malformed("written.json", error))?
            }
            Err(_) => {
                let written = corpus::write(crates, &home.user(), shape)?;
                files::write(&note, serde_json::to_vec(&written).unwrap_or_default())?;
                written
            }
        };
        let is_imported = home.data().join("archive.db").exists();
        Ok(World { home, written, is_imported })
    }

    /// `tow` in this home, with no server of a multiplexer in reach.
    pub fn tow(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.tow(arguments);
        command.envs(ENVIRONMENT).env("TMUX_TMPDIR", self.home.plain_folder());
        command
    }

    /// The JSON that a command prints.
    pub fn ask(&self, arguments: &[&str]) -> Result<Value> {
        let words = arguments.join(" ");
        let output = self.tow(arguments).stderr(Stdio::null()).output().map_err(Failure::start(&words))?;
        serde_json::from_slice(&output.stdout).map_err(|error| Failure::malformed(words, error))
    }

    /// Bytes of a file or folder of the data folder.
    pub fn size(&self, name: &str) -> u64 {
        let sizes = files::below(&self.home.data().join(name)).unwrap_or_default();
        sizes.iter().map(|path| fs::metadata(path).map_or(0, |meta| meta.len())).sum()
    }
}
