//! Parses Qwen Code's transcripts, entry by entry.
//!
//! Entries that the client writes about itself are skipped. Ids are the client's own: an entry's `uuid`, with the part's
//! index if the entry has several.

use super::TASK_NOTIFICATION;
use crate::json::{ListPart, Nested, OptText, PartList, RawValue};
use crate::transcript::{EntryHead, Found, LineError, decoded_length, joined, parse, prompt_origin};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::event::{PromptOrigin, ToolOutcome};
use towline_core::id::SubagentId;
use towline_core::piece::{PieceContent, TokenCounts};
use towline_core::time::Timestamp;

/// The tags around the context that hooks gave with a prompt.
const GIVEN_CONTEXT: &str = "<qwen:user-prompt-submit-context>";

/// Parser state between two lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TranscriptState {
    lines: u64,
    /// Of the newest entry, used for entries without a timestamp.
    at: Timestamp,
    is_opened: bool,
}

/// An entry of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Entry<'a> {
    #[serde(rename = "type")]
    pub kind: OptText<'a>,
    pub subtype: OptText<'a>,
    uuid: OptText<'a>,
    session_id: OptText<'a>,
    agent_id: OptText<'a>,
    pub timestamp: OptText<'a>,
    cwd: OptText<'a>,
    git_branch: OptText<'a>,
    provenance: OptText<'a>,
    model: OptText<'a>,
    message: Nested<Message<'a>>,
    pub usage_metadata: RawValue<'a>,
    pub tool_call_result: RawValue<'a>,
    system_payload: RawValue<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Message<'a> {
    parts: PartList<EntryPart<'a>>,
}

/// A part of a message, of any kind: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct EntryPart<'a> {
    pub text: OptText<'a>,
    thought: RawValue<'a>,
    function_call: RawValue<'a>,
    function_response: RawValue<'a>,
    inline_data: RawValue<'a>,
}

impl<'de: 'a, 'a> ListPart<'de> for EntryPart<'a> {
    fn of_text(text: Cow<'de, str>) -> Self {
        EntryPart { text: OptText(Some(text)), ..EntryPart::default() }
    }
}

impl<'a> Entry<'a> {
    /// Whether the entry belongs to the conversation, and not to the client's own records.
    pub(super) fn is_conversation(&self) -> bool {
        matches!(self.kind.as_deref(), Some("user" | "assistant" | "tool_result"))
    }

    pub(super) fn parts(&self) -> &[EntryPart<'a>] {
        &self.message.0.parts.0
    }
}

impl TranscriptState {
    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, LineError>,
        found: &mut Found<'a>,
    ) -> Result<(), LineError> {
        let place = self.lines;
        self.lines += 1;
        let Some(mut entry) = parse::<Entry<'a>>(line?)? else { return Ok(()) };
        let head = self.head(place, &entry);
        self.open(&entry, &head, found);
        let parts = std::mem::take(&mut entry.message.0.parts.0);
        match (entry.kind.as_deref(), entry.subtype.as_deref()) {
            (Some("user"), _) => user(&entry, parts, &head, found),
            (Some("assistant"), _) => answer(&entry, parts, &head, found),
            (Some("tool_result"), _) => results(&entry, &parts, &head, found),
            (Some("system"), Some("chat_compression")) => found.extend(compressed(&entry, &head)),
            _ => {}
        }
        Ok(())
    }

    fn head<'a>(&mut self, place: u64, entry: &Entry<'a>) -> EntryHead<'a> {
        self.at = entry.timestamp.as_deref().and_then(Timestamp::parse_utc).unwrap_or(self.at);
        let id = entry.uuid.0.clone().unwrap_or_else(|| Cow::Owned(format!("line-{place}")));
        let subagent = entry.agent_id.as_deref().and_then(|id| SubagentId::parse(id).ok());
        EntryHead { id, place, at: self.at, turn: None, subagent }
    }

    fn open<'a>(&mut self, entry: &Entry<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        if let (false, Some(session), Some(folder)) = (self.is_opened, &entry.session_id.0, &entry.cwd.0) {
            self.is_opened = true;
            let (session, folder, branch) =
                (session.clone(), Some(folder.clone()), entry.git_branch.0.clone());
            found.push(head.part("opened", PieceContent::Opened { session, folder, branch, base: None }));
        }
    }
}

/// A prompt, or what the client sends in the user's name.
fn user<'a>(entry: &Entry<'a>, parts: Vec<EntryPart<'a>>, head: &EntryHead<'a>, found: &mut Found<'a>) {
    let mut words = vec![];
    let mut beside = vec![];
    for (index, part) in parts.into_iter().enumerate() {
        beside.extend(image(&part).map(|image| head.part(index, image)));
        match part.text.0 {
            Some(text) if text.trim_start().starts_with(GIVEN_CONTEXT) => {
                beside.push(head.part(index, PieceContent::Note { text }))
            }
            text => words.extend(text),
        }
    }
    let text = joined(words, "\n");
    if !text.trim().is_empty() {
        let origin = origin(entry, &text);
        found.push(head.main_piece(PieceContent::Prompt { text, origin }));
    }
    found.append(&mut beside);
}

fn origin(entry: &Entry<'_>, text: &str) -> PromptOrigin {
    let is_real = entry.provenance.as_deref().is_none_or(|provenance| provenance == "real_user");
    if !is_real || entry.agent_id.0.is_some() || text.trim_start().starts_with(TASK_NOTIFICATION) {
        PromptOrigin::Notification
    } else {
        prompt_origin(text)
    }
}

fn answer<'a>(entry: &Entry<'a>, parts: Vec<EntryPart<'a>>, head: &EntryHead<'a>, found: &mut Found<'a>) {
    for (index, part) in parts.into_iter().enumerate() {
        found.extend(model_content(part).map(|content| head.block(index, content)));
    }
    let count = |name: &str| entry.usage_metadata.get(name).number().unwrap_or(0);
    let cache_read = count("cachedContentTokenCount");
    let tokens = TokenCounts {
        input: count("promptTokenCount").saturating_sub(cache_read),
        cache_read,
        output: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
        ..TokenCounts::default()
    };
    if tokens != TokenCounts::default() {
        let (message, model) = (head.id.clone(), entry.model.0.clone());
        found.push(head.part("usage", PieceContent::Usage { message, model, tokens }));
    }
}

fn model_content(part: EntryPart<'_>) -> Option<PieceContent<'_>> {
    let call = part.function_call;
    if call.is_present() {
        let input = Cow::Borrowed(call.get("args").raw());
        return Some(PieceContent::ToolCall {
            call: call.get("id").text()?,
            tool: call.get("name").text()?,
            input,
        });
    }
    let text = part.text.0.filter(|text| !text.trim().is_empty())?;
    Some(if part.thought.is_true() { PieceContent::Thinking { text } } else { PieceContent::Answer { text } })
}

fn results<'a>(entry: &Entry<'a>, parts: &[EntryPart<'a>], head: &EntryHead<'a>, found: &mut Found<'a>) {
    let status = entry.tool_call_result.get("status").text();
    for (index, part) in parts.iter().enumerate() {
        let answer = part.function_response;
        let Some(call) = answer.get("id").text() else { continue };
        let (output, error) = (answer.get("response").get("output"), answer.get("response").get("error"));
        let outcome = match status.as_deref() {
            Some("cancelled") => ToolOutcome::Interrupted,
            Some("error") => ToolOutcome::Failed,
            _ if error.is_present() => ToolOutcome::Failed,
            _ => ToolOutcome::Done,
        };
        let written = if output.is_present() { output } else { error };
        let output = written.text().unwrap_or(Cow::Borrowed(written.raw()));
        found.push(head.block(index, PieceContent::ToolResult { call, output, outcome }));
    }
}

/// The summary that replaces the conversation before it.
fn compressed<'a>(
    entry: &Entry<'a>,
    head: &EntryHead<'a>,
) -> Option<towline_core::piece::TranscriptPiece<'a>> {
    let history: Vec<Nested<Message<'a>>> = entry.system_payload.get("compressedHistory").parse_as()?;
    let Nested(first) = history.into_iter().next()?;
    let summary = joined(first.parts.0.into_iter().filter_map(|part| part.text.0), "\n");
    Some(head.main_piece(PieceContent::Compacted { summary }))
}

fn image<'a>(part: &EntryPart<'a>) -> Option<PieceContent<'a>> {
    let media = part.inline_data.get("mimeType").text()?;
    let bytes = decoded_length(&part.inline_data.get("data").text().unwrap_or_default());
    Some(PieceContent::Image { media, bytes })
}
