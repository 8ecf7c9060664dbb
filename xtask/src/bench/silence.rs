//! `cargo xtask bench silence`: every long command on a terminal, over a large archive.
//!
//! Measures what a user sees: the longest time without a byte on the terminal, the number of progress bars, and how long the
//! first search after an import takes. The archive is generated in a temporary folder.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use towline_testkit::Shown;

use super::home::Home;
use super::host::announce;
use super::inherit::corpus::Corpus;
use super::report::{Judgement, Report, Table};
use super::setup::{Publication, binary};
use crate::files;
use crate::outcome::{Result, Verdict};
use crate::repository::Repository;

/// How to look for silence.
#[derive(Args)]
pub struct Options {
    /// Run this binary instead of building the static release binary
    #[arg(long, value_name = "PATH")]
    tow: Option<PathBuf>,
    /// Size of the generated transcripts
    #[arg(long, value_name = "N", default_value_t = 500)]
    megabytes: u64,
    #[command(flatten)]
    publication: Publication,
}

const LEGEND: &str = "Each command runs once, in this order, in a pseudo terminal of `script`, over transcripts made of \
    recorded ones, their texts enlarged with source code. Silence is the longest time between two bytes on the terminal, the \
    start and the end included. A bar that is drawn again in its place counts once.";

/// A silence of a second is too long; a search after an import answers within this many milliseconds.
const LONGEST_MS: f64 = 1000.0;
const FIRST_SEARCH_MS: f64 = 300.0;

/// The import comes first, and the search after it.
const IMPORT: &[&str] = &["data", "import"];
const SEARCH: &[&str] = &["search", "why did the tests fail", "--all-projects"];

const COMMANDS: [&[&str]; 22] = [
    IMPORT,
    SEARCH,
    &["search", "zebra", "--all-projects"],
    &["data", "import"],
    &["status"],
    &["session", "list", "--all-projects"],
    &["session", "turns", "--all-projects"],
    &["memory", "list", "--all-projects"],
    &["usage", "--since", "all"],
    &["usage", "--since", "all", "--by", "session"],
    &["data", "export", "--all-projects", "--output", "all.jsonl"],
    &["data", "export", "--all-projects", "--format", "markdown", "--output", "all.md"],
    &["data", "reindex"],
    &["data", "work"],
    SEARCH,
    &["doctor"],
    &["data", "jobs"],
    &["data", "scrub", "--dry-run"],
    &["data", "scrub"],
    &["data", "forget", "--match", "zebra", "--dry-run"],
    &["data", "forget", "m1", "--yes"],
    SEARCH,
];

const COLUMNS: [&str; 4] = ["command", "seconds", "longest silence, ms", "bars"];

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let home = Home::new(&binary(options.tow.as_deref(), repository, out)?)?;
    announce(out, "making a corpus of recorded shapes …")?;
    let corpus = Corpus::load(&repository.root().join("crates"))?;
    let bytes = corpus.write(&home.user(), options.megabytes * 1_000_000)?;
    let mut rows = vec![];
    let mut judgements = vec![];
    for (number, command) in COMMANDS.iter().enumerate() {
        let name = format!("tow {}", command.join(" "));
        announce(out, &name)?;
        let shown = Shown::of(&mut home.on_terminal(command)?);
        if !shown.status.success() {
            announce(out, &format!("failed: {}", shown.text))?;
        }
        let silence = shown.longest_silence.as_secs_f64() * 1000.0;
        let seconds = shown.spent.as_secs_f64();
        rows.push(vec![
            name.clone(),
            format!("{seconds:.2}"),
            format!("{silence:.0}"),
            shown.bars().to_string(),
        ]);
        judgements.push(Judgement::at_most(&format!("silence of `{name}`"), silence, LONGEST_MS, " ms"));
        match number {
            0 => judgements.push(Judgement::at_most("bars of the import", shown.bars() as f64, 1.0, "")),
            1 => {
                let figure = shown.spent.as_secs_f64() * 1000.0;
                judgements.push(Judgement::at_most("first search", figure, FIRST_SEARCH_MS, " ms"));
            }
            _ => {}
        }
        let log = home.plain_folder().join(format!("{number}.terminal"));
        files::write(&log, &shown.text)?;
    }
    let remarks = vec![format!(
        "Transcripts: {:.0} MB; data folder afterwards: {:.0} MB.",
        bytes as f64 / 1e6,
        home.data_bytes() as f64 / 1e6
    )];
    let tables = vec![Table::new("Commands on a terminal", &COLUMNS, rows)];
    let report = Report { title: "Benchmarks: silence", legend: LEGEND, tables, remarks, judgements };
    let tow = if options.tow.is_some() { " --tow PATH" } else { "" };
    let arguments = format!("silence --megabytes {}{tow}", options.megabytes);
    options.publication.publish(&report, &arguments, "benchmarks-silence.md", out)
}
