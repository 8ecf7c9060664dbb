//! The spans of a session, after OpenTelemetry's conventions for generative AI.
//!
//! Pure. A turn is an `invoke_agent` span below the session's, tool calls (`execute_tool`) and waits are below their turn.
//! Holds text of prompts and answers only if the caller passes some.

use super::ids::{SpanOf, span_id, trace_id};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use std::collections::HashMap;
use towline_agents::{Agent, provider_of};
use towline_core::capture::DetailKind;
use towline_core::event::ToolOutcome;
use towline_core::id::SessionKey;
use towline_core::piece::{StopReason, TokenCounts};
use towline_core::time::Timestamp;
use towline_store::WaitRow;
use towline_store::archive::{Conversation, DetailRow, ModelUsage, TurnRow};

/// The sampled flag of the W3C trace context.
const SAMPLED: u32 = 1;

/// The session that spans belong to.
pub(super) struct SpanSession<'a> {
    pub conversation: &'a Conversation,
    /// The first turn of the present run; 0 in the first run.
    pub run: u32,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolCall {
    pub turn: u32,
    /// The rows of its input and its output.
    pub row: i64,
    pub end_row: Option<i64>,
    pub at: Timestamp,
    pub until: Timestamp,
    pub tool: String,
    pub subagent: Option<String>,
    pub call: i64,
    pub outcome: Option<String>,
}

impl ToolCall {
    /// The row from which on it can be sent. A subagent's call waits for its output, since its file is captured at other
    /// times.
    pub fn due_row(&self) -> Option<i64> {
        if self.subagent.is_some() { self.end_row } else { Some(self.row) }
    }
}

/// The text of a turn, if the user wants it to be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TurnText {
    pub prompt: String,
    pub answer: String,
}

/// Joins inputs and outputs. A call without an output ends with its turn.
pub(super) fn tool_calls(turn: &TurnRow, details: Vec<DetailRow>) -> Vec<ToolCall> {
    let ends: HashMap<i64, (i64, Timestamp, Option<String>)> = details
        .iter()
        .filter(|detail| detail.kind == DetailKind::Output)
        .filter_map(|detail| Some((detail.call?, (detail.row(), detail.at, detail.outcome.clone()))))
        .collect();
    let inputs = details.into_iter().filter(|detail| detail.kind == DetailKind::Input);
    let call = |detail: DetailRow| {
        let end = detail.call.and_then(|call| ends.get(&call));
        ToolCall {
            turn: turn.ordinal,
            row: detail.row(),
            end_row: end.map(|(row, ..)| *row),
            at: detail.at,
            until: end.map_or(turn.until, |(_, at, _)| *at).max(detail.at),
            // A call without an id of its own is the only one at its place in the turn.
            call: detail.call.unwrap_or_else(|| detail.number.into()),
            tool: detail.tool.unwrap_or_else(|| "unknown".to_owned()),
            subagent: detail.subagent,
            outcome: end.and_then(|(.., outcome)| outcome.clone()),
        }
    };
    inputs.map(call).collect()
}

impl SpanSession<'_> {
    fn key(&self) -> &SessionKey {
        &self.conversation.session
    }

    /// The name of the agent as users know it.
    fn agent(&self) -> &str {
        let name = self.key().agent.as_str();
        Agent::from_name(name).map_or(name, |agent| agent.title())
    }

    fn span(&self, of: SpanOf, name: String, at: Timestamp, until: Timestamp) -> Span {
        Span {
            trace_id: trace_id(self.key()),
            span_id: span_id(self.key(), of),
            flags: SAMPLED,
            name,
            kind: SpanKind::Internal.into(),
            start_time_unix_nano: nanos(at),
            end_time_unix_nano: nanos(until.max(at)),
            attributes: vec![
                text("gen_ai.agent.name", self.agent()),
                text("gen_ai.conversation.id", self.key().id.as_str()),
            ],
            ..Span::default()
        }
    }

    /// A run of the session: from its beginning, or from when it was resumed, to its end.
    pub fn run(&self, at: Timestamp, until: Timestamp) -> Span {
        let mut span = self.span(SpanOf::Run(self.run), format!("session {}", self.agent()), at, until);
        if self.run > 0 {
            span.parent_span_id = span_id(self.key(), SpanOf::Run(0));
        }
        span.attributes.push(text("session.id", self.key().id.as_str()));
        span.attributes.extend(self.place());
        span
    }

    fn place(&self) -> Vec<KeyValue> {
        let project = self.conversation.project.as_deref().map(|name| text("towline.project", name));
        let branch = self.conversation.branch.as_deref().map(|name| text("vcs.ref.head.name", name));
        project.into_iter().chain(branch).collect()
    }

    pub fn turn(&self, turn: &TurnRow, usage: &[ModelUsage], words: Option<&TurnText>) -> Span {
        let name = format!("invoke_agent {}", self.agent());
        let mut span = self.span(SpanOf::Turn(turn.ordinal), name, turn.at, turn.until);
        span.parent_span_id = span_id(self.key(), SpanOf::Run(self.run));
        span.attributes.push(text("gen_ai.operation.name", "invoke_agent"));
        span.attributes.extend(used(usage));
        span.attributes.extend(self.place());
        span.attributes.push(text("towline.turn", &self.conversation.turn_id(turn)));
        span.attributes.push(text("towline.turn.origin", turn.origin.name()));
        span.attributes.push(number("towline.turn.tool_calls", turn.tools.into()));
        span.attributes.extend(words.into_iter().flat_map(messages));
        match turn.stopped {
            None => {}
            Some(StopReason::Interrupted) => {
                span.attributes.push(text("towline.turn.stopped", "interrupted"))
            }
            Some(StopReason::Failed) => fail(&mut span, "failed"),
            Some(StopReason::Limited) => fail(&mut span, "usage_limit"),
        }
        span
    }

    pub fn call(&self, call: &ToolCall) -> Span {
        let of = SpanOf::Call(call.turn, call.call);
        let mut span = self.span(of, format!("execute_tool {}", call.tool), call.at, call.until);
        span.parent_span_id = span_id(self.key(), SpanOf::Turn(call.turn));
        span.attributes.push(text("gen_ai.operation.name", "execute_tool"));
        span.attributes.push(text("gen_ai.tool.name", &call.tool));
        span.attributes.push(text("gen_ai.tool.type", "function"));
        span.attributes.extend(call.subagent.as_deref().map(|id| text("gen_ai.agent.id", id)));
        match call.outcome.as_deref() {
            Some(outcome) if outcome == ToolOutcome::Done.name() => {}
            Some(outcome) => fail(&mut span, outcome),
            None => span.attributes.push(text("towline.tool.outcome", "unknown")),
        }
        span
    }

    /// A wait for the user, which began in this turn.
    pub fn wait(&self, turn: u32, wait: &WaitRow) -> Span {
        let name = format!("wait {}", wait.reason);
        let mut span = self.span(SpanOf::Wait(wait.began_at.0), name, wait.began_at, wait.ended_at);
        span.parent_span_id = span_id(self.key(), SpanOf::Turn(turn));
        span.attributes.push(text("towline.wait.reason", &wait.reason));
        span
    }
}

/// The model that wrote the most, and the tokens of all.
fn used(usage: &[ModelUsage]) -> Vec<KeyValue> {
    let main = usage.iter().max_by_key(|used| used.tokens.output).and_then(|used| used.model.as_deref());
    let mut tokens = TokenCounts::default();
    usage.iter().for_each(|used| tokens += used.tokens);
    let mut found = vec![text("gen_ai.provider.name", provider_of(main.unwrap_or_default()))];
    found.extend(main.map(|model| text("gen_ai.request.model", model)));
    if !usage.is_empty() {
        found.extend([
            number("gen_ai.usage.input_tokens", tokens.prompt()),
            number("gen_ai.usage.output_tokens", tokens.output),
            number("gen_ai.usage.cache_read.input_tokens", tokens.cache_read),
            number("gen_ai.usage.cache_write.input_tokens", tokens.cache_write),
        ]);
    }
    found
}

/// The messages in the structure that the conventions prescribe, as JSON.
fn messages(words: &TurnText) -> Vec<KeyValue> {
    let message = |role: &str, content: &str| {
        serde_json::json!([{"role": role, "parts": [{"type": "text", "content": content}]}]).to_string()
    };
    let filled = |name: &str, role: &str, content: &str| {
        (!content.is_empty()).then(|| text(name, &message(role, content)))
    };
    let prompt = filled("gen_ai.input.messages", "user", &words.prompt);
    prompt.into_iter().chain(filled("gen_ai.output.messages", "assistant", &words.answer)).collect()
}

fn fail(span: &mut Span, kind: &str) {
    span.attributes.push(text("error.type", kind));
    span.status = Some(Status { code: StatusCode::Error.into(), message: String::new() });
}

pub(super) fn nanos(at: Timestamp) -> u64 {
    u64::try_from(at.0).unwrap_or(0).saturating_mul(1_000_000)
}

pub(super) fn text(key: &str, value: &str) -> KeyValue {
    attribute(key, Value::StringValue(value.to_owned()))
}

fn number(key: &str, value: u64) -> KeyValue {
    attribute(key, Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)))
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}
