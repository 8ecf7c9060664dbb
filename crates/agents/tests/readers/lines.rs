//! The summary lines of all turns of all recorded conversations.
//!
//! Texts are used as recorded, without redaction, which is tested elsewhere.

use super::*;
use std::hash::{DefaultHasher, Hash, Hasher};
use towline_core::line::Digest;

fn named(call: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.hash(&mut hasher);
    hasher.finish()
}

/// One line per prompt of the session's main conversation.
fn lines_of(name: &str, file: &[u8]) -> Vec<String> {
    let mut turns: Vec<Digest> = vec![];
    for piece in pieces(name, file).into_iter().filter(|piece| piece.subagent.is_none()) {
        if let Content::Prompt { text, origin } = &piece.what {
            turns.push(Digest::begin(text, *origin));
        }
        let Some(turn) = turns.last_mut() else { continue };
        match &piece.what {
            Content::Answer { text } => turn.answered(text),
            Content::ToolCall { call, tool, input } => {
                turn.did(named(call), &agent_of(name).deed(tool, input))
            }
            Content::ToolResult { call, output, outcome } => turn.came_of(named(call), *outcome, output),
            Content::Stopped { how, .. } => turn.stopped(*how),
            Content::Opened { .. }
            | Content::Prompt { .. }
            | Content::Thinking { .. }
            | Content::Image { .. }
            | Content::Note { .. }
            | Content::Compacted { .. }
            | Content::Usage { .. }
            | Content::Reverted { .. } => {}
        }
    }
    turns.iter().map(Digest::line).collect()
}

#[test]
fn every_recorded_turn_has_a_line_worth_reading() {
    let mut rendered = String::new();
    for (name, file) in &recorded("transcripts") {
        rendered.push_str(&format!("== {name}\n{}\n", lines_of(name, file).join("\n")));
    }
    insta::assert_snapshot!("lines", rendered);
}
