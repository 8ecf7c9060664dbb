//! The search text of `tow data forget`: matched in any case, plain, inside JSON and inside JSON within JSON.
//!
//! Never printed and never stored: the user wants it gone.

use std::fmt::Write;

pub struct ForgetText {
    /// All in lower case.
    forms: Vec<String>,
}

/// Shorter texts match everywhere by chance.
const MIN_CHARS: usize = 3;

impl ForgetText {
    /// `None` if the text is too short.
    pub fn new(text: &str) -> Option<ForgetText> {
        let plain = text.trim();
        if plain.chars().count() < MIN_CHARS {
            return None;
        }
        let once = escaped(plain, NonAscii::Plain);
        let ascii = escaped(plain, NonAscii::Escaped);
        let twice = [escaped(&once, NonAscii::Plain), escaped(&ascii, NonAscii::Plain)];
        let mut forms: Vec<String> = [plain.to_owned(), once, ascii].into_iter().chain(twice).collect();
        forms.iter_mut().for_each(|form| *form = form.to_lowercase());
        forms.sort();
        forms.dedup();
        Some(ForgetText { forms })
    }

    pub fn is_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.forms.iter().any(|form| text.contains(form))
    }

    /// Also matches between bytes that are not UTF-8.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.is_in(&String::from_utf8_lossy(bytes))
    }

    /// Upper bound of a match's length: file chunks that overlap by this much miss no match.
    pub fn longest(&self) -> usize {
        // The other case of a letter may be longer.
        self.forms.iter().map(String::len).max().unwrap_or(0) * 2
    }
}

/// Treatment of non-ASCII letters: some programs escape them, others do not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NonAscii {
    Plain,
    Escaped,
}

/// The text as escaped in a JSON string.
fn escaped(text: &str, non_ascii: NonAscii) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if letter.is_control() || (non_ascii == NonAscii::Escaped && !letter.is_ascii()) => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_in_any_case_and_in_json_within_json() {
        let needle = ForgetText::new("  Der \"Größte\"\n Plan ").unwrap();
        assert!(needle.is_in("x der \"GRÖSSTE\"\n plan".replace("SS", "ß").as_str()));
        assert!(needle.is_in(r#"{"a":"der \"größte\"\n plan"}"#));
        assert!(needle.is_in(r#"{"a":"der \"gr\u00F6\u00dfte\"\n plan"}"#));
        assert!(needle.is_in(r#"{\"a\":\"der \\\"größte\\\"\\n plan\"}"#));
        assert!(!needle.is_in("der größte plan"));
        assert!(needle.is_in_bytes(b"\xff\x00der \"gr\xc3\xb6\xc3\x9fte\"\n plan\xfe"));
    }

    #[test]
    fn a_text_that_is_too_short_is_refused() {
        assert!(ForgetText::new(" ab ").is_none() && ForgetText::new("").is_none());
        assert!(ForgetText::new("abc").is_some_and(|needle| needle.longest() >= 3));
    }
}
