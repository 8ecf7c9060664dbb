//! The repository as the checks see it: root, files that git would commit, and cargo's metadata.
//!
//! Read-only. It never uses the network and never builds.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::files;
use crate::outcome::{Failure, Result, output_of};

/// One text file, with its path relative to the root and `/` as separator.
pub struct File {
    pub path: String,
    pub text: String,
}

/// The part of a `cargo metadata` package that the checks need.
#[derive(Debug, Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub license: Option<String>,
    pub source: Option<String>,
    pub manifest_path: PathBuf,
    pub dependencies: Vec<Dependency>,
}

/// One line under a `[dependencies]` table.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub kind: Option<String>,
}

/// The output of `cargo metadata`.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    pub target_directory: PathBuf,
}

/// The scope of `cargo metadata`.
#[derive(Clone, Copy)]
pub enum Reach {
    /// The packages of this workspace.
    Workspace,
    /// Everything in the lock file, for every platform.
    LockFile,
}

/// The root folder of this workspace.
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// Finds the repository around the current folder.
    pub fn here() -> Result<Repository> {
        let start = std::env::current_dir().map_err(Failure::read(Path::new(".")))?;
        let root = start.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file());
        let root = root.map(Path::to_owned).ok_or_else(|| Failure::Missing {
            what: "the repository".to_owned(),
            mend: "run this inside a clone of it".to_owned(),
        })?;
        Ok(Repository { root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Reads every text file that is tracked, or would be after `git add --all`.
    pub fn files(&self) -> Result<Vec<File>> {
        let mut files = Vec::new();
        for path in self.paths()? {
            files.extend(self.text_file(&path)?);
        }
        Ok(files)
    }

    /// Returns every existing file that is tracked, or would be after `git add --all`, text or not.
    pub fn paths(&self) -> Result<Vec<String>> {
        let mut command = Command::new("git");
        // A clone that belongs to another user (a container's mount) must be checked, too.
        let arguments = "-c safe.directory=* ls-files -z --cached --others --exclude-standard";
        command.args(arguments.split(' '));
        let names = output_of("git ls-files", command.current_dir(&self.root))?;
        let is_there = |path: &&str| self.root.join(path).is_file();
        Ok(names.split_terminator('\0').filter(is_there).map(str::to_owned).collect())
    }

    /// Returns `None` if the file is not text.
    fn text_file(&self, path: &str) -> Result<Option<File>> {
        let full = self.root.join(path);
        let bytes = std::fs::read(&full).map_err(Failure::read(&full))?;
        Ok(String::from_utf8(bytes).ok().map(|text| File { path: path.to_owned(), text }))
    }

    /// Reads one file that must exist.
    pub fn read(&self, path: &str) -> Result<String> {
        files::read(&self.root.join(path))
    }

    /// Runs `cargo metadata` offline.
    pub fn metadata(&self, reach: Reach) -> Result<Metadata> {
        let mut command = Command::new("cargo");
        command.args(["metadata", "--offline", "--locked", "--format-version", "1"]);
        if let Reach::Workspace = reach {
            command.arg("--no-deps");
        }
        // Offline, cargo knows only the crates that it once fetched, and a build fetches those of one platform.
        let program = "cargo metadata (`cargo fetch --locked` gets the crates of every platform once)";
        let answer = output_of(program, command.current_dir(&self.root))?;
        serde_json::from_str(&answer).map_err(|error| Failure::malformed("answer of `cargo metadata`", error))
    }

    /// Returns the path of `package`'s manifest relative to the root.
    pub fn manifest_of(&self, package: &Package) -> String {
        let path = package.manifest_path.strip_prefix(&self.root).unwrap_or(&package.manifest_path);
        path.to_string_lossy().into_owned()
    }
}
