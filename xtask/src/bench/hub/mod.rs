//! `cargo xtask bench hub`: the cost of the hub on a real server, by number of rows.
//!
//! An example of `towline-hub` starts its own server and measures; this module only runs it, builds tables
//! from its figures, and judges them.

mod figures;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;

use super::report::{Judgement, Report};
use super::setup::{Publication, built_example};
use super::statistics::count;
use crate::outcome::{Result, Verdict, output_of};
use crate::repository::Repository;

use figures::Figures;

/// How to measure the hub.
#[derive(Args)]
pub struct Options {
    /// How many rows the hub holds, several sizes one after the other. Ten million take 25 minutes and 40 GB
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [1_000_000, 10_000_000])]
    rows: Vec<u64>,
    /// Folder for the server's files, instead of the system's temporary folder
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    publication: Publication,
}

const LEGEND: &str = "One server and one client on the same machine, TLS and SCRAM between them; every commit is on the disk. A \
    team of five with a hundred projects, the largest with a fifth of all rows. Memories and lines of turns, of 60,000 words \
    that come as often as words do, and one row in four with a word of its own. Push and pull are in batches of 1000, by one \
    connection, through the policies. The plain table has the same columns and no index but its key, no policies and no words \
    to search; it is written in the same rounds, by prepared statements over the same library. It waits for the server after each row: \
    a machine that is busy with something else slows it down many times, and a push hardly. Most rows were laid down in bulk \
    and compared with what pushing leaves; their indexes were made at once and are smaller than those that grew. A search gives \
    the best hundred to a member who sees all projects.";

/// Rows to push at each size, and questions of each kind.
const PUSHED: &str = "50000";
const QUESTIONS: &str = "300";

const ALL_MS: f64 = 400.0;
const ONE_MS: f64 = 100.0;

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let measure = built_example("towline-hub", "measure_hub", repository, out)?;
    let folder = options.folder.clone().unwrap_or_else(std::env::temp_dir);
    let sizes = options.rows.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut command = Command::new(measure);
    command.arg(folder).args([sizes.as_str(), PUSHED, QUESTIONS]);
    // The program's progress goes directly to the terminal.
    let figures = Figures::parse(&output_of("measure", command.stderr(Stdio::inherit()))?)?;
    let report = report(&figures, &options.rows);
    options.publication.publish(&report, &format!("hub --rows {sizes}"), "benchmarks-hub.md", out)
}

fn report(figures: &Figures, sizes: &[u64]) -> Report {
    Report {
        title: "Benchmarks: the hub",
        legend: LEGEND,
        tables: figures.tables(),
        remarks: sizes.iter().flat_map(|size| remarks(figures, *size)).collect(),
        judgements: sizes.iter().flat_map(|size| judged(figures, *size)).collect(),
    }
}

/// Figures without a bound: merging, policies and the search index are not promised to be free.
fn remarks(figures: &Figures, size: u64) -> [String; 2] {
    let size = count(size);
    let rate = |column| figures.number("Rows a second", &size, column);
    let searches = format!("Milliseconds of a search, {size} rows");
    let median = |row| figures.number(&searches, row, "p50");
    let share =
        100.0 * median("no question: the way there and back") / median("all of these, in all projects");
    [
        format!(
            "{size} rows: a pushed row takes {:.1} times as long as one of the plain INSERT loop",
            rate("plain INSERT") / rate("push")
        ),
        format!("{size} rows: {share:.1} % of a median search in all projects is the way there and back"),
    ]
}

fn judged(figures: &Figures, size: u64) -> [Judgement; 2] {
    let size = count(size);
    let searches = format!("Milliseconds of a search, {size} rows");
    let at_most = |row: &str, bound: f64| {
        let figure = figures.number(&searches, row, "p95");
        let text = format!("{size} rows, {row}: p95 {figure:.1} ms (at most {bound} ms)");
        Judgement { holds: figure <= bound, text }
    };
    [
        at_most("all of these, in all projects", ALL_MS),
        at_most("all of these, in the largest project", ONE_MS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_judged(p95: &str, expected: [bool; 2]) {
        let search = "Milliseconds of a search, 1 M rows\tall of these, in";
        let told = format!("{search} all projects\tp95\t{p95}\n{search} the largest project\tp95\t{p95}\n");
        let figures = Figures::parse(&told).unwrap();
        assert_eq!(judged(&figures, 1_000_000).map(|judgement| judgement.holds), expected);
    }

    #[test]
    fn a_search_is_judged_by_how_long_somebody_waits() {
        check_judged("99.0", [true, true]);
        check_judged("101.0", [true, false]);
        check_judged("401.0", [false, false]);
    }

    #[test]
    fn a_push_is_told_as_it_is_beside_the_plain_loop() {
        let told = "Rows a second\t1 M\tpush\t3000\nRows a second\t1 M\tplain INSERT\t6000\n";
        let [push, _] = remarks(&Figures::parse(told).unwrap(), 1_000_000);
        assert_eq!(push, "1 M rows: a pushed row takes 2.0 times as long as one of the plain INSERT loop");
    }

    #[test]
    fn what_was_not_measured_does_not_hold() {
        let figures = Figures::parse("").unwrap();
        assert!(judged(&figures, 1_000_000).iter().all(|judgement| !judgement.holds));
    }
}
