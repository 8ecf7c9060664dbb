//! Rules by which a newer memory replaces an older one: it says so, says the opposite, or gives another value.
//!
//! A number that identifies a thing (issue 12, line 40) is not a value. Two choices for one purpose may both hold.

use super::words::{Token, TokenKind, content, of_kind, stem};
use super::{
    Tokenized, conflict, is_apart, is_choice, is_completed, is_reworded, may_give_up, shared_concepts,
    shares_file,
};
use crate::phrases::Phrases;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

/// The names that hold now, and those that held before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct NameSwap {
    now: BTreeSet<String>,
    before: BTreeSet<String>,
}

const CHOOSE: &[&str] = &[
    "use", "choose", "prefer", "adopt", "pick", "go", "take", "run", "keep", "want", "decide", "select",
    "rely",
];

/// Words by which a title reports a change.
const CHANGES: &[&str] =
    &["now", "henceforth", "instead", "switch", "migrate", "anymore", "changed", "moved"];

/// Pairs of which only one can be true.
const OPPOSITES: &[(&str, &str)] = &[
    ("enable", "disable"),
    ("allow", "forbid"),
    ("allow", "deny"),
    ("on", "off"),
    ("true", "false"),
    ("start", "stop"),
    ("add", "remove"),
    ("accept", "reject"),
    ("pass", "fail"),
    ("before", "after"),
    ("open", "close"),
    ("increase", "decrease"),
    ("public", "private"),
    ("min", "max"),
    ("required", "optional"),
];

/// Stems of the lists above: every comparison of two memories asks for them.
static CHOOSING: LazyLock<HashSet<String>> = LazyLock::new(|| CHOOSE.iter().map(|verb| stem(verb)).collect());
static CHANGING: LazyLock<HashSet<String>> =
    LazyLock::new(|| CHANGES.iter().map(|word| stem(word)).collect());

/// The sides of `OPPOSITES` that a word or stem names: two bits per pair.
static SIDES: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let mut sides: HashMap<String, u32> = HashMap::new();
    for (at, (left, right)) in OPPOSITES.iter().enumerate() {
        for (word, bit) in [(left, 1), (right, 2)] {
            *sides.entry(stem(word)).or_default() |= bit << (2 * at);
        }
    }
    sides
});

/// The first pairs negate a statement; the others only make it a different statement.
const NEGATING_PAIRS: usize = 5;

/// A number after one of these words identifies a thing.
const NAMING: Phrases = Phrases(
    "issue|pr|ticket|bug|step|line|test|case|phase|part|task|milestone|error|rule|section|table|page|item|\
    commit|job|server|host|worker|shard",
);

/// A number after one of these words is a value in any type of memory.
const VALUING: &[&str] =
    &["to", "is", "version", "port", "limit", "timeout", "least", "most", "than", "be", "at", "of"];

/// The reason, if the newer memory names a replaced choice and the older memory is for exactly that choice.
pub(super) fn explicit(newer: &Tokenized<'_>, older: &Tokenized<'_>) -> Option<String> {
    let gives_up = may_give_up(&newer.content.kind, &older.content.kind);
    if is_negative(&older.title) && !gives_up {
        return None;
    }
    let sentences = std::iter::once(&newer.title).chain(newer.facts());
    let swaps: Vec<NameSwap> = sentences.filter_map(|sentence| find_swap(sentence)).collect();
    let swap =
        swaps.into_iter().find(|swap| is_for_replaced(older, swap) && same_subject(newer, older, swap))?;
    let before = swap.before.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    Some(format!("it says what holds instead of \"{before}\""))
}

/// The names that a sentence says were replaced, and those that hold now.
pub(super) fn swapped_names(sentence: &[Token]) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    find_swap(sentence).map(|swap| (swap.before, swap.now))
}

/// Whether the older memory is for the replaced names, and not already for the new ones.
fn is_for_replaced(older: &Tokenized<'_>, swap: &NameSwap) -> bool {
    let own = find_swap(&older.title);
    let gone = own.map(|own| own.before).unwrap_or_default();
    let stated: BTreeSet<&str> =
        content(&older.title).into_iter().filter(|word| !gone.contains(*word)).collect();
    let has = |words: &BTreeSet<String>| words.iter().all(|word| stated.contains(word.as_str()));
    !swap.before.is_empty() && has(&swap.before) && (swap.now.is_empty() || !has(&swap.now))
}

/// Whether both have the same subject: the newer memory covers the words of the older one beside its choice.
fn same_subject(newer: &Tokenized<'_>, older: &Tokenized<'_>, swap: &NameSwap) -> bool {
    let is_rest =
        |word: &&str| !swap.before.contains(*word) && !swap.now.contains(*word) && !is_choosing(word);
    let rest: BTreeSet<&str> = content(&older.title).into_iter().filter(is_rest).collect();
    let other_words: BTreeSet<&str> = content(&newer.title).into_iter().filter(is_rest).collect();
    let all: BTreeSet<&str> = content(&newer.title).union(&content(newer.body())).copied().collect();
    let covered = rest.iter().filter(|word| all.contains(**word)).count();
    if shared_concepts(newer, older) > 0 || shares_file(newer, older) || drops_name(&newer.title) {
        return true;
    }
    // A choice for one purpose does not replace a choice for all purposes.
    if rest.is_empty() { other_words.len() <= 1 } else { covered * 2 >= rest.len() }
}

/// `X instead of Y`, `replace Y by X`, `switch from Y to X`, `no longer use Y`.
fn find_swap(words: &[Token]) -> Option<NameSwap> {
    let raw: Vec<&str> = words.iter().map(|word| word.raw.as_str()).collect();
    let find = |one: &str, two: &str| raw.windows(2).position(|pair| pair == [one, two]);
    let pair = [("instead", "of"), ("rather", "than"), ("place", "of")];
    if let Some(at) = pair.iter().find_map(|(one, two)| find(one, two)) {
        let mut swap = NameSwap { now: name_before(words, at), before: name_after(words, at + 2) };
        if swap.now.is_empty() {
            // `instead of Y, use X`
            let chosen = (at + 2..words.len()).find(|at| is_verb(&words[*at]));
            swap.now = chosen.map(|at| name_after(words, at + 1)).unwrap_or_default();
        }
        return Some(swap);
    }
    let gone = find("no", "longer").or_else(|| find("stop", "using")).or_else(|| find("stopped", "using"));
    if let Some(at) = gone {
        let from = (at + 2..words.len()).find(|at| !is_verb(&words[*at]))?;
        return Some(NameSwap { now: BTreeSet::new(), before: name_after(words, from) });
    }
    swap_by_verb(words, &raw).or_else(|| dropped_name(words)).or_else(|| dense_swap(words, &raw))
}

/// Verbs that give up an earlier choice by its name.
const DROP: [&str; 6] = ["forget", "drop", "scrap", "ditch", "vergiss", "olvida"];

/// Whether a title begins by giving up a choice that it names: no further words have to agree.
pub(super) fn drops_name(title: &[Token]) -> bool {
    title.iter().take(2).any(|word| DROP.contains(&word.raw.as_str()))
}

/// `forget Y, let's go with X`, `drop Y and use X`.
fn dropped_name(words: &[Token]) -> Option<NameSwap> {
    let at = words.iter().take(2).position(|word| DROP.contains(&word.raw.as_str()))?;
    // One word: a comma is not seen here, and the next word may belong to what holds now.
    let name = words[at + 1..].iter().find(|word| word.is_content());
    let before = name.map(|name| name.stem.clone()).into_iter().collect();
    let chosen = (at + 2..words.len()).find(|at| is_verb(&words[*at]));
    let from =
        chosen.map(|at| at + 1 + usize::from(words.get(at + 1).is_some_and(|word| word.raw == "with")));
    Some(NameSwap { now: from.map(|from| name_after(words, from)).unwrap_or_default(), before })
}

/// As `find_swap`, for scripts without spaces: `YのかわりにX`, `X而不是Y`.
fn dense_swap(words: &[Token], raw: &[&str]) -> Option<NameSwap> {
    let find = |pair: [&str; 2]| raw.windows(2).position(|found| found == pair);
    if let Some(at) = find(["の代", "代わ"]).or_else(|| find(["のか", "かわ"])) {
        let name = words[at..].iter().find(|word| word.raw.is_ascii());
        let now = name.map(|name| name.stem.clone()).into_iter().collect();
        return Some(NameSwap { now, before: name_before(words, at) });
    }
    let at = find(["而不", "不是"])?;
    Some(NameSwap { now: name_before(words, at), before: name_after(words, at + 3) })
}

fn swap_by_verb(words: &[Token], raw: &[&str]) -> Option<NameSwap> {
    let after = |at: usize, one_of: &[&str]| (at + 1..raw.len()).find(|at| one_of.contains(&raw[*at]));
    let find = |stems: &[&str]| words.iter().position(|word| stems.contains(&word.stem.as_str()));
    if let Some(at) = find(&["replac"]) {
        let before = name_after(words, at + 1);
        return Some(match after(at, &["with", "by"]).filter(|_| raw[at] != "replaces") {
            Some(with) => NameSwap { now: name_after(words, with + 1), before },
            // `X replaces Y`
            None => NameSwap { now: name_before(words, at), before },
        });
    }
    // The stems of switch, migrate, move, change and upgrade.
    let at = find(&["switch", "migrat", "mov", "chang", "upgrad"])?;
    let from = after(at, &["from"])?;
    let to = after(from, &["to"])?;
    Some(NameSwap { now: name_after(words, to + 1), before: name_after(words, from + 1) })
}

/// Maximum number of words in a name.
const LONGEST_NAME: usize = 3;

fn name_after(words: &[Token], at: usize) -> BTreeSet<String> {
    let after = words.iter().skip(at).skip_while(|word| word.raw == "the" || word.raw == "a");
    leading_name(after)
}

fn name_before(words: &[Token], at: usize) -> BTreeSet<String> {
    leading_name(words[..at].iter().rev())
}

fn leading_name<'w>(words: impl Iterator<Item = &'w Token>) -> BTreeSet<String> {
    let is_name = |word: &&Token| word.is_content() && !is_verb(word);
    words.take_while(is_name).take(LONGEST_NAME).map(|word| word.stem.clone()).collect()
}

pub(super) fn is_verb(word: &Token) -> bool {
    is_choosing(&word.stem)
}

/// Whether a stem is that of a verb of choice.
pub(super) fn is_choosing(stem: &str) -> bool {
    CHOOSING.contains(stem)
}

/// The reason, if the newer memory gives another value or says the opposite with otherwise the same words.
pub(super) fn by_value(newer: &Tokenized<'_>, older: &Tokenized<'_>) -> Option<String> {
    let kind = &newer.content.kind;
    if is_completed(kind) || is_apart(newer, older) {
        return None;
    }
    if is_opposite(&newer.title, &older.title) {
        return Some("it says the opposite".to_owned());
    }
    if other_number(&newer.title, &older.title) && (is_choice(kind) || is_value(&newer.title, &older.title)) {
        return Some("it gives another number".to_owned());
    }
    if is_reworded(&newer.title, &older.title)
        && let Some((ours, _)) = conflict(newer, older)
    {
        return Some(format!("it says otherwise: {}", newer.content.facts[ours]));
    }
    is_new_choice(newer, older).then(|| "it tells another choice".to_owned())
}

/// Whether two sentences about one thing cannot both be true.
pub(super) fn are_contradictory(one: &[Token], other: &[Token]) -> bool {
    is_opposite(one, other) || other_number(one, other)
}

/// Whether the words are the same but for a negation or a pair of opposites.
fn is_opposite(one: &[Token], other: &[Token]) -> bool {
    let negating = find_opposites(one, other).filter(|at| *at < NEGATING_PAIRS);
    if (is_negative(one) != is_negative(other)) == negating.is_some() {
        return false;
    }
    let (ours, theirs) = (without_opposites(one, negating), without_opposites(other, negating));
    ours.len() > 1 && ours == theirs
}

fn without_opposites(words: &[Token], negating: Option<usize>) -> BTreeSet<&str> {
    let pair = negating.map(|at| (stem(OPPOSITES[at].0), stem(OPPOSITES[at].1)));
    let is_kept = |word: &&str| pair.as_ref().is_none_or(|(a, b)| *word != a && *word != b);
    content(words).into_iter().filter(is_kept).collect()
}

/// The index of the pair of opposites with one word on each side.
pub(super) fn find_opposites(one: &[Token], other: &[Token]) -> Option<usize> {
    split_pair(sides(one), sides(other))
}

/// The same for the sides of two sentences.
pub(super) fn split_pair(ours: u32, theirs: u32) -> Option<usize> {
    let side = |sides: u32, at: usize| sides >> (2 * at) & 3;
    if ours == 0 || theirs == 0 {
        return None;
    }
    (0..OPPOSITES.len()).find(|at| matches!((side(ours, *at), side(theirs, *at)), (1, 2) | (2, 1)))
}

/// The sides of all pairs of opposites that a sentence names: two bits per pair.
pub(super) fn sides(words: &[Token]) -> u32 {
    words.iter().fold(0, |sides, word| sides | sides_of(word))
}

/// A name has no stem: it is compared as written, too.
fn sides_of(word: &Token) -> u32 {
    let by_stem = SIDES.get(&word.stem).copied().unwrap_or(0);
    if word.kind != TokenKind::Name {
        return by_stem;
    }
    let pairs = OPPOSITES.iter().enumerate();
    pairs.fold(by_stem, |sides, (at, (left, right))| {
        sides | (u32::from(word.raw == *left) | u32::from(word.raw == *right) << 1) << (2 * at)
    })
}

/// Whether the words are the same but for one number that does not identify a thing.
fn other_number(one: &[Token], other: &[Token]) -> bool {
    let numbers = |words: &[Token]| -> Vec<usize> {
        (0..words.len()).filter(|at| words[*at].kind == TokenKind::Number).collect()
    };
    let (ours, theirs) = (numbers(one), numbers(other));
    let mut differing =
        ours.iter().zip(&theirs).filter(|(ours, theirs)| one[**ours].stem != other[**theirs].stem);
    let (Some((our, their)), None) = (differing.next(), differing.next()) else { return false };
    let is_naming = |words: &[Token], at: usize| at > 0 && NAMING.contains(&words[at - 1].raw);
    ours.len() == theirs.len()
        && !is_naming(one, *our)
        && !is_naming(other, *their)
        && plain(one) == plain(other)
        && plain(one).len() > 1
}

pub(super) fn plain(words: &[Token]) -> Vec<&str> {
    let says = |word: &&Token| !matches!(word.kind, TokenKind::Filler | TokenKind::Number);
    words.iter().filter(says).map(|word| word.stem.as_str()).collect()
}

/// Whether the changed number is a value: a version, or a number after one of `VALUING`.
fn is_value(one: &[Token], other: &[Token]) -> bool {
    let known = of_kind(other, TokenKind::Number);
    let changed = one
        .iter()
        .enumerate()
        .find(|(_, word)| word.kind == TokenKind::Number && !known.contains(word.stem.as_str()));
    let Some((at, word)) = changed else { return false };
    let is_said = at > 0 && VALUING.contains(&one[at - 1].raw.as_str());
    is_said || (word.stem.contains('.') && word.stem.chars().all(|c| c.is_numeric() || c == '.'))
}

/// Whether the newer memory is another choice for the same purpose and reports a change, or both are preferences about
/// nothing but their shared concepts.
fn is_new_choice(newer: &Tokenized<'_>, older: &Tokenized<'_>) -> bool {
    let (ours, theirs) = (&newer.content, &older.content);
    if !is_choice(&ours.kind) || is_negative(&newer.title) || is_negative(&older.title) {
        return false;
    }
    let chooses = |memory: &Tokenized<'_>| memory.title.iter().any(is_verb);
    let (reports_change, has_same_concepts) = (
        newer.title.iter().any(is_change),
        !ours.concepts.is_empty()
            && ours.concepts.len() == theirs.concepts.len()
            && shared_concepts(newer, older) == ours.concepts.len(),
    );
    if !chooses(newer) || !chooses(older) {
        return false;
    }
    let (new, old) = (bare(&newer.title), bare(&older.title));
    let (only_new, only_old) = (new.difference(&old).count(), old.difference(&new).count());
    let purpose = new.intersection(&old).count();
    let is_one_for_one = only_new == 1 && only_old == 1;
    let is_preference = ours.kind.as_str() == "preference" && theirs.kind.as_str() == "preference";
    is_one_for_one
        && ((reports_change && purpose > 0) || (is_preference && purpose == 0 && has_same_concepts))
}

pub(super) fn is_change(word: &Token) -> bool {
    CHANGING.contains(&word.stem)
}

/// The content words of a title that neither choose nor report a change.
pub(super) fn bare(title: &[Token]) -> BTreeSet<String> {
    let says = |word: &&Token| word.is_content() && !is_verb(word) && !is_change(word);
    title.iter().filter(says).map(|word| word.stem.clone()).collect()
}

pub(super) fn is_negative(words: &[Token]) -> bool {
    words.iter().any(|word| word.kind == TokenKind::Negation)
}
