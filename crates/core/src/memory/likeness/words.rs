//! A text as the words that likeness is measured by: in order, without endings, and told apart by what they are.
//!
//! No language is understood here. What cannot be told for sure (a name, a number, a "not") is kept apart, so that whoever
//! compares can be strict with it.

use std::collections::BTreeSet;

/// One word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case, as it was written.
    pub raw: String,
    /// Without its ending; what words are compared by.
    pub stem: String,
    pub sort: Sort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Plain,
    /// A path, an identifier, a package: must be the same to mean the same.
    Name,
    /// Whatever has a digit in it.
    Number,
    /// Holds sentences together and says nothing by itself.
    Filler,
    /// Turns a sentence into its opposite.
    Negation,
}

const FILLERS: &[&str] = &[
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "to", "of", "in", "on", "at", "for", "and",
    "or", "it", "its", "this", "that", "these", "those", "with", "by", "as", "from", "into", "we", "i",
    "you", "they", "he", "she", "our", "their", "your", "my", "has", "have", "had", "do", "does", "did",
    "will", "would", "should", "must", "can", "when", "because", "since", "so", "then", "there", "please",
    "also", "always",
];

const NEGATIONS: &[&str] = &[
    "not", "no", "never", "dont", "doesnt", "didnt", "cannot", "cant", "wont", "isnt", "arent", "wasnt",
    "shouldnt", "mustnt", "without", "avoid", "nor", "neither", "none", "couldnt", "wouldnt",
];

/// As they stand inside of scripts that are written without spaces.
const NEGATIONS_WITHIN: &[&str] = &["ない", "ません", "禁止", "没有", "不", "别", "勿", "안 ", "않"];

/// What stands between two letters of one word.
const JOINTS: &[char] = &['_', '.', '/', '-', ':', '@', '\'', '’'];

pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found = vec![];
    let mut run = String::new();
    let letters: Vec<char> = text.chars().map(narrow).collect();
    let is_part = |c: &char| c.is_alphanumeric() && !is_dense(*c);
    for (at, c) in letters.iter().enumerate() {
        let is_between = || at > 0 && is_part(&letters[at - 1]) && letters.get(at + 1).is_some_and(is_part);
        if is_part(c) || *c == '_' || (JOINTS.contains(c) && is_between()) {
            run.push(*c);
        } else if !run.is_empty() {
            take_run(&std::mem::take(&mut run), &mut found);
        }
        if is_dense(*c) {
            found.push(dense(*c, letters.get(at + 1).filter(|next| is_dense(**next))));
        }
    }
    if !run.is_empty() {
        take_run(&run, &mut found);
    }
    if NEGATIONS_WITHIN.iter().any(|negation| text.contains(negation)) {
        found.push(Word { raw: "not".into(), stem: "not".into(), sort: Sort::Negation });
    }
    found
}

/// The stems that carry what is said: all but fillers and negations.
pub(super) fn content(words: &[Word]) -> BTreeSet<&str> {
    let says = |word: &&Word| !matches!(word.sort, Sort::Filler | Sort::Negation);
    words.iter().filter(says).map(|word| word.stem.as_str()).collect()
}

pub(super) fn of_sort(words: &[Word], sort: Sort) -> BTreeSet<&str> {
    words.iter().filter(|word| word.sort == sort).map(|word| word.stem.as_str()).collect()
}

/// What both have of all that either has, from 0 to 1.
pub(super) fn overlap(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> f64 {
    let all = one.union(other).count();
    if all == 0 { 1.0 } else { one.intersection(other).count() as f64 / all as f64 }
}

/// How much of the smaller is in the larger, from 0 to 1.
pub(super) fn containment(one: &BTreeSet<&str>, other: &BTreeSet<&str>) -> f64 {
    let least = one.len().min(other.len());
    if least == 0 { 1.0 } else { one.intersection(other).count() as f64 / least as f64 }
}

/// Letters as wide as ideographs are the same letters.
fn narrow(c: char) -> char {
    match c {
        '！'..='～' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Of a script that is written without spaces.
fn is_dense(c: char) -> bool {
    matches!(u32::from(c), 0x3041..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

/// Pairs of neighbours stand for the words that cannot be told apart.
fn dense(c: char, next: Option<&char>) -> Word {
    let pair: String = std::iter::once(c).chain(next.copied()).collect();
    let sort = if next.is_some() { Sort::Plain } else { Sort::Filler };
    Word { raw: pair.clone(), stem: pair, sort }
}

fn take_run(run: &str, found: &mut Vec<Word>) {
    let raw = run.to_lowercase();
    if raw.chars().any(char::is_numeric) {
        let bare = raw.strip_prefix('v').filter(|rest| rest.starts_with(char::is_numeric)).unwrap_or(&raw);
        return found.push(Word { stem: bare.to_owned(), raw: raw.clone(), sort: Sort::Number });
    }
    let is_joined = run.contains(['_', '.', '/', ':', '@']);
    let is_camel = run.chars().zip(run.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase());
    if is_joined || is_camel {
        return found.push(Word { stem: raw.clone(), raw, sort: Sort::Name });
    }
    for part in raw.replace(['\'', '’'], "").split('-').filter(|part| !part.is_empty()) {
        let sort = match part {
            _ if FILLERS.contains(&part) => Sort::Filler,
            _ if NEGATIONS.contains(&part) => Sort::Negation,
            _ => Sort::Plain,
        };
        found.push(Word { raw: part.to_owned(), stem: stem(part), sort });
    }
}

/// Without the endings of number and time: `caches`, `cached` and `caching` are one word.
pub(super) fn stem(word: &str) -> String {
    if word.len() < 4 || !word.is_ascii() {
        return word.strip_suffix('e').filter(|rest| rest.len() > 1).unwrap_or(word).to_owned();
    }
    let has_vowel = |rest: &&str| rest.len() > 1 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    let cut = |ending: &str| word.strip_suffix(ending).filter(has_vowel);
    if let Some(rest) = word.strip_suffix("ies") {
        return format!("{rest}y");
    }
    if let Some(rest) = cut("ing").or_else(|| cut("ed")) {
        return single(rest).trim_end_matches('e').to_owned();
    }
    let is_plural = !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let rest = if is_plural { word.strip_suffix('s').unwrap_or(word) } else { word };
    rest.trim_end_matches('e').to_owned()
}

/// `running` is from `run`.
fn single(rest: &str) -> &str {
    let bytes = rest.as_bytes();
    match bytes {
        [.., a, b] if a == b && !matches!(b, b'l' | b's' | b'z') => &rest[..rest.len() - 1],
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        words(text).into_iter().filter(|word| word.sort != Sort::Filler).map(|word| word.stem).collect()
    }

    #[test]
    fn forms_of_a_word_are_one_word() {
        for forms in [
            ["run", "runs", "running"],
            ["cache", "caches", "cached"],
            ["use", "uses", "using"],
            ["fail", "failed", "failing"],
            ["retry", "retries", "retry"],
        ] {
            let stems: BTreeSet<String> = forms.iter().map(|form| stem(form)).collect();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
        assert_ne!(stem("string"), stem("str"));
    }

    #[test]
    fn names_and_numbers_stay_whole_and_nots_are_told_apart() {
        assert_eq!(
            stems("Don't edit src/paint.rs, v1.2.3 or parseAll(x_y)!"),
            ["dont", "edit", "src/paint.rs", "1.2.3", "parseall", "x_y"]
        );
        let sorts: Vec<Sort> = words("never 12 a_b it's").iter().map(|word| word.sort).collect();
        assert_eq!(sorts[..3], [Sort::Negation, Sort::Number, Sort::Name]);
    }

    #[test]
    fn scripts_without_spaces_are_compared_by_pairs_and_wide_letters_are_letters() {
        assert_eq!(stems("再試行は３回"), ["再試", "試行", "行は", "3"]);
        assert!(words("コミットしない").iter().any(|word| word.sort == Sort::Negation));
    }
}
