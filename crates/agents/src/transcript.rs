//! Shared parts of all agents' transcript parsers: lines, the pieces of an entry, and the bounded state between lines.
//!
//! Knows no agent and interprets no entry.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Display;
use towline_core::event::PromptOrigin;
use towline_core::id::{SubagentId, TurnId};
use towline_core::piece::{PieceContent, TranscriptPiece};
use towline_core::time::Timestamp;

/// Why a line could not be read. The text does not repeat the line, which may hold anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("the line is not valid UTF-8")]
    NotText,
    #[error("the line is not a JSON object")]
    NotJson,
}

/// Parses a line, borrowing from it and skipping unrequested values. `None` for a blank line.
pub(crate) fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<Option<T>, LineError> {
    if line.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Ok(None);
    }
    serde_json::from_str(line).map(Some).map_err(|_| LineError::NotJson)
}

/// A prompt that consists of this alone is a bookmark.
pub(crate) use towline_core::bookmark::MARKER as BOOKMARK;

/// The origin of a prompt sent from the user's input box.
pub(crate) fn prompt_origin(text: &str) -> PromptOrigin {
    if text.trim() == BOOKMARK { PromptOrigin::Bookmark } else { PromptOrigin::Human }
}

/// The pieces of a transcript, in order.
pub(crate) type Found<'a> = Vec<TranscriptPiece<'a>>;

/// The fields that all pieces of one transcript entry share.
pub(crate) struct EntryHead<'a> {
    pub id: Cow<'a, str>,
    pub place: u64,
    pub at: Timestamp,
    pub turn: Option<TurnId>,
    pub subagent: Option<SubagentId>,
}

impl<'a> EntryHead<'a> {
    /// The entry's main piece.
    pub fn main_piece(&self, content: PieceContent<'a>) -> TranscriptPiece<'a> {
        self.piece(self.id.clone(), content)
    }

    /// A secondary piece. `part` must be the same each time the entry is read.
    pub fn part(&self, part: impl Display, content: PieceContent<'a>) -> TranscriptPiece<'a> {
        self.piece(Cow::Owned(format!("{}#{part}", self.id)), content)
    }

    /// One of several pieces of the same kind.
    pub fn block(&self, index: usize, content: PieceContent<'a>) -> TranscriptPiece<'a> {
        if index == 0 { self.main_piece(content) } else { self.part(index, content) }
    }

    pub fn piece(&self, id: Cow<'a, str>, content: PieceContent<'a>) -> TranscriptPiece<'a> {
        let (turn, subagent) = (self.turn.clone(), self.subagent.clone());
        TranscriptPiece { id, place: self.place, at: self.at, turn, subagent, what: content }
    }
}

/// The number of bytes that a base64 text decodes to.
pub(crate) fn decoded_length(base64: &str) -> u64 {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    let characters = u64::try_from(base64.len() - padding.min(base64.len())).unwrap_or(0);
    characters * 3 / 4
}

/// Concatenates texts without copying if there is only one.
pub(crate) fn joined<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>, between: &str) -> Cow<'a, str> {
    let mut texts = texts.into_iter();
    let Some(mut all) = texts.next() else { return Cow::Borrowed("") };
    for text in texts {
        let all = all.to_mut();
        all.push_str(between);
        all.push_str(&text);
    }
    all
}

/// Checksums of the last few entries, to recognise one that repeats soon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RecentSums(VecDeque<u32>);

impl RecentSums {
    const MOST: usize = 16;

    /// Adds an entry; `false` if it was already there.
    pub fn insert(&mut self, parts: &[&[u8]]) -> bool {
        let checksum = checksum(parts);
        if self.0.contains(&checksum) {
            return false;
        }
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(checksum);
        true
    }

    pub fn contains(&self, parts: &[&[u8]]) -> bool {
        self.0.contains(&checksum(parts))
    }
}

/// Start offsets of the last turns. A rewind beyond them goes unnoticed, and the turns it removed stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TurnStarts(VecDeque<(u32, u64)>);

impl TurnStarts {
    const MOST: usize = 128;

    /// Records that the turn with this checksum began at `place`.
    pub fn begin(&mut self, checksum: u32, place: u64) {
        if self.0.len() >= Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back((checksum, place));
    }

    /// Removes the turn with this checksum and all later ones; returns the offset where it began.
    pub fn rewind_to(&mut self, checksum: u32) -> Option<u64> {
        let index = self.0.iter().position(|(earlier, _)| *earlier == checksum)?;
        self.rewind(u64::try_from(self.0.len() - index).ok()?)
    }

    /// Removes the last `turns` turns; returns the offset where the first of them began.
    pub fn rewind(&mut self, turns: u64) -> Option<u64> {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX).min(self.0.len());
        self.0.split_off(self.0.len() - turns).front().map(|(_, place)| *place)
    }

    pub fn last(&self) -> Option<u32> {
        self.0.back().map(|(checksum, _)| *checksum)
    }
}

pub(crate) fn checksum(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
        hasher.update(&[0]);
    }
    hasher.finalize()
}
