//! Parses the rows of a session as `store` renders them, line by line: the session, its messages, and their parts.
//!
//! A message is followed by its parts, a tool's part by its result, and the parts of the model's by the end of the message,
//! which holds its cost and its error. The last line may name the first prompt that the user took back. Subagents are sessions
//! of their own, whose rows are among those of the session that started them.
//!
//! The client deletes what was taken back with the next prompt, so the lines are others then and are read again: each
//! message of the user's then takes back what an earlier reading found from its place on.

use crate::agent::Agent;
use crate::json::{Nested, OptText, RawValue};
use crate::shim;
use crate::transcript::{EntryHead, Found, LineError, TurnStarts, checksum, parse};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::event::{PromptOrigin, ToolOutcome};
use towline_core::id::SubagentId;
use towline_core::piece::{PieceContent, StopReason, TokenCounts, TranscriptPiece};
use towline_core::time::Timestamp;

/// One row.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Row<'a> {
    table: OptText<'a>,
    id: OptText<'a>,
    session_id: OptText<'a>,
    message_id: OptText<'a>,
    directory: OptText<'a>,
    time_created: RawValue<'a>,
    data: Nested<RowData<'a>>,
}

/// The contents of a message or a part: absent fields are empty.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct RowData<'a> {
    role: OptText<'a>,
    #[serde(rename = "modelID")]
    model: OptText<'a>,
    tokens: RawValue<'a>,
    error: RawValue<'a>,
    /// Whether the message is the summary of a compaction.
    summary: RawValue<'a>,
    #[serde(rename = "type")]
    kind: OptText<'a>,
    text: OptText<'a>,
    synthetic: RawValue<'a>,
    /// The command that was typed, whose text this is.
    typed: OptText<'a>,
    tool: OptText<'a>,
    #[serde(rename = "callID")]
    call: OptText<'a>,
    input: RawValue<'a>,
    state: RawValue<'a>,
}

/// Parser state between two lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RowsState {
    agent: String,
    lines: u64,
    at: Timestamp,
    /// The session that was opened.
    session: String,
    /// The message that the next parts belong to, and whose it is.
    message: (String, Speaker),
    /// Messages of the user's, by id.
    #[serde(rename = "trail")]
    turn_starts: TurnStarts,
    /// Whether other lines were read before: some of their messages may be gone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_read_again: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Speaker {
    #[default]
    User,
    Model,
    Summary,
}

impl RowsState {
    pub(crate) fn of(agent: Agent) -> Self {
        Self { agent: agent.name().to_owned(), ..Self::default() }
    }

    pub(crate) fn read_again(&mut self) {
        self.is_read_again = true;
    }

    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, LineError>,
        found: &mut Found<'a>,
    ) -> Result<(), LineError> {
        let row = line.and_then(parse::<Row<'a>>).inspect_err(|_| self.lines += 1)?;
        let Some(row) = row else { return Ok(()) };
        // The result of a part and the end of a message are at the place of the line before.
        let is_own = matches!(row.table.as_deref(), Some("session" | "message" | "part"));
        self.lines += u64::from(is_own);
        let place = self.lines.saturating_sub(1);
        if let Some(at) = row.time_created.number().and_then(|ms| i64::try_from(ms).ok()) {
            self.at = Timestamp(at);
        }
        let inside = row.session_id.as_deref().filter(|id| *id != self.session);
        let head = EntryHead {
            subagent: inside.and_then(|id| SubagentId::parse(id).ok()),
            id: row.id.0.unwrap_or_else(|| Cow::Owned(format!("line@{place}"))),
            place,
            at: self.at,
            turn: None,
        };
        let Nested(data) = row.data;
        match row.table.as_deref() {
            Some("session") => self.opened(row.directory, head, found),
            Some("message") => self.message(data, &head, found),
            Some("part") if row.message_id.is(&self.message.0) => self.part(data, &head, found),
            Some("result") if row.message_id.is(&self.message.0) => found.extend(result(data, &head)),
            Some("end") if row.message_id.is(&self.message.0) => {
                found.extend(usage(&data, &head));
                found.extend(stopped(data.error, &head));
            }
            Some("revert") => found.extend(self.taken_back(&head)),
            _ => {}
        }
        Ok(())
    }

    fn opened<'a>(&mut self, folder: OptText<'a>, head: EntryHead<'a>, found: &mut Found<'a>) {
        let session = head.id.clone();
        self.session = session.clone().into_owned();
        let head = EntryHead { subagent: None, ..head };
        let folder = folder.0;
        found.push(head.main_piece(PieceContent::Opened { session, folder, branch: None, base: None }));
        if self.is_read_again {
            found.push(head.part("again", PieceContent::ReadAgain));
        }
    }

    fn message<'a>(&mut self, data: RowData<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let speaker = match (data.role.is("assistant"), data.summary.is_true()) {
            (false, _) => Speaker::User,
            (true, false) => Speaker::Model,
            (true, true) => Speaker::Summary,
        };
        self.message = (head.id.clone().into_owned(), speaker);
        if speaker == Speaker::User && head.subagent.is_none() {
            self.turn_starts.begin(checksum(&[head.id.as_bytes()]), head.place);
            if self.is_read_again {
                found.push(head.part("reverted", PieceContent::Reverted { from: head.place }));
            }
        }
    }

    /// The line names a message of the user's.
    fn taken_back<'a>(&mut self, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
        let from = self.turn_starts.rewind_to(checksum(&[head.id.as_bytes()]))?;
        Some(head.part("reverted", PieceContent::Reverted { from }))
    }

    fn part<'a>(&self, data: RowData<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let speaker = self.message.1;
        match data.kind.as_deref() {
            Some("text") => found.extend(self.text(data, head)),
            Some("reasoning") if speaker == Speaker::Model => {
                let text = data.text.0.filter(|text| !text.trim().is_empty());
                found.extend(text.map(|text| head.main_piece(PieceContent::Thinking { text })));
            }
            Some("tool") if speaker == Speaker::Model => found.extend(called(data, head)),
            _ => {}
        }
    }

    /// Synthetic text was added by the client, or by plugins: it is not the user's.
    fn text<'a>(&self, data: RowData<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
        let text = data.text.0.filter(|text| !text.trim().is_empty() && !data.synthetic.is_true())?;
        Some(head.main_piece(match self.message.1 {
            Speaker::Model => PieceContent::Answer { text },
            Speaker::Summary => PieceContent::Compacted { summary: text },
            Speaker::User => {
                let agent = Agent::from_name(&self.agent)?;
                let text = data.typed.0.unwrap_or(text);
                let origin = match &head.subagent {
                    // A subagent's prompts come from its agent.
                    Some(_) => PromptOrigin::Notification,
                    None => shim::origin(agent, &text),
                };
                PieceContent::Prompt { text, origin }
            }
        }))
    }
}

fn called<'a>(data: RowData<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
    let (call, tool) = (data.call.0?, data.tool.0?);
    Some(head.main_piece(PieceContent::ToolCall { call, tool, input: Cow::Borrowed(data.input.raw()) }))
}

fn result<'a>(data: RowData<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
    let call = data.call.0?;
    let said = |name: &str| data.state.get(name);
    let is_done = said("status").text().as_deref() == Some("completed");
    let is_failed_command = said("exit").number().is_some_and(|code| code != 0);
    let outcome = if is_done && !is_failed_command { ToolOutcome::Done } else { ToolOutcome::Failed };
    let output = said("output").text().or_else(|| said("error").text()).unwrap_or_default();
    Some(head.part("result", PieceContent::ToolResult { call, output, outcome }))
}

fn stopped<'a>(error: RawValue<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
    let name = error.get("name").text()?;
    let how = match (name.as_ref(), error.get("data").get("statusCode").number()) {
        ("MessageAbortedError", _) => StopReason::Interrupted,
        (_, Some(402 | 429)) => StopReason::Limited,
        (_, _) => StopReason::Failed,
    };
    let words = match how {
        StopReason::Interrupted => Cow::Borrowed(""),
        StopReason::Failed | StopReason::Limited => {
            error.get("data").get("message").text().unwrap_or_default()
        }
    };
    Some(head.part("end", PieceContent::Stopped { how, words }))
}

fn usage<'a>(data: &RowData<'a>, head: &EntryHead<'a>) -> Option<TranscriptPiece<'a>> {
    let count = |value: RawValue<'a>| value.number().unwrap_or(0);
    let cache = data.tokens.get("cache");
    let tokens = TokenCounts {
        input: count(data.tokens.get("input")),
        cache_read: count(cache.get("read")),
        cache_write: count(cache.get("write")),
        cache_write_1h: 0,
        // The client counts reasoning apart from the answer.
        output: count(data.tokens.get("output")).saturating_add(count(data.tokens.get("reasoning"))),
    };
    let content = PieceContent::Usage { message: head.id.clone(), model: data.model.0.clone(), tokens };
    (tokens != TokenCounts::default()).then(|| head.part("usage", content))
}
