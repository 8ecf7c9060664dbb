//! The summary lines of all turns of all recorded conversations.
//!
//! Texts are used as recorded, without redaction, which is tested elsewhere.

use super::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use towline_core::line::TurnDigest;

fn named(call: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.hash(&mut hasher);
    hasher.finish()
}

/// One line per prompt of the session's main conversation.
fn lines_of(name: &str, file: &[u8]) -> Vec<String> {
    let mut turns: Vec<TurnDigest> = vec![];
    for piece in pieces(name, file).into_iter().filter(|piece| piece.subagent.is_none()) {
        if let PieceContent::Prompt { text, origin } = &piece.what {
            turns.push(TurnDigest::begin(text, *origin));
        }
        let Some(turn) = turns.last_mut() else { continue };
        match &piece.what {
            PieceContent::Answer { text } => turn.answered(text),
            PieceContent::ToolCall { call, tool, input } => {
                turn.add_call(named(call), &agent_of(name).tool_action(tool, input))
            }
            PieceContent::ToolResult { call, output, outcome } => {
                turn.add_result(named(call), *outcome, output)
            }
            PieceContent::Stopped { how, .. } => turn.stopped(*how),
            PieceContent::Opened { .. }
            | PieceContent::Prompt { .. }
            | PieceContent::Thinking { .. }
            | PieceContent::Image { .. }
            | PieceContent::Note { .. }
            | PieceContent::Compacted { .. }
            | PieceContent::Usage { .. }
            | PieceContent::Reverted { .. }
            | PieceContent::ReadAgain => {}
        }
    }
    turns.iter().map(TurnDigest::line).collect()
}

#[test]
fn every_recorded_turn_has_a_line_worth_reading() {
    let mut rendered = String::new();
    for (name, file) in &recorded("transcripts") {
        rendered.push_str(&format!("== {name}\n{}\n", lines_of(name, file).join("\n")));
    }
    insta::assert_snapshot!("lines", rendered);
}
