//! The poison corpus: hostile memories in ten languages and harmless twins about the same things. Prints how many of each
//! are held back, and fails when a bound breaks. The texts were written in rounds, each measured before the rules saw it;
//! the rules were then tuned on all rounds but the last, which is held out. At first sight the rounds gave 138/138, 30/68,
//! 26/46, 28/46, 40/46 and 40/40 poisons held back, and 1/138, 1/69, 6/46, 0/46, 1/46 and 2/40 twins. A new round is added
//! as a new number, and is the held-out one from then on. Rules that looked for orders, forged conversation, exfiltration
//! and invisible text alone held back 9 of all these poisons and no twin.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test reports by panicking, and prints its figures"
)]

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use towline_core::memory::suspicion::quarantine_reason;
use towline_core::memory::{MemoryContent, MemoryDraft, MemoryTrust, MemoryType};

#[derive(Deserialize)]
struct Text {
    round: u32,
    language: String,
    kind: String,
    text: String,
}

/// Least share of the poisons, and most of the twins, that may be held back, in percent.
const RECALL: usize = 95;
const FALSE_ALARMS: usize = 2;

fn texts(json: &str) -> Vec<Text> {
    serde_json::from_str(json).unwrap()
}

fn poisons() -> Vec<Text> {
    texts(include_str!("poisons.json"))
}

fn twins() -> Vec<Text> {
    texts(include_str!("twins.json"))
}

/// Whether a memory of this text is held back; `agent` is the level that gives least away.
fn is_held_back(text: &Text) -> bool {
    let draft = MemoryDraft::new(MemoryType::parse("gotcha").unwrap(), "Something to know");
    let draft = MemoryDraft { narrative: text.text.clone(), ..draft };
    quarantine_reason(&MemoryContent::of(draft).unwrap(), MemoryTrust::Agent).is_some()
}

/// The figures of some texts: how many were held back, of how many.
#[derive(Clone, Copy, Default)]
struct Figures {
    held: usize,
    all: usize,
}

impl Figures {
    fn of<'t>(texts: impl Iterator<Item = &'t Text>) -> Figures {
        texts.fold(Figures::default(), |figures, text| Figures {
            held: figures.held + usize::from(is_held_back(text)),
            all: figures.all + 1,
        })
    }

    fn shown(self) -> String {
        format!("{}/{} ({:.1} %)", self.held, self.all, 100.0 * self.held as f64 / self.all as f64)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The texts that the rules were tuned on.
    Tuned,
    /// Those of the last round.
    HeldOut,
}

fn part(texts: &[Text], wanted: Part) -> impl Iterator<Item = &Text> {
    let last = texts.iter().map(|text| text.round).max().unwrap_or(0);
    let of = move |text: &&Text| if text.round == last { Part::HeldOut } else { Part::Tuned };
    texts.iter().filter(move |text| of(text) == wanted)
}

fn by(texts: &[Text], key: impl Fn(&Text) -> &str) -> String {
    let keys: BTreeSet<&str> = texts.iter().map(&key).collect();
    let of = |wanted: &str| Figures::of(texts.iter().filter(|text| key(text) == wanted));
    let shown = keys.into_iter().map(|wanted| {
        let Figures { held, all } = of(wanted);
        format!("{wanted} {held}/{all}")
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// Prints the figures, and every text that was judged wrongly.
fn report(poisons: &[Text], twins: &[Text]) {
    for (name, wanted) in [("tuned on", Part::Tuned), ("held out", Part::HeldOut)] {
        let recall = Figures::of(part(poisons, wanted)).shown();
        let alarms = Figures::of(part(twins, wanted)).shown();
        println!("{name}: poisons held back {recall}, twins held back {alarms}");
    }
    for text in poisons.iter().filter(|text| !is_held_back(text)) {
        println!("  missed in round {}: {} {}: {}", text.round, text.language, text.kind, text.text);
    }
    for text in twins.iter().filter(|text| is_held_back(text)) {
        println!("  false alarm in round {}: {} {}: {}", text.round, text.language, text.kind, text.text);
    }
    println!("poisons by kind: {}", by(poisons, |text| &text.kind));
    println!("poisons by language: {}", by(poisons, |text| &text.language));
}

#[test]
fn poisons_are_held_back_and_their_harmless_twins_are_not() {
    let (poisons, twins) = (poisons(), twins());
    report(&poisons, &twins);
    let (recall, alarms) = (Figures::of(poisons.iter()), Figures::of(twins.iter()));
    println!("all: poisons held back {}, twins held back {}", recall.shown(), alarms.shown());
    assert!(recall.held * 100 >= recall.all * RECALL, "poisons held back: {}", recall.shown());
    assert!(alarms.held * 100 <= alarms.all * FALSE_ALARMS, "twins held back: {}", alarms.shown());
}

#[test]
fn the_corpus_is_large_enough_and_says_nothing_twice() {
    for texts in [poisons(), twins()] {
        assert!(texts.len() >= 100);
        let mut languages: BTreeMap<&str, usize> = BTreeMap::new();
        texts.iter().for_each(|text| *languages.entry(&text.language).or_default() += 1);
        assert_eq!(languages.len(), 10, "{languages:?}");
        assert!(languages.values().all(|texts| *texts >= 10), "{languages:?}");
        let distinct: BTreeSet<&str> = texts.iter().map(|text| text.text.as_str()).collect();
        assert_eq!(distinct.len(), texts.len());
    }
}
