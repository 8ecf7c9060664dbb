//! What ranking asks of documents, wherever they are: in the index, or not in it yet.
//!
//! Documents of a source are known by their place in it, from 0 on. A place may be empty: `is_there` says so.

use crate::document::{Document, Kind};
use crate::index::Error;
use crate::table::Piece;
use crate::words::{Bm25, Vocabulary};

/// Documents that can be searched together.
pub trait Source: Vocabulary {
    /// How many places there are.
    fn places(&self) -> u32;
    /// How many words all documents have together.
    fn words(&self) -> u64;
    fn is_there(&self, place: u32) -> bool;
    /// How many documents have the word.
    fn holders(&self, word: &str) -> Result<u32, Error>;
    /// Scores all documents.
    fn matches(&self, sought: &[Weighed<'_>]) -> Result<Matches, Error>;
    fn facts(&self, place: u32) -> Facts;
    /// When it was said: what is asked of many.
    fn at(&self, place: u32) -> i64;
    /// The place of a document that is there.
    fn place_of(&self, id: i64) -> Result<Option<u32>, Error>;
    /// The places of a session's documents.
    fn members(&self, session: u64) -> Result<Vec<u32>, Error>;
    /// The places that carry one of the marks that are so or, where the mark ends with `/`, begin so.
    fn marked(&self, mark: &str) -> Result<Vec<u32>, Error>;
    /// All marks that begin so.
    fn marks(&self, beginning: &str) -> Result<Vec<String>, Error>;
    /// The beginning of the document in pieces of words.
    fn pieces(&self, place: u32) -> Result<Vec<Piece>, Error>;
}

/// A word that is looked for, with its weight.
pub struct Weighed<'a> {
    pub spellings: &'a [(String, f32)],
    pub bm25: Bm25,
}

/// How well each document matches: the score and, bit by bit, which words it has.
pub struct Matches {
    pub scores: Vec<f32>,
    pub words: Vec<u64>,
}

impl Matches {
    pub fn none(places: u32) -> Matches {
        Matches { scores: vec![0.0; places as usize], words: vec![0; places as usize] }
    }

    pub fn add(&mut self, place: u32, score: f32, word: usize) {
        if let (Some(sum), Some(words)) =
            (self.scores.get_mut(place as usize), self.words.get_mut(place as usize))
        {
            *sum += score;
            *words |= 1 << word;
        }
    }
}

/// What is known of a document without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub id: i64,
    pub kind: Kind,
    pub at: i64,
    /// 0: of no session.
    pub session: u64,
    pub turn: u32,
}

/// So many pieces of a document are kept for its meaning.
pub const PIECES_KEPT: usize = 480;
/// So much of a text is looked at for its words.
const TEXT_READ: usize = 128 * 1024;

impl Document {
    pub(crate) fn facts(&self) -> Facts {
        let Document { id, kind, at, turn, .. } = *self;
        Facts { id, kind, at, turn, session: session_key(&self.session) }
    }

    /// What is indexed by words. A title says more than a text: it counts twice.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let text = &self.text[..boundary(&self.text, TEXT_READ)];
        let mut texts = vec![self.title.as_str(), self.title.as_str(), text, self.project.as_str()];
        texts.extend(self.files.iter().chain(&self.concepts).map(String::as_str));
        texts.retain(|text| !text.is_empty());
        texts
    }

    /// What its meaning is taken from.
    pub(crate) fn meant(&self) -> Vec<Piece> {
        let mut pieces = crate::table::pieces(&self.title, PIECES_KEPT / 4);
        let rest = PIECES_KEPT - pieces.len();
        pieces.extend(crate::table::pieces(&self.text, rest));
        pieces
    }

    /// What it can be filtered by.
    pub(crate) fn marks(&self) -> Vec<String> {
        let mut marks = vec![
            mark(Marked::Kind, self.kind.word()),
            mark(Marked::Project, &self.project),
            mark(Marked::Branch, &self.branch),
            mark(Marked::Agent, &self.agent),
        ];
        marks.extend(self.memory_type.iter().map(|name| mark(Marked::Type, name)));
        marks.extend(self.concepts.iter().map(|name| mark(Marked::Concept, name)));
        marks.extend(self.files.iter().flat_map(|file| ends_of_path(file)));
        marks
    }
}

/// What a mark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marked {
    Kind,
    Type,
    Concept,
    File,
    Project,
    Branch,
    Agent,
}

/// A mark as it is indexed.
pub fn mark(marked: Marked, name: &str) -> String {
    let letter = match marked {
        Marked::Kind => 'k',
        Marked::Type => 't',
        Marked::Concept => 'c',
        Marked::File => 'f',
        Marked::Project => 'p',
        Marked::Branch => 'b',
        Marked::Agent => 'a',
    };
    format!("{letter}:{}", name.to_lowercase())
}

/// Every end of a path, in whole components: what begins with `src/auth/` is then below any folder `src/auth`.
fn ends_of_path(path: &str) -> Vec<String> {
    let path = path.trim_matches('/');
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts.map(|start| mark(Marked::File, &path[start..])).collect()
}

/// The key of a session: sessions are compared by it alone.
pub fn session_key(session: &str) -> u64 {
    if session.is_empty() {
        return 0;
    }
    // FNV-1a: it must be the same in every build.
    session
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |key, byte| (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The last boundary between letters at or before `at`.
pub fn boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_marked_by_its_ends() {
        assert_eq!(
            ends_of_path("/Src/auth/login.rs"),
            ["f:src/auth/login.rs", "f:auth/login.rs", "f:login.rs"]
        );
    }

    #[test]
    fn boundary_is_never_inside_a_letter() {
        assert_eq!(boundary("aé", 2), 1);
        assert_eq!(boundary("aé", 9), 3);
    }
}
