//! Rows like those that machines push: memories and lines of turns, of invented words that come as often as words do.
//!
//! A row's number makes the whole row, so that any of them can be told again and compared.

use std::fmt::Write as _;

use towline_core::id::{SessionKey, Uid};
use towline_core::share::{Life, Provenance, Registers, RowKind, SharedRow, Stamp};
use towline_core::time::Timestamp;
use towline_hub::Outgoing;

use crate::chance::{Chance, Zipf};

/// Words that are worth looking for.
pub const WORDS: usize = 60_000;
/// The most frequent of them is in a third of all rows, as in prose without its little words.
const SHIFT: f64 = 10.0;
/// Of a hundred words so many are little.
const LITTLE: usize = 35;
pub const PROJECTS: usize = 100;
/// One row in so many has a word that no other row has: a number, a hash.
const NAMED: u64 = 4;
const BEGINNING: i64 = 1_700_000_000_000;
const APART_MS: i64 = 4_000;

pub const PEOPLE: [&str; 5] = ["ann", "bob", "cat", "dan", "eve"];

const STOP: [&str; 24] = [
    "the", "of", "to", "is", "in", "and", "a", "it", "on", "for", "with", "that", "as", "was", "by", "not",
    "are", "from", "at", "this", "be", "when", "an", "or",
];
const FIRST: [&str; 20] =
    ["b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "st", "tr", "pl"];
const VOWELS: [&str; 6] = ["a", "e", "i", "o", "u", "ai"];
const ENDINGS: [&str; 8] = ["", "", "", "s", "ed", "ing", "er", "tion"];

pub struct Texts {
    words: Vec<String>,
    by_use: Zipf,
    by_size: Zipf,
}

/// A row, and what it is found by.
pub struct Made {
    pub outgoing: Outgoing,
    /// Its own word, if it has one.
    pub name: Option<String>,
}

impl Texts {
    pub fn new() -> Texts {
        let words = (0..WORDS).map(invented).collect();
        Texts { words, by_use: Zipf::new(WORDS, SHIFT), by_size: Zipf::new(PROJECTS, 0.0) }
    }

    /// The words, the most frequent first.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The row of this number, as `person` made it.
    pub fn row(&self, number: u64, person: usize) -> Made {
        let mut chance = Chance::of(number);
        let made_at = Timestamp(BEGINNING + number as i64 * APART_MS);
        let uid = Uid::v7(made_at, random(&mut chance));
        let project = project(self.by_size.place(&mut chance));
        let name = number.is_multiple_of(NAMED).then(|| format!("{:x}q{number}", chance.below(1 << 20)));
        let said = |count: usize, chance: &mut Chance| self.said(count, chance);
        let (kind, words, text) = if chance.below(10) < 6 {
            let (words, text) = memory(&mut chance, name.as_deref(), said);
            (RowKind::Memory, words, text)
        } else {
            let (words, text) = line(&mut chance, uid, name.as_deref(), said);
            (RowKind::Line, words, text)
        };
        let session = format!("agent:{:08x}-0000-4000-8000-{:012x}", number / 40, number / 40);
        let machine = machine(person);
        let from = Provenance {
            person: PEOPLE[person].into(),
            machine,
            session: SessionKey::parse(&session).ok(),
            turn: Some((number % 40) as u32 + 1),
            made_at,
        };
        let life = Life::Lives(Box::new(Registers::of_words(words, Stamp { count: 1, machine })));
        let row = SharedRow { uid, kind, project, from, life };
        Made { outgoing: Outgoing { row, text, meaning: None }, name }
    }

    /// Words of a row, as somebody asks for it: without the little ones.
    pub fn some_words(&self, count: usize, chance: &mut Chance) -> String {
        let some: Vec<&str> = (0..count).map(|_| self.words[self.by_use.place(chance)].as_str()).collect();
        some.join(" ")
    }

    fn said(&self, count: usize, chance: &mut Chance) -> String {
        let mut text = String::with_capacity(count * 7);
        for place in 0..count {
            if place > 0 {
                text.push(' ');
            }
            let is_little = chance.below(100) < LITTLE;
            text.push_str(if is_little {
                STOP[chance.below(STOP.len())]
            } else {
                &self.words[self.by_use.place(chance)]
            });
        }
        text
    }
}

pub fn project(place: usize) -> Uid {
    Uid([0x70, place as u8, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1])
}

pub fn machine(person: usize) -> Uid {
    Uid([0x6d, person as u8, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 2])
}

/// In the form of the words that `tow` gives to a hub.
fn memory(
    chance: &mut Chance,
    name: Option<&str>,
    said: impl Fn(usize, &mut Chance) -> String,
) -> (String, String) {
    let title = format!("{} {}", said(6, chance), name.unwrap_or_default());
    let (subtitle, narrative) = (said(6, chance), said(28, chance));
    let facts = [said(9, chance), said(9, chance)];
    let words = format!(
        r#"{{"type":"discovery","title":"{title}","subtitle":"{subtitle}","facts":["{}","{}"],"narrative":"{narrative}","concepts":["how-it-works","gotcha"],"files":[["src/{}/mod.rs","changed"]],"branch":"main","commit":"{:010x}","maker":"rules","trust":"tool","confidence":{},"cost":{},"valid_from":{}}}"#,
        facts[0],
        facts[1],
        said(1, chance),
        chance.below(1 << 40),
        60 + chance.below(40),
        chance.below(9000),
        BEGINNING + chance.below(1 << 32) as i64,
    );
    let text = [title, subtitle, facts.join("\n"), narrative].join("\n");
    (words, text)
}

fn line(
    chance: &mut Chance,
    uid: Uid,
    name: Option<&str>,
    said: impl Fn(usize, &mut Chance) -> String,
) -> (String, String) {
    let text = format!("{}: {} {}", said(12, chance), said(14, chance), name.unwrap_or_default());
    let mut words = String::with_capacity(text.len() + 400);
    let _ = write!(
        words,
        r#"{{"row":{{"kind":"turn","turn":{},"uid":"{uid}","mark":"{:016x}","place":{},"at":{},"until":{},"origin":"person","agent_turn":null,"stopped":null,"tools":{},"failures":{},"reverted":null,"line":"{text}"}},"branch":"main"}}"#,
        chance.below(40),
        chance.next(),
        chance.below(1 << 20),
        BEGINNING + chance.below(1 << 32) as i64,
        BEGINNING + chance.below(1 << 32) as i64,
        chance.below(30),
        chance.below(3),
    );
    (words, text)
}

/// A word of its own for every number, short ones first.
fn invented(number: usize) -> String {
    let syllables = FIRST.len() * VOWELS.len();
    let mut left = number;
    let mut word = String::new();
    loop {
        // By a number that has nothing in common with the count of syllables, so that neighbours do not look alike.
        let syllable = (left % syllables * 77 + left / syllables * 31) % syllables;
        word.push_str(FIRST[syllable / VOWELS.len()]);
        word.push_str(VOWELS[syllable % VOWELS.len()]);
        left /= syllables;
        if left == 0 && word.len() > 3 {
            break;
        }
    }
    // A consonant in the end keeps the stems apart.
    word.push_str(["k", "l", "m", "n", "r", "t"][number % 6]);
    word.push_str(ENDINGS[number * 7 % ENDINGS.len()]);
    word
}

fn random(chance: &mut Chance) -> [u8; 10] {
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&chance.next().to_be_bytes());
    bytes
}
