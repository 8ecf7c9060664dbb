//! Prepares rows for writing, away from the database: owned, and compressed if that saves space.
//!
//! Several files can be read in parallel while one thread writes. Does not decide which rows are kept.

use crate::StoreError;
use std::io;
use towline_core::capture::{DetailKind, Row, Settled, Speaker, Touch};
use towline_core::deed::Commit;
use towline_core::event::{Origin, ToolOutcome};
use towline_core::id::{Mark, SubagentId, TurnId};
use towline_core::piece::Tokens;
use towline_core::project::ProjectTraces;
use towline_core::time::Timestamp;

/// Shorter texts gain too little to be worth compressing.
const WORTH_PACKING: usize = 1024;

/// Fast: every detail is compressed once, few are ever read.
const LEVEL: i32 = 1;

/// No text exceeds this limit; a frame that claims more is damaged.
const LARGEST: usize = 64 << 20;

/// A row that borrows nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Packed {
    Opened(PackedOpening),
    Turn(PackedTurn),
    Body(PackedBody),
    Detail(PackedDetail),
    Usage(PackedUsage),
    Touched { turn: Mark, path: String, how: Touch },
    Committed { turn: Mark, commit: Commit },
    Settled(Settled),
    Reverted { from: u64, at: Timestamp },
    MadeRoom { at: Timestamp },
}

/// The session of a file. The caller resolves the project, because only it can look at the folder.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedOpening {
    pub session: String,
    pub folder: Option<String>,
    pub project: Option<ProjectTraces>,
    pub(super) base: Option<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PackedTurn {
    pub(super) mark: Mark,
    pub(super) id: String,
    pub(super) place: u64,
    pub(super) at: Timestamp,
    pub(super) origin: Origin,
    pub(super) agent_turn: Option<TurnId>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PackedBody {
    pub(super) turn: Option<Mark>,
    pub(super) mark: Mark,
    pub(super) message: String,
    pub(super) place: u64,
    pub(super) at: Timestamp,
    pub(super) speaker: Speaker,
    pub(super) cut: i64,
    pub(super) text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PackedDetail {
    pub(super) turn: Option<Mark>,
    pub(super) mark: Mark,
    pub(super) place: u64,
    pub(super) at: Timestamp,
    pub(super) subagent: Option<SubagentId>,
    pub(super) kind: DetailKind,
    pub(super) tool: Option<String>,
    pub(super) call: Option<Mark>,
    pub(super) outcome: Option<ToolOutcome>,
    pub(super) size: i64,
    pub(super) cut: i64,
    pub(super) content: DetailBytes,
}

/// The bytes of a detail as stored.
#[derive(Clone, Debug, PartialEq)]
pub enum DetailBytes {
    Plain(Vec<u8>),
    Packed(Vec<u8>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct PackedUsage {
    pub(super) turn: Option<Mark>,
    pub(super) message: String,
    pub(super) model: Option<String>,
    pub(super) tokens: Tokens,
    pub(super) at: Timestamp,
    pub(super) subagent: Option<SubagentId>,
}

/// Packs rows; reuses the compressor's memory between them.
pub struct Packer {
    compressor: zstd::bulk::Compressor<'static>,
}

impl Packer {
    pub fn new() -> io::Result<Packer> {
        Ok(Packer { compressor: zstd::bulk::Compressor::new(LEVEL)? })
    }

    pub fn pack(&mut self, row: Row<'_>) -> Packed {
        match row {
            Row::Opened { session, folder, base } => Packed::Opened(PackedOpening {
                session: session.into_owned(),
                folder: folder.map(Into::into),
                project: None,
                base: base.map(|base| (base.session.into_owned(), base.before)),
            }),
            Row::Turn(turn) => Packed::Turn(PackedTurn {
                mark: turn.mark,
                id: turn.id.into_owned(),
                place: turn.place,
                at: turn.at,
                origin: turn.origin,
                agent_turn: turn.agent_turn,
            }),
            Row::Body(body) => Packed::Body(PackedBody {
                turn: body.turn,
                mark: body.mark,
                message: body.message.into_owned(),
                place: body.place,
                at: body.at,
                speaker: body.speaker,
                cut: length(body.text.cut_bytes()),
                text: body.text.as_str().to_owned(),
            }),
            Row::Detail(detail) => Packed::Detail(self.detail(detail)),
            Row::Usage(usage) => Packed::Usage(PackedUsage {
                turn: usage.turn,
                message: usage.message.into_owned(),
                model: usage.model.map(Into::into),
                tokens: usage.tokens,
                at: usage.at,
                subagent: usage.subagent,
            }),
            Row::Touched { turn, path, how } => Packed::Touched { turn, path, how },
            Row::Committed { turn, commit } => Packed::Committed { turn, commit },
            Row::Settled(settled) => Packed::Settled(settled),
            Row::Reverted { from, at } => Packed::Reverted { from, at },
            Row::MadeRoom { at } => Packed::MadeRoom { at },
        }
    }

    fn detail(&mut self, detail: towline_core::capture::Detail<'_>) -> PackedDetail {
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
            size: length(text.len()),
            cut: length(detail.text.cut_bytes()),
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

impl DetailBytes {
    /// Decodes the stored bytes.
    pub(super) fn text(self) -> Result<String, StoreError> {
        let bytes = match self {
            DetailBytes::Plain(bytes) => bytes,
            DetailBytes::Packed(bytes) => decompress(&bytes)?,
        };
        let lossy =
            |error: std::string::FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
        Ok(String::from_utf8(bytes).unwrap_or_else(lossy))
    }
}

/// The text of a detail's row; empty if it cannot be decompressed.
pub(crate) fn unpacked(is_packed: bool, content: Vec<u8>) -> String {
    let content = if is_packed { DetailBytes::Packed(content) } else { DetailBytes::Plain(content) };
    content.text().unwrap_or_default()
}

fn decompress(content: &[u8]) -> Result<Vec<u8>, StoreError> {
    let size = zstd::bulk::Decompressor::upper_bound(content).unwrap_or(LARGEST).min(LARGEST);
    zstd::bulk::decompress(content, size).map_err(|source| StoreError::Unpack { source })
}

fn length(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
