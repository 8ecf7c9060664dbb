//! Decides which of the rows that were read are written.
//!
//! Looks only at rows; the caller passes what was forgotten.

use crate::archive::PackedRow;
use towline_core::forget::{ForgottenParts, PieceSource as Speaker};
use towline_core::id::{IdHash, SubagentId};
use towline_core::time::Timestamp;

/// Whether a row is part of forgotten content.
pub fn is_forgotten(gone: &ForgottenParts<'_>, row: &PackedRow) -> bool {
    let owner_of = |subagent: &Option<SubagentId>| match subagent {
        Some(_) => Speaker::Helper,
        None => Speaker::Session,
    };
    // The mark decides whether the turn is forgotten: the times here are those of the pieces.
    let turn_gone =
        |turn: Option<IdHash>| turn.is_some_and(|turn| gone.is_turn_erased(turn, Timestamp(i64::MIN)));
    match row {
        PackedRow::Opened(_) | PackedRow::Reverted { .. } | PackedRow::MadeRoom { .. } => false,
        PackedRow::Turn(turn) => gone.is_turn_erased(turn.mark, turn.at),
        PackedRow::Body(body) => {
            turn_gone(body.turn) || gone.is_piece_erased(body.mark, body.at, Speaker::Session)
        }
        PackedRow::Detail(detail) => {
            let owner = owner_of(&detail.subagent);
            turn_gone(detail.turn) || gone.is_piece_erased(detail.mark, detail.at, owner)
        }
        PackedRow::Usage(usage) => {
            turn_gone(usage.turn) || gone.is_time_erased(usage.at, owner_of(&usage.subagent))
        }
        PackedRow::Touched { turn, .. } | PackedRow::Committed { turn, .. } => turn_gone(Some(*turn)),
        PackedRow::Settled(settled) => turn_gone(Some(settled.turn)),
    }
}

/// Whether a row justifies creating a conversation.
pub fn creates_conversation(row: &PackedRow) -> bool {
    match row {
        PackedRow::Turn(_) | PackedRow::Body(_) | PackedRow::Detail(_) | PackedRow::Usage(_) => true,
        PackedRow::Opened(_)
        | PackedRow::Reverted { .. }
        | PackedRow::MadeRoom { .. }
        | PackedRow::Touched { .. }
        | PackedRow::Committed { .. }
        | PackedRow::Settled(_) => false,
    }
}
