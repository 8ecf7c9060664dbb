//! Search latency by kind of query and scope.
//!
//! Ann, who sees all projects, searches. Each search is timed beside an empty round trip.

use std::time::Instant;

use towline_core::id::Uid;
use towline_hub::{CANDIDATES, HubQuery};

use crate::chance::Chance;
use crate::figure;
use crate::texts::{Texts, WORDS, project};
use crate::world::BenchWorld;

/// The kind of query.
#[derive(Clone, Copy, Debug)]
enum QuerySort {
    Common,
    Rare,
    Several,
    Unfinished,
    Misspelt,
    Nowhere,
}

const SORTS: [(QuerySort, &str); 6] = [
    (QuerySort::Common, "one of the hundred most frequent words"),
    (QuerySort::Rare, "a rare word"),
    (QuerySort::Several, "four words, as they come"),
    (QuerySort::Unfinished, "a word and the beginning of another"),
    (QuerySort::Misspelt, "a word with two letters swapped"),
    (QuerySort::Nowhere, "a word that nobody wrote"),
];

/// The statements around every hub query.
const BARE: [&str; 3] = ["begin; set local statement_timeout = 1000", "select 1", "commit"];

pub fn measure(world: &mut BenchWorld, name: &str, questions: usize) {
    let bare = world.plain();
    let mut trips = Vec::new();
    for (scope, projects) in [("in all projects", vec![]), ("in the largest project", vec![project(0)])] {
        let mut all = Vec::new();
        for (sort, words) in SORTS {
            let mut chance = Chance::of(sort as u64 + 1);
            let mut times = Vec::new();
            for _ in 0..questions {
                let text = question(sort, &world.texts, &mut chance);
                times.push(time(|| ask(world, &text, &projects)));
                trips.push(time(|| BARE.iter().for_each(|script| bare.run(script))));
            }
            report(name, &format!("{words}, {scope}"), &times);
            all.extend(times);
        }
        report(name, &format!("all of these, {scope}"), &all);
    }
    report(name, "no question: the way there and back", &trips);
}

fn ask(world: &mut BenchWorld, text: &str, projects: &[Uid]) {
    let asked = HubQuery {
        text: text.to_owned(),
        projects: projects.to_vec(),
        most: CANDIDATES,
        ..HubQuery::default()
    };
    world.hub.search(&world.membership, &asked).unwrap();
}

fn question(sort: QuerySort, texts: &Texts, chance: &mut Chance) -> String {
    let among =
        |from: usize, to: usize, chance: &mut Chance| texts.words()[from + chance.below(to - from)].clone();
    match sort {
        QuerySort::Common => among(0, 100, chance),
        QuerySort::Rare => among(WORDS / 2, WORDS, chance),
        QuerySort::Several => texts.some_words(4, chance),
        QuerySort::Unfinished => {
            let word = among(100, WORDS / 2, chance);
            format!("{} {}", texts.some_words(1, chance), &word[..4])
        }
        QuerySort::Misspelt => swapped(&among(300, WORDS / 2, chance)),
        QuerySort::Nowhere => (0..9).map(|_| char::from(b"xzqjwy"[chance.below(6)])).collect(),
    }
}

/// Swaps the third and fourth letters, or the next two that differ.
fn swapped(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let index = (2..letters.len() - 1).find(|index| letters[*index] != letters[index + 1]);
    if let Some(index) = index {
        letters.swap(index, index + 1);
    }
    letters.into_iter().collect()
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1000.0
}

fn report(name: &str, row: &str, times: &[f64]) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    for percent in [50, 95, 99] {
        // Nearest rank: a measured value.
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        let value = sorted.get(rank - 1).copied().unwrap_or(f64::NAN);
        figure(
            &format!("Milliseconds of a search, {name} rows"),
            row,
            &format!("p{percent}"),
            format!("{value:.1}"),
        );
    }
}
