//! The program behind `cargo xtask bench search`: quality on question sets, speed on documents made of real text.
//!
//! Each figure is printed as `name = number`, one per line. It measures and judges nothing.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a program by itself, started by the bench"
)]

mod questions;
#[path = "../../tests/sets/mod.rs"]
mod sets;
mod speed;

use std::path::Path;

use sets::{Ranks, Set, figures};
use towline_search::{
    Encoder, QuerySimilarity, RankingStages, VectorFile, VectorFormat, VectorWriter, embedded,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["quality"] => quality(OutputDetail::Figures),
        ["quality", "missed"] => quality(OutputDetail::Missed),
        ["model", folder] => model(&Encoder::open(Path::new(folder)).unwrap(), OutputDetail::Figures),
        ["model", folder, "missed"] => {
            model(&Encoder::open(Path::new(folder)).unwrap(), OutputDetail::Missed)
        }
        ["embed", folder, rounds] => speed::embed(Path::new(folder), rounds.parse().unwrap()),
        ["vector", folder, text] => println!("{:?}", Encoder::open(Path::new(folder)).unwrap().embed(text)),
        ["open", folder] => speed::open(Path::new(folder)),
        ["index", folder, documents, ref texts @ ..] => {
            speed::index(Path::new(folder), documents.parse().unwrap(), texts);
        }
        ["ask", folder, rounds] => speed::ask(Path::new(folder), rounds.parse().unwrap()),
        ["cold", folder, rounds] => speed::cold(Path::new(folder), rounds.parse().unwrap()),
        ["evicted", folder, rounds] => speed::evicted(Path::new(folder), rounds.parse().unwrap()),
        ["questions", "make", file, ref packages @ ..] => questions::make(Path::new(file), packages),
        ["questions", "rank", file, engine, half] => questions::rank(Path::new(file), engine, half, None),
        ["questions", "rank", file, engine, half, model] => {
            questions::rank(Path::new(file), engine, half, Some(Path::new(model)));
        }
        ["questions", "missed", file, engine, kind] => {
            questions::missed::print(Path::new(file), engine, kind, None);
        }
        ["questions", "missed", file, engine, kind, model] => {
            questions::missed::print(Path::new(file), engine, kind, Some(Path::new(model)));
        }
        ["once", folder, question] => speed::once(Path::new(folder), question),
        _ => println!(
            "measure quality [missed] | model FOLDER [missed] | embed FOLDER N | open FOLDER | vector FOLDER TEXT | index FOLDER N TEXTS... \
            | ask FOLDER N | cold FOLDER N | evicted FOLDER N | once FOLDER TEXT \
            | questions make FILE PACKAGES... | questions rank FILE ENGINE open|locked [MODEL] \
            | questions missed FILE ENGINE KIND [MODEL]"
        ),
    }
}

pub fn print_line(line: &str) {
    println!("{line}");
}

/// Whether missed questions are printed besides the figures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputDetail {
    Figures,
    Missed,
}

fn quality(output: OutputDetail) {
    for (name, set) in [("DevMemBench", sets::dev_mem_bench()), ("own", sets::own())] {
        for tier in [RankingStages::Words, RankingStages::Meaning, RankingStages::Whole] {
            let ranks = set.ranks(tier);
            print_figures(&format!("{name}, {tier:?}"), &ranks);
            if tier == RankingStages::Whole && output == OutputDetail::Missed {
                print_missed(&set, &ranks);
            }
        }
    }
}

/// Ranks with the model's vectors added to all other stages.
fn ranks_near(set: &Set, encoder: &Encoder) -> Ranks {
    let folder = tempfile::tempdir().unwrap();
    let of = VectorFormat { model: 1, dimensions: encoder.dimensions() };
    let file = folder.path().join("vectors");
    let mut writer = VectorWriter::open(&file, of).unwrap().unwrap();
    for document in &set.documents {
        writer.add(document.id, 1, &encoder.embed(&embedded(document))).unwrap();
    }
    let vectors = VectorFile::open(&file, of).unwrap().unwrap();
    set.ranks_by(&|index, query| {
        let near = QuerySimilarity::to(&vectors, &encoder.embed(&query.text));
        index.search_with(RankingStages::Whole, query, &[], Some(&near)).unwrap()
    })
}

/// The question sets with the model's vectors added.
fn model(encoder: &Encoder, output: OutputDetail) {
    for (name, set) in [("DevMemBench", sets::dev_mem_bench()), ("own", sets::own())] {
        let ranks = ranks_near(&set, encoder);
        print_figures(&format!("{name}, Whole with MiniLM"), &ranks);
        if output == OutputDetail::Missed {
            print_missed(&set, &ranks);
        }
    }
}

fn print_figures(name: &str, ranks: &sets::Ranks) {
    let all = figures(ranks);
    println!("{name}, hit@1 = {:.1}", all.first);
    println!("{name}, hit@5 = {:.1}", all.five);
    println!("{name}, MRR = {:.1}", all.mrr);
}

fn print_missed(set: &Set, ranks: &sets::Ranks) {
    for (sort, figures) in set.by_sort(ranks) {
        println!(
            "  {sort}: {} questions, hit@1 {:.1}, MRR {:.1}",
            figures.questions, figures.first, figures.mrr
        );
    }
    for (question, rank) in set.questions.iter().zip(ranks).filter(|(_, rank)| **rank != Some(1)) {
        println!("  {rank:?} {} -> {:?}", question.text, question.answers);
    }
}
