//! The action of every call in every recorded transcript.
//!
//! Leaves nothing out: an unrecognised call is listed as such.

use super::*;
use std::collections::BTreeSet;

#[test]
fn every_recorded_call_does_what_a_person_reads_in_it() {
    let mut rendered = String::new();
    for (name, file) in &recorded("transcripts") {
        rendered.push_str(&format!("== {name}\n"));
        for piece in pieces(name, file) {
            let PieceContent::ToolCall { tool, input, .. } = piece.what else { continue };
            let deed = agent_of(name).tool_action(&tool, &input);
            rendered.push_str(&format!("{tool} {}\n    {deed:?}\n", start(&input)));
        }
    }
    insta::assert_snapshot!("deeds", rendered);
}

#[test]
fn the_inputs_of_recorded_calls_may_break_anywhere() {
    let mut tools = BTreeSet::new();
    for (name, file) in &recorded("transcripts") {
        for piece in pieces(name, file) {
            let PieceContent::ToolCall { tool, input, .. } = piece.what else { continue };
            for end in (0..input.len()).filter(|end| input.is_char_boundary(*end)) {
                let _ = agent_of(name).tool_action(&tool, &input[..end]);
                let _ = agent_of(name).tool_action(&tool, &input[end..]);
            }
            tools.insert(tool.into_owned());
        }
    }
    assert!(tools.len() > 12, "{tools:?}");
}
