//! What makes a newer memory take the place of an older one: that it says so, that it says the opposite, another value.
//!
//! A number that names a thing (issue 12, line 40) is no value; two choices for one purpose may both hold.

use super::words::{Sort, Word, content, of_sort, stem};
use super::{Told, conflict, is_apart, is_choice, is_deed, is_reworded, shared_concepts, shares_file};
use std::collections::BTreeSet;

/// What holds now, and what did before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Swap {
    now: BTreeSet<String>,
    before: BTreeSet<String>,
}

const CHOOSE: &[&str] = &[
    "use", "choose", "prefer", "adopt", "pick", "go", "take", "run", "keep", "want", "decide", "select",
    "rely",
];

/// A newer memory that begins like this tells of a change, whatever was before.
const CHANGES: &[&str] =
    &["now", "henceforth", "instead", "switch", "migrate", "anymore", "changed", "moved"];

/// Of these only one can be the case.
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

/// Those that turn a statement around; the others only tell that it is another one.
const TURNING: usize = 5;

/// A number behind one of these names a thing.
const NAMING: &[&str] = &[
    "issue",
    "pr",
    "ticket",
    "bug",
    "step",
    "line",
    "test",
    "case",
    "phase",
    "part",
    "task",
    "milestone",
    "error",
    "rule",
    "section",
    "table",
    "page",
    "item",
    "commit",
    "job",
    "server",
    "host",
    "worker",
    "shard",
];

/// A number behind one of these is a value, whatever sort of memory tells of it.
const VALUING: &[&str] =
    &["to", "is", "version", "port", "limit", "timeout", "least", "most", "than", "be", "at", "of"];

/// The newer one names what it replaces, and the older one is for exactly that.
pub(super) fn says_so(newer: &Told<'_>, older: &Told<'_>) -> Option<String> {
    if is_negative(&older.title) {
        return None;
    }
    let sentences = std::iter::once(&newer.title).chain(&newer.facts);
    let swaps: Vec<Swap> = sentences.filter_map(|sentence| swap_in(sentence)).collect();
    let swap = swaps.into_iter().find(|swap| stands_for(older, swap) && is_about(newer, older, swap))?;
    let before = swap.before.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    Some(format!("it says what holds instead of \"{before}\""))
}

/// The older one is for what no longer holds, and not already for what does.
fn stands_for(older: &Told<'_>, swap: &Swap) -> bool {
    let own = swap_in(&older.title);
    let gone = own.map(|own| own.before).unwrap_or_default();
    let said: BTreeSet<&str> =
        content(&older.title).into_iter().filter(|word| !gone.contains(*word)).collect();
    let has = |words: &BTreeSet<String>| words.iter().all(|word| said.contains(word.as_str()));
    !swap.before.is_empty() && has(&swap.before) && (swap.now.is_empty() || !has(&swap.now))
}

/// Both are about the same: what the older one says beside its choice is said by the newer one, too.
fn is_about(newer: &Told<'_>, older: &Told<'_>, swap: &Swap) -> bool {
    let verbs: BTreeSet<String> = CHOOSE.iter().map(|verb| stem(verb)).collect();
    let is_rest =
        |word: &&str| !swap.before.contains(*word) && !swap.now.contains(*word) && !verbs.contains(*word);
    let rest: BTreeSet<&str> = content(&older.title).into_iter().filter(is_rest).collect();
    let said: BTreeSet<&str> = content(&newer.title).into_iter().filter(is_rest).collect();
    let all: BTreeSet<&str> = content(&newer.title).union(&content(&newer.body)).copied().collect();
    let covered = rest.iter().filter(|word| all.contains(**word)).count();
    if shared_concepts(newer, older) > 0 || shares_file(newer, older) {
        return true;
    }
    // What is chosen for one purpose takes nothing from what was chosen for all.
    if rest.is_empty() { said.len() <= 1 } else { covered * 2 >= rest.len() }
}

/// `X instead of Y`, `replace Y by X`, `switch from Y to X`, `no longer use Y`.
fn swap_in(words: &[Word]) -> Option<Swap> {
    let raw: Vec<&str> = words.iter().map(|word| word.raw.as_str()).collect();
    let find = |one: &str, two: &str| raw.windows(2).position(|pair| pair == [one, two]);
    let pair = [("instead", "of"), ("rather", "than"), ("place", "of")];
    if let Some(at) = pair.iter().find_map(|(one, two)| find(one, two)) {
        let mut swap = Swap { now: back_from(words, at), before: on_from(words, at + 2) };
        if swap.now.is_empty() {
            // `instead of Y, use X`
            let chosen = (at + 2..words.len()).find(|at| is_verb(&words[*at]));
            swap.now = chosen.map(|at| on_from(words, at + 1)).unwrap_or_default();
        }
        return Some(swap);
    }
    let gone = find("no", "longer").or_else(|| find("stop", "using")).or_else(|| find("stopped", "using"));
    if let Some(at) = gone {
        let from = (at + 2..words.len()).find(|at| !is_verb(&words[*at]))?;
        return Some(Swap { now: BTreeSet::new(), before: on_from(words, from) });
    }
    moved(words, &raw).or_else(|| dense_swap(words, &raw))
}

/// The same in scripts without spaces, where it stands between two names: `YのかわりにX`, `X而不是Y`.
fn dense_swap(words: &[Word], raw: &[&str]) -> Option<Swap> {
    let find = |pair: [&str; 2]| raw.windows(2).position(|found| found == pair);
    if let Some(at) = find(["の代", "代わ"]).or_else(|| find(["のか", "かわ"])) {
        let name = words[at..].iter().find(|word| word.raw.is_ascii());
        let now = name.map(|name| name.stem.clone()).into_iter().collect();
        return Some(Swap { now, before: back_from(words, at) });
    }
    let at = find(["而不", "不是"])?;
    Some(Swap { now: back_from(words, at), before: on_from(words, at + 3) })
}

fn moved(words: &[Word], raw: &[&str]) -> Option<Swap> {
    let after = |at: usize, one_of: &[&str]| (at + 1..raw.len()).find(|at| one_of.contains(&raw[*at]));
    let is_form = |at: &usize, verbs: &[&str]| verbs.iter().any(|verb| words[*at].stem == stem(verb));
    if let Some(at) = (0..raw.len()).find(|at| is_form(at, &["replace"])) {
        let with = after(at, &["with", "by"])?;
        return Some(Swap { now: on_from(words, with + 1), before: on_from(words, at + 1) });
    }
    let at = (0..raw.len()).find(|at| is_form(at, &["switch", "migrate", "move", "change", "upgrade"]))?;
    let from = after(at, &["from"])?;
    let to = after(from, &["to"])?;
    Some(Swap { now: on_from(words, to + 1), before: on_from(words, from + 1) })
}

/// A name has few words.
const LONGEST_NAME: usize = 3;

fn on_from(words: &[Word], at: usize) -> BTreeSet<String> {
    let after = words.iter().skip(at).skip_while(|word| word.raw == "the" || word.raw == "a");
    named(after)
}

fn back_from(words: &[Word], at: usize) -> BTreeSet<String> {
    named(words[..at].iter().rev())
}

fn named<'w>(words: impl Iterator<Item = &'w Word>) -> BTreeSet<String> {
    let is_name = |word: &&Word| !matches!(word.sort, Sort::Filler | Sort::Negation) && !is_verb(word);
    words.take_while(is_name).take(LONGEST_NAME).map(|word| word.stem.clone()).collect()
}

fn is_verb(word: &Word) -> bool {
    CHOOSE.iter().any(|verb| stem(verb) == word.stem)
}

/// The newer one gives another value, or turns the older one around, under the same words.
pub(super) fn by_value(newer: &Told<'_>, older: &Told<'_>) -> Option<String> {
    let kind = &newer.content.kind;
    if is_deed(kind) || is_apart(newer, older) {
        return None;
    }
    if is_turned(&newer.title, &older.title) {
        return Some("it says the opposite".to_owned());
    }
    if is_revalued(&newer.title, &older.title) && (is_choice(kind) || is_value(&newer.title, &older.title)) {
        return Some("it gives another number".to_owned());
    }
    if is_reworded(&newer.title, &older.title)
        && let Some((ours, _)) = conflict(newer, older)
    {
        return Some(format!("it says otherwise: {}", newer.content.facts[ours]));
    }
    is_chosen_anew(newer, older).then(|| "it tells another choice".to_owned())
}

/// Two sentences about one thing of which only one can hold.
pub(super) fn another_value(one: &[Word], other: &[Word]) -> bool {
    is_turned(one, other) || is_revalued(one, other)
}

/// The same words, but for a "not" or a word that means the opposite.
fn is_turned(one: &[Word], other: &[Word]) -> bool {
    let turning = opposites(one, other).filter(|at| *at < TURNING);
    let (ours, theirs) = (without_opposites(one, turning), without_opposites(other, turning));
    let is_turned = (is_negative(one) != is_negative(other)) != turning.is_some();
    is_turned && ours.len() > 1 && ours == theirs
}

fn without_opposites(words: &[Word], turning: Option<usize>) -> BTreeSet<&str> {
    let pair = turning.map(|at| (stem(OPPOSITES[at].0), stem(OPPOSITES[at].1)));
    let is_kept = |word: &&str| pair.as_ref().is_none_or(|(a, b)| *word != a && *word != b);
    content(words).into_iter().filter(is_kept).collect()
}

/// Which of the opposites stand on one side each.
pub(super) fn opposites(one: &[Word], other: &[Word]) -> Option<usize> {
    let has = |words: &[Word], raw: &str| words.iter().any(|word| word.raw == raw || word.stem == stem(raw));
    let is_split = |(a, b): &(&str, &str)| {
        let (ours, theirs) = ((has(one, a), has(one, b)), (has(other, a), has(other, b)));
        ours != theirs && (ours.0 ^ ours.1) && (theirs.0 ^ theirs.1)
    };
    OPPOSITES.iter().position(is_split)
}

/// The same words, but for one number that names nothing.
fn is_revalued(one: &[Word], other: &[Word]) -> bool {
    let numbers = |words: &[Word]| -> Vec<(usize, String)> {
        let found = words.iter().enumerate().filter(|(_, word)| word.sort == Sort::Number);
        found.map(|(at, word)| (at, word.stem.clone())).collect()
    };
    let (ours, theirs) = (numbers(one), numbers(other));
    let differing: Vec<usize> =
        (0..ours.len().min(theirs.len())).filter(|at| ours[*at].1 != theirs[*at].1).collect();
    let [changed] = differing.as_slice() else { return false };
    let plain = |words: &[Word]| -> Vec<String> {
        let says = words.iter().filter(|word| matches!(word.sort, Sort::Plain | Sort::Name | Sort::Negation));
        says.map(|word| word.stem.clone()).collect()
    };
    let is_naming = |words: &[Word], at: usize| at > 0 && NAMING.contains(&words[at - 1].raw.as_str());
    ours.len() == theirs.len()
        && plain(one) == plain(other)
        && plain(one).len() > 1
        && !is_naming(one, ours[*changed].0)
        && !is_naming(other, theirs[*changed].0)
}

/// The number that changed is a value: a version, or said to be one.
fn is_value(one: &[Word], other: &[Word]) -> bool {
    let known = of_sort(other, Sort::Number);
    let changed = one
        .iter()
        .enumerate()
        .find(|(_, word)| word.sort == Sort::Number && !known.contains(word.stem.as_str()));
    let Some((at, word)) = changed else { return false };
    let is_said = at > 0 && VALUING.contains(&one[at - 1].raw.as_str());
    is_said || (word.stem.contains('.') && word.stem.chars().all(|c| c.is_numeric() || c == '.'))
}

/// Another choice for the same purpose, and the newer one says that something changed; or a preference about nothing but
/// the concept that both name.
fn is_chosen_anew(newer: &Told<'_>, older: &Told<'_>) -> bool {
    let (ours, theirs) = (&newer.content, &older.content);
    if !is_choice(&ours.kind) || is_negative(&newer.title) || is_negative(&older.title) {
        return false;
    }
    let chooses = |told: &Told<'_>| told.title.iter().any(is_verb);
    let is_change = |word: &Word| CHANGES.iter().any(|change| stem(change) == word.stem);
    let (is_told, has_same_concepts) = (
        newer.title.iter().any(is_change),
        !ours.concepts.is_empty()
            && ours.concepts.len() == theirs.concepts.len()
            && shared_concepts(newer, older) == ours.concepts.len(),
    );
    if !chooses(newer) || !chooses(older) {
        return false;
    }
    let bare = |told: &Told<'_>| -> BTreeSet<String> {
        let says = |word: &&Word| !matches!(word.sort, Sort::Filler | Sort::Negation) && !is_verb(word);
        told.title.iter().filter(says).filter(|word| !is_change(word)).map(|word| word.stem.clone()).collect()
    };
    let (new, old) = (bare(newer), bare(older));
    let (only_new, only_old) = (new.difference(&old).count(), old.difference(&new).count());
    let purpose = new.intersection(&old).count();
    let is_one_for_one = only_new == 1 && only_old == 1;
    let is_preference = ours.kind.as_str() == "preference" && theirs.kind.as_str() == "preference";
    is_one_for_one && ((is_told && purpose > 0) || (is_preference && purpose == 0 && has_same_concepts))
}

fn is_negative(words: &[Word]) -> bool {
    words.iter().any(|word| word.sort == Sort::Negation)
}
