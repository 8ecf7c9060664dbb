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
    let parts: usize = composed.parts.iter().map(|part| part.size).sum();
    if let Some(headings @ 1..) = size.checked_sub(parts) {
        text += &format!("{headings:>6}  {:<9} headings: the lines between the parts\n", "whole");
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use towline_core::compose::{ComposeInput, ContextBudget, MemorySection, MemorySectionKind, compose};
    use towline_engine::memory::recall::Given;

    #[test]
    fn the_parts_did_not_add_up_to_the_total() {
        let section = MemorySection {
            kind: MemorySectionKind::Pinned,
            title: "Pinned".into(),
            items: vec!["m1 the lamp burns oil".into()],
            why: "pinned".into(),
        };
        let input = ComposeInput { remembered: vec![section], ..ComposeInput::default() };
        for budget in [ContextBudget::Characters(9500), ContextBudget::Tokens(2400)] {
            let composed = compose(&input, budget);
            let given = Given { items: 0, tokens: 0, took: SelectionCost::default() };
            let text = context_parts_text(&ContextPreview { composed, given, budget });
            let sizes: Vec<usize> =
                text.lines().map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect();
            let (total, parts) = sizes.split_last().unwrap();
            assert_eq!(parts.iter().sum::<usize>(), *total, "{text}");
        }
    }
}
