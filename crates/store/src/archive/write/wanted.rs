//! Which of the rows that were read are taken in.
//!
//! Looks at rows alone; what was forgotten is told by whoever asks.

use crate::archive::Packed;
use towline_core::forget::{Gone, Whose as Speaker};
use towline_core::id::{Mark, SubagentId};
use towline_core::time::Timestamp;

/// Whether a row is part of what was forgotten.
pub fn is_gone(gone: &Gone<'_>, row: &Packed) -> bool {
    let of_helper = |helper: &Option<SubagentId>| match helper {
        Some(_) => Speaker::Helper,
        None => Speaker::Session,
    };
    // Whether the turn is gone is told by its mark: times are those of the pieces.
    let of_turn = |turn: Option<Mark>| turn.is_some_and(|turn| gone.is_turn_gone(turn, Timestamp(i64::MIN)));
    match row {
        Packed::Opened(_) | Packed::Reverted { .. } | Packed::MadeRoom { .. } => false,
        Packed::Turn(turn) => gone.is_turn_gone(turn.mark, turn.at),
        Packed::Body(body) => of_turn(body.turn) || gone.is_piece_gone(body.mark, body.at, Speaker::Session),
        Packed::Detail(detail) => {
            let whose = of_helper(&detail.subagent);
            of_turn(detail.turn) || gone.is_piece_gone(detail.mark, detail.at, whose)
        }
        Packed::Usage(usage) => {
            of_turn(usage.turn) || gone.is_time_gone(usage.at, of_helper(&usage.subagent))
        }
        Packed::Touched { turn, .. } | Packed::Committed { turn, .. } => of_turn(Some(*turn)),
        Packed::Settled(settled) => of_turn(Some(settled.turn)),
    }
}

/// Whether a row is worth a conversation.
pub fn says_something(row: &Packed) -> bool {
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
