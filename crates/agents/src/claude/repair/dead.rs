//! Finds the point from which the model no longer answered.
//!
//! Counts only text that the client wrote in place of the model, never quotes in an answer; a failure followed by an
//! answer does not count.

use super::chain::Chain;
use super::line::RepairLine;
use super::{Death, DeathCause};
use towline_core::phrases::Phrases;

/// The client's messages for a full context.
const TOO_LONG: [&str; 3] =
    ["prompt is too long", "context limit reached", "input length and `max_tokens` exceed"];

/// Parts of the stop reasons for a full context.
const STOPS: Phrases = Phrases(
    "context_limit|context_window|context_exceeded|context_full|max_context|token_limit|\
    conversation_too_long|input_too_long",
);

/// The index in the chain from which on the session is dead.
pub fn zone(chain: &Chain<'_, '_>) -> Option<(usize, Death)> {
    let answers = chain.entries.iter().enumerate().filter(|(_, line)| line.kind == "assistant");
    let dead = answers.rev().take_while(|(_, line)| (line.is_synthetic && !line.has_usage) || is_full(line));
    let dead: Vec<(usize, &&RepairLine<'_>)> = dead.collect();
    let (from, first) = dead.last()?;
    let is_full = dead.iter().any(|(_, line)| is_full(line));
    let cause = if is_full { DeathCause::Full } else { DeathCause::Other };
    Some((*from, Death { at: first.at, cause }))
}

fn is_full(line: &RepairLine<'_>) -> bool {
    let (text, stop) = (line.text.to_lowercase(), line.stop_reason.to_lowercase());
    (line.is_synthetic && TOO_LONG.iter().any(|words| text.contains(words)))
        || STOPS.any(|reason| stop.contains(reason))
}
