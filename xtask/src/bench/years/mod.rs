//! `cargo xtask bench years`: every command, hook and view over the transcripts of a heavy user's years.
//!
//! The transcripts are made up (`corpus`). The bounds are data beside the commands that they bound. Must not read or write
//! the user's own folders.

mod background;
mod beside;
mod bulk;
mod commands;
mod growth;
mod hooks;
mod meter;
mod views;
mod world;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Args;

use super::host::{announce, settle};
use super::report::{Report, Table};
use super::setup::{Publication, binary};
use crate::corpus::{Cast, Shape};
use crate::outcome::{Result, Verdict};
use crate::repository::Repository;

use bulk::Done;
use growth::Size;
use hooks::Stage;
use meter::{Ends, Row, once, table};
use world::World;

/// How to measure years.
#[derive(Args)]
pub struct Options {
    /// Measure this binary instead of building the static release binary
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// Size of the transcripts
    #[arg(long, value_name = "N", default_value_t = 6.85)]
    gigabytes: f64,
    /// Keep transcripts and data in this folder, or measure those of an earlier run there
    #[arg(long, value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// Run the commands at three sizes, a factor of ten apart, and print how their cost grows
    #[arg(long, conflicts_with_all = ["home", "gigabytes"])]
    growth: bool,
    /// Sessions of the largest size of `--growth`
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    sessions: u64,
    #[command(flatten)]
    publication: Publication,
}

const LEGEND: &str = "Transcripts are those of `cargo xtask corpus`: two years of two clients, with subagents and forks. CPU \
    is user and system time, memory the peak resident size, mapped files included; bytes are those of read and write calls, \
    also if the file cache answered. Figures are medians of several runs, except for commands that change the data and other \
    programs, which run once. `× true` is the time of a run divided by that of `/bin/true` beside it.";

/// Enough for sessions to inherit from, and for memories to be found.
const LITTLE_GIGABYTES: f64 = 0.02;

/// Hands the processes of hooks that find earlier sessions and memories to `look`.
pub fn each_hook<T>(
    tow: &Path,
    crates: &Path,
    look: impl Fn(&Command, &[u8]) -> Result<T>,
) -> Result<Vec<T>> {
    let world = World::prepare(None, tow, crates, Shape::of_gigabytes(LITTLE_GIGABYTES))?;
    for words in [["data", "import"], ["data", "work"]] {
        once(&mut world.tow(&words), Stdio::null(), Ends::Well)?;
    }
    let cast = Cast::load(crates)?;
    hooks::each(&Stage::new(&world, &cast)?, look)
}

/// Runs of each command, and of each hook.
const RUNS: usize = 5;
const HOOK_RUNS: usize = 20;

/// Says what is being measured: it takes minutes.
fn say(what: &str) -> Result<()> {
    announce(&mut io::stderr(), what)
}

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let tow = binary(options.tow.as_deref(), repository, out)?;
    let place = Place { tow: &tow, root: repository.root() };
    let with_tow = if options.tow.is_some() { " --tow PATH" } else { "" };
    let (report, arguments, file) = if options.growth {
        let arguments = format!("years --growth --sessions {}{with_tow}", options.sessions);
        (place.grow(options.sessions)?, arguments, "benchmarks-growth.md")
    } else {
        let arguments = format!("years --gigabytes {}{with_tow}", options.gigabytes);
        (place.survey(options)?, arguments, "benchmarks-years.md")
    };
    options.publication.publish(&report, &arguments, file, out)
}

/// The program to measure, and the repository that the transcripts are made of.
struct Place<'a> {
    tow: &'a Path,
    root: &'a Path,
}

impl Place<'_> {
    fn world(&self, kept: Option<&Path>, shape: Shape) -> Result<World> {
        say(&format!("transcripts of {:.2} GB", shape.bytes as f64 / 1e9))?;
        let world = World::prepare(kept, self.tow, &self.root.join("crates"), shape)?;
        settle()?;
        Ok(world)
    }

    /// One size, everything.
    fn survey(&self, options: &Options) -> Result<Report> {
        let crates = self.root.join("crates");
        let world = self.world(options.home.as_deref(), Shape::of_gigabytes(options.gigabytes))?;
        let mut report = empty("Benchmarks: years");
        if world.is_imported {
            report.remarks.push("Data of an earlier run: import and worker were not measured.".to_owned());
        } else {
            add_done(&mut report, "Import and worker", bulk::import(&world, &say)?)?;
        }
        say("tow data reindex")?;
        add_rows(&mut report, "Reindex", &[bulk::reindex(&world)?])?;
        report.remarks.push(sizes(&world));
        say("commands of a user")?;
        add_rows(&mut report, "Commands of a user", &commands::measured(&world, RUNS)?)?;
        say("hooks")?;
        let cast = Cast::load(&crates)?;
        let stage = Stage::new(&world, &cast)?;
        add_rows(&mut report, "Hooks", &hooks::measured(&stage, HOOK_RUNS)?)?;
        add_table(&mut report, background::table(&background::measured(&stage)?))?;
        say("server and monitor")?;
        let views = views::measured(&world)?;
        report.judgements.extend(views.judgements);
        add_table(&mut report, views.table)?;
        say("other programs")?;
        let others = bulk::others(&world, &self.root.join("clients"))?;
        add_done(&mut report, "Other programs on the same files", others)?;
        add_done(&mut report, "Forgetting", bulk::forgetting(&world, &say)?)?;
        add_table(&mut report, beside::measured(self.tow, &crates, options.gigabytes, &say)?)?;
        Ok(report)
    }

    /// Three sizes, and the growth between them.
    fn grow(&self, most_sessions: u64) -> Result<Report> {
        let cast = Cast::load(&self.root.join("crates"))?;
        let mut report = empty("Benchmarks: growth");
        let mut all = vec![];
        for sessions in [most_sessions / 100, most_sessions / 10, most_sessions] {
            let world = self.world(None, Shape::of_small_sessions(sessions.max(1)))?;
            let mut done = bulk::import(&world, &say)?;
            done.rows.push(bulk::reindex(&world)?);
            report.remarks.push(sizes(&world));
            say("commands of a user")?;
            let commands = commands::measured(&world, RUNS)?;
            say("hooks")?;
            let stage = Stage::new(&world, &cast)?;
            let hooks = hooks::measured(&stage, HOOK_RUNS)?;
            let per_turn = background::measured(&stage)?;
            let forgetting = bulk::forgetting(&world, &say)?;
            let rows = [done.rows, commands, hooks, forgetting.rows].concat();
            all.push(Size { written: world.written, rows, per_turn });
        }
        report.tables.push(growth::table(&all));
        Ok(report)
    }
}

fn empty(title: &'static str) -> Report {
    Report { title, legend: LEGEND, tables: vec![], remarks: vec![], judgements: vec![] }
}

/// Adds a table, and shows it at once: a run that is stopped has said what it measured.
fn add_table(report: &mut Report, table: Table) -> Result<()> {
    say(&table.lines().join("\n"))?;
    report.tables.push(table);
    Ok(())
}

fn add_rows(report: &mut Report, title: &str, rows: &[Row]) -> Result<()> {
    report.judgements.extend(rows.iter().flat_map(Row::judgements));
    add_table(report, table(title, rows))
}

fn add_done(report: &mut Report, title: &str, done: Done) -> Result<()> {
    report.judgements.extend(done.judgements);
    report.remarks.extend(done.remarks);
    add_rows(report, title, &done.rows)
}

/// How large everything is, in total and beside the transcripts.
fn sizes(world: &World) -> String {
    let input = world.written.bytes as f64;
    let [archive, index] = ["archive.db", "index"].map(|name| world.size(name) as f64);
    format!(
        "{} sessions, {} turns, {} files, {:.0} MB of transcripts; archive {:.0} MB ({:.2} of them), index {:.0} MB ({:.2}).",
        world.written.sessions,
        world.written.turns,
        world.written.files,
        input / 1e6,
        archive / 1e6,
        archive / input,
        index / 1e6,
        index / input
    )
}
