//! Shared parts of all agents' hook payloads and replies: one JSON object in, at most one out.
//!
//! Names no event: what one means, each agent says itself.

use crate::agent::{PayloadError, StopDetails};
use crate::json::{OptText, RawValue};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use towline_core::continuing::form;
use towline_core::event::{CompactionTrigger, StartedBy};
use towline_core::phrases::Phrases;
use towline_core::reply::{Reply, ReplyVerdict};
use towline_core::text::{SafeText, TextPolicy, clip, clip_start};

/// A hook payload of any agent and event, under the clients' own field names: absent fields are empty. Tool input and
/// output are never copied, only measured.
#[derive(Debug, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(crate) struct HookPayload<'a> {
    #[serde(alias = "sessionId")]
    pub session_id: OptText<'a>,
    pub hook_event_name: OptText<'a>,
    /// Sent by agents that run other agents' hooks: Grok Build writes each field in two ways, Cursor adds its version
    /// (<https://cursor.com/docs/agent/hooks>).
    #[serde(rename = "hookEventName", alias = "cursor_version")]
    pub sign_of_another_agent: RawValue<'a>,
    #[serde(alias = "transcriptPath")]
    pub transcript_path: OptText<'a>,
    pub cwd: OptText<'a>,
    pub new_cwd: OptText<'a>,
    pub prompt_id: OptText<'a>,
    pub turn_id: OptText<'a>,
    #[serde(alias = "agentId")]
    pub agent_id: OptText<'a>,
    #[serde(alias = "parentAgentId")]
    pub parent_agent_id: OptText<'a>,
    pub agent_transcript_path: OptText<'a>,
    pub agent_type: OptText<'a>,
    pub model: OptText<'a>,
    pub source: OptText<'a>,
    pub reason: OptText<'a>,
    pub prompt: OptText<'a>,
    pub submitted_prompt: RawValue<'a>,
    pub last_assistant_message: OptText<'a>,
    #[serde(alias = "toolName")]
    pub tool_name: OptText<'a>,
    #[serde(alias = "toolArgs")]
    pub tool_input: RawValue<'a>,
    #[serde(alias = "toolResult")]
    pub tool_response: RawValue<'a>,
    pub notification_type: OptText<'a>,
    pub message: OptText<'a>,
    pub details: RawValue<'a>,
    pub trigger: OptText<'a>,
    pub error: OptText<'a>,
    pub is_interrupt: RawValue<'a>,
    pub background_tasks: RawValue<'a>,
    pub token_usage: RawValue<'a>,
    pub stop_hook_active: RawValue<'a>,
    pub input_tokens: RawValue<'a>,
    pub context_limit: RawValue<'a>,
}

impl HookPayload<'_> {
    pub fn started_by(&self) -> StartedBy {
        match self.source.as_deref() {
            Some("startup") => StartedBy::Startup,
            Some("resume") => StartedBy::Resume,
            Some("clear") => StartedBy::Clear,
            Some("compact") => StartedBy::Compact,
            _ => StartedBy::Unknown,
        }
    }

    pub fn compaction_trigger(&self) -> CompactionTrigger {
        if self.trigger.is("auto") { CompactionTrigger::Auto } else { CompactionTrigger::Manual }
    }
}

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

/// The last message of a turn, clipped as `keeping` says; `None` if the user disabled keeping it.
pub(crate) fn last_message(message: &OptText<'_>, keeping: TextPolicy) -> Option<SafeText> {
    let message =
        message.as_deref().filter(|message| keeping.longest_bytes > 0 && !message.trim().is_empty())?;
    Some(SafeText::new(message, keeping))
}

/// The number of background tasks that still run, if the payload lists them.
pub(crate) fn running_tasks(wire: &HookPayload<'_>) -> Option<u32> {
    let tasks: Vec<RawValue<'_>> = wire.background_tasks.parse_as()?;
    let is_running =
        |task: &&RawValue<'_>| task.get("status").text().is_none_or(|status| status == "running");
    u32::try_from(tasks.iter().filter(is_running).count()).ok()
}

/// Enough of a last message to recognise it.
const WORDS_BYTES: usize = 160;

/// The details of a stop event. Up to twice the longest handoff is kept, so that an overlong one is recognised.
pub(crate) fn turn_ending(message: Option<&str>, was_blocked: bool) -> StopDetails {
    let handoff = message.and_then(|message| Some(&message[message.rfind(form::OPENING)?..]));
    let words = message.map(|message| clip_start(message.trim_end(), WORDS_BYTES));
    StopDetails {
        was_blocked,
        words: words.filter(|words| !words.is_empty()).map(str::to_owned),
        handoff: handoff.map(|handoff| clip(handoff, 2 * form::LONGEST_BYTES).to_owned()),
    }
}

/// The events from which an agent accepts each part of a reply.
pub(crate) struct ReplySupport {
    /// Accept `systemMessage`.
    pub notices: Phrases,
    /// Accept `additionalContext`.
    pub context: Phrases,
    /// Accept `decision: "block"`.
    pub block: Phrases,
    /// Accept `permissionDecision: "deny"`.
    pub deny: Phrases,
    /// Empty the conversation on `hookSpecificOutput.clearContext`, if the turn is blocked from ending.
    pub restart: Phrases,
    /// The prompt of such a reply begins another session.
    pub restarts_anew: bool,
    /// Accept `terminalSequence`, and pass it on to the terminal.
    pub terminal: Phrases,
    pub shape: ReplyShape,
}

/// Where an agent expects what is specific to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyShape {
    /// In `hookSpecificOutput`, with the event's name.
    Nested,
    /// Beside everything else.
    Flat,
}

/// Composes the one JSON object that a hook prints. No other function does.
pub(crate) fn answer(support: &ReplySupport, event: &str, reply: &Reply) -> Option<String> {
    let mut answer = Map::new();
    if !reply.notices.is_empty() && support.notices.contains(event) {
        answer.insert("systemMessage".into(), json!(reply.notices.join("\n")));
    }
    let mut specific = specific(support, event, reply);
    match support.shape {
        ReplyShape::Flat => answer.append(&mut specific),
        ReplyShape::Nested if specific.is_empty() => {}
        ReplyShape::Nested => {
            specific.insert("hookEventName".into(), json!(event));
            answer.insert("hookSpecificOutput".into(), Value::Object(specific));
        }
    }
    if !reply.terminal.is_empty() && support.terminal.contains(event) {
        answer.insert("terminalSequence".into(), json!(reply.terminal));
    }
    let blocking = match &reply.verdict {
        ReplyVerdict::GoOn => None,
        ReplyVerdict::Block { reason } => Some(reason).filter(|_| support.block.contains(event)),
        ReplyVerdict::Restart { prompt } => Some(prompt).filter(|_| support.restart.contains(event)),
    };
    if let Some(reason) = blocking {
        answer.insert("decision".into(), json!("block"));
        answer.insert("reason".into(), json!(reason));
    }
    (!answer.is_empty()).then(|| Value::Object(answer).to_string())
}

/// The event-specific output: context for the model, or the denial of a tool.
fn specific(support: &ReplySupport, event: &str, reply: &Reply) -> Map<String, Value> {
    let mut specific = Map::new();
    if let ReplyVerdict::Block { reason } = &reply.verdict
        && support.deny.contains(event)
    {
        specific.insert("permissionDecision".into(), json!("deny"));
        specific.insert("permissionDecisionReason".into(), json!(reason));
    } else if !reply.context.is_empty() && support.context.contains(event) {
        // A denied tool needs no context beside the reason.
        specific.insert("additionalContext".into(), json!(reply.context.join("\n\n")));
    }
    if matches!(reply.verdict, ReplyVerdict::Restart { .. }) && support.restart.contains(event) {
        specific.insert("clearContext".into(), json!(true));
    }
    specific
}
