//! `cargo xtask bench search`: the share of answered questions, and the cost of indexing and searching.
//!
//! An example of `towline-search` measures in its own processes; this module only starts it and judges. Texts
//! are the sources of this workspace and of the crates in the lock file.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::host::{announce, temporary_folder};
use super::report::{Judgement, Report, Table};
use super::setup::{Publication, built_example};
use crate::outcome::{Failure, Result, Verdict, output_of};
use crate::repository::{Reach, Repository};

/// How to measure search.
#[derive(Args)]
pub struct Options {
    /// Also with a million documents: takes minutes and a few gigabytes
    #[arg(long)]
    million: bool,
    /// Also with the model in this folder: model.safetensors, vocab.txt and config.json of all-MiniLM-L6-v2
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    #[command(flatten)]
    publication: Publication,
}

const LEGEND: &str = "Quality: each message is a document, a session is as good as its best document; `Words` is BM25 \
    alone, `Meaning` adds the static table, `Whole` adds structure, and `Whole with MiniLM` is the optional tier. Speed: documents of about 480 bytes cut from real \
    source code, questions of six words of a document. CPU is user and system time; warm is one process that has asked \
    everything before, the whole process includes its start and opening the index; with a cold file cache, the kernel was told \
    before each question to drop the index from memory (the disk of a machine may still have a cache of its own).";

const HUNDRED_THOUSAND: usize = 100_000;
const MILLION: usize = 1_000_000;
const ROUNDS: &str = "300";
const COLD_ROUNDS: &str = "40";
const EMBED_ROUNDS: &str = "20";

type Figures = BTreeMap<String, f64>;

enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

const QUALITY: [(&str, Bound); 4] = [
    ("DevMemBench, Whole, hit@1", Bound::AtLeast(86.0)),
    ("DevMemBench, Whole, MRR", Bound::AtLeast(92.0)),
    ("own, Whole, hit@1", Bound::AtLeast(90.0)),
    ("own, Whole, MRR", Bound::AtLeast(94.0)),
];

/// For a hundred thousand documents.
const SPEED: [(&str, Bound); 4] = [
    ("indexing, CPU s", Bound::AtMost(15.0)),
    ("index, MB", Bound::AtMost(60.0)),
    ("warm, CPU ms, p95", Bound::AtMost(10.0)),
    ("memory at most, mapped files included, MB", Bound::AtMost(60.0)),
];

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let measure = built_example("towline-search", "measure", repository, out)?;
    let mut quality = figures(&measure, &["quality"])?;
    let model = options.model.as_deref().map(|folder| folder.display().to_string());
    if let Some(model) = &model {
        announce(out, "asking with the model …")?;
        quality.extend(figures(&measure, &["model", model])?);
    }
    let mut report = Report {
        title: "Benchmarks: search",
        legend: LEGEND,
        tables: vec![table("Questions answered", "percent", &quality)],
        remarks: Vec::new(),
        judgements: judged(&QUALITY, &quality),
    };
    let texts = texts(repository)?;
    let hundred = speed(&measure, HUNDRED_THOUSAND, &texts, out)?;
    report.judgements.extend(judged(&SPEED, &hundred));
    report.tables.push(table("A hundred thousand documents", "figure", &hundred));
    if let Some(model) = &model {
        let embedding = figures(&measure, &["embed", model, EMBED_ROUNDS])?;
        report.tables.push(table("MiniLM", "figure", &embedding));
    }
    if options.million {
        let million = speed(&measure, MILLION, &texts, out)?;
        report.tables.push(table("A million documents", "figure", &million));
    }
    let million = if options.million { " --million" } else { "" };
    let model = if model.is_some() { " --model FOLDER" } else { "" };
    options.publication.publish(&report, &format!("search{million}{model}"), "benchmarks-search.md", out)
}

/// Folders with real text: every package in the lock file.
fn texts(repository: &Repository) -> Result<Vec<String>> {
    let packages = repository.metadata(Reach::LockFile)?.packages;
    let folders = packages.iter().filter_map(|package| package.manifest_path.parent());
    Ok(folders.map(|folder| folder.display().to_string()).collect())
}

fn speed(measure: &Path, documents: usize, texts: &[String], out: &mut impl Write) -> Result<Figures> {
    announce(out, &format!("indexing {documents} documents, and asking …"))?;
    let folder = temporary_folder()?;
    let path = folder.path().display().to_string();
    let wanted = documents.to_string();
    let mut arguments = vec!["index", path.as_str(), wanted.as_str()];
    arguments.extend(texts.iter().map(String::as_str));
    let mut found = figures(measure, &arguments)?;
    found.extend(figures(measure, &["ask", &path, ROUNDS])?);
    found.extend(figures(measure, &["cold", &path, COLD_ROUNDS])?);
    found.extend(figures(measure, &["evicted", &path, COLD_ROUNDS])?);
    Ok(found)
}

/// Runs the measuring program, which prints `name = number` lines.
fn figures(measure: &Path, arguments: &[&str]) -> Result<Figures> {
    let text = output_of("measure", Command::new(measure).args(arguments))?;
    let figures = text.lines().filter_map(|line| line.split_once(" = "));
    figures
        .map(|(name, figure)| {
            let figure =
                figure.parse().map_err(|error| Failure::malformed(format!("figure `{name}`"), error))?;
            Ok((name.to_owned(), figure))
        })
        .collect()
}

fn table(title: &str, unit: &str, figures: &Figures) -> Table {
    let rows = figures.iter().map(|(name, figure)| vec![name.clone(), format!("{figure:.1}")]).collect();
    Table::new(title, &["what", unit], rows)
}

fn judged(bounds: &[(&str, Bound)], figures: &Figures) -> Vec<Judgement> {
    bounds
        .iter()
        .map(|(name, bound)| {
            let figure = figures.get(*name).copied().unwrap_or(f64::NAN);
            let (holds, word, limit) = match bound {
                Bound::AtLeast(limit) => (figure >= *limit, "at least", limit),
                Bound::AtMost(limit) => (figure <= *limit, "at most", limit),
            };
            Judgement { holds, text: format!("{name}: {figure:.1} ({word} {limit})") }
        })
        .collect()
}
