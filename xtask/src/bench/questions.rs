//! `cargo xtask bench questions`: how well each kind of question is answered, beside other engines.
//!
//! Examples of `towline-search` and `towline-store` make the set and rank; this module only starts them, counts and judges.
//! Half of the questions are locked: they are evaluated to report a result, never to choose a weight.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::host::announce;
use super::report::{Judgement, Report, Table};
use super::setup::{Publication, built_example};
use super::statistics::{percentile, sorted};
use crate::outcome::{Failure, Result, Verdict, output_of};
use crate::repository::{Reach, Repository};

/// How to ask.
#[derive(Args)]
pub struct Options {
    /// Evaluate the locked half: once, to report a result
    #[arg(long)]
    locked: bool,
    /// Also with the model in this folder: model.safetensors, vocab.txt and config.json of all-MiniLM-L6-v2
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    #[command(flatten)]
    publication: Publication,
}

const LEGEND: &str = "Each cell is MRR with its 95 % confidence interval, then hit@1, in percent; a rank is a position among \
    turns. The turns are entries of the changelogs and error messages in the sources of the crates in the lock file, and \
    sessions in four languages written for this set; a question has one right turn. All engines search the same \
    documents and get the same filters. FTS5 is SQLite's (porter, any word, stop words left out), BM25 our index without \
    any other stage, MiniLM the nearest vectors.";

/// The engine that is judged, and those that it must not fall behind.
const OURS: &str = "Towline";
const OTHERS: [&str; 3] = ["FTS5", "BM25", "MiniLM"];
const WITH_MODEL: &str = "Towline + MiniLM";

const LEAST_MRR: f64 = 80.0;
/// How far a kind may fall behind the best of the others.
const BEHIND: f64 = 1.0;
const DISTINCT: f64 = 9.0;
const RESAMPLES: usize = 1000;

/// The rank of a question's answer (0: not found), and the number of different turns among ten hits.
#[derive(Clone, Copy)]
struct Ranked {
    rank: usize,
    distinct: usize,
}

type ByKind = BTreeMap<String, Vec<Ranked>>;

pub fn run(options: &Options, repository: &Repository, out: &mut impl Write) -> Result<Verdict> {
    let measure = built_example("towline-search", "measure", repository, out)?;
    let folder = repository.metadata(Reach::Workspace)?.target_directory.join("questions");
    fs::create_dir_all(&folder).map_err(Failure::write(&folder))?;
    let set = folder.join("set.json");
    make_set(&measure, &set, repository, out)?;
    let half = if options.locked { "locked" } else { "open" };
    let mut engines = Vec::new();
    for engine in engines_asked(options.model.is_some()) {
        announce(out, &format!("asking {engine} …"))?;
        let ranks = match engine {
            "FTS5" => output_of("fts5", Command::new(fts5(&folder, repository)?).arg(&set).arg(half))?,
            _ => {
                let mut command = Command::new(&measure);
                command.args(["questions", "rank"]).arg(&set).args([engine, half]).args(&options.model);
                output_of("measure", &mut command)?
            }
        };
        engines.push((engine, parsed(&ranks)?));
    }
    let report = Report {
        title: "Benchmarks: questions",
        legend: LEGEND,
        tables: vec![table(half, &engines)],
        remarks: Vec::new(),
        judgements: judged(&engines),
    };
    let arguments = format!(
        "questions{}{}",
        if options.locked { " --locked" } else { "" },
        if options.model.is_some() { " --model FOLDER" } else { "" }
    );
    options.publication.publish(&report, &arguments, "benchmarks-questions.md", out)
}

fn engines_asked(has_model: bool) -> Vec<&'static str> {
    let needs_model = |engine: &&str| [WITH_MODEL, "MiniLM"].contains(engine);
    let all = [OURS, WITH_MODEL].into_iter().chain(OTHERS);
    all.filter(|engine| has_model || !needs_model(engine)).collect()
}

fn make_set(measure: &Path, set: &Path, repository: &Repository, out: &mut impl Write) -> Result<()> {
    announce(out, "making the questions …")?;
    let packages = repository.metadata(Reach::LockFile)?.packages;
    let public = packages.iter().filter(|package| package.source.is_some());
    let folders = public.filter_map(|package| package.manifest_path.parent());
    let mut command = Command::new(measure);
    let counts = output_of("measure", command.args(["questions", "make"]).arg(set).args(folders))?;
    announce(out, &counts.trim_end().replace('\n', ", "))
}

/// Builds the example with FTS5, which the product's SQLite leaves out, in a target folder of its own.
fn fts5(folder: &Path, repository: &Repository) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--package", "towline-store", "--example", "fts5", "--target-dir"]);
    cargo.arg(folder).env("LIBSQLITE3_FLAGS", "-DSQLITE_ENABLE_FTS5");
    output_of("cargo build", cargo.current_dir(repository.root()))?;
    Ok(folder.join("debug/examples/fts5"))
}

/// Lines of `kind, rank, distinct turns, question`, separated by tabs.
fn parsed(text: &str) -> Result<ByKind> {
    let mut kinds = ByKind::new();
    for line in text.lines() {
        let mut cells = line.split('\t');
        let kind = cells.next().unwrap_or_default().to_owned();
        let mut number = || cells.next().and_then(|cell| cell.parse().ok());
        let (Some(rank), Some(distinct)) = (number(), number()) else {
            return Err(Failure::malformed("a rank", line));
        };
        kinds.entry(kind).or_default().push(Ranked { rank, distinct });
    }
    Ok(kinds)
}

fn mrr(ranks: &[Ranked]) -> f64 {
    let reciprocal = |ranked: &Ranked| if ranked.rank == 0 { 0.0 } else { 1.0 / ranked.rank as f64 };
    100.0 * ranks.iter().map(reciprocal).sum::<f64>() / ranks.len().max(1) as f64
}

/// The 95 % confidence interval of the MRR, by resampling with a fixed seed.
fn interval(ranks: &[Ranked]) -> (f64, f64) {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % ranks.len() as u64) as usize
    };
    let resampled = |_| mrr(&(0..ranks.len()).map(|_| ranks[next()]).collect::<Vec<_>>());
    let figures = sorted((0..RESAMPLES).map(resampled).collect());
    (percentile(&figures, 3), percentile(&figures, 98))
}

fn cell(ranks: &[Ranked]) -> String {
    let (low, high) = interval(ranks);
    let first = ranks.iter().filter(|ranked| ranked.rank == 1).count();
    let first = 100.0 * first as f64 / ranks.len() as f64;
    format!("{:.1} [{low:.0}, {high:.0}] {first:.0}", mrr(ranks))
}

fn all(kinds: &ByKind) -> Vec<Ranked> {
    kinds.values().flatten().copied().collect()
}

fn table(half: &str, engines: &[(&str, ByKind)]) -> Table {
    let mut columns = vec!["kind", "questions"];
    columns.extend(engines.iter().map(|(engine, _)| *engine));
    let kinds = engines.first().into_iter().flat_map(|(_, kinds)| kinds.keys());
    let of_kind = |kind: &String| {
        let ranks = |kinds: &ByKind| kinds.get(kind).cloned().unwrap_or_default();
        row(kind, engines.iter().map(|(_, kinds)| ranks(kinds)).collect())
    };
    let mut rows: Vec<Vec<String>> = kinds.map(of_kind).collect();
    rows.push(row("all", engines.iter().map(|(_, kinds)| all(kinds)).collect()));
    Table::new(&format!("The {half} half"), &columns, rows)
}

fn row(name: &str, ranks: Vec<Vec<Ranked>>) -> Vec<String> {
    let count = ranks.first().map_or(0, Vec::len).to_string();
    let cells = ranks.iter().map(|ranks| cell(ranks));
    [name.to_owned(), count].into_iter().chain(cells).collect()
}

/// Our engine with the model, if there is one, is judged like the one without.
fn judged(engines: &[(&str, ByKind)]) -> Vec<Judgement> {
    let (ours, others): (Vec<_>, Vec<_>) = engines.iter().partition(|(engine, _)| !OTHERS.contains(engine));
    let mut judgements = Vec::new();
    for (engine, kinds) in ours {
        let ranks = all(kinds);
        judgements.push(Judgement::at_least(&format!("{engine}, MRR"), mrr(&ranks), LEAST_MRR, ""));
        let distinct = ranks.iter().map(|ranked| ranked.distinct as f64).sum::<f64>() / ranks.len() as f64;
        let what = format!("{engine}, turns among ten hits");
        judgements.push(Judgement::at_least(&what, distinct, DISTINCT, ""));
        for (kind, ranks) in kinds {
            let best = others.iter().filter_map(|(_, kinds)| kinds.get(kind)).map(|ranks| mrr(ranks));
            let least = best.fold(0.0, f64::max) - BEHIND;
            judgements.push(Judgement::at_least(&format!("{engine}, {kind}"), mrr(ranks), least, ""));
        }
    }
    judgements
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(ranks: &[usize]) -> Vec<Ranked> {
        ranks.iter().map(|rank| Ranked { rank: *rank, distinct: 10 }).collect()
    }

    #[test]
    fn missing_answers_count_as_nothing() {
        assert_eq!(mrr(&ranked(&[1, 2, 0, 4])), 43.75);
    }

    #[test]
    fn interval_contains_the_figure_and_is_the_same_every_time() {
        let ranks = ranked(&[1, 1, 2, 5, 0, 1, 3, 1]);
        let (low, high) = interval(&ranks);
        assert!(low < mrr(&ranks) && mrr(&ranks) < high);
        assert_eq!(interval(&ranks), (low, high));
    }

    #[test]
    fn kind_that_falls_behind_another_engine_is_broken() {
        let of = |ranks: &[usize]| ByKind::from([("why".to_owned(), ranked(ranks))]);
        let judged = judged(&[(OURS, of(&[1, 2])), ("FTS5", of(&[1, 1]))]);
        assert_eq!(judged.iter().map(|judgement| judgement.holds).collect::<Vec<_>>(), [false, true, false]);
    }
}
