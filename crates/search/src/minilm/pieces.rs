//! Texts as the model was taught to see them: lower-cased, without accents, cut into pieces of words by its own list.
//!
//! Unlike the static table's cut, signs are pieces too, and a word without pieces is the piece for the unknown.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{ModelError, unfit, unread};

/// Words of more letters are unknown.
const LONGEST_WORD: usize = 100;
const EMPTY: u32 = u32::MAX;

/// The model's list of pieces.
pub struct Vocabulary {
    text: String,
    /// Where each piece begins and ends.
    ends: Vec<(u32, u32)>,
    /// Numbers of pieces by the hash of their spelling.
    slots: Vec<u32>,
    unknown: u32,
    begin: u32,
    end: u32,
}

impl Vocabulary {
    pub fn open(path: &Path, words: usize) -> Result<Vocabulary, ModelError> {
        let text = std::fs::read_to_string(path).map_err(|source| unread(path, source))?;
        let mut vocabulary =
            Vocabulary { ends: ends(&text), text, slots: vec![], unknown: 0, begin: 0, end: 0 };
        if vocabulary.ends.len() != words {
            let complaint = format!("it has {} pieces, and the weights {words}", vocabulary.ends.len());
            return Err(unfit(path, complaint));
        }
        vocabulary.fill_slots();
        let named =
            |name: &str| vocabulary.number(name).ok_or_else(|| unfit(path, format!("`{name}` is missing")));
        (vocabulary.unknown, vocabulary.begin, vocabulary.end) =
            (named("[UNK]")?, named("[CLS]")?, named("[SEP]")?);
        Ok(vocabulary)
    }

    /// The numbers of a text's pieces between those for its begin and its end, at most so many in all.
    pub fn pieces(&self, text: &str, most: usize) -> Vec<u32> {
        let mut found = vec![self.begin];
        let room = most.max(2) - 1;
        let mut word = String::new();
        for letter in text.chars() {
            if found.len() >= room {
                break;
            }
            match sort(letter) {
                Sort::Nothing => {}
                Sort::Gap => self.flush(&mut word, &mut found),
                Sort::Alone => {
                    self.flush(&mut word, &mut found);
                    push(letter, &mut word);
                    self.flush(&mut word, &mut found);
                }
                Sort::Letter => push(letter, &mut word),
            }
        }
        self.flush(&mut word, &mut found);
        found.truncate(room);
        found.push(self.end);
        found
    }

    fn flush(&self, word: &mut String, found: &mut Vec<u32>) {
        if !word.is_empty() {
            let before = found.len();
            if word.chars().count() > LONGEST_WORD || !self.cut(word, found) {
                found.truncate(before);
                found.push(self.unknown);
            }
            word.clear();
        }
    }

    /// The longest piece first, then the longest rest; whether there was one for all of it.
    fn cut(&self, word: &str, found: &mut Vec<u32>) -> bool {
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
                Some((self.number(&spelled)?, end))
            });
            let Some((piece, end)) = longest else { return false };
            found.push(piece);
            rest = &rest[end..];
        }
        true
    }

    fn number(&self, spelled: &str) -> Option<u32> {
        let mut slot = hashed(spelled) & (self.slots.len() - 1);
        loop {
            let number = self.slots[slot];
            if number == EMPTY {
                return None;
            }
            if self.spelling(number) == spelled {
                return Some(number);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn spelling(&self, number: u32) -> &str {
        let (from, to) = self.ends[number as usize];
        &self.text[from as usize..to as usize]
    }

    fn fill_slots(&mut self) {
        self.slots = vec![EMPTY; (self.ends.len() * 2 + 2).next_power_of_two()];
        for number in 0..self.ends.len() as u32 {
            let mut slot = hashed(self.spelling(number)) & (self.slots.len() - 1);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = number;
        }
    }
}

/// Where the lines of the list begin and end.
fn ends(text: &str) -> Vec<(u32, u32)> {
    let mut from = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let begin = from;
        from += line.len() as u32;
        (begin, begin + line.trim_end_matches(['\n', '\r']).len() as u32)
    });
    lines.collect()
}

/// FNV-1a of 32 bits.
fn hashed(text: &str) -> usize {
    let hash = |value: u32, byte: u8| (value ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811C_9DC5_u32, hash) as usize
}

fn push(letter: char, word: &mut String) {
    if letter.is_ascii() {
        word.push(letter.to_ascii_lowercase());
    } else {
        word.extend(letter.to_lowercase().nfd().filter(|plain| !is_combining_mark(*plain)));
    }
}

/// What a letter does to the word before it.
enum Sort {
    /// It is not seen at all.
    Nothing,
    Gap,
    /// It is a word by itself.
    Alone,
    Letter,
}

fn sort(letter: char) -> Sort {
    match letter {
        ' ' | '\t' | '\n' | '\r' => Sort::Gap,
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{200B}'..='\u{200F}' => Sort::Nothing,
        '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFFD}' => Sort::Nothing,
        letter if letter.is_ascii() => {
            if letter.is_ascii_punctuation() {
                Sort::Alone
            } else {
                Sort::Letter
            }
        }
        letter if letter.is_whitespace() => Sort::Gap,
        letter if is_sign(letter) || is_ideograph(letter) => Sort::Alone,
        _ => Sort::Letter,
    }
}

/// Signs of punctuation outside of ASCII, where they are usual.
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
