//! Turns a transcript into rows that are ready to be written, one block of lines at a time.
//!
//! Opens only the transcript and writes nothing, so several files can be read in parallel.

use super::Transcript;
use super::lines::LineReader;
use super::opened::{Opened, about, file_of, nanoseconds};
use super::private::PrivateTurns;
use super::rules::{Admission, Wishes};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use towline_agents::TranscriptReader;
use towline_agents::described::TranscriptWriter;
use towline_core::capture::{CaptureRules, CaptureState, CapturedRow, FilePrivacy};
use towline_core::event::PromptOrigin;
use towline_core::forget::{Forgotten, ForgottenParts, marks_of};
use towline_core::id::{AgentName, SessionId, SessionKey};
use towline_core::piece::{PieceContent, TranscriptPiece};
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;
use towline_store::archive::{PackedRow, Packer, ReadPosition, TranscriptSource};

/// Enough of a file's start to tell it from another one.
const HEAD: usize = 4096;
/// Enough before the offset to detect that the file was rewritten up to there.
const TAIL: u64 = 1024;

/// A batch of rows, and the read state after it.
pub struct Step {
    pub rows: Vec<PackedRow>,
    pub reading: ReadPosition,
}

/// The parser state kept between two reads of a file.
#[derive(Serialize, Deserialize)]
struct ParserState {
    reader: TranscriptReader,
    gatherer: CaptureState,
    /// Of a whole JSON file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    document: Option<DocumentSize>,
}

/// A whole JSON file when it was parsed.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct DocumentSize {
    bytes: u64,
    /// The length of the lines that it was rendered as.
    lines: u64,
}

impl DocumentSize {
    fn of(opened: &Opened) -> io::Result<Option<DocumentSize>> {
        let lines = opened.size()?;
        Ok(opened.document_bytes().map(|bytes| DocumentSize { bytes, lines }))
    }
}

/// Whether a whole JSON file was read to its end and not written since: then it need not be parsed.
pub(super) fn is_unwritten_document(file: &Transcript, reading: &ReadPosition) -> bool {
    let Some(read) = ParserState::stored(file, reading).and_then(|state| state.document) else {
        return false;
    };
    let now = file_of(&file.agent, &file.path).and_then(|file| file.metadata());
    read.lines == reading.offset
        && now.is_ok_and(|now| now.len() == read.bytes && nanoseconds(&now) == reading.modified)
}

impl ParserState {
    /// As the last read left it; `None` if it cannot be used.
    fn stored(file: &Transcript, reading: &ReadPosition) -> Option<ParserState> {
        let ParserState { reader, gatherer, document } = serde_json::from_str(&reading.state).ok()?;
        let mut reader = file.agent.continued(reader)?;
        if reader.mapped().is_some_and(|state| state.lacks_folder()) {
            // The file about the session came later: what was captured without the folder is read again with it.
            let mut told = first_reader(file)?;
            told.mapped().filter(|told| told.lacks_folder())?;
        }
        Some(ParserState { reader, gatherer, document })
    }

    /// For the beginning of a file; `None` for one that is none of its agent's.
    fn fresh(file: &Transcript) -> Option<ParserState> {
        Some(ParserState { reader: first_reader(file)?, gatherer: CaptureState::default(), document: None })
    }
}

/// A reader for the beginning of a file; `None` for one that is none of its agent's.
pub(super) fn first_reader(file: &Transcript) -> Option<TranscriptReader> {
    file.agent.reader(&file.path, about(&file.agent, &file.path).as_deref())
}

/// Looks for the folder of a described agent's session in the lines that will be read, before any of them is. Returns
/// whether the session is captured: one that may be in an excluded folder is not.
fn find_place(
    reader: &mut TranscriptReader,
    lines: &mut LineReader<'_>,
    wishes: &Wishes,
) -> io::Result<bool> {
    let Some(state) = reader.mapped() else { return Ok(true) };
    while state.lacks_folder()
        && let Some(block) = lines.next()?
    {
        block.lines.split(|byte| *byte == b'\n').for_each(|line| state.find_folder(line));
    }
    Ok(wishes.place(state.folder(), None) == Admission::Wanted)
}

/// Buffers and project lookups that are reused from file to file.
pub struct Kit {
    packer: Packer,
    buffer: Vec<u8>,
    projects: HashMap<String, ProjectIdentity>,
    private: PrivateTurns,
}

impl Kit {
    pub fn new() -> io::Result<Kit> {
        let (projects, private) = (HashMap::new(), PrivateTurns::default());
        Ok(Kit { packer: Packer::new()?, buffer: Vec::new(), projects, private })
    }
}

pub struct Steps<'w> {
    agent: TranscriptWriter,
    lines: LineReader<'w>,
    memory: ParserState,
    reading: ReadPosition,
    wishes: &'w Wishes,
    /// Erased content that must not come back: all of it, and the part that concerns this file's session.
    forgotten: &'w Forgotten,
    gone: Option<ForgottenParts<'w>>,
    packer: &'w mut Packer,
    projects: &'w mut HashMap<String, ProjectIdentity>,
    private: &'w mut PrivateTurns,
    path: PathBuf,
    is_excluded: bool,
}

impl<'w> Steps<'w> {
    /// Opens a file at its last offset. A replaced or rewritten file is read from the start; `None` if there
    /// is nothing new, or no file.
    pub fn open(
        file: &Transcript,
        source: &mut TranscriptSource,
        wishes: &'w Wishes,
        forgotten: &'w Forgotten,
        kit: &'w mut Kit,
    ) -> io::Result<Option<Self>> {
        if file.agent.document().is_some() && is_unwritten_document(file, &source.reading) {
            return Ok(None);
        }
        let opened = match Opened::of(&file.agent, &file.path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let size = opened.size()?;
        // What was read by another description means something else now.
        let is_outdated = file.agent.is_described() && ParserState::stored(file, &source.reading).is_none();
        if !is_outdated && is_known_whole(size, opened.modified()?, &source.reading) {
            return Ok(None);
        }
        let is_rewritten = source.reading.offset > 0 && !is_the_same(&opened, size, &source.reading)?;
        if is_outdated || is_rewritten {
            *source = TranscriptSource::fresh(&source.agent, &source.path);
        }
        if size <= source.reading.offset {
            return Ok(None);
        }
        let memory = ParserState::stored(file, &source.reading);
        let offset = if memory.is_some() { source.reading.offset } else { 0 };
        let Some(mut memory) = memory.or_else(|| ParserState::fresh(file)) else { return Ok(None) };
        if is_rewritten {
            memory.reader.read_again();
        }
        memory.document = DocumentSize::of(&opened)?;
        let mut lines = LineReader::from(opened, offset, &mut kit.buffer)?;
        if !find_place(&mut memory.reader, &mut lines, wishes)? {
            return Ok(None);
        }
        lines.go_to(offset)?;
        Ok(Some(Self {
            agent: file.agent.clone(),
            lines,
            memory,
            reading: ReadPosition { offset, ..source.reading.clone() },
            wishes,
            forgotten,
            gone: source.forgotten_parts(forgotten),
            packer: &mut kit.packer,
            projects: &mut kit.projects,
            private: &mut kit.private,
            path: file.path.clone(),
            is_excluded: false,
        }))
    }

    /// The next rows; `None` at the end of the file, or if its session is excluded.
    pub fn next(&mut self) -> io::Result<Option<Step>> {
        if self.is_excluded {
            return Ok(None);
        }
        let Some(block) = self.lines.next()? else { return Ok(None) };
        if block.passed_over {
            // An unreadable line still counts as a line.
            let _ = self.memory.reader.read(&[0xff], &mut vec![]);
        }
        self.reading.offset = block.end;
        let (agent, wishes, forgotten) = (&self.agent, self.wishes, self.forgotten);
        let gone_of =
            |session: &str, folder: Option<&str>| gone_of(forgotten, agent, session, wishes, folder);
        let (memory, packer) = (&mut self.memory, &mut *self.packer);
        let (private, path) = (&mut *self.private, &self.path);
        let mut began_privately = |session: &str, at: Timestamp| private.started(agent, path, session, at);
        let (mut rows, gone) = wishes.with_rules(agent, self.gone.take(), |rules| {
            let origin = |said, prompt: &str| wishes.origin(said, prompt);
            let mut gathering = LineGatherer {
                memory,
                packer,
                rules,
                gone_of: &gone_of,
                origin: &origin,
                began_privately: &mut began_privately,
            };
            let rows = gathering.rows(block.lines);
            (rows, gathering.rules.gone.take())
        });
        self.gone = gone;
        self.find_projects(&mut rows);
        if self.is_excluded {
            return Ok(None);
        }
        self.note_where()?;
        Ok(Some(Step { rows, reading: self.reading.clone() }))
    }

    /// The session's folder determines its project, and whether anything of it may be kept.
    fn find_projects(&mut self, rows: &mut [PackedRow]) {
        for row in rows {
            let PackedRow::Opened(opening) = row else { continue };
            self.is_excluded |= !self.wishes.takes(opening.folder.as_deref());
            let Some(folder) = &opening.folder else { continue };
            let traces =
                self.projects.entry(folder.clone()).or_insert_with(|| self.wishes.traces(Path::new(folder)));
            opening.project = Some(traces.clone());
        }
    }

    fn note_where(&mut self) -> io::Result<()> {
        if self.reading.head_bytes < HEAD as u32 {
            let bytes = HEAD.min(usize::try_from(self.reading.offset).unwrap_or(HEAD));
            self.reading.head = checksum(self.lines.file(), 0, bytes as u64)?;
            self.reading.head_bytes = u32::try_from(bytes).unwrap_or(0);
        }
        self.reading.tail = tail(self.lines.file(), self.reading.offset)?;
        self.reading.modified = self.lines.file().modified()?;
        self.reading.state = serde_json::to_string(&self.memory).unwrap_or_default();
        Ok(())
    }
}

/// The erased parts of a session that worked in this folder.
fn gone_of<'f>(
    forgotten: &'f Forgotten,
    agent: &TranscriptWriter,
    session: &str,
    wishes: &Wishes,
    folder: Option<&str>,
) -> Option<ForgottenParts<'f>> {
    if forgotten.is_empty() {
        return None;
    }
    let project = folder.map(|folder| marks_of(&wishes.traces(Path::new(folder)))).unwrap_or_default();
    let (agent, id) = (AgentName::parse(agent.name()).ok()?, SessionId::parse(session).ok()?);
    forgotten.of(&SessionKey { agent, id }, &project)
}

struct LineGatherer<'g, 'r, 'f> {
    memory: &'g mut ParserState,
    packer: &'g mut Packer,
    rules: &'g mut CaptureRules<'r, 'f>,
    gone_of: &'g dyn Fn(&str, Option<&str>) -> Option<ForgottenParts<'f>>,
    origin: &'g dyn Fn(PromptOrigin, &str) -> PromptOrigin,
    /// Whether a private turn of this session started the subagent that began at this time.
    began_privately: &'g mut dyn FnMut(&str, Timestamp) -> bool,
}

impl LineGatherer<'_, '_, '_> {
    fn rows(&mut self, lines: &[u8]) -> Vec<PackedRow> {
        let mut packed = vec![];
        let mut found = vec![];
        let mut rows: Vec<CapturedRow<'_>> = vec![];
        let mut early = vec![];
        let mut rest = lines;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            // An unparsable line yields no pieces, but still counts as a line.
            let _ = self.memory.reader.read(line, &mut found);
            for mut piece in found.drain(..) {
                if let PieceContent::Prompt { text, origin } = &mut piece.what {
                    *origin = (self.origin)(*origin, text);
                }
                if let PieceContent::Opened { session, folder, .. } = &piece.what {
                    self.rules.gone = (self.gone_of)(session, folder.as_deref());
                    if piece.subagent.is_some() && (self.began_privately)(session, piece.at) {
                        self.memory.gatherer.hide_all();
                    }
                }
                let is_early = piece.subagent.is_none() && piece.what.has_text();
                if is_early && !self.memory.gatherer.has_turn() {
                    early.push(piece);
                    self.take_early(&mut early, &mut rows);
                } else {
                    self.memory.gatherer.take(piece, self.rules, &mut rows);
                }
            }
            packed.extend(rows.drain(..).map(|row| self.packer.pack(row)));
        }
        early.into_iter().for_each(|piece| self.memory.gatherer.take(piece, self.rules, &mut rows));
        packed.extend(rows.drain(..).map(|row| self.packer.pack(row)));
        packed.extend(self.memory.gatherer.current_turn().map(|row| self.packer.pack(row)));
        packed
    }
}

impl LineGatherer<'_, '_, '_> {
    /// Takes what precedes the first prompt together with it: a client may write an answer before the prompt that it
    /// answers, and the prompt may be private.
    fn take_early<'a>(&mut self, early: &mut Vec<TranscriptPiece<'a>>, rows: &mut Vec<CapturedRow<'a>>) {
        let Some(PieceContent::Prompt { text, origin }) = early.last().map(|piece| &piece.what) else {
            return;
        };
        let hidden = if FilePrivacy::Open.hides_turn(text, *origin) { early.len() - 1 } else { 0 };
        for piece in early.drain(..).skip(hidden) {
            self.memory.gatherer.take(piece, self.rules, rows);
        }
    }
}

/// Whether the file is unchanged since it was read to its end.
fn is_known_whole(size: u64, modified: i64, reading: &ReadPosition) -> bool {
    size == reading.offset && reading.offset > 0 && modified == reading.modified
}

/// Whether there is nothing to read. A file of the same length counts as read; lines that were rendered are compared, because
/// others of the same length may have taken their place.
pub(super) fn is_read(file: &Opened, reading: &ReadPosition) -> io::Result<bool> {
    let size = file.size()?;
    Ok(size == reading.offset && (!file.is_rendered() || is_the_same(file, size, reading)?))
}

/// Whether the file's start and the bytes before the offset are unchanged.
fn is_the_same(file: &Opened, size: u64, reading: &ReadPosition) -> io::Result<bool> {
    Ok(size >= reading.offset
        && checksum(file, 0, reading.head_bytes.into())? == reading.head
        && tail(file, reading.offset)? == reading.tail)
}

fn tail(file: &Opened, offset: u64) -> io::Result<u32> {
    let from = offset.saturating_sub(TAIL);
    checksum(file, from, offset - from)
}

/// Checksum of the bytes that exist in that range.
fn checksum(file: &Opened, from: u64, bytes: u64) -> io::Result<u32> {
    let bytes = file.bytes_at(from, usize::try_from(bytes).unwrap_or(HEAD))?;
    Ok(crc32fast::hash(&bytes))
}
