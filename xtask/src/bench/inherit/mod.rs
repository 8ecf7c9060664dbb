//! `cargo xtask bench inherit`: the cost of importing conversations and of retrieving them.
//!
//! Transcripts are made from recorded ones, in a temporary folder. The user's own are never read.

mod cases;
mod corpus;
mod import;
mod many;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::failure::{Failure, stdout_of};

use super::report::{Judgement, Report};
use super::{Extent, Setup, announce, costs, settle};

const LEGEND: &str = "Import is measured as one process over a corpus made of the recorded transcripts, their texts \
    enlarged with source code: `MB/s per core` is what was read by the processor time it took, user and system, readers \
    and writer together. The other cases are processes measured as in docs/evidence/benchmarks.md, in multiples of `/bin/true`.";

/// A user with transcripts.
pub struct Person {
    folder: TempDir,
    tow: PathBuf,
}

impl Person {
    fn new(tow: &Path) -> Result<Person, Failure> {
        let folder = tempfile::Builder::new().prefix("towline-bench-").tempdir();
        let folder = folder.map_err(Failure::write(&std::env::temp_dir()))?;
        Ok(Person { folder, tow: tow.to_owned() })
    }

    /// Disables distilling: it runs in the background for minutes and would compete with the measured
    /// process.
    fn without_work(&self) -> Result<(), Failure> {
        let file = self.config();
        let folder = file.parent().unwrap_or(&file);
        fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        fs::write(&file, "[distil]\nrules = false\n").map_err(Failure::write(&file))
    }

    /// Imports everything, then runs the background work.
    fn import(&self) -> Result<(), Failure> {
        self.without_work()?;
        self.run(&["import"])?;
        fs::remove_file(self.config()).map_err(Failure::write(&self.config()))?;
        self.run(&["work"]).map(drop)
    }

    fn config(&self) -> PathBuf {
        self.home().join(".config/towline/config.toml")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn tow(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.tow);
        command.args(arguments).current_dir(self.folder.path());
        command.env_clear().env("HOME", self.home()).env("TOWLINE_HOME", self.data()).env("TZ", "UTC");
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<String, Failure> {
        let output = self.tow(arguments).output().map_err(Failure::start("tow"))?;
        stdout_of(&format!("tow {}", arguments.join(" ")), output)
    }

    fn forget_everything(&self) -> Result<(), Failure> {
        fs::remove_dir_all(self.data()).map_err(Failure::write(&self.data()))
    }
}

pub fn report(setup: &Setup, out: &mut impl Write) -> Result<Report, Failure> {
    announce(out, "making a corpus of recorded shapes …")?;
    let (imported, mut judgements) = import::measured(setup, out)?;
    announce(out, "making many short sessions, and taking them in …")?;
    let crowd = many::Crowd::taken_in(setup)?;
    let long = many::Long::taken_in(setup)?;
    let cases = cases::all(&crowd, &long);
    settle()?;
    announce(out, &format!("measuring {} cases …", cases.len()))?;
    let costs = costs::measured(&cases, setup.rounds)?;
    judgements
        .extend(cases.iter().zip(&costs.cases).filter_map(|(case, row)| case.judged(row.summary.ratio)));
    let remarks = vec![crowd.described()];
    let tables = vec![imported, costs.table("Capturing and getting back")];
    Ok(Report {
        title: "Benchmarks: taking in and getting back",
        legend: LEGEND,
        tables,
        remarks,
        judgements,
    })
}

/// A judgement against an upper bound.
fn at_most(what: &str, figure: f64, bound: f64, unit: &str) -> Judgement {
    Judgement { holds: figure <= bound, text: format!("{what}: {figure:.2}{unit} (at most {bound}{unit})") }
}

fn at_least(what: &str, figure: f64, bound: f64, unit: &str) -> Judgement {
    Judgement { holds: figure >= bound, text: format!("{what}: {figure:.1}{unit} (at least {bound}{unit})") }
}

/// The amount of data for a quick look, or for a result.
fn by_extent<T>(setup: &Setup, quick: T, full: T) -> T {
    match setup.extent {
        Extent::Quick => quick,
        Extent::Full => full,
    }
}
