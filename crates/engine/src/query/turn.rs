//! The content of a turn: its messages and details, selected and clipped.
//!
//! Details beyond the room are not decompressed.

use super::past::{Past, unreadable_data};
use super::room::{Clipped, Room};
use crate::runtime::Failure;
use towline_core::capture::{DetailKind, Speaker};
use towline_core::time::Timestamp;
use towline_store::archive::{Conversation, DetailRow, TurnRow};

/// Default limits of the text of a result, and of a single detail.
pub const BYTES: usize = 24_000;
pub const BYTES_OF_ONE: usize = 1_000_000;

/// Limits for one text among several; a detail requested alone is bound only by the room.
pub const LONGEST_MESSAGE: usize = 8_000;
const LONGEST_DETAIL: usize = 2_000;

/// Whether the agent's thinking is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    Shown,
    Hidden,
}

/// The selected and clipped content of a turn.
pub struct TurnView {
    pub of: Conversation,
    pub turn: TurnRow,
    pub messages: Vec<MessageView>,
    pub details: Vec<DetailView>,
    /// Number of thinking details hidden.
    pub hidden_thinking: usize,
    /// Number of details beyond the room.
    pub left_out: usize,
}

pub struct MessageView {
    pub message: String,
    pub speaker: Speaker,
    pub at: Timestamp,
    pub text: Clipped,
}

pub struct DetailView {
    pub row: DetailRow,
    pub text: Clipped,
}

/// Reads as much as fits: messages first, then details in order.
pub fn view(
    past: &Past,
    of: Conversation,
    turn: TurnRow,
    mut room: Room,
    thinking: Thinking,
) -> Result<TurnView, Failure> {
    let messages = messages(past, &turn, &mut room, LONGEST_MESSAGE)?;
    let all = past.archive.details(&turn).map_err(unreadable_data)?;
    let is_hidden = |row: &DetailRow| thinking == Thinking::Hidden && row.kind == DetailKind::Thinking;
    let (hidden, wanted): (Vec<_>, Vec<_>) = all.into_iter().partition(is_hidden);
    let (mut details, number) = (vec![], wanted.len());
    for row in wanted {
        if room.is_exhausted() {
            break;
        }
        let text = past.archive.content(&row).map_err(unreadable_data)?;
        details.push(DetailView { row, text: room.take(text, LONGEST_DETAIL) });
    }
    let left_out = number - details.len();
    Ok(TurnView { of, turn, messages, details, hidden_thinking: hidden.len(), left_out })
}

/// The messages of a turn, each with at most `longest` bytes.
pub fn messages(
    past: &Past,
    turn: &TurnRow,
    room: &mut Room,
    longest: usize,
) -> Result<Vec<MessageView>, Failure> {
    let rows = past.archive.bodies(turn).map_err(unreadable_data)?;
    let views = rows.into_iter().map(|row| MessageView {
        message: row.message,
        speaker: row.speaker,
        at: row.at,
        text: room.take(row.text, longest),
    });
    Ok(views.collect())
}

/// One detail of a turn, clipped to the room; `Err` with the number of details if it does not exist.
pub fn view_detail(
    past: &Past,
    of: Conversation,
    turn: TurnRow,
    number: u32,
    mut room: Room,
) -> Result<Result<TurnView, usize>, Failure> {
    let mut rows = past.archive.details(&turn).map_err(unreadable_data)?;
    let Some(at) = rows.iter().position(|row| row.number == number) else { return Ok(Err(rows.len())) };
    let row = rows.swap_remove(at);
    let text = past.archive.content(&row).map_err(unreadable_data)?;
    let details = vec![DetailView { row, text: room.take(text, usize::MAX) }];
    Ok(Ok(TurnView { of, turn, messages: vec![], details, hidden_thinking: 0, left_out: 0 }))
}

/// Short id of a turn.
pub fn id_of(of: &Conversation, turn: &TurnRow) -> String {
    format!("{}#{}", of.short, turn.ordinal)
}
