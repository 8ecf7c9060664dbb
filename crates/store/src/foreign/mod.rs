//! Reads the databases of other products that kept conversations, for import.
//!
//! Never writes, and reports what it did not understand. Versions differ: a missing table or column is reported and
//! does not stop the import. Does not decide what is worth keeping or which project it belongs to.

mod claude_mem;
mod index;
mod open;
pub mod rows;
#[cfg(any(test, feature = "samples"))]
#[path = "tests/samples.rs"]
pub mod samples;
pub mod session_rows;
mod survey;
mod table;
mod throughline;

pub use survey::{ForeignSurvey, SkippedRows, SurveyedTable, TableImport};

use crate::home::DataFolder;
use index::RowIndex;
use open::{FileStamp, OpenedForeign};
use rusqlite::{Connection, ErrorCode};
use std::io;
use std::path::{Path, PathBuf};
use table::ForeignTable;
use towline_core::event::ToolOutcome;
use towline_core::id::SessionKey;
use towline_core::memory::{MemoryDraft, SummaryDraft};
use towline_core::piece::{PieceContent, TranscriptPiece};
use towline_core::time::Timestamp;

towline_core::named_enum! {
    /// A product whose database can be read. The one that kept every message comes first: the others add to it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Product as named {
        Throughline = "throughline",
        ClaudeMem = "claude-mem",
    }
}

impl Product {
    /// Whether it keeps notes about a conversation beside its messages.
    pub fn keeps_notes(self) -> bool {
        self == Product::ClaudeMem
    }

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignSession {
    pub key: SessionKey,
    /// Its working folder, if known.
    pub folder: Option<String>,
    /// The other product's name for its project.
    pub project: Option<String>,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    pub turns: u32,
    pub rows: u64,
    /// Changes when rows are added.
    pub stamp: String,
    index: RowIndex,
}

/// How much of a session to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadScope {
    Whole,
    /// Only the notes, for a conversation that was captured already.
    Notes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignRecord {
    Piece(TranscriptPiece<'static>),
    /// The summary line of the turn whose prompt has this id.
    Line {
        prompt: String,
        text: String,
    },
    /// A note about the turn that began at `during`.
    Note {
        id: String,
        at: Timestamp,
        during: Timestamp,
        text: String,
    },
    /// A memory from the turn that began at `during`.
    Memory {
        id: String,
        at: Timestamp,
        during: Timestamp,
        cost: u64,
        draft: Box<MemoryDraft>,
    },
    /// A summary of the session, written after the turn that began at `during`.
    Summary {
        at: Timestamp,
        during: Timestamp,
        draft: Box<SummaryDraft>,
    },
}

/// A tool call as another product kept it.
struct ForeignCall {
    id: String,
    /// Joins the call and its result.
    call: String,
    tool: String,
    at: Option<Timestamp>,
    input: Option<String>,
    output: Option<String>,
}

/// Numbers the pieces of a session and passes them on.
struct PieceEmitter<'t> {
    /// When the turn began, for pieces without a time of their own.
    at: Timestamp,
    place: u64,
    take: &'t mut dyn FnMut(ForeignRecord),
}

impl PieceEmitter<'_> {
    fn piece(&mut self, id: String, at: Option<Timestamp>, what: PieceContent<'static>) {
        self.place += 1;
        let (place, at) = (self.place, at.unwrap_or(self.at));
        let piece = TranscriptPiece { id: id.into(), place, at, turn: None, subagent: None, what };
        (self.take)(ForeignRecord::Piece(piece));
    }

    /// Passes on a call and its result, if it has one.
    fn call(&mut self, call: ForeignCall) {
        let ForeignCall { id, call, tool, at, input, output } = call;
        let result = output.map(|output| (format!("{id}:result"), result(call.clone(), output)));
        let input = input.unwrap_or_default().into();
        self.piece(id, at, PieceContent::ToolCall { call: call.into(), tool: tool.into(), input });
        if let Some((id, result)) = result {
            self.piece(id, at, result);
        }
    }
}

/// No product keeps the outcome of a call.
fn result(call: String, output: String) -> PieceContent<'static> {
    PieceContent::ToolResult { call: call.into(), output: output.into(), outcome: ToolOutcome::Done }
}

/// An open database of another product.
pub struct ForeignDatabase {
    product: Product,
    path: PathBuf,
    db: Connection,
    stamp: FileStamp,
    scan: ForeignScan,
}

/// The result of scanning a database. Each reader numbers `tables` in its own order.
struct ForeignScan {
    survey: ForeignSurvey,
    tables: Vec<Option<ForeignTable>>,
    sessions: Vec<ForeignSession>,
}

impl ForeignDatabase {
    /// Opens and scans the database. A temporary copy in `home` is removed before this returns.
    pub fn open(product: Product, path: &Path, home: &DataFolder) -> Result<ForeignDatabase, ForeignError> {
        let OpenedForeign { db, stamp } = open::open(path, home)?;
        let failed = |source| ForeignError::of(path, source);
        let scan = match product {
            Product::Throughline => throughline::scan(&db),
            Product::ClaudeMem => claude_mem::scan(&db),
        }
        .map_err(failed)?;
        if !scan.survey.tables.iter().any(|table| table.fate == TableImport::Taken) {
            return Err(ForeignError::NothingKnown { path: path.to_owned(), product: product.name() });
        }
        Ok(ForeignDatabase { product, path: path.to_owned(), db, stamp, scan })
    }

    pub fn product(&self) -> Product {
        self.product
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn survey(&self) -> &ForeignSurvey {
        &self.scan.survey
    }

    pub fn sessions(&self) -> &[ForeignSession] {
        &self.scan.sessions
    }

    /// Passes the items of a session to `take`, in order, turn by turn.
    pub fn read(
        &self,
        session: &ForeignSession,
        extent: ReadScope,
        take: &mut dyn FnMut(ForeignRecord),
    ) -> Result<(), ForeignError> {
        let tables = &self.scan.tables;
        let done = match self.product {
            Product::Throughline => throughline::read(&self.db, tables, session, extent, take),
            Product::ClaudeMem => claude_mem::read(&self.db, tables, session, extent, take),
        };
        done.map_err(|source| ForeignError::of(&self.path, source))
    }

    /// Whether the database was written since it was opened: then the import may be incomplete.
    pub fn was_changed(&self) -> bool {
        FileStamp::of(&self.path).ok().as_ref() != Some(&self.stamp)
    }
}

#[cfg(test)]
mod tests;
