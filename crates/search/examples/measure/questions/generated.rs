//! Questions made by rules from the turns: names, numbers, files, errors, dates, typos, filters, updates, two steps.
//!
//! A question is made only if the turns leave one answer. Which ones are taken is chosen by hash, few per crate.

use std::collections::{BTreeMap, HashMap, HashSet};

use towline_search::is_stop_word;

use super::changelogs::named;
use super::{DAY, Question, Turn, hash, pick};

const PER_KIND: usize = 32;
const PER_CRATE: usize = 2;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
/// Words that say nothing about a change.
const EMPTY: [&str; 32] = [
    "with", "that", "this", "from", "have", "been", "when", "which", "more", "also", "into", "only", "some",
    "were", "will", "their", "there", "these", "than", "then", "them", "other", "should", "would", "could",
    "does", "https", "github", "release", "version", "using", "used",
];

struct Corpus<'a> {
    turns: &'a [Turn],
    /// The turns that contain a word.
    holders: HashMap<String, Vec<usize>>,
}

pub fn questions(turns: &[Turn]) -> Vec<Question> {
    let mut holders: HashMap<String, Vec<usize>> = HashMap::new();
    for (number, turn) in turns.iter().enumerate() {
        for word in words(&turn.answer).into_iter().collect::<HashSet<_>>() {
            holders.entry(word).or_default().push(number);
        }
    }
    let corpus = Corpus { turns, holders };
    let kinds = [
        ("error text", corpus.errors()),
        ("file", corpus.files()),
        ("update", corpus.updates()),
        ("identifier", corpus.identifiers()),
        ("number", corpus.numbers()),
        ("typo", corpus.typos()),
        ("date", corpus.dates()),
        ("two steps", corpus.two_steps()),
        ("file filter", corpus.file_filters()),
        ("time filter", corpus.time_filters()),
    ];
    kinds.into_iter().flat_map(|(kind, made)| chosen(kind, made)).collect()
}

/// A question, and the crate it is about.
type Made<'a> = (&'a Turn, Question);

fn chosen(kind: &str, mut made: Vec<Made<'_>>) -> Vec<Question> {
    made.sort_by_key(|(turn, question)| hash(&format!("{kind} {} {}", turn.key(), question.text)));
    let mut per_crate: HashMap<&str, usize> = HashMap::new();
    let mut is_room = |project| {
        let count = per_crate.entry(project).or_default();
        *count += 1;
        *count <= PER_CRATE
    };
    let few = made.into_iter().filter(|(turn, _)| is_room(turn.project.as_str())).take(PER_KIND);
    few.map(|(_, question)| Question { kind: kind.to_owned(), ..question }).collect()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let words = words.map(str::to_lowercase).filter(|word| {
        word.len() >= 4
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !EMPTY.contains(&word.as_str())
            && !is_stop_word(word)
    });
    words.collect()
}

fn asked<'a>(turn: &'a Turn, text: String) -> Made<'a> {
    (turn, Question::new("", text, turn))
}

impl Corpus<'_> {
    /// Turns made from changelogs.
    fn entries(&self) -> impl Iterator<Item = &Turn> {
        self.turns.iter().filter(|turn| is_entry(turn))
    }

    fn holders(&self, word: &str) -> impl Iterator<Item = &Turn> {
        self.holders.get(word).into_iter().flatten().map(|number| &self.turns[*number])
    }

    /// Whether no other turn has a text, be it in its prompt.
    fn is_only_in(&self, text: &str, turn: &Turn) -> bool {
        let holds = |other: &&Turn| other.answer.contains(text) || other.prompt.contains(text);
        self.turns.iter().filter(holds).all(|other| other.key() == turn.key())
    }

    /// The message as pasted: other values, without the place.
    fn errors(&self) -> Vec<Made<'_>> {
        let failed = self.turns.iter().filter(|turn| turn.session.ends_with(" errors"));
        failed
            .filter_map(|turn| {
                let message = turn.output.lines().nth(2)?.replace('7', "42");
                let forms = ["{}", "thread 'main' panicked: {}", "what did we do about \"{}\""];
                Some(asked(turn, pick(&forms, &message).replace("{}", &message)))
            })
            .collect()
    }

    fn files(&self) -> Vec<Made<'_>> {
        let mut holders: BTreeMap<&str, Vec<&Turn>> = BTreeMap::new();
        for turn in self.turns {
            for file in &turn.files {
                let end = file.strip_prefix("src/").unwrap_or(file);
                holders.entry(end).or_default().push(turn);
            }
        }
        let forms = ["what did we change in {}?", "{}", "last change to {}", "why did we touch {}"];
        let single = holders.into_iter().filter(|(file, turns)| turns.len() == 1 && file.contains('/'));
        single.map(|(file, turns)| asked(turns[0], pick(&forms, file).replace("{}", file))).collect()
    }

    /// The required compiler, of crates that raised it more than once: the newest entry holds.
    fn updates(&self) -> Vec<Made<'_>> {
        let mut raised: BTreeMap<&str, Vec<&Turn>> = BTreeMap::new();
        for turn in self.entries().filter(|turn| tells_compiler(&turn.answer)) {
            raised.entry(&turn.project).or_default().push(turn);
        }
        let forms = [
            "What is the minimum Rust version of {} now?",
            "which MSRV does {} currently have",
            "oldest compiler that still builds {} today",
            "current minimum supported rustc of {}",
        ];
        let often = raised.into_iter().filter(|(_, turns)| turns.len() > 1);
        often
            .map(|(project, turns)| {
                let newest = turns.iter().max_by_key(|turn| turn.at).unwrap();
                asked(newest, pick(&forms, project).replace("{}", project))
            })
            .collect()
    }

    fn identifiers(&self) -> Vec<Made<'_>> {
        let mut made = Vec::new();
        for turn in self.entries() {
            let names = named(&turn.answer).filter(|name| {
                let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte));
                let is_code =
                    name.contains('_') || name.contains("::") || name.chars().skip(1).any(char::is_uppercase);
                (8..40).contains(&name.len()) && is_plain && is_code
            });
            for name in names.filter(|name| self.is_only_in(name, turn)).take(1) {
                let forms = ["{}", "where did {} come up?", "what was done about {}", "{} {project}"];
                let text = pick(&forms, name).replace("{}", name).replace("{project}", &turn.project);
                made.push(asked(turn, text));
            }
        }
        made
    }

    /// Numbers of issues, and versions.
    fn numbers(&self) -> Vec<Made<'_>> {
        let mut made = Vec::new();
        for turn in self.entries() {
            let words =
                turn.answer.split(|letter: char| !letter.is_ascii_alphanumeric() && !"#.".contains(letter));
            let numbers = words.map(|word| word.trim_end_matches('.')).filter(|word| {
                let is_issue = word
                    .strip_prefix('#')
                    .is_some_and(|number| number.len() >= 3 && number.parse::<u32>().is_ok());
                let is_version = word.split('.').count() == 3 && word.replace('.', "").parse::<u32>().is_ok();
                is_issue || is_version
            });
            for number in numbers.filter(|number| self.is_only_in(number, turn)).take(1) {
                let forms = ["{project} {}", "what was {} in {project} about?", "which change mentions {}"];
                made.push(asked(
                    turn,
                    pick(&forms, number).replace("{}", number).replace("{project}", &turn.project),
                ));
            }
        }
        made
    }

    /// Four telling words of an entry, two of them with a typo.
    fn typos(&self) -> Vec<Made<'_>> {
        let mut made = Vec::new();
        for turn in self.entries() {
            let mut telling: Vec<String> = words(&turn.answer);
            telling.dedup();
            telling.retain(|word| word.len() >= 6 && self.holders(word).count() <= 60);
            if telling.len() < 4 {
                continue;
            }
            telling.sort_by_key(|word| self.holders(word).count());
            telling.truncate(4);
            telling.sort_by_key(|word| hash(word));
            let is_only_answer = self
                .holders(&telling[0])
                .filter(|other| telling.iter().all(|word| other.answer.to_lowercase().contains(word)));
            if is_only_answer.count() == 1 {
                let text =
                    [with_typo(&telling[0]), telling[1].clone(), with_typo(&telling[2]), telling[3].clone()];
                made.push(asked(turn, text.join(" ")));
            }
        }
        made
    }

    /// A word that many entries of the crate contain, but only one at that time.
    fn dates(&self) -> Vec<Made<'_>> {
        let mut made = Vec::new();
        for turn in self.entries().filter(|turn| turn.is_dated) {
            let Some(word) = self.word_of_time(turn, 20 * DAY) else { continue };
            let (year, month, day) = civil(turn.at);
            let name = MONTHS[month - 1];
            let ago = 1 + (hash(&turn.key()) % 6) as i64;
            let weekday = WEEKDAYS[(turn.at / DAY % 7) as usize];
            let project = &turn.project;
            let (text, later) = match hash(&turn.answer) % 6 {
                0 => (format!("{project}: what did we do about {word} on {name} {day}, {year}?"), 400),
                1 => (format!("{word} in {project}, {name} {year}"), 400),
                2 => (format!("the {word} change in {project} last {weekday}"), ago),
                3 => (format!("what did we change about {word} in {project} yesterday?"), 1),
                4 => (format!("{project} {word} {ago} days ago"), ago),
                _ => (format!("{project} {word} {year}-{month:02}-{day:02}"), 400),
            };
            // Late in the evening in New York, which is the next day in UTC.
            let utc_offset_ms = -5 * DAY / 24;
            let now = turn.at.div_euclid(DAY) * DAY + later * DAY + 26 * DAY / 24;
            made.push((turn, Question { now, utc_offset_ms, ..Question::new("", text, turn) }));
        }
        made
    }

    fn word_of_time(&self, turn: &Turn, span: i64) -> Option<String> {
        let mut words = words(&turn.answer);
        words.sort_by_key(|word| hash(word));
        words.into_iter().find(|word| {
            let own: Vec<&Turn> = self.holders(word).filter(|other| other.project == turn.project).collect();
            own.len() >= 3 && own.iter().filter(|other| (other.at - turn.at).abs() < span).count() == 1
        })
    }

    fn time_filters(&self) -> Vec<Made<'_>> {
        let mut made = Vec::new();
        for turn in self.entries().filter(|turn| turn.is_dated) {
            if let Some(word) = self.word_of_time(turn, 15 * DAY) {
                let (from, until) = (Some(turn.at - 9 * DAY), Some(turn.at + 5 * DAY));
                let text = format!("{word} in {}", turn.project);
                made.push((turn, Question { from, until, ..Question::new("", text, turn) }));
            }
        }
        made
    }

    fn file_filters(&self) -> Vec<Made<'_>> {
        let mut made = Vec::new();
        for turn in self.entries() {
            for file in turn.files.iter().filter(|file| file.contains('/')) {
                let beside = |other: &&Turn| other.project == turn.project && other.files.contains(file);
                let mut words = words(&turn.answer);
                words.sort_by_key(|word| hash(word));
                let word = words.into_iter().find(|word| {
                    self.holders(word).count() >= 10 && self.holders(word).filter(beside).count() == 1
                });
                if let Some(word) = word.filter(|_| self.turns.iter().filter(beside).count() > 1) {
                    let files = vec![file.clone()];
                    made.push((turn, Question { files, ..Question::new("", word, turn) }));
                    break;
                }
            }
        }
        made
    }

    /// One turn of a release names it, another one is asked for by a word that the crate uses often.
    fn two_steps(&self) -> Vec<Made<'_>> {
        let mut sessions: BTreeMap<&str, Vec<&Turn>> = BTreeMap::new();
        self.entries().for_each(|turn| sessions.entry(&turn.session).or_default().push(turn));
        let mut made = Vec::new();
        for turns in sessions.into_values().filter(|turns| turns.len() >= 3) {
            for (first, second) in turns.iter().zip(&turns[1..]) {
                let mut names = named(&first.answer).filter(|name| {
                    (6..30).contains(&name.len())
                        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:".contains(&byte))
                });
                let Some(name) = names.find(|name| self.is_only_in(name, first)) else { continue };
                let word = words(&second.answer).into_iter().find(|word| {
                    let own: Vec<&Turn> =
                        self.holders(word).filter(|other| other.project == second.project).collect();
                    own.len() >= 4 && own.iter().filter(|other| other.session == second.session).count() == 1
                });
                let Some(word) = word else { continue };
                let forms = [
                    "the {word} change in the {project} release with {name}",
                    "in the release that touched {name}, what happened to {word}?",
                    "what did we do about {word} right after {name}?",
                ];
                let text = pick(&forms, name).replace("{word}", &word).replace("{name}", name);
                made.push(asked(second, text.replace("{project}", &second.project)));
            }
        }
        made
    }
}

fn is_entry(turn: &Turn) -> bool {
    turn.session.starts_with(&format!("{} ", turn.project)) && !turn.session.ends_with(" errors")
}

fn tells_compiler(text: &str) -> bool {
    let lower = text.to_lowercase();
    let signs =
        ["msrv", "minimum supported rust", "minimum rust", "minimum supported `rustc", "minimum rustc"];
    let has_number = lower.split(|letter: char| !letter.is_ascii_digit() && letter != '.').any(|word| {
        word.strip_prefix("1.")
            .is_some_and(|minor| minor.split('.').next().is_some_and(|minor| minor.parse::<u32>().is_ok()))
    });
    has_number && signs.iter().any(|sign| lower.contains(sign))
}

/// A letter is dropped, doubled, or swapped with the next one.
fn with_typo(word: &str) -> String {
    let at = 1 + (hash(word) % (word.len() as u64 - 3)) as usize;
    let mut letters: Vec<char> = word.chars().collect();
    match hash(&format!("typo {word}")) % 3 {
        0 => drop(letters.remove(at)),
        1 => letters.insert(at, letters[at]),
        _ => letters.swap(at, at + 1),
    }
    letters.into_iter().collect()
}

/// Year, month and day of a time.
fn civil(at: i64) -> (i64, usize, i64) {
    let days = at.div_euclid(DAY) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as usize, day)
}
