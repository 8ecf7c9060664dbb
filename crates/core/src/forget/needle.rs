//! A text that is looked for wherever it may stand: in any case, plain or inside of JSON, also of JSON within JSON.
//!
//! Never printed and never kept: it is what somebody wants to be gone.

use std::fmt::Write;

/// A text to be forgotten.
pub struct Needle {
    /// All in lower case.
    forms: Vec<String>,
}

/// Shorter texts stand everywhere by chance.
const SHORTEST: usize = 3;

impl Needle {
    /// `None` if the text is too short to mean anything.
    pub fn new(text: &str) -> Option<Needle> {
        let plain = text.trim();
        if plain.chars().count() < SHORTEST {
            return None;
        }
        let once = escaped(plain, Beyond::Plain);
        let ascii = escaped(plain, Beyond::Escaped);
        let twice = [escaped(&once, Beyond::Plain), escaped(&ascii, Beyond::Plain)];
        let mut forms: Vec<String> = [plain.to_owned(), once, ascii].into_iter().chain(twice).collect();
        forms.iter_mut().for_each(|form| *form = form.to_lowercase());
        forms.sort();
        forms.dedup();
        Some(Needle { forms })
    }

    pub fn is_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.forms.iter().any(|form| text.contains(form))
    }

    /// Also where the bytes around it are no text.
    pub fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        self.is_in(&String::from_utf8_lossy(bytes))
    }

    /// No form of it is longer: two pieces of a file that overlap by as much hide none.
    pub fn longest(&self) -> usize {
        // A letter may be shorter in the other case.
        self.forms.iter().map(String::len).max().unwrap_or(0) * 2
    }
}

/// What becomes of letters beyond ASCII: some programs escape them, some do not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beyond {
    Plain,
    Escaped,
}

/// The text as it stands in a JSON string.
fn escaped(text: &str, beyond: Beyond) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if letter.is_control() || (beyond == Beyond::Escaped && !letter.is_ascii()) => {
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
        let needle = Needle::new("  Der \"Größte\"\n Plan ").unwrap();
        assert!(needle.is_in("x der \"GRÖSSTE\"\n plan".replace("SS", "ß").as_str()));
        assert!(needle.is_in(r#"{"a":"der \"größte\"\n plan"}"#));
        assert!(needle.is_in(r#"{"a":"der \"gr\u00F6\u00dfte\"\n plan"}"#));
        assert!(needle.is_in(r#"{\"a\":\"der \\\"größte\\\"\\n plan\"}"#));
        assert!(!needle.is_in("der größte plan"));
        assert!(needle.is_in_bytes(b"\xff\x00der \"gr\xc3\xb6\xc3\x9fte\"\n plan\xfe"));
    }

    #[test]
    fn what_is_too_short_is_no_text() {
        assert!(Needle::new(" ab ").is_none() && Needle::new("").is_none());
        assert!(Needle::new("abc").is_some_and(|needle| needle.longest() >= 3));
    }
}
