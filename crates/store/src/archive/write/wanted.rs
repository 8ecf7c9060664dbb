//! Decides which of the rows that were read are written.
//!
//! Looks only at rows; the caller passes what was forgotten.

use crate::archive::Packed;
use towline_core::forget::{Gone, Whose as Speaker};
use towline_core::id::{Mark, SubagentId};
use towline_core::time::Timestamp;

/// Whether a row is part of forgotten content.
pub fn is_forgotten(gone: &Gone<'_>, row: &Packed) -> bool {
    let owner_of = |subagent: &Option<SubagentId>| match subagent {
        Some(_) => Speaker::Helper,
        None => Speaker::Session,
    };
    // The mark decides whether the turn is forgotten: the times here are those of the pieces.
    let turn_gone =
        |turn: Option<Mark>| turn.is_some_and(|turn| gone.is_turn_gone(turn, Timestamp(i64::MIN)));
    match row {
        Packed::Opened(_) | Packed::Reverted { .. } | Packed::MadeRoom { .. } => false,
        Packed::Turn(turn) => gone.is_turn_gone(turn.mark, turn.at),
        Packed::Body(body) => {
            turn_gone(body.turn) || gone.is_piece_gone(body.mark, body.at, Speaker::Session)
        }
        Packed::Detail(detail) => {
            let owner = owner_of(&detail.subagent);
            turn_gone(detail.turn) || gone.is_piece_gone(detail.mark, detail.at, owner)
        }
        Packed::Usage(usage) => {
            turn_gone(usage.turn) || gone.is_time_gone(usage.at, owner_of(&usage.subagent))
        }
        Packed::Touched { turn, .. } | Packed::Committed { turn, .. } => turn_gone(Some(*turn)),
        Packed::Settled(settled) => turn_gone(Some(settled.turn)),
    }
}

/// Whether a row justifies creating a conversation.
pub fn creates_conversation(row: &Packed) -> bool {
    match row {
        Packed::Turn(_) | Packed::Body(_) | Packed::Detail(_) | Packed::Usage(_) => true,
        Packed::Opened(_)
        | Packed::Reverted { .. }
        | Packed::MadeRoom { .. }
        | Packed::Touched { .. }
        | Packed::Committed { .. }
        | Packed::Settled(_) => false,
    }
}
