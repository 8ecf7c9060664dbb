//! Where a conversation died: from there on no answer of the model came.
//!
//! What an answer quotes does not count, only what the client wrote in the model's place; and a failure after which an
//! answer came was none.

use super::chain::Chain;
use super::line::Line;
use super::{Cause, Death};

/// What the client writes when nothing more fits.
const TOO_LONG: [&str; 3] =
    ["prompt is too long", "context limit reached", "input length and `max_tokens` exceed"];

/// Parts of the reasons for which an answer stops because nothing more fits.
const STOPS: [&str; 8] = [
    "context_limit",
    "context_window",
    "context_exceeded",
    "context_full",
    "max_context",
    "token_limit",
    "conversation_too_long",
    "input_too_long",
];

/// The place in the chain from which on it is dead.
pub fn zone(chain: &Chain<'_, '_>) -> Option<(usize, Death)> {
    let answers = chain.entries.iter().enumerate().filter(|(_, line)| line.kind == "assistant");
    let dead = answers.rev().take_while(|(_, line)| is_dead(line));
    let dead: Vec<(usize, &&Line<'_>)> = dead.collect();
    let (from, first) = dead.last()?;
    let is_full = dead.iter().any(|(_, line)| is_full(line));
    let cause = if is_full { Cause::Full } else { Cause::Other };
    Some((*from, Death { at: first.at, cause }))
}

fn is_dead(line: &Line<'_>) -> bool {
    (line.is_synthetic && !line.has_usage) || is_full(line)
}

fn is_full(line: &Line<'_>) -> bool {
    let (said, stop) = (line.said.to_lowercase(), line.stop_reason.to_lowercase());
    (line.is_synthetic && TOO_LONG.iter().any(|words| said.contains(words)))
        || STOPS.iter().any(|reason| stop.contains(reason))
}
