//! Decides which of the rows that were read are written.
//!
//! Looks only at rows; the caller passes what was forgotten.

use crate::archive::PackedRow;
use towline_core::forget::{ForgottenParts, PieceSource};
use towline_core::id::IdHash;
use towline_core::time::Timestamp;

pub fn is_forgotten(gone: &ForgottenParts<'_>, row: &PackedRow) -> bool {
    // The mark decides whether the turn is forgotten: the times here are those of the pieces.
    let turn_gone =
        |turn: Option<IdHash>| turn.is_some_and(|turn| gone.is_turn_erased(turn, Timestamp(i64::MIN)));
    match row {
        PackedRow::Opened(_)
        | PackedRow::Reverted { .. }
        | PackedRow::MadeRoom { .. }
        | PackedRow::ReadAgain => false,
        PackedRow::Turn(turn) => gone.is_turn_erased(turn.mark, turn.at),
        PackedRow::Body(body) => {
            turn_gone(body.turn) || gone.is_piece_erased(body.mark, body.at, PieceSource::Session)
        }
        PackedRow::Detail(detail) => {
            let source = PieceSource::of(detail.subagent.as_ref());
            turn_gone(detail.turn) || gone.is_piece_erased(detail.mark, detail.at, source)
        }
        PackedRow::Usage(usage) => {
            turn_gone(usage.turn) || gone.is_time_erased(usage.at, PieceSource::of(usage.subagent.as_ref()))
        }
        PackedRow::Touched { turn, .. } | PackedRow::Committed { turn, .. } => turn_gone(Some(*turn)),
        PackedRow::Settled(settled) => turn_gone(Some(settled.turn)),
    }
}

/// Whether a row justifies creating a conversation.
pub fn creates_conversation(row: &PackedRow) -> bool {
    matches!(row, PackedRow::Turn(_) | PackedRow::Body(_) | PackedRow::Detail(_) | PackedRow::Usage(_))
}
