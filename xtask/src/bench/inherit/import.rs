//! Measures import, which indexes as it reads: speed, memory, and the cost of finding no new data.
//!
//! By CPU time, readers and writer together, so that more cores do not make it look faster. Takes the fastest
//! of a few runs: other load on the machine can only slow it down.

use std::io::Write;
use std::path::Path;

use crate::bench::home::Home;
use crate::bench::host::{announce, settle};
use crate::bench::measure::{Cost, cost_of};
use crate::bench::report::{Judgement, Table};
use crate::bench::setup::Setup;
use crate::files;
use crate::outcome::Result;

use super::corpus::Corpus;

const MB: u64 = 1_000_000;

const RUNS: usize = 5;

const COLUMNS: [&str; 7] = ["import", "MB", "wall s", "cpu s", "MB/s", "MB/s per core", "peak MB"];

pub fn measured(setup: &Setup, out: &mut impl Write) -> Result<(Table, Vec<Judgement>)> {
    let home = Home::new(&setup.tow)?;
    let bytes = Corpus::load(&setup.crates)?.write(&home.user(), setup.by_extent(100, 1_000) * MB)?;
    settle()?;
    announce(out, "taking the corpus in …")?;
    home.without_work()?;
    let mut first = import_alone(&home)?;
    for _ in 1..RUNS {
        reset(&home)?;
        let another = import_alone(&home)?;
        first = if another.cpu_us < first.cpu_us { another } else { first };
    }
    let again = import_alone(&home)?;
    reset(&home)?;
    let parallel = cost_of(&mut home.tow(&["import"]), b"")?;
    let rows = vec![
        row(&format!("everything, one reader, the quickest of {RUNS}"), bytes, first),
        row("nothing new", bytes, again),
        row("everything, a reader for each core", bytes, parallel),
    ];
    let per_core = bytes as f64 / first.cpu_us as f64;
    let peak_mb = first.peak_kb.max(parallel.peak_kb) as f64 / 1000.0;
    let again = 100.0 * again.wall_ns as f64 / first.wall_ns as f64;
    let judgements = vec![
        Judgement::at_least("import with its index, per core", per_core, 30.0, " MB/s"),
        Judgement::at_most(
            "archive, of its input",
            share_of(&home.data().join("archive.db"), bytes)?,
            50.0,
            " %",
        ),
        Judgement::at_most("index, of its input", share_of(&home.data().join("index"), bytes)?, 10.0, " %"),
        Judgement::at_most("memory of an import", peak_mb, 200.0, " MB"),
        Judgement::at_most("a second import, of the first's time", again, 2.0, " %"),
    ];
    Ok((Table::new("Import", &COLUMNS, rows), judgements))
}

/// The size of a file, or of all files in a folder, in percent of the input.
fn share_of(place: &Path, input: u64) -> Result<f64> {
    let files = if place.is_dir() { files::below(place)? } else { vec![place.to_owned()] };
    let bytes: u64 = files.iter().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    Ok(100.0 * bytes as f64 / input as f64)
}

/// Resets the store, as if no transcript had ever been imported.
fn reset(home: &Home) -> Result<()> {
    files::remove_folder(&home.data())?;
    settle()
}

/// Imports with one reader.
fn import_alone(home: &Home) -> Result<Cost> {
    cost_of(&mut home.tow(&["import", "--jobs", "1"]), b"")
}

fn row(name: &str, bytes: u64, cost: Cost) -> Vec<String> {
    let (wall, cpu) = (cost.wall_ns as f64 / 1e9, cost.cpu_us as f64 / 1e6);
    let megabytes = bytes as f64 / 1e6;
    let figures = [megabytes, wall, cpu, megabytes / wall, megabytes / cpu, cost.peak_kb as f64 / 1e3];
    let cells =
        [0, 2, 2, 0, 0, 0].into_iter().zip(figures).map(|(digits, figure)| format!("{figure:.digits$}"));
    std::iter::once(name.to_owned()).chain(cells).collect()
}
