//! Generated rows like those that machines push: memories and turn lines, of invented words with natural frequencies.
//!
//! A row is a function of its number, so that any of them can be generated again and compared.

use std::fmt::Write as _;

use towline_core::id::{SessionKey, Uid};
use towline_core::share::{Registers, RowKind, RowLife, RowProvenance, SharedRow, WriteStamp};
use towline_core::time::Timestamp;
use towline_hub::OutgoingRow;

use crate::chance::{Chance, Zipf};

/// The number of content words.
pub const WORDS: usize = 60_000;
/// With this shift the most frequent word is in a third of all rows, as in prose without stop words.
const SHIFT: f64 = 10.0;
/// Percentage of stop words.
const STOP_WORD_PERCENT: usize = 35;
pub const PROJECTS: usize = 100;
/// One row in so many has a unique word: a number, a hash.
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

/// A row, and its unique word.
pub struct MadeRow {
    pub outgoing: OutgoingRow,
    /// The unique word, if it has one.
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

    /// The row of this number, made by `person`.
    pub fn row(&self, number: u64, person: usize) -> MadeRow {
        let mut chance = Chance::of(number);
        let made_at = Timestamp(BEGINNING + number as i64 * APART_MS);
        let uid = Uid::v7(made_at, random(&mut chance));
        let project = project(self.by_size.index(&mut chance));
        let name = number.is_multiple_of(NAMED).then(|| format!("{:x}q{number}", chance.below(1 << 20)));
        let prose = |count: usize, chance: &mut Chance| self.prose(count, chance);
        let (kind, words, text) = if chance.below(10) < 6 {
            let (words, text) = memory(&mut chance, name.as_deref(), prose);
            (RowKind::Memory, words, text)
        } else {
            let (words, text) = line(&mut chance, uid, name.as_deref(), prose);
            (RowKind::Line, words, text)
        };
        let session = format!("agent:{:08x}-0000-4000-8000-{:012x}", number / 40, number / 40);
        let machine = machine(person);
        let from = RowProvenance {
            person: PEOPLE[person].into(),
            machine,
            session: SessionKey::parse(&session).ok(),
            turn: Some((number % 40) as u32 + 1),
            made_at,
        };
        let life = RowLife::Lives(Box::new(Registers::of_words(words, WriteStamp { count: 1, machine })));
        let row = SharedRow { uid, kind, project, from, life };
        MadeRow { outgoing: OutgoingRow { row, text, meaning: None }, name }
    }

    /// Content words of a row, as a user searches for it.
    pub fn some_words(&self, count: usize, chance: &mut Chance) -> String {
        let some: Vec<&str> = (0..count).map(|_| self.words[self.by_use.index(chance)].as_str()).collect();
        some.join(" ")
    }

    fn prose(&self, count: usize, chance: &mut Chance) -> String {
        let mut text = String::with_capacity(count * 7);
        for index in 0..count {
            if index > 0 {
                text.push(' ');
            }
            let is_stop_word = chance.below(100) < STOP_WORD_PERCENT;
            text.push_str(if is_stop_word {
                STOP[chance.below(STOP.len())]
            } else {
                &self.words[self.by_use.index(chance)]
            });
        }
        text
    }
}

pub fn project(index: usize) -> Uid {
    Uid([0x70, index as u8, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1])
}

pub fn machine(person: usize) -> Uid {
    Uid([0x6d, person as u8, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 2])
}

/// In the format in which `tow` pushes a memory.
fn memory(
    chance: &mut Chance,
    name: Option<&str>,
    prose: impl Fn(usize, &mut Chance) -> String,
) -> (String, String) {
    let title = format!("{} {}", prose(6, chance), name.unwrap_or_default());
    let (subtitle, narrative) = (prose(6, chance), prose(28, chance));
    let facts = [prose(9, chance), prose(9, chance)];
    let words = format!(
        r#"{{"type":"discovery","title":"{title}","subtitle":"{subtitle}","facts":["{}","{}"],"narrative":"{narrative}","concepts":["how-it-works","gotcha"],"files":[["src/{}/mod.rs","changed"]],"branch":"main","commit":"{:010x}","maker":"rules","trust":"tool","confidence":{},"cost":{},"valid_from":{}}}"#,
        facts[0],
        facts[1],
        prose(1, chance),
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
    prose: impl Fn(usize, &mut Chance) -> String,
) -> (String, String) {
    let text = format!("{}: {} {}", prose(12, chance), prose(14, chance), name.unwrap_or_default());
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

/// A unique word per number, short ones first.
fn invented(number: usize) -> String {
    let syllables = FIRST.len() * VOWELS.len();
    let mut left = number;
    let mut word = String::new();
    loop {
        // The factors are coprime to the number of syllables, so that neighbouring words do not look alike.
        let syllable = (left % syllables * 77 + left / syllables * 31) % syllables;
        word.push_str(FIRST[syllable / VOWELS.len()]);
        word.push_str(VOWELS[syllable % VOWELS.len()]);
        left /= syllables;
        if left == 0 && word.len() > 3 {
            break;
        }
    }
    // A final consonant keeps the stems distinct.
    word.push_str(["k", "l", "m", "n", "r", "t"][number % 6]);
    word.push_str(ENDINGS[number * 7 % ENDINGS.len()]);
    word
}

fn random(chance: &mut Chance) -> [u8; 10] {
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&chance.next().to_be_bytes());
    bytes
}
