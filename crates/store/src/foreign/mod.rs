//! Databases of other products that kept conversations before us: what of them can be taken over.
//!
//! Only ever reads, and says what it did not understand. Versions come and go: a table or a column that is not there is
//! told, and stops nothing. What is worth keeping, and whose project it is, is not decided here.

mod claude_mem;
mod index;
mod open;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
mod survey;
mod table;
mod throughline;

pub use survey::{Fate, Survey, Surveyed, Unfit};

use crate::home::Home;
use index::Index;
use open::{Opened, Stamp};
use rusqlite::{Connection, ErrorCode};
use std::io;
use std::path::{Path, PathBuf};
use table::Table;
use towline_core::id::SessionKey;
use towline_core::memory::{Draft, SummaryDraft};
use towline_core::piece::Piece;
use towline_core::time::Timestamp;

/// A product whose database can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    Throughline,
    ClaudeMem,
}

impl Product {
    /// Those that kept every word come first: who has less adds to it.
    pub const ALL: [Product; 2] = [Product::Throughline, Product::ClaudeMem];

    pub fn name(self) -> &'static str {
        match self {
            Product::Throughline => "throughline",
            Product::ClaudeMem => "claude-mem",
        }
    }

    pub fn named(name: &str) -> Option<Product> {
        Product::ALL.into_iter().find(|product| product.name() == name)
    }

    /// Whether it notes something about a conversation beside what was said in it.
    pub fn keeps_notes(self) -> bool {
        match self {
            Product::Throughline => false,
            Product::ClaudeMem => true,
        }
    }

    /// Where it keeps its database.
    pub fn database(self, variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let below_home = |path: &str| variable("HOME").map(|home| Path::new(&home).join(path));
        match self {
            Product::Throughline => below_home(".throughline/throughline.db"),
            Product::ClaudeMem => {
                let given = variable("CLAUDE_MEM_DATA_DIR").map(PathBuf::from);
                Some(given.or_else(|| below_home(".claude-mem"))?.join("claude-mem.db"))
            }
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error("could not read {path}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} is not a database")]
    NoDatabase { path: PathBuf },
    #[error("{path} is in use by another program")]
    Busy { path: PathBuf },
    #[error("{path} is damaged")]
    Damaged { path: PathBuf, source: rusqlite::Error },
    #[error("could not query {path}")]
    Query { path: PathBuf, source: rusqlite::Error },
    #[error("{path} holds none of the tables of {product}")]
    NothingKnown { path: PathBuf, product: &'static str },
}

impl ForeignError {
    fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => ForeignError::NoDatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => ForeignError::Damaged { path, source },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ForeignError::Busy { path },
            Some(_) | None => ForeignError::Query { path, source },
        }
    }
}

/// A session as the other product knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignSession {
    pub key: SessionKey,
    /// Where it worked, if that is told.
    pub folder: Option<String>,
    /// What the other product calls its project.
    pub project: Option<String>,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub turns: u32,
    pub rows: u64,
    /// Another text when anything was added since.
    pub stamp: String,
    index: Index,
}

/// How much of a session is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The conversation.
    Whole,
    /// Only what was noted about it, for a conversation that is known already.
    Notes,
}

/// One thing that a session holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Piece(Piece<'static>),
    /// The line of the turn whose prompt has this id.
    Line {
        prompt: String,
        text: String,
    },
    /// What was noted about the turn that was under way at that time.
    Note {
        id: String,
        at: Timestamp,
        during: Timestamp,
        text: String,
    },
    /// What was learnt in the turn that was under way at that time.
    Memory {
        id: String,
        at: Timestamp,
        during: Timestamp,
        cost: u64,
        draft: Box<Draft>,
    },
    /// What the session was about, as it was told after that turn.
    Summary {
        at: Timestamp,
        during: Timestamp,
        draft: Box<SummaryDraft>,
    },
}

/// An open database of another product.
pub struct Foreign {
    product: Product,
    path: PathBuf,
    db: Connection,
    stamp: Stamp,
    looked: Looked,
}

/// What was found when a database was looked through. `tables` are numbered as its reader likes.
struct Looked {
    survey: Survey,
    tables: Vec<Option<Table>>,
    sessions: Vec<ForeignSession>,
}

impl Foreign {
    /// Opens and looks through it. `home` lends the place for a copy, which is gone again when this returns.
    pub fn open(product: Product, path: &Path, home: &Home) -> Result<Foreign, ForeignError> {
        let Opened { db, stamp } = open::open(path, home)?;
        let failed = |source| ForeignError::of(path, source);
        let looked = match product {
            Product::Throughline => throughline::look_through(&db),
            Product::ClaudeMem => claude_mem::look_through(&db),
        }
        .map_err(failed)?;
        if !looked.survey.tables.iter().any(|table| table.fate == Fate::Taken) {
            return Err(ForeignError::NothingKnown { path: path.to_owned(), product: product.name() });
        }
        Ok(Foreign { product, path: path.to_owned(), db, stamp, looked })
    }

    pub fn product(&self) -> Product {
        self.product
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn survey(&self) -> &Survey {
        &self.looked.survey
    }

    pub fn sessions(&self) -> &[ForeignSession] {
        &self.looked.sessions
    }

    /// Gives what a session holds, in order, turn by turn.
    pub fn read(
        &self,
        session: &ForeignSession,
        extent: Extent,
        take: &mut dyn FnMut(Found),
    ) -> Result<(), ForeignError> {
        let tables = &self.looked.tables;
        let done = match self.product {
            Product::Throughline => throughline::read(&self.db, tables, session, (extent, take)),
            Product::ClaudeMem => claude_mem::read(&self.db, tables, session, (extent, take)),
        };
        done.map_err(|source| ForeignError::of(&self.path, source))
    }

    /// Whether somebody wrote into it since it was opened: then what was read may lack something.
    pub fn was_changed(&self) -> bool {
        Stamp::of(&self.path).ok().as_ref() != Some(&self.stamp)
    }
}

#[cfg(test)]
mod tests;
