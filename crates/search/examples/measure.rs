//! What `cargo xtask bench search` runs: quality on sets of questions. It measures and prints; it judges nothing.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program by itself, for people at a terminal"
)]

#[path = "../tests/sets/mod.rs"]
mod sets;

use sets::{Set, figures};
use towline_search::Tier;

fn main() {
    for (name, set) in [("DevMemBench", sets::dev_mem_bench()), ("our own", sets::own())] {
        println!("{name}: {} documents, {} questions", set.documents.len(), set.questions.len());
        print(&set);
    }
}

fn print(set: &Set) {
    for tier in [Tier::Words, Tier::Meaning, Tier::Whole] {
        let ranks = set.ranks(tier);
        let all = figures(&ranks);
        println!("  {tier:?}: hit@1 {:.1}  hit@5 {:.1}  MRR {:.1}", all.first, all.five, all.mrr);
        if std::env::args().any(|argument| argument == "--sorts") {
            for (sort, figures) in set.by_sort(&ranks) {
                println!(
                    "    {sort:<28} {:>3} questions  hit@1 {:.1}  MRR {:.1}",
                    figures.questions, figures.first, figures.mrr
                );
            }
        }
        if tier == Tier::Whole && std::env::args().any(|argument| argument == "--missed") {
            for (question, rank) in set.questions.iter().zip(&ranks).filter(|(_, rank)| **rank != Some(1)) {
                println!("    {rank:?} {} -> {:?}", question.text, question.answers);
            }
        }
    }
}
