//! What a bookmark is called if nobody named it: what was done since the one before.
//!
//! The same turns give the same words, whoever asks and whenever.

use crate::text::clip;

/// As much as fits into a line of a list.
const LONGEST: usize = 120;

/// `lines` say what was done in each turn since the bookmark before, oldest first; `prompt` is what was asked last, for as
/// long as nothing was captured.
pub fn label(lines: &[String], prompt: Option<&str>) -> String {
    let mut told = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    let more = match told.clone().count() {
        0 | 1 => String::new(),
        2 => " (and the turn before)".to_owned(),
        several => format!(" (and {} turns before)", several - 1),
    };
    let last = told.next_back().or(prompt.map(str::trim)).unwrap_or("");
    format!("{}{more}", shortened(last, LONGEST - more.len()))
}

fn shortened(text: &str, longest: usize) -> String {
    let line = text.lines().next().unwrap_or("");
    if line.len() <= longest { line.to_owned() } else { format!("{}…", clip(line, longest - 3).trim_end()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], prompt: Option<&str>, expected: &str) {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(label(&lines, prompt), expected);
    }

    #[test]
    fn a_label_says_what_was_done_last_and_that_there_was_more() {
        check(&["paint the mast: edited mast.rs"], Some("now"), "paint the mast: edited mast.rs");
        check(&["one", "two"], None, "two (and the turn before)");
        check(&["one", " ", "two", "three"], None, "three (and 2 turns before)");
    }

    #[test]
    fn what_was_asked_stands_in_until_something_is_captured() {
        check(&[], Some(" paint the mast\nred "), "paint the mast");
        check(&[""], None, "");
    }

    #[test]
    fn a_label_is_one_line_of_bounded_length() {
        let long = "ä".repeat(200);
        let label = label(&["first".to_owned(), long], None);
        assert!(label.len() <= LONGEST && label.ends_with("… (and the turn before)"), "{label}");
    }
}
