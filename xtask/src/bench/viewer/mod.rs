//! `cargo xtask bench viewer`: the cost of the viewer and its server with a long history.
//!
//! Times are absolute, from a real browser on this machine: they are what a user waits. Must measure a
//! release build (`--release`), in its own home.

mod load;
mod page;
mod world;

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use super::announce;
use super::report::{Judgement, Report, Table};
use crate::Verdict;
use crate::failure::Failure;
use crate::repository::{Reach, Repository};

use world::World;

/// How to measure the viewer.
#[derive(Args)]
pub struct Options {
    /// Measure this binary instead of building one
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    memories: usize,
    /// Number of sessions
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    sessions: usize,
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

const LEGEND: &str = "In headless Chromium on the same machine as the server. First paint is the browser's own \
    first-contentful-paint of a fresh load, a quarter of a second after the last page was left, first rows is when the rows \
    of the list are in the page. Search as you type is from a key's input to the next frame with its hits, one letter after \
    the other. Memory is the server's, as the kernel counts it, mapped files of the index included. Throughput is by wrk, one \
    thread and eight connections for five seconds each, on the cores that the server uses, too.";

const MOST_MS: f64 = 100.0;
const MOST_MB: f64 = 50.0;

/// One measurement, repeated many times, in milliseconds.
pub struct Timing {
    pub name: &'static str,
    pub times: Vec<f64>,
}

impl Timing {
    fn share(&self, percent: usize) -> f64 {
        let mut sorted = self.times.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        sorted.get(last * percent / 100).copied().unwrap_or(f64::NAN)
    }

    fn row(&self) -> Vec<String> {
        let shares = [50, 95, 100].map(|percent| format!("{:.1}", self.share(percent)));
        std::iter::once(self.name.to_owned()).chain(shares).collect()
    }

    fn judgement(&self) -> Judgement {
        let median = self.share(50);
        Judgement {
            holds: median < MOST_MS,
            text: format!("{}: median {median:.1} ms, at most {MOST_MS} ms", self.name),
        }
    }
}

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict, Failure> {
    let tow = match &options.tow {
        Some(path) => path.canonicalize().map_err(Failure::read(path))?,
        None => built(repository, out)?,
    };
    announce(out, "making the past …")?;
    let world = World::new(tow, options.sessions, options.memories)?;
    let server = world.serve()?;
    announce(out, "looking at it …")?;
    let timings = page::timings(&world, &server);
    let quiet_mb = server.resident_mb()?;
    announce(out, "asking as often as it can answer …")?;
    let rates = load::rates(&server)?;
    let busy_mb = server.resident_mb()?;
    let report = report(&timings, rates, [quiet_mb, busy_mb]);
    report.print(out)?;
    if let Some(path) = &options.markdown {
        let made_by = format!(
            "cargo xtask bench viewer --memories {} --sessions {} --markdown docs/evidence/benchmarks-viewer.md",
            options.memories, options.sessions
        );
        std::fs::write(path, report.markdown(&made_by, options.date.as_deref()))
            .map_err(Failure::write(path))?;
    }
    Ok(if options.check && !report.holds() { Verdict::Broken } else { Verdict::Holds })
}

fn report(timings: &[Timing], rates: Vec<Vec<String>>, [quiet, busy]: [f64; 2]) -> Report {
    let waits = Table::new(
        "What a person waits",
        &["what", "median ms", "p95 ms", "most ms"],
        timings.iter().map(Timing::row).collect(),
    );
    let asked =
        Table::new("What the server answers", &["route", "answers a second", "median latency"], rates);
    let held = |name: &str, figure: f64| vec![name.to_owned(), format!("{figure:.1}")];
    let memory = Table::new(
        "What the server holds",
        &["when", "MB"],
        vec![held("after the browser", quiet), held("after the load", busy)],
    );
    let mut judgements: Vec<Judgement> = timings.iter().map(Timing::judgement).collect();
    judgements.push(Judgement {
        holds: quiet < MOST_MB,
        text: format!("server memory after the browser: {quiet:.1} MB, at most {MOST_MB} MB"),
    });
    Report {
        title: "Benchmarks: the viewer",
        legend: LEGEND,
        tables: vec![waits, memory, asked],
        remarks: Vec::new(),
        judgements,
    }
}

fn built(repository: &Repository, out: &mut impl Write) -> Result<PathBuf, Failure> {
    announce(out, "building the release binary …")?;
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--package", "tow"]);
    let status = cargo.current_dir(repository.root()).status().map_err(Failure::start("cargo"))?;
    if !status.success() {
        return Err(Failure::Failed { program: "cargo build".to_owned(), complaint: status.to_string() });
    }
    Ok(repository.metadata(Reach::Workspace)?.target_directory.join("release/tow"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_judged_by_what_a_person_bears() {
        let timing = |times: &[f64]| Timing { name: "it", times: times.to_vec() };
        assert_eq!(timing(&[300.0, 20.0, 10.0]).row(), ["it", "20.0", "20.0", "300.0"]);
        assert!(timing(&[300.0, 20.0, 10.0]).judgement().holds);
        assert!(!timing(&[300.0, 120.0, 10.0]).judgement().holds);
        assert!(!timing(&[]).judgement().holds, "what was not measured does not hold");
    }
}
