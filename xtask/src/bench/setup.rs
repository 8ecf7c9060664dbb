//! Shared by the benchmarks: options, the binary to measure, recorded payloads, and where results go.
//!
//! Measures nothing itself.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use tempfile::TempDir;

use crate::files;
use crate::outcome::{Failure, Result, Verdict, output_of};
use crate::repository::{Reach, Repository};

use super::host::{announce, settle, temporary_folder};
use super::payload::Recordings;
use super::report::Report;

/// How to measure. Without a group: clap names it after the type, and `inherit` has options of that name around these.
#[derive(Args)]
#[group(skip)]
pub struct Options {
    /// Measure this binary instead of building the static release binary
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// How often each case runs
    #[arg(long, value_name = "N", default_value_t = 300)]
    rounds: usize,
    /// Few rounds, and no store of a million events: for a first look, not for results
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    pub publication: Publication,
}

/// Where the results go.
#[derive(Args)]
pub struct Publication {
    /// Also write the tables to this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Date to write into the file, instead of today's
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: Option<String>,
    /// Fail if a bound does not hold
    #[arg(long)]
    check: bool,
}

impl Publication {
    /// Prints the report and writes the file. `arguments` and `file` are those of the command line that
    /// reproduces it.
    pub fn publish(
        &self,
        report: &Report,
        arguments: &str,
        file: &str,
        out: &mut impl Write,
    ) -> Result<Verdict> {
        report.print(out)?;
        if let Some(path) = &self.markdown {
            let made_by = format!("cargo xtask bench {arguments} --markdown docs/evidence/{file}");
            let text = report.markdown(&made_by, self.date.as_deref());
            files::write(path, text)?;
        }
        Ok(Verdict::of(!self.check || report.holds()))
    }
}

/// The input of a benchmark.
pub struct Setup {
    /// A copy, in a folder that is removed at the end.
    pub tow: PathBuf,
    _copy: TempDir,
    is_quick: bool,
    pub rounds: usize,
    pub recordings: Recordings,
    /// Ends of real transcripts.
    pub tails: PathBuf,
    /// The folder `crates`, with the recordings.
    pub crates: PathBuf,
}

impl Setup {
    /// For a quick look at this binary.
    pub fn of(tow: &Path, repository: &Repository) -> Result<Setup> {
        let agents = repository.root().join("crates/agents");
        let (tow, copy) = installed(tow)?;
        Ok(Setup {
            tow,
            _copy: copy,
            is_quick: true,
            rounds: QUICK_ROUNDS,
            recordings: Recordings::load(&agents.join("fixtures")),
            tails: agents.join("tails"),
            crates: repository.root().join("crates"),
        })
    }

    /// The amount of data for a quick look, or for a result.
    pub fn by_extent<T>(&self, quick: T, full: T) -> T {
        if self.is_quick { quick } else { full }
    }
}

const QUICK_ROUNDS: usize = 30;
pub const TARGET: &str = "x86_64-unknown-linux-musl";

impl Options {
    pub fn setup(&self, repository: &Repository, out: &mut impl Write) -> Result<Setup> {
        let setup = Setup::of(&binary(self.tow.as_deref(), repository, out)?, repository)?;
        Ok(Setup { is_quick: self.quick, rounds: self.rounds(), ..setup })
    }

    fn rounds(&self) -> usize {
        if self.quick { self.rounds.min(QUICK_ROUNDS) } else { self.rounds }
    }

    /// The arguments that reproduce a table of the benchmark `name`.
    pub fn arguments(&self, name: &str) -> String {
        let quick = if self.quick { " --quick" } else { "" };
        let tow = if self.tow.is_some() { " --tow PATH" } else { "" };
        format!("{name} --rounds {}{quick}{tow}", self.rounds())
    }
}

/// A copy of the program, written as an installer writes it. How a file came into the page cache decides how many pages
/// a fault maps: the same bytes took 71 faults of a prompt as `strip` had left them, 82 read in order, 89 read on demand.
fn installed(tow: &Path) -> Result<(PathBuf, TempDir)> {
    let folder = temporary_folder()?;
    let copy = folder.path().join("tow");
    let bytes = std::fs::read(tow).map_err(Failure::read(tow))?;
    std::fs::write(&copy, bytes).map_err(Failure::write(&copy))?;
    let permissions = std::fs::metadata(tow).map_err(Failure::read(tow))?.permissions();
    std::fs::set_permissions(&copy, permissions).map_err(Failure::write(&copy))?;
    settle()?;
    Ok((copy, folder))
}

/// The given binary, or the one that `./install.sh` installs, built with the same command.
pub fn binary(given: Option<&Path>, repository: &Repository, out: &mut impl Write) -> Result<PathBuf> {
    if let Some(path) = given {
        return path.canonicalize().map_err(Failure::read(path));
    }
    announce(out, "building the release binary …")?;
    let tow = repository.metadata(Reach::Workspace)?.target_directory.join(TARGET).join("release/tow");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--locked", "--release", "--target", TARGET, "--package", "tow"]);
    let status = cargo.current_dir(repository.root()).status().map_err(Failure::start("cargo"))?;
    if !status.success() {
        let complaint = format!(
            "{status}; a static build needs `rustup target add {TARGET}` and `apt-get install musl-tools`"
        );
        return Err(Failure::Failed { program: "cargo build".to_owned(), complaint });
    }
    Ok(tow)
}

/// Builds an example of a crate that measures in its own process.
pub fn built_example(
    package: &str,
    example: &str,
    repository: &Repository,
    out: &mut impl Write,
) -> Result<PathBuf> {
    announce(out, "building what measures …")?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--package", package, "--example", example]);
    output_of("cargo build", cargo.current_dir(repository.root()))?;
    let folder = repository.metadata(Reach::Workspace)?.target_directory.join("release/examples");
    Ok(folder.join(example))
}
