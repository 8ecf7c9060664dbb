//! An opened transcript: a file, or a session in a database, rendered as lines.
//!
//! Lines of a database are held in memory only: they are not redacted. Paths of such sessions are those of `agents`.

use crate::runtime::chain;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use towline_agents::described::{
    BadDocument, Description, LONGEST_DOCUMENT, SessionTables, TableColumn, TranscriptList, TranscriptWriter,
};
use towline_agents::{Agent, database_session, session_in};
use towline_store::foreign::rows;
use towline_store::foreign::session_rows::{SessionColumn, SessionRows};
use towline_store::home::beside;
use towline_terminal::tail;

pub(super) enum Opened {
    File(File),
    /// A session in a database, or a whole file that is no lines.
    Rows {
        lines: Cursor<Vec<u8>>,
        modified: i64,
        /// The length of the whole file.
        bytes: Option<u64>,
    },
}

impl Opened {
    pub fn at(path: &Path) -> io::Result<Opened> {
        let Some((database, session)) = database_session(path) else {
            return tail::open_file(path).map(Opened::File);
        };
        // Before the rows are read: a write in between is found the next time.
        let modified = last_write(&database)?;
        let lines = rows::lines(&database, session).map_err(io::Error::other)?;
        Ok(Opened::Rows { lines: Cursor::new(lines), modified, bytes: None })
    }

    /// The same for an agent that may write its transcripts as whole files.
    pub fn of(writer: &TranscriptWriter, path: &Path) -> io::Result<Opened> {
        let Some(folder) = writer.folder() else { return Opened::at(path) };
        let file = tail::open_file_below(folder, &container(path))?;
        if let (Some(tables), Some((database, session))) = (writer.tables(), database_session(path)) {
            let modified = last_write(&database)?;
            let lines = session_rows(tables).lines(&database, session).map_err(io::Error::other)?;
            return Ok(Opened::Rows { lines: Cursor::new(lines), modified, bytes: None });
        }
        match writer.document() {
            Some(description) => Opened::document(description, file),
            None => Ok(Opened::File(file)),
        }
    }

    fn document(description: &Description, file: File) -> io::Result<Opened> {
        let meta = file.metadata()?;
        let bad = |why: BadDocument| io::Error::new(io::ErrorKind::InvalidData, why);
        if meta.len() > LONGEST_DOCUMENT {
            return Err(bad(BadDocument::TooLong));
        }
        let bytes = tail::bytes_at(&file, 0, usize::try_from(meta.len()).unwrap_or(0))?;
        let lines = Cursor::new(description.as_lines(&bytes).map_err(bad)?);
        Ok(Opened::Rows { lines, modified: nanoseconds(&meta), bytes: Some(meta.len()) })
    }

    /// The length of the JSON file that these lines were rendered from.
    pub fn document_bytes(&self) -> Option<u64> {
        match self {
            Opened::File(_) => None,
            Opened::Rows { bytes, .. } => *bytes,
        }
    }

    /// Whether the lines are no file, but were rendered from one.
    pub fn is_rendered(&self) -> bool {
        matches!(self, Opened::Rows { .. })
    }

    pub fn size(&self) -> io::Result<u64> {
        match self {
            Opened::File(file) => Ok(file.metadata()?.len()),
            Opened::Rows { lines, .. } => Ok(lines.get_ref().len() as u64),
        }
    }

    /// The modification time in nanoseconds.
    pub fn modified(&self) -> io::Result<i64> {
        match self {
            Opened::File(file) => Ok(nanoseconds(&file.metadata()?)),
            Opened::Rows { modified, .. } => Ok(*modified),
        }
    }

    /// The bytes of a range that are still there.
    pub fn bytes_at(&self, from: u64, count: usize) -> io::Result<Vec<u8>> {
        match self {
            Opened::File(file) => tail::bytes_at(file, from, count),
            Opened::Rows { lines, .. } => {
                let from = usize::try_from(from).unwrap_or(usize::MAX);
                let rest = lines.get_ref().get(from..).unwrap_or_default();
                Ok(rest[..count.min(rest.len())].to_vec())
            }
        }
    }
}

/// Longer than any file about a session.
const LONGEST_ABOUT: u64 = 4 << 20;

/// The file about the session of this transcript; `None` if there is none that can be read, or it is too large.
pub(super) fn about(writer: &TranscriptWriter, transcript: &Path) -> Option<Vec<u8>> {
    if let Some(column) = writer.tables().and_then(|tables| tables.about.as_ref()) {
        let (database, session) = database_session(transcript)?;
        return session_column(column).row(&database, session).ok();
    }
    let file = tail::open_file_below(writer.folder()?, &writer.about(transcript)?).ok()?;
    let bytes = file.metadata().ok()?.len();
    if bytes > LONGEST_ABOUT { None } else { tail::bytes_at(&file, 0, usize::try_from(bytes).ok()?).ok() }
}

/// Why a file cannot be read as the whole JSON file that its description says it is.
pub fn bad_document(error: &io::Error) -> Option<BadDocument> {
    error.get_ref()?.downcast_ref().copied()
}

impl From<File> for Opened {
    fn from(file: File) -> Self {
        Opened::File(file)
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Opened::File(file) => file.read(buffer),
            Opened::Rows { lines, .. } => lines.read(buffer),
        }
    }
}

impl Seek for Opened {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Opened::File(file) => file.seek(to),
            Opened::Rows { lines, .. } => lines.seek(to),
        }
    }
}

/// Opens the file that holds a transcript, to see whether it can be read.
pub(super) fn file_of(writer: &TranscriptWriter, path: &Path) -> io::Result<File> {
    match writer.folder() {
        Some(folder) => tail::open_file_below(folder, &container(path)),
        None => tail::open_file(&container(path)),
    }
}

/// The file that holds a transcript.
pub(super) fn container(path: &Path) -> PathBuf {
    database_session(path).map_or_else(|| path.to_owned(), |(database, _)| database)
}

/// Whether a session in a database was read since the database was written last: then its lines need not be rendered.
pub(super) fn is_unwritten_since(path: &Path, modified: i64) -> bool {
    database_session(path).is_some_and(|(database, _)| last_write(&database).is_ok_and(|at| at == modified))
}

/// The transcripts of a writer.
pub(super) fn paths_of(
    writer: &TranscriptWriter,
    variable: &dyn Fn(&str) -> Option<String>,
) -> TranscriptList {
    match writer {
        TranscriptWriter::Known(agent) => {
            TranscriptList { files: transcripts(*agent, variable), ..TranscriptList::default() }
        }
        TranscriptWriter::Described(description, folder) => {
            let found = description.transcripts(folder);
            match description.tables() {
                Some(tables) => sessions_in(tables, found),
                None => found,
            }
        }
    }
}

/// The sessions in these databases.
fn sessions_in(tables: &SessionTables, databases: TranscriptList) -> TranscriptList {
    let mut found = TranscriptList { left_out: databases.left_out, ..TranscriptList::default() };
    for database in databases.files {
        match session_rows(tables).sessions(&database) {
            Ok(sessions) => {
                found.files.extend(sessions.iter().map(|session| session_in(&database, session)));
            }
            Err(error) => found.unreadable.push((database, chain(&error))),
        }
    }
    found
}

fn session_rows(tables: &SessionTables) -> SessionRows<'_> {
    SessionRows { rows: session_column(&tables.rows), order: tables.order.as_deref() }
}

fn session_column(of: &TableColumn) -> SessionColumn<'_> {
    SessionColumn { table: &of.table, column: &of.column }
}

/// All transcripts of an agent: files in its folder, or the sessions in its database.
pub fn transcripts(agent: Agent, variable: &dyn Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    if let Some(database) = agent.database(variable) {
        let sessions = rows::sessions(&database).unwrap_or_default();
        return sessions.iter().map(|session| session_in(&database, session)).collect();
    }
    agent.folder(variable).map(|folder| agent.transcripts(&folder)).unwrap_or_default()
}

/// When a transcript was written last, in nanoseconds.
pub(super) fn written(path: &Path) -> io::Result<i64> {
    match database_session(path) {
        Some((database, _)) => last_write(&database),
        None => std::fs::metadata(path).map(|meta| nanoseconds(&meta)),
    }
}

/// Of the database and its WAL, the one written last.
pub(super) fn last_write(database: &Path) -> io::Result<i64> {
    let of = |path: &Path| std::fs::metadata(path).map(|meta| nanoseconds(&meta));
    let wal = of(&beside(database, "-wal")).unwrap_or(0);
    Ok(of(database)?.max(wal))
}

pub(super) fn nanoseconds(meta: &std::fs::Metadata) -> i64 {
    meta.mtime().saturating_mul(1_000_000_000).saturating_add(meta.mtime_nsec())
}
