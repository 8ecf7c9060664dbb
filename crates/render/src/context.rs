//! The context that a session would be given: its parts, their sizes and reasons.
//!
//! The text of the context itself is `ContextPreview::composed.text`, unchanged.

use serde_json::{Value, json};
use towline_core::compose::{ContextPart, ContextPartState};
use towline_core::memory::choose::SelectionCost;
use towline_engine::query::ContextPreview;

pub fn context_json(preview: &ContextPreview) -> Value {
    let ContextPreview { composed, given, budget } = preview;
    let part = |part: &ContextPart| json!({"what": part.what.name(), "why": part.why, "size": part.size, "state": state(part)});
    let parts: Vec<Value> = composed.parts.iter().map(part).collect();
    let SelectionCost { memories, turns, tokens } = given.took;
    json!({
        "text": composed.text, "size": budget.size_of(&composed.text), "limit": budget.limit(), "parts": parts,
        "remembered": {
            "items": given.items, "tokens": given.tokens,
            "learnt": {"items": memories, "turns": turns, "tokens": tokens},
        },
    })
}

/// One line for each part.
pub fn context_parts_text(preview: &ContextPreview) -> String {
    let ContextPreview { composed, given, budget } = preview;
    let line = |part: &ContextPart| {
        format!("{:>6}  {:<9} {}: {}\n", part.size, state(part), part.what.name(), part.why)
    };
    let mut text: String = composed.parts.iter().map(line).collect();
    let (size, unit) = (budget.size_of(&composed.text), budget.unit());
    text += &format!("{size:>6}  of {} {unit}\n", budget.limit());
    if given.items > 0 {
        text += &format!("{:>6}  things remembered: {given}\n", given.items);
    }
    text
}

fn state(part: &ContextPart) -> &'static str {
    match part.state {
        ContextPartState::Whole => "whole",
        ContextPartState::Cut => "cut",
        ContextPartState::LeftOut => "left out",
    }
}
