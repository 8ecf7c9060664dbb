//! The interface between ranking and the two document sources: index segments and documents not indexed yet.
//!
//! A source numbers its documents from 0. A number may be unused or deleted: `is_live` says so.

use std::collections::HashSet;

use crate::document::{Document, DocumentKind};
use crate::error::Result;
use crate::table::WordPiece;
use crate::words::{Bm25, Term, TermDictionary, each_term, is_stop_word};

/// Documents that can be searched together.
pub trait DocSource: TermDictionary {
    /// The number of document slots, deleted ones included.
    fn doc_count(&self) -> u32;
    /// The total number of words in all documents.
    fn words(&self) -> u64;
    fn is_live(&self, doc: u32) -> bool;
    /// The number of documents that contain the word.
    fn doc_freq(&self, word: &str) -> Result<u32>;
    /// Passes documents that contain a term, in order, with their scores. `each` returns the score that a document has to
    /// exceed: those that cannot are left out.
    fn each_match(&self, terms: &[WeightedTerm<'_>], each: &mut dyn FnMut(u32, f32) -> f32) -> Result<()>;
    /// The matches of some documents, given in ascending order.
    fn matches_of(&self, terms: &[WeightedTerm<'_>], docs: &[u32]) -> Result<Vec<Match>>;
    fn facts(&self, doc: u32) -> DocFacts;
    /// The document's timestamp, separate from `facts` because it is read for many documents.
    fn at(&self, doc: u32) -> i64;
    /// The number of a live document with this id.
    fn find_id(&self, id: i64) -> Result<Option<u32>>;
    /// All documents of a session.
    fn in_session(&self, session: u64) -> Result<Vec<u32>>;
    /// Documents with this tag or, if the tag ends with `/`, with any tag that starts with it, in ascending order.
    fn tagged(&self, tag: &str) -> Result<Vec<u32>>;
    /// Those of some documents, given in ascending order, that have this tag.
    fn tagged_among(&self, tag: &str, docs: &[u32]) -> Result<Vec<u32>>;
    /// All tags with this prefix.
    fn tags(&self, prefix: &str) -> Result<Vec<String>>;
    /// The word pieces of the document's beginning.
    fn pieces(&self, doc: u32) -> Result<Vec<WordPiece>>;
}

/// A query term with its BM25 weight.
pub struct WeightedTerm<'a> {
    pub spellings: &'a [(String, f32)],
    pub bm25: Bm25,
}

/// A document's score, and a bit set of the query terms it contains.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Match {
    pub score: f32,
    pub words: u64,
    /// The terms that it contains in another language alone.
    pub translated: u64,
}

impl Match {
    pub fn add(&mut self, score: f32, word: usize) {
        self.score += score;
        self.words |= 1 << word;
    }

    pub fn has(self, word: usize) -> bool {
        self.words >> word & 1 == 1
    }
}

/// A document's metadata, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocFacts {
    pub id: i64,
    pub kind: DocumentKind,
    pub at: i64,
    /// 0: of no session.
    pub session: u64,
    pub turn: u32,
}

/// The number of word pieces stored per document for comparison by meaning.
pub const PIECES_KEPT: usize = 480;
/// The same for tool calls, which are lists of commands and paths.
const PIECES_OF_DETAIL: usize = 160;
/// The number of bytes of a text that are indexed.
const TEXT_READ: usize = 128 * 1024;

impl Document {
    pub(crate) fn facts(&self) -> DocFacts {
        let Document { id, kind, at, turn, .. } = *self;
        DocFacts { id, kind, at, turn, session: session_key(&self.session) }
    }

    /// The texts whose words are indexed. The title is listed twice: it says more than the text.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let text = &self.text[..boundary(&self.text, TEXT_READ)];
        let mut texts = vec![self.title.as_str(), self.title.as_str(), text, self.project.as_str()];
        texts.extend(self.files.iter().chain(&self.concepts).map(String::as_str));
        texts.retain(|text| !text.is_empty());
        texts
    }

    /// The word pieces used for comparison by meaning.
    pub(crate) fn word_pieces(&self) -> Vec<WordPiece> {
        let most = if self.kind == DocumentKind::Detail { PIECES_OF_DETAIL } else { PIECES_KEPT };
        let mut pieces = crate::table::pieces(&self.title, most / 4);
        let rest = most - pieces.len();
        pieces.extend(crate::table::pieces(&self.text, rest));
        pieces
    }

    /// The tags that filters match against.
    pub(crate) fn tags(&self) -> Vec<String> {
        let mut tags = vec![
            tag(TagKind::Kind, self.kind.name()),
            tag(TagKind::Project, &self.project),
            tag(TagKind::Branch, &self.branch),
            tag(TagKind::Agent, &self.agent),
        ];
        tags.extend(self.memory_type.iter().map(|name| tag(TagKind::Type, name)));
        tags.extend(self.concepts.iter().map(|name| tag(TagKind::Concept, name)));
        tags.extend(self.files.iter().flat_map(|file| path_suffixes(file)));
        if self.whole != 0 {
            tags.push(whole_tag(self.whole));
        }
        if self.kind == DocumentKind::Memory {
            tags.extend(self.shared_word_tags());
        }
        tags
    }

    /// By these a memory is found for a prompt in its project (`index/recall.rs`). The one without a word counts them.
    fn shared_word_tags(&self) -> impl Iterator<Item = String> {
        let mut words = HashSet::from([String::new()]);
        for text in [&self.title, &self.text] {
            each_term(text, &mut |term: Term<'_>| {
                if !words.contains(term.indexed) {
                    words.insert(term.indexed.to_owned());
                }
            });
        }
        let words = words.into_iter().filter(|word| !is_stop_word(word));
        words.map(|word| shared_word_tag(&self.project, &word))
    }
}

/// The attribute a tag stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagKind {
    Kind,
    Type,
    Concept,
    File,
    Project,
    Branch,
    Agent,
    /// A word of a memory, within its project.
    SharedWord,
    Whole,
}

/// A tag as it is indexed.
pub fn tag(tagged: TagKind, name: &str) -> String {
    let letter = match tagged {
        TagKind::Kind => 'k',
        TagKind::Type => 't',
        TagKind::Concept => 'c',
        TagKind::File => 'f',
        TagKind::Project => 'p',
        TagKind::Branch => 'b',
        TagKind::Agent => 'a',
        TagKind::SharedWord => 'm',
        TagKind::Whole => 'w',
    };
    format!("{letter}:{}", name.to_lowercase())
}

/// The tag of all parts of a whole.
pub fn whole_tag(whole: i64) -> String {
    tag(TagKind::Whole, &whole.to_string())
}

/// The tag of a word in the memories of a project. Neither contains a line break.
pub fn shared_word_tag(project: &str, word: &str) -> String {
    tag(TagKind::SharedWord, &format!("{project}\n{word}"))
}

/// Every suffix of a path in whole components, so that the prefix `src/auth/` matches any folder `src/auth`.
fn path_suffixes(path: &str) -> Vec<String> {
    let path = path.trim_matches('/');
    let starts = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    starts.map(|start| tag(TagKind::File, &path[start..])).collect()
}

/// The 64-bit key by which sessions are compared.
pub fn session_key(session: &str) -> u64 {
    if session.is_empty() {
        return 0;
    }
    // FNV-1a: the value is stored in the index and must be the same in every build.
    session
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |key, byte| (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The last character boundary at or before `at`.
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
    fn path_is_tagged_by_its_suffixes() {
        assert_eq!(
            path_suffixes("/Src/auth/login.rs"),
            ["f:src/auth/login.rs", "f:auth/login.rs", "f:login.rs"]
        );
    }

    #[test]
    fn boundary_is_never_inside_a_letter() {
        assert_eq!(boundary("aé", 2), 1);
        assert_eq!(boundary("aé", 9), 3);
    }
}
