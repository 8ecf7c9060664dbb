//! Parses a hook payload to the event it means.
//!
//! Names no event and no agent: what is particular to an agent, its adapter says.

use crate::adapter::Adapter;
use crate::agent::{Agent, HookEvent, PayloadError, TextLimits};
use crate::json::{OptText, RawValue};
use crate::skim::without_bulk;
use crate::wire::{HookPayload, last_message, parse, payload_text, turn_ending};
use serde::Deserialize;
use std::borrow::Cow;
use towline_core::arbiter::TranscriptEnd;
use towline_core::event::{EventKind, TurnFailure};
use towline_core::id::{SubagentId, TurnId};
use towline_core::meter::ContextUsage;
use towline_core::redact::{HIDDEN, is_wholly_private};

/// `named` is the event, for agents whose payloads do not name it.
pub(crate) fn parse_hook(
    agent: Agent,
    named: Option<&str>,
    payload: &[u8],
    keeping: TextLimits,
) -> Result<Option<HookEvent>, PayloadError> {
    let hooks = &agent.adapter().hooks;
    let slim = without_bulk(payload);
    let text = payload_text(&slim);
    let mut wire: HookPayload<'_> = match parse(&text) {
        Err(PayloadError::NotJson) if names_event_twice(&text) => return Ok(None),
        parsed => parsed?,
    };
    if wire.sign_of_another_agent.is_present() {
        return Ok(None);
    }
    if let Some(corrected) = hooks.corrected {
        corrected(&mut wire);
    }
    let prompt = wire.prompt.as_deref();
    let typed = prompt.filter(|_| hooks.is_prompt_searched).map(prompt_end);
    // Before redaction, which leaves nothing to judge by.
    let is_private = prompt.map(hooks.typed_text).is_some_and(is_wholly_private);
    if is_private {
        wire.prompt = OptText(Some(Cow::Borrowed(HIDDEN)));
    }
    let Some(event) = named.or(wire.hook_event_name.as_deref()) else {
        return Err(PayloadError::Missing { field: "hook_event_name" });
    };
    let cut = payload.len().saturating_sub(slim.len());
    let tool_bytes = cut + wire.tool_input.raw().len() + wire.tool_response.raw().len();
    let happening = (hooks.event_kind)(event, &wire, keeping, u64::try_from(tool_bytes).unwrap_or(u64::MAX));
    let turn = (hooks.turn_id)(&wire).as_deref().and_then(|id| TurnId::parse(id).ok());
    let Some(happening) = happening else { return Ok(None) };
    let folder = if wire.new_cwd.0.is_some() { wire.new_cwd } else { wire.cwd };
    Ok(Some(HookEvent {
        event: event.to_owned(),
        session: agent.session(wire.session_id.0)?,
        subagent: wire.agent_id.as_deref().and_then(|id| SubagentId::parse(id).ok()),
        turn,
        happening,
        is_private,
        folder: folder.into_owned(),
        transcript: wire.transcript_path.into_owned(),
        subagent_transcript: wire.agent_transcript_path.into_owned(),
        model: wire.model.into_owned(),
        fill: reported_fill(wire.input_tokens, wire.context_limit),
        typed,
        ending: turn_ending(wire.last_assistant_message.as_deref(), wire.stop_hook_active.is_true()),
    }))
}

/// Whether an agent that runs other agents' hooks sent this: it writes each field in two ways.
fn names_event_twice(text: &str) -> bool {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Names<'a> {
        #[serde(rename = "hookEventName")]
        second: RawValue<'a>,
        #[serde(rename = "hook_event_name")]
        first: RawValue<'a>,
    }
    parse::<Names<'_>>(text).is_ok_and(|names| names.first.is_present() && names.second.is_present())
}

fn reported_fill(tokens: RawValue<'_>, window: RawValue<'_>) -> Option<ContextUsage> {
    ContextUsage::from_display(tokens.number()?, window.number()?)
}

/// The end of a prompt: longer than the part searched on screens, and short enough to copy.
fn prompt_end(prompt: &str) -> String {
    let from = prompt.char_indices().rev().nth(PROMPT_END_CHARACTERS).map_or(0, |(at, _)| at);
    prompt[from..].to_owned()
}

const PROMPT_END_CHARACTERS: usize = 400;

pub(crate) fn complete_turn_end(
    adapter: &Adapter,
    heard: &mut HookEvent,
    transcript: &[u8],
    keeping: TextLimits,
) {
    let Some(find_answer) = adapter.transcript.answer else { return };
    if !matches!(heard.happening, EventKind::TurnEnded { .. }) {
        return;
    }
    let answer = OptText(find_answer(transcript).map(Cow::Owned));
    let failed = |failure| EventKind::TurnFailed { failure, until: None };
    heard.happening = match (adapter.transcript.end)(transcript).map(|tail| tail.end) {
        Some(TranscriptEnd::Interrupted) => EventKind::Interrupted,
        Some(TranscriptEnd::Failed) => failed(TurnFailure::Other),
        Some(TranscriptEnd::Limited) => failed(TurnFailure::UsageLimit),
        Some(TranscriptEnd::Other) | None => {
            EventKind::TurnEnded { background: None, answer: last_message(&answer, keeping.answer) }
        }
    };
    heard.ending = turn_ending(answer.as_deref(), heard.ending.was_blocked);
}
