//! WordPiece tokenisation as the model was trained: lower-cased, accents removed, split by its own vocabulary.
//!
//! Unlike the static table's tokeniser, punctuation yields pieces too, and a word without pieces becomes `[UNK]`.

use std::collections::HashMap;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{ModelError, unfit, unread};

/// Words with more characters become `[UNK]`.
const LONGEST_WORD: usize = 100;

/// The model's list of pieces, with their numbers.
pub struct PieceVocabulary {
    numbers: HashMap<String, u32>,
    unknown: u32,
    begin: u32,
    end: u32,
}

impl PieceVocabulary {
    pub fn open(path: &Path, words: usize) -> Result<PieceVocabulary, ModelError> {
        let text = std::fs::read_to_string(path).map_err(|source| unread(path, source))?;
        let count = text.lines().count();
        if count != words {
            return Err(unfit(path, format!("it has {count} pieces, and the weights {words}")));
        }
        let mut numbers = HashMap::with_capacity(count);
        for (piece, number) in text.lines().zip(0..) {
            numbers.entry(piece.to_owned()).or_insert(number);
        }
        let named = |name: &str| {
            numbers.get(name).copied().ok_or_else(|| unfit(path, format!("`{name}` is missing")))
        };
        let (unknown, begin, end) = (named("[UNK]")?, named("[CLS]")?, named("[SEP]")?);
        Ok(PieceVocabulary { numbers, unknown, begin, end })
    }

    /// The piece numbers of a text between `[CLS]` and `[SEP]`, at most `most` in all.
    pub fn pieces(&self, text: &str, most: usize) -> Vec<u32> {
        let mut numbers = vec![self.begin];
        let room = most.max(2) - 1;
        let mut word = String::new();
        for letter in text.chars() {
            if numbers.len() >= room {
                break;
            }
            match char_class(letter) {
                CharClass::Nothing => {}
                CharClass::Gap => self.flush(&mut word, &mut numbers),
                CharClass::Alone => {
                    self.flush(&mut word, &mut numbers);
                    push(letter, &mut word);
                    self.flush(&mut word, &mut numbers);
                }
                CharClass::Letter => push(letter, &mut word),
            }
        }
        self.flush(&mut word, &mut numbers);
        numbers.truncate(room);
        numbers.push(self.end);
        numbers
    }

    fn flush(&self, word: &mut String, numbers: &mut Vec<u32>) {
        if !word.is_empty() {
            let before = numbers.len();
            if word.chars().count() > LONGEST_WORD || !self.cut(word, numbers) {
                numbers.truncate(before);
                numbers.push(self.unknown);
            }
            word.clear();
        }
    }

    /// Greedy longest match; returns whether the whole word could be split.
    fn cut(&self, word: &str, numbers: &mut Vec<u32>) -> bool {
        let mut rest = word;
        let mut spelled = String::new();
        while !rest.is_empty() {
            let beginnings = rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
            let longest = beginnings.into_iter().find_map(|end| {
                spelled.clear();
                if rest.len() < word.len() {
                    spelled.push_str("##");
                }
                spelled.push_str(&rest[..end]);
                Some((*self.numbers.get(&spelled)?, end))
            });
            let Some((piece, end)) = longest else { return false };
            numbers.push(piece);
            rest = &rest[end..];
        }
        true
    }
}

fn push(letter: char, word: &mut String) {
    if letter.is_ascii() {
        word.push(letter.to_ascii_lowercase());
    } else {
        word.extend(letter.to_lowercase().nfd().filter(|plain| !is_combining_mark(*plain)));
    }
}

/// How a character affects tokenisation.
enum CharClass {
    /// Ignored.
    Nothing,
    Gap,
    /// A word by itself.
    Alone,
    Letter,
}

fn char_class(letter: char) -> CharClass {
    match letter {
        ' ' | '\t' | '\n' | '\r' => CharClass::Gap,
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{200B}'..='\u{200F}' => CharClass::Nothing,
        '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFFD}' => CharClass::Nothing,
        letter if letter.is_ascii() => {
            if letter.is_ascii_punctuation() {
                CharClass::Alone
            } else {
                CharClass::Letter
            }
        }
        letter if letter.is_whitespace() => CharClass::Gap,
        letter if is_sign(letter) || is_ideograph(letter) => CharClass::Alone,
        _ => CharClass::Letter,
    }
}

/// Common non-ASCII punctuation.
fn is_sign(letter: char) -> bool {
    matches!(letter,
        '\u{A1}' | '\u{A7}' | '\u{AB}' | '\u{B6}' | '\u{B7}' | '\u{BB}' | '\u{BF}'
        | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}' | '\u{2053}'..='\u{205E}'
        | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}' | '\u{30FB}'
        | '\u{FF01}'..='\u{FF03}' | '\u{FF05}'..='\u{FF0A}' | '\u{FF0C}'..='\u{FF0F}' | '\u{FF1A}' | '\u{FF1B}'
        | '\u{FF1F}' | '\u{FF20}' | '\u{FF3B}'..='\u{FF3D}' | '\u{FF5B}' | '\u{FF5D}')
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter,
        '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2CEAF}'
        | '\u{2F800}'..='\u{2FA1F}')
}
