//! The default name of a bookmark: the work done since the previous one.
//!
//! Deterministic: the same turns give the same text.

use crate::text::clip;

/// Fits into one line of a list.
const MAX_LABEL_BYTES: usize = 120;

/// `lines` summarise the turns since the previous bookmark, oldest first. `prompt` is the latest prompt, used until a
/// turn was captured.
pub fn label(lines: &[String], prompt: Option<&str>) -> String {
    let mut summaries = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    let suffix = match summaries.clone().count() {
        0 | 1 => String::new(),
        2 => " (and the turn before)".to_owned(),
        several => format!(" (and {} turns before)", several - 1),
    };
    let last = summaries.next_back().or(prompt.map(str::trim)).unwrap_or("");
    format!("{}{suffix}", shortened(last, MAX_LABEL_BYTES - suffix.len()))
}

fn shortened(text: &str, max: usize) -> String {
    let line = text.lines().next().unwrap_or("");
    if line.len() <= max { line.to_owned() } else { format!("{}…", clip(line, max - 3).trim_end()) }
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
    fn the_prompt_is_the_label_until_a_turn_is_captured() {
        check(&[], Some(" paint the mast\nred "), "paint the mast");
        check(&[""], None, "");
    }

    #[test]
    fn a_label_is_one_line_of_bounded_length() {
        let long = "ä".repeat(200);
        let label = label(&["first".to_owned(), long], None);
        assert!(label.len() <= MAX_LABEL_BYTES && label.ends_with("… (and the turn before)"), "{label}");
    }
}
