//! Text helpers: times, numbers and paragraphs in few columns.
//!
//! All external text goes through `clean` before it is measured.

use towline_core::escape::{escape_for_terminal, fit_to_width, width};
use towline_core::shown::age;
use towline_core::time::Timestamp;

/// The time since `at`, in at most four columns. Future times count as now.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let ms = now.since_ms(at).max(0);
    if ms < MINUTE_MS { format!("{}s", ms / 1000) } else { age(ms) }
}

/// Milliseconds until the result of `ago` changes.
pub fn until_next(at: Timestamp, now: Timestamp) -> i64 {
    let ms = now.since_ms(at);
    let step = match ms {
        ..0 => return 1 - ms,
        0..MINUTE_MS => 1000,
        MINUTE_MS..HOUR_MS => MINUTE_MS,
        _ => HOUR_MS,
    };
    step - ms % step
}

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 3_600_000;

/// One line, with control characters made harmless for a terminal.
pub fn clean(text: &str) -> String {
    escape_for_terminal(text).trim().to_owned()
}

pub fn right(text: &str, columns: usize) -> String {
    let fitted = fit_to_width(text, columns);
    " ".repeat(columns.saturating_sub(width(&fitted))) + &fitted
}

/// Wraps the text to at most `most` lines of `columns` columns; a cut is shown as `…`.
pub fn wrap(text: &str, columns: usize, most: usize) -> Vec<String> {
    let text = clean(text);
    let mut lines = vec![];
    let mut rest = text.as_str();
    while !rest.is_empty() && lines.len() < most && columns > 0 {
        if lines.len() + 1 == most || width(rest) <= columns {
            lines.push(fit_to_width(rest, columns));
            break;
        }
        let at = break_at(rest, columns);
        lines.push(fit_to_width(rest[..at].trim_end(), columns));
        rest = rest[at..].trim_start();
    }
    lines
}

/// The end of a line: after the last space that fits, or inside a word that is longer than a line.
fn break_at(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let mut last_space = None;
    for (at, c) in text.char_indices() {
        if c == ' ' && at > 0 {
            last_space = Some(at);
        }
        used += width(c.encode_utf8(&mut [0; 4]));
        if used > columns {
            // At least one character, even if it is too wide.
            return last_space.unwrap_or(if at == 0 { c.len_utf8() } else { at });
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_ago_has_seconds_then_minutes_hours_days() {
        let found = [0, 59_999, 60_000, 7_200_000, 172_800_000].map(|ms| ago(Timestamp(0), Timestamp(ms)));
        assert_eq!(found, ["0s", "59s", "1m", "2h", "2d"]);
        assert_eq!(ago(Timestamp(9), Timestamp(0)), "0s");
    }

    #[test]
    fn next_change_is_when_the_text_of_a_time_changes() {
        for elapsed in [0, 1, 999, 1000, 59_999, 60_000, 119_000, 3_599_999, 3_600_000, 9_000_000] {
            let (at, now) = (Timestamp(5), Timestamp(5 + elapsed));
            let next = until_next(at, now);
            assert!(next > 0, "{elapsed}");
            assert_eq!(ago(at, now.plus_ms(next - 1)), ago(at, now), "{elapsed}");
        }
        assert_eq!(until_next(Timestamp(0), Timestamp(61_000)), 59_000);
    }

    #[test]
    fn paragraphs_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij k", 4, 9), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("漢字かな交じり", 5, 9), ["漢字", "かな", "交じ", "り"]);
        assert_eq!(wrap("漢字", 1, 9), ["…", "…"], "a column is too narrow for them");
    }

    #[test]
    fn what_does_not_fit_is_cut_off_visibly() {
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three…"]);
        assert_eq!(wrap("anything", 0, 3), Vec::<String>::new());
    }
}
