//! Shared parts of all agents' hook payloads and replies: one JSON object in, at most one out.
//!
//! Does not interpret events.

use crate::agent::{PayloadError, StopDetails};
use crate::json::{OptText, RawValue};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use towline_core::continuing::form;
use towline_core::reply::{Reply, ReplyVerdict};
use towline_core::text::{SafeText, TextPolicy, clip, clip_start};

/// Parses a whole payload, borrowing from it and skipping unrequested values.
pub(crate) fn parse<'a, T: Deserialize<'a>>(payload: &'a str) -> Result<T, PayloadError> {
    if payload.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(PayloadError::Empty);
    }
    serde_json::from_str(payload).map_err(|_| PayloadError::NotJson)
}

/// The payload as text. Invalid UTF-8 is most likely tool output, which is not read: the event still counts.
pub(crate) fn payload_text(payload: &[u8]) -> Cow<'_, str> {
    str::from_utf8(payload).map_or_else(|_| String::from_utf8_lossy(payload), Cow::Borrowed)
}

/// The size of a tool's input and output; `cut` bytes were removed from the payload before parsing.
pub(crate) fn tool_bytes(input: RawValue<'_>, response: RawValue<'_>, cut: usize) -> u64 {
    u64::try_from(cut + input.raw().len() + response.raw().len()).unwrap_or(u64::MAX)
}

/// The last message of a turn, clipped as `keeping` says; `None` if the user disabled keeping it.
pub(crate) fn last_message(message: &OptText<'_>, keeping: TextPolicy) -> Option<SafeText> {
    let message =
        message.as_deref().filter(|message| keeping.longest_bytes > 0 && !message.trim().is_empty())?;
    Some(SafeText::new(message, keeping))
}

/// Enough of a last message to recognise it.
const WORDS_BYTES: usize = 160;

/// The details of a stop event. Up to twice the longest handoff is kept, so that an overlong one is recognised.
pub(crate) fn turn_ending(message: &OptText<'_>, stop_hook_active: RawValue<'_>) -> StopDetails {
    let handoff = message.as_deref().and_then(|message| Some(&message[message.rfind(form::OPENING)?..]));
    let words = message.as_deref().map(|message| clip_start(message.trim_end(), WORDS_BYTES));
    StopDetails {
        was_blocked: stop_hook_active.is_true(),
        words: words.filter(|words| !words.is_empty()).map(str::to_owned),
        handoff: handoff.map(|handoff| clip(handoff, 2 * form::LONGEST_BYTES).to_owned()),
    }
}

/// The events from which an agent accepts each part of a reply.
pub(crate) struct ReplySupport {
    /// Accept `systemMessage`.
    pub notices: &'static [&'static str],
    /// Accept `hookSpecificOutput.additionalContext`.
    pub context: &'static [&'static str],
    /// Accept `decision: "block"`.
    pub block: &'static [&'static str],
    /// Accept `hookSpecificOutput.permissionDecision: "deny"`.
    pub deny: &'static [&'static str],
    /// Accept `terminalSequence`, and pass it on to the terminal.
    pub terminal: &'static [&'static str],
}

/// Composes the one JSON object that a hook prints. No other function does.
pub(crate) fn answer(support: &ReplySupport, event: &str, reply: &Reply) -> Option<String> {
    let mut answer = Map::new();
    if !reply.notices.is_empty() && support.notices.contains(&event) {
        answer.insert("systemMessage".into(), json!(reply.notices.join("\n")));
    }
    if let Some(specific) = specific(support, event, reply) {
        answer.insert("hookSpecificOutput".into(), specific);
    }
    if !reply.terminal.is_empty() && support.terminal.contains(&event) {
        answer.insert("terminalSequence".into(), json!(reply.terminal));
    }
    if let ReplyVerdict::Block { reason } = &reply.verdict
        && support.block.contains(&event)
    {
        answer.insert("decision".into(), json!("block"));
        answer.insert("reason".into(), json!(reason));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

/// The event-specific output: context for the model, or the denial of a tool.
fn specific(support: &ReplySupport, event: &str, reply: &Reply) -> Option<Value> {
    let mut specific = Map::new();
    if let ReplyVerdict::Block { reason } = &reply.verdict
        && support.deny.contains(&event)
    {
        specific.insert("permissionDecision".into(), json!("deny"));
        specific.insert("permissionDecisionReason".into(), json!(reason));
    } else if !reply.context.is_empty() && support.context.contains(&event) {
        // A denied tool needs no context beside the reason.
        specific.insert("additionalContext".into(), json!(reply.context.join("\n\n")));
    }
    if specific.is_empty() {
        return None;
    }
    specific.insert("hookEventName".into(), json!(event));
    Some(Value::Object(specific))
}
