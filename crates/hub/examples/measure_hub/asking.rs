//! How long a search takes, by what is asked for and where.
//!
//! Ann asks, who sees all projects. Beside every question stands the same way to the server and back without one.

use std::time::Instant;

use towline_core::id::Uid;
use towline_hub::{Asked, CANDIDATES};

use crate::chance::Chance;
use crate::figure;
use crate::texts::{Texts, WORDS, project};
use crate::world::World;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
enum Sort {
    Common,
    Rare,
    Several,
    Unfinished,
    Misspelt,
    Nowhere,
}

const SORTS: [(Sort, &str); 6] = [
    (Sort::Common, "one of the hundred most frequent words"),
    (Sort::Rare, "a rare word"),
    (Sort::Several, "four words, as they come"),
    (Sort::Unfinished, "a word and the beginning of another"),
    (Sort::Misspelt, "a word with two letters swapped"),
    (Sort::Nowhere, "a word that nobody wrote"),
];

/// What every question of the hub is wrapped in.
const BARE: [&str; 3] = ["begin; set local statement_timeout = 1000", "select 1", "commit"];

pub fn measure(world: &mut World, name: &str, questions: usize) {
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
            tell(name, &format!("{words}, {scope}"), &times);
            all.extend(times);
        }
        tell(name, &format!("all of these, {scope}"), &all);
    }
    tell(name, "no question: the way there and back", &trips);
}

fn ask(world: &mut World, text: &str, projects: &[Uid]) {
    let asked =
        Asked { text: text.to_owned(), projects: projects.to_vec(), most: CANDIDATES, ..Asked::default() };
    world.hub.search(&world.membership, &asked).unwrap();
}

fn question(sort: Sort, texts: &Texts, chance: &mut Chance) -> String {
    let among =
        |from: usize, to: usize, chance: &mut Chance| texts.words()[from + chance.below(to - from)].clone();
    match sort {
        Sort::Common => among(0, 100, chance),
        Sort::Rare => among(WORDS / 2, WORDS, chance),
        Sort::Several => texts.some_words(4, chance),
        Sort::Unfinished => {
            let word = among(100, WORDS / 2, chance);
            format!("{} {}", texts.some_words(1, chance), &word[..4])
        }
        Sort::Misspelt => swapped(&among(300, WORDS / 2, chance)),
        Sort::Nowhere => (0..9).map(|_| char::from(b"xzqjwy"[chance.below(6)])).collect(),
    }
}

/// With its third and fourth letters in the other order, or the next two that differ.
fn swapped(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let place = (2..letters.len() - 1).find(|place| letters[*place] != letters[place + 1]);
    if let Some(place) = place {
        letters.swap(place, place + 1);
    }
    letters.into_iter().collect()
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1000.0
}

fn tell(name: &str, row: &str, times: &[f64]) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    for percent in [50, 95, 99] {
        // Nearest rank: a time that was measured.
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        let shown = sorted.get(rank - 1).copied().unwrap_or(f64::NAN);
        figure(
            &format!("Milliseconds of a search, {name} rows"),
            row,
            &format!("p{percent}"),
            format!("{shown:.1}"),
        );
    }
}
