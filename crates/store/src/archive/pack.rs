//! Prepares rows for writing, away from the database: owned, and compressed if that saves space.
//!
//! Several files can be read in parallel while one thread writes. Does not decide which rows are kept.

use crate::columns::{Columns, FromRow};
use crate::{Result, StoreError};
use std::io;
use towline_core::capture::{
    CapturedDetail, CapturedMessage, CapturedRow, DetailKind, FileAccess, TurnStart, TurnState, UsageRow,
};
use towline_core::deed::Commit;
use towline_core::event::ToolOutcome;
use towline_core::id::{IdHash, SubagentId};
use towline_core::project::ProjectIdentity;
use towline_core::time::Timestamp;

/// Shorter texts gain too little to be worth compressing.
const WORTH_PACKING: usize = 1024;

/// Fast: every detail is compressed once, few are ever read.
const LEVEL: i32 = 1;

/// No text exceeds this limit; a frame that claims more is damaged.
const LARGEST: usize = 64 << 20;

/// A row that borrows nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum PackedRow {
    Opened(PackedOpening),
    Turn(TurnStart<'static>),
    Body(CapturedMessage<'static>),
    Detail(PackedDetail),
    Usage(UsageRow<'static>),
    Touched { turn: IdHash, path: String, how: FileAccess },
    Committed { turn: IdHash, commit: Commit },
    Settled(TurnState),
    Reverted { from: u64, at: Timestamp },
    MadeRoom { at: Timestamp },
    ReadAgain,
}

/// The session of a file. The caller resolves the project, because only it can look at the folder.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedOpening {
    pub session: String,
    pub folder: Option<String>,
    /// As the transcript names it: what is checked out when the file is read may be another one.
    pub(super) branch: Option<String>,
    pub project: Option<ProjectIdentity>,
    pub(super) base: Option<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PackedDetail {
    pub(super) turn: Option<IdHash>,
    pub(super) mark: IdHash,
    pub(super) place: u64,
    pub(super) at: Timestamp,
    pub(super) subagent: Option<SubagentId>,
    pub(super) kind: DetailKind,
    pub(super) tool: Option<String>,
    pub(super) call: Option<IdHash>,
    pub(super) outcome: Option<ToolOutcome>,
    pub(super) size: usize,
    pub(super) cut: usize,
    pub(super) content: DetailBytes,
}

/// The bytes of a detail as stored.
#[derive(Clone, Debug, PartialEq)]
pub enum DetailBytes {
    Plain(Vec<u8>),
    Packed(Vec<u8>),
}

/// Packs rows; reuses the compressor's memory between them.
pub struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
}

impl Packer {
    pub fn new() -> io::Result<Packer> {
        Ok(Packer { compressor: zstd::bulk::Compressor::new(LEVEL)? })
    }

    pub fn pack(&mut self, row: CapturedRow<'_>) -> PackedRow {
        match row {
            CapturedRow::Opened { session, folder, branch, base } => PackedRow::Opened(PackedOpening {
                session: session.into_owned(),
                folder: folder.map(Into::into),
                branch: branch.map(Into::into),
                project: None,
                base: base.map(|base| (base.session.into_owned(), base.before)),
            }),
            CapturedRow::Turn(turn) => PackedRow::Turn(TurnStart {
                mark: turn.mark,
                id: turn.id.into_owned().into(),
                place: turn.place,
                at: turn.at,
                origin: turn.origin,
                agent_turn: turn.agent_turn,
            }),
            CapturedRow::Body(body) => PackedRow::Body(CapturedMessage {
                turn: body.turn,
                mark: body.mark,
                message: body.message.into_owned().into(),
                place: body.place,
                at: body.at,
                speaker: body.speaker,
                text: body.text.into_owned(),
            }),
            CapturedRow::Detail(detail) => PackedRow::Detail(self.detail(detail)),
            CapturedRow::Usage(usage) => PackedRow::Usage(UsageRow {
                turn: usage.turn,
                message: usage.message.into_owned().into(),
                model: usage.model.map(|model| model.into_owned().into()),
                tokens: usage.tokens,
                at: usage.at,
                subagent: usage.subagent,
            }),
            CapturedRow::Touched { turn, path, how } => PackedRow::Touched { turn, path, how },
            CapturedRow::Committed { turn, commit } => PackedRow::Committed { turn, commit },
            CapturedRow::Settled(settled) => PackedRow::Settled(settled),
            CapturedRow::Reverted { from, at } => PackedRow::Reverted { from, at },
            CapturedRow::MadeRoom { at } => PackedRow::MadeRoom { at },
            CapturedRow::ReadAgain => PackedRow::ReadAgain,
        }
    }

    fn detail(&mut self, detail: CapturedDetail<'_>) -> PackedDetail {
        let text = detail.text.as_str();
        PackedDetail {
            turn: detail.turn,
            mark: detail.mark,
            place: detail.place,
            at: detail.at,
            subagent: detail.subagent,
            kind: detail.kind,
            tool: detail.tool.map(Into::into),
            call: detail.call,
            outcome: detail.outcome,
            size: text.len(),
            cut: detail.text.cut_bytes(),
            content: self.content(text),
        }
    }

    /// Keeps the text plain if compression fails or does not make it smaller.
    pub(super) fn content(&mut self, text: &str) -> DetailBytes {
        let packed = (text.len() >= WORTH_PACKING).then(|| self.compressor.compress(text.as_bytes()).ok());
        match packed.flatten() {
            Some(packed) if packed.len() < text.len() => DetailBytes::Packed(packed),
            Some(_) | None => DetailBytes::Plain(text.as_bytes().to_vec()),
        }
    }
}

/// Reads whether it is packed, and its bytes.
impl FromRow for DetailBytes {
    fn read(columns: &mut Columns<'_>) -> rusqlite::Result<Self> {
        let (is_packed, bytes) = columns.get()?;
        Ok(DetailBytes::stored(is_packed, bytes))
    }
}

impl DetailBytes {
    fn stored(is_packed: bool, bytes: Vec<u8>) -> DetailBytes {
        if is_packed { DetailBytes::Packed(bytes) } else { DetailBytes::Plain(bytes) }
    }

    /// Whether it is packed, and its bytes.
    pub(super) fn columns(&self) -> (bool, &[u8]) {
        match self {
            DetailBytes::Plain(bytes) => (false, bytes),
            DetailBytes::Packed(bytes) => (true, bytes),
        }
    }

    /// Decodes the stored bytes.
    pub(super) fn text(&self) -> Result<String> {
        let bytes = match self {
            DetailBytes::Plain(bytes) => bytes.clone(),
            DetailBytes::Packed(bytes) => decompress(bytes)?,
        };
        let lossy =
            |error: std::string::FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
        Ok(String::from_utf8(bytes).unwrap_or_else(lossy))
    }
}

/// Unpacks one text after the other; reuses the decompressor and its memory.
#[derive(Default)]
pub(super) struct Unpacker {
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
    buffer: Vec<u8>,
}

impl Unpacker {
    /// The text of stored bytes, without those that are no text.
    pub(super) fn text<'a>(&'a mut self, is_packed: bool, content: &'a [u8]) -> Result<&'a str> {
        let bytes = if is_packed { self.decompressed(content)? } else { content };
        Ok(std::str::from_utf8(bytes)
            .unwrap_or_else(|error| std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()))
    }

    fn decompressed(&mut self, content: &[u8]) -> Result<&[u8]> {
        let failed = |source| StoreError::Unpack { source };
        let size = zstd::bulk::Decompressor::upper_bound(content).unwrap_or(LARGEST).min(LARGEST);
        if self.decompressor.is_none() {
            self.decompressor = Some(zstd::bulk::Decompressor::new().map_err(failed)?);
        }
        self.buffer.clear();
        self.buffer.reserve(size);
        if let Some(decompressor) = &mut self.decompressor {
            decompressor.decompress_to_buffer(content, &mut self.buffer).map_err(failed)?;
        }
        Ok(&self.buffer)
    }
}

/// The text of a detail's row; empty if it cannot be decompressed.
pub(crate) fn unpacked(is_packed: bool, content: Vec<u8>) -> String {
    DetailBytes::stored(is_packed, content).text().unwrap_or_default()
}

fn decompress(content: &[u8]) -> Result<Vec<u8>> {
    let size = zstd::bulk::Decompressor::upper_bound(content).unwrap_or(LARGEST).min(LARGEST);
    zstd::bulk::decompress(content, size).map_err(|source| StoreError::Unpack { source })
}
