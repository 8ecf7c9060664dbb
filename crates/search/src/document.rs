//! The documents that can be searched.
//!
//! A document says where it came from, but not how to get there: its id is the caller's.

/// One searchable unit of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The caller's id; adding a document under an existing id replaces the old one.
    pub id: i64,
    pub kind: DocumentKind,
    pub title: String,
    pub text: String,
    /// Files the document is about.
    pub files: Vec<String>,
    pub concepts: Vec<String>,
    pub memory_type: Option<String>,
    pub project: String,
    pub branch: String,
    pub agent: String,
    /// Documents of one session raise each other's scores. Empty means no session.
    pub session: String,
    /// The turn of the session it belongs to.
    pub turn: u32,
    /// Milliseconds since 1970.
    pub at: i64,
    /// The caller's number of the whole that it is a part of: its parts can be removed together. 0 means no whole.
    pub whole: i64,
}

impl Document {
    /// A document with only a text; all other fields are empty.
    pub fn plain(id: i64, kind: DocumentKind, text: &str) -> Document {
        Document {
            id,
            kind,
            title: String::new(),
            text: text.to_owned(),
            files: Vec::new(),
            concepts: Vec::new(),
            memory_type: None,
            project: String::new(),
            branch: String::new(),
            agent: String::new(),
            session: String::new(),
            turn: 0,
            at: 0,
            whole: 0,
        }
    }
}

/// The kind of text a document holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentKind {
    Memory,
    Summary,
    Prompt,
    Body,
    Line,
    Detail,
    Bookmark,
}

impl DocumentKind {
    pub const ALL: [DocumentKind; 7] = {
        use DocumentKind::{Body, Bookmark, Detail, Line, Memory, Prompt, Summary};
        [Memory, Summary, Prompt, Body, Line, Detail, Bookmark]
    };

    /// The name used in commands and outputs.
    pub fn name(self) -> &'static str {
        match self {
            DocumentKind::Memory => "memory",
            DocumentKind::Summary => "summary",
            DocumentKind::Prompt => "prompt",
            DocumentKind::Body => "body",
            DocumentKind::Line => "line",
            DocumentKind::Detail => "detail",
            DocumentKind::Bookmark => "bookmark",
        }
    }

    pub fn parse(word: &str) -> Option<DocumentKind> {
        DocumentKind::ALL.into_iter().find(|kind| kind.name() == word)
    }
}
