//! Suggests the valid key that a misspelt one probably meant.
//!
//! Returns no suggestion if even the nearest key differs too much.

/// The candidate with the smallest edit distance, if that is small enough for a typo.
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = candidates.into_iter().map(|candidate| (distance(wrong, candidate), candidate));
    let (fewest, candidate) = scored.min()?;
    (fewest <= 1 + wrong.len() / 3).then_some(candidate)
}

/// The Levenshtein distance of two words.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_a_stranger_is_not() {
        let keys = ["hook.patience_ms", "privacy.redact"];
        assert_eq!(nearest("hook.patence_ms", keys), Some("hook.patience_ms"));
        assert_eq!(nearest("privacy.redcat", keys), Some("privacy.redact"));
        assert_eq!(nearest("colour", keys), None);
    }
}
