//! Parses Copilot's `events.jsonl`, line by line.
//!
//! Reads what was said and done, never the lines that repeat it: hook payloads, system prompts, requests to the model and
//! the start of a tool, whose call is already in the model's message. Every line has an id of its own, which is kept.

use super::entry::{EventData, EventLine, TokenUsage, count, is_usage_limit};
use super::{NOTIFICATION, is_own_request};
use crate::json::{Nested, RawValue};
use crate::transcript::{EntryHead, Found, LineError, parse, prompt_origin};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::event::{PromptOrigin, ToolOutcome};
use towline_core::id::{SubagentId, TurnId};
use towline_core::piece::{PieceContent, StopReason, TokenCounts, TranscriptPiece};
use towline_core::time::Timestamp;

/// Parser state between two lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventsState {
    lines: u64,
    /// Of the newest line, used for lines without a timestamp.
    at: Timestamp,
    is_opened: bool,
}

impl EventsState {
    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, LineError>,
        found: &mut Found<'a>,
    ) -> Result<(), LineError> {
        let place = self.lines;
        self.lines += 1;
        let text = line?;
        if is_of_other_kind(text) {
            return Ok(());
        }
        let Some(line) = parse::<EventLine<'a>>(text)? else { return Ok(()) };
        self.at = line.timestamp.as_deref().and_then(Timestamp::parse_utc).unwrap_or(self.at);
        let Nested(data) = line.data;
        let head = EntryHead {
            id: line.id.0.unwrap_or_else(|| Cow::Owned(format!("line@{place}"))),
            place,
            at: self.at,
            turn: data.interaction_id.as_deref().and_then(|id| TurnId::parse(id).ok()),
            subagent: line.agent_id.as_deref().and_then(|id| SubagentId::parse(id).ok()),
        };
        match line.kind.as_deref() {
            Some("session.start") => self.opened(data, &head, found),
            Some("user.message" | "system.notification") => found.extend(prompt(data, &head)),
            Some("assistant.message") => answered(data, &head, found),
            Some("tool.user_requested") => found.extend(users_call(data, &head)),
            Some("tool.execution_complete") => found.extend(result(data, &head)),
            Some("session.usage_record") => found.extend(usage(data.usage, &head)),
            Some("session.compaction_complete") => compacted(data, &head, found),
            Some("session.info") if data.info_type.is("rewind") => found.push(taken_back(&head)),
            Some("session.usage_checkpoint") => found.push(taken_back(&head)),
            Some("abort") => found.push(head.main_piece(stopped(StopReason::Interrupted, ""))),
            Some("session.error") => {
                let how = if is_usage_limit(&data) { StopReason::Limited } else { StopReason::Failed };
                found.push(head.main_piece(stopped(how, data.message.0.unwrap_or_default())));
            }
            _ => {}
        }
        Ok(())
    }

    /// A resumed session goes on in its file without another start.
    fn opened<'a>(&mut self, data: EventData<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let Some(session) = data.session_id.0.filter(|_| !self.is_opened) else { return };
        self.is_opened = true;
        let (folder, branch) = (data.context.get("cwd").text(), data.context.get("branch").text());
        found.push(head.main_piece(PieceContent::Opened { session, folder, branch, base: None }));
    }
}

/// A rewind cuts the file off where the removed turns began, and writes this line there. So does a prompt that is stopped
/// before its first word. Where nothing was cut off, no older piece has this position.
fn taken_back<'a>(head: &EntryHead<'a>) -> TranscriptPiece<'a> {
    head.main_piece(PieceContent::Reverted { from: head.place })
}

/// The part of a line that contains its kind, which the client writes first.
const HEAD: usize = 48;

/// Whether the line repeats what others say. Such lines are most of the file.
fn is_of_other_kind(line: &str) -> bool {
    const KINDS: [&[u8]; 5] =
        [b"\"hook.", b"\"model.", b"\"system.message\"", b"\"tool.execution_start\"", b"\"permission."];
    let head = &line.as_bytes()[..line.len().min(HEAD)];
    head.starts_with(b"{\"type\"") && KINDS.iter().any(|kind| memmem::find(head, kind).is_some())
}

fn stopped<'a>(how: StopReason, words: impl Into<Cow<'a, str>>) -> PieceContent<'a> {
    PieceContent::Stopped { how, words: words.into() }
}

/// A subagent's prompts come from its agent; background shells and our own block of a turn's end speak in the user's name.
fn prompt<'a>(data: EventData<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
    let text = data.content.0.filter(|text| !text.trim().is_empty())?;
    let origin = match text.trim_start() {
        _ if head.subagent.is_some() => PromptOrigin::Notification,
        typed if typed.starts_with(NOTIFICATION) || is_own_request(typed) => PromptOrigin::Notification,
        typed if typed.starts_with('/') => PromptOrigin::Command,
        typed => prompt_origin(typed),
    };
    Some(head.main_piece(PieceContent::Prompt { text, origin }))
}

/// One message of the model: its reasoning, its text and the tools it calls.
fn answered<'a>(data: EventData<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
    if let Some(text) = data.reasoning_text.0.filter(|text| !text.trim().is_empty()) {
        found.push(head.part("thinking", PieceContent::Thinking { text }));
    }
    if let Some(text) = data.content.0.filter(|text| !text.trim().is_empty()) {
        found.push(head.main_piece(PieceContent::Answer { text }));
    }
    for request in data.tool_requests.0 {
        let (Some(call), Some(tool)) = (request.tool_call_id.0, request.name.0) else { continue };
        let input = request.arguments.text().unwrap_or(Cow::Borrowed(request.arguments.raw()));
        found.push(head.part(call.clone(), PieceContent::ToolCall { call, tool, input }));
    }
}

/// A shell command that the user runs from the input line.
fn users_call<'a>(data: EventData<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
    let (call, tool) = (data.tool_call_id.0?, data.tool_name.0?);
    let input = Cow::Borrowed(data.arguments.raw());
    Some(head.main_piece(PieceContent::ToolCall { call, tool, input }))
}

fn result<'a>(data: EventData<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
    let call = data.tool_call_id.0?;
    let exit_code = data.shell_execution.get("exitCode").raw();
    let is_done = data.success.is_true() && matches!(exit_code, "" | "0");
    let outcome = if is_done { ToolOutcome::Done } else { ToolOutcome::Failed };
    let said = data.result.get("content").text().or_else(|| data.error.get("message").text());
    Some(head.main_piece(PieceContent::ToolResult { call, output: said.unwrap_or_default(), outcome }))
}

fn compacted<'a>(data: EventData<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
    if !data.success.is_true() {
        return;
    }
    let summary = data.summary_content.0.unwrap_or_default();
    found.push(head.main_piece(PieceContent::Compacted { summary }));
    // The request for the summary has no record of its own.
    found.extend(usage(data.compaction_tokens_used, head));
}

fn usage<'a>(usage: RawValue<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
    let usage: TokenUsage<'a> = usage.parse_as()?;
    let whole = |number| count(number).unwrap_or(0);
    let (cache_read, cache_write) = (whole(usage.cache_read_tokens), whole(usage.cache_write_tokens));
    let tokens = TokenCounts {
        // The client counts cached input as input.
        input: whole(usage.input_tokens).saturating_sub(cache_read).saturating_sub(cache_write),
        cache_read,
        cache_write,
        cache_write_1h: 0,
        output: whole(usage.output_tokens),
    };
    let message = usage.api_call_id.0.unwrap_or_else(|| Cow::Owned(format!("{}#usage", head.id)));
    let content = PieceContent::Usage { message: message.clone(), model: usage.model.0, tokens };
    (tokens != TokenCounts::default()).then(|| head.piece(message, content))
}
