//! Parses Gemini CLI's transcripts, line by line.
//!
//! The file is a log of operations: a message replaces an earlier one with its id, `$set` replaces the conversation, and
//! `$rewindTo` takes its end back. New content comes only as messages; a `$set` of all messages repeats them, and after
//! an interruption the client also appends the whole history again, under new ids. Both are skipped, so that nothing
//! counts twice. A `$set` tells only where the session is run and that it was compacted.
//!
//! Positions are the messages' times: a session that is cleared by a hook goes on under its id in another file.

use super::entry::{ListedMessage, Part, Thought, ToolCall, TranscriptLine};
use super::{HOOK_CONTEXT, REFERENCED, command_outcome, own_or_human, typed_text};
use crate::json::{OptText, RawValue};
use crate::transcript::{
    EntryHead, Found, LineError, RecentSums, TurnStarts, checksum, decoded_length, joined, parse,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::event::{PromptOrigin, ToolOutcome};
use towline_core::piece::{PieceContent, StopReason, TokenCounts};
use towline_core::time::Timestamp;

/// The first message of every conversation, written by the client.
const SESSION_CONTEXT: &str = "<session_context>";
/// In that message, the line before the folders that the session works in.
const FOLDERS: &str = "- **Workspace Directories:**\n  - ";
/// The client's answer to a summary, in the model's name.
const SUMMARY_TAKEN: &str = "Got it. Thanks for the additional context!";
/// Begins the lines before and after the contents of files.
const MARK: &str = "\n--- ";
/// Around the output of a tool.
const UNTRUSTED: [&str; 2] = ["<untrusted_context>\n", "\n</untrusted_context>"];

/// Written after every message.
const NOTHING_NEW: &str = r#"{"$set":{"lastUpdated""#;

/// Parser state between two lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConversationState {
    /// Of the newest message.
    at: Timestamp,
    place: u64,
    /// The session of the file's header, until it is reported with its folder.
    session: Option<String>,
    is_opened: bool,
    /// Whether the client is appending its history again.
    is_copying: bool,
    /// Whether a prompt has followed the header.
    is_prompted: bool,
    reported: RecentSums,
    turn_starts: TurnStarts,
}

impl ConversationState {
    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, LineError>,
        found: &mut Found<'a>,
    ) -> Result<(), LineError> {
        let text = line?;
        if text.starts_with(NOTHING_NEW) {
            return Ok(());
        }
        let Some(line) = parse::<TranscriptLine<'a>>(text)? else { return Ok(()) };
        if line.patch.is_present() {
            self.patch(line.patch.get("messages"), found);
        } else if let Some(id) = line.rewind_to.as_deref() {
            let from = self.turn_starts.rewind_to(checksum(&[id.as_bytes()]));
            let head = EntryHead { id: Cow::Owned(format!("{id}@{}", self.place)), ..self.head(&line) };
            found.extend(from.map(|from| head.part("rewound", PieceContent::Reverted { from })));
        } else if line.id.0.is_some() {
            self.message(line, found);
        } else if let Some(session) = line.session_id.into_owned() {
            (self.session, self.is_prompted) = (Some(session), false);
        }
        Ok(())
    }

    /// The list of all messages: it ends a copy of the history.
    fn patch<'a>(&mut self, messages: RawValue<'a>, found: &mut Found<'a>) {
        if !messages.is_present() {
            return;
        }
        self.is_copying = false;
        let mut messages = messages.parts::<ListedMessage<'a>>().into_iter();
        let mut next = || messages.next().map(|message| (message.id, message.kind, text(message.content.0)));
        let (first, second, third) = (next(), next(), next());
        self.open(first.as_ref().and_then(|(_, _, text)| folder(text)), found);
        if let (Some((id, _, summary)), Some((_, kind, said))) = (second, third)
            && kind.is("gemini")
            && said == SUMMARY_TAKEN
            && self.reported.insert(&[id.as_deref().unwrap_or("").as_bytes()])
        {
            let head = self.head(&TranscriptLine { id, ..TranscriptLine::default() });
            found.push(head.main_piece(PieceContent::Compacted { summary }));
        }
    }

    /// Reports the session once, before its first message.
    fn open<'a>(&mut self, folder: Option<String>, found: &mut Found<'a>) {
        let Some(session) = self.session.take().filter(|_| !self.is_opened) else { return };
        self.is_opened = true;
        let head = self.head(&TranscriptLine::default());
        let (session, folder) = (Cow::Owned(session), folder.map(Cow::Owned));
        let opened = PieceContent::Opened { session, folder, branch: None, base: None };
        found.push(EntryHead { id: Cow::Borrowed("file"), ..head }.part("opened", opened));
    }

    fn head<'a>(&self, line: &TranscriptLine<'a>) -> EntryHead<'a> {
        let id = line.id.0.clone().unwrap_or_default();
        EntryHead { id, place: self.place, at: self.at, turn: None, subagent: None }
    }

    fn message<'a>(&mut self, line: TranscriptLine<'a>, found: &mut Found<'a>) {
        self.open(None, found);
        self.at = line.at().unwrap_or(self.at);
        self.place = u64::try_from(self.at.0).unwrap_or(0).max(self.place + 1);
        let head = self.head(&line);
        match line.kind.as_deref() {
            Some("user") => self.user(&line, &head, found),
            Some("gemini") if !self.is_copying && !line.is_copy() => self.answer(&line, &head, found),
            _ => found.extend(line.stop().map(|how| head.main_piece(stopped(how, line.content)))),
        }
    }

    fn user<'a>(&mut self, line: &TranscriptLine<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let parts = line.parts();
        let begins = |part: &Part<'_>, mark| part.text.as_deref().is_some_and(|text| text.starts_with(mark));
        self.is_copying |= parts.first().is_some_and(|part| begins(part, SESSION_CONTEXT));
        // The results of tools stand with their calls.
        if self.is_copying || parts.iter().all(|part| part.response.is_present()) {
            return;
        }
        let typed = |part: &Part<'_>| !begins(part, HOOK_CONTEXT) && !begins(part, REFERENCED);
        let end = parts.iter().skip(1).position(|part| !typed(part)).map_or(parts.len(), |at| at + 1);
        let mut details = vec![];
        let mut words = vec![];
        for (index, part) in parts.into_iter().enumerate() {
            match (part.text.0, image(part.inline_data)) {
                (_, Some(image)) => details.push(head.part(index, image)),
                (Some(text), None) if index < end => words.push(text),
                (Some(text), None) if !text.starts_with(MARK) => {
                    details.push(head.part(index, PieceContent::Note { text }))
                }
                (Some(_), None) => {}
                (None, None) => {}
            }
        }
        let text = typed_words(joined(words, "\n"));
        let shown = joined(line.display.0.iter().filter_map(|part| part.text.0.clone()), "\n");
        let is_hooks = !shown.is_empty() && typed_text(&shown) != text;
        if !text.trim().is_empty() {
            found.push(head.main_piece(self.prompt(text, is_hooks, head)));
        }
        found.append(&mut details);
    }

    /// A prompt, or the text with which a hook keeps the turn from ending: the client shows the turn's prompt beside it.
    fn prompt<'a>(&mut self, text: Cow<'a, str>, is_hooks: bool, head: &EntryHead<'_>) -> PieceContent<'a> {
        if is_hooks && self.is_prompted {
            return PieceContent::Note { text };
        }
        self.is_prompted = true;
        self.turn_starts.begin(checksum(&[head.id.as_bytes()]), head.place);
        let origin = own_or_human(&text);
        let is_foreign = is_hooks && origin == PromptOrigin::Human;
        let origin = if is_foreign { PromptOrigin::Notification } else { origin };
        PieceContent::Prompt { text, origin }
    }

    /// The client writes a message again once its tools have ended.
    fn answer<'a>(&mut self, line: &TranscriptLine<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let id = head.id.as_bytes();
        let said = line.content.text().filter(|text| !text.trim().is_empty());
        if self.reported.insert(&[id, b"said", line.content.raw().as_bytes()]) {
            let thought = thinking(line.thoughts).map(|thought| head.part("thought", thought));
            found.extend(thought);
            found.extend(said.map(|text| head.main_piece(PieceContent::Answer { text })));
        }
        for call in line.tool_calls.parts::<ToolCall<'a>>() {
            self.call(call, head, found);
        }
        let tokens = tokens(line.tokens).filter(|tokens| *tokens != TokenCounts::default());
        if let Some(tokens) = tokens.filter(|_| self.reported.insert(&[id, line.tokens.raw().as_bytes()])) {
            let model = line.model.0.clone();
            found.push(head.part("usage", PieceContent::Usage { message: head.id.clone(), model, tokens }));
        }
    }

    fn call<'a>(&mut self, call: ToolCall<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let (Some(id), Some(tool)) = (call.id.0, call.name.0) else { return };
        let status = call.status.as_deref().unwrap_or("");
        if !self.reported.insert(&[id.as_bytes(), status.as_bytes()]) {
            return;
        }
        let input = Cow::Borrowed(call.args.raw());
        found.push(head.part(&id, PieceContent::ToolCall { call: id.clone(), tool, input }));
        let output = joined(call.result.0.into_iter().map(output), "\n");
        let at = Timestamp::parse_utc(call.timestamp.as_deref().unwrap_or("")).unwrap_or(head.at);
        let outcome = outcome(status, &output);
        let mut result =
            head.part(format!("{id}.result"), PieceContent::ToolResult { call: id, output, outcome });
        result.at = at;
        found.push(result);
    }
}

/// The first of the folders that the client names to the model.
fn folder(context: &str) -> Option<String> {
    let (_, rest) = context.split_once(FOLDERS)?;
    Some(rest.lines().next()?.to_owned())
}

fn text(parts: Vec<Part<'_>>) -> Cow<'_, str> {
    joined(parts.into_iter().filter_map(|part| part.text.0), "\n")
}

fn typed_words(words: Cow<'_, str>) -> Cow<'_, str> {
    match words {
        Cow::Borrowed(words) => Cow::Borrowed(typed_text(words)),
        Cow::Owned(words) => Cow::Owned(typed_text(&words).to_owned()),
    }
}

fn image(data: RawValue<'_>) -> Option<PieceContent<'_>> {
    let bytes = decoded_length(&data.get("data").text()?);
    Some(PieceContent::Image { media: data.get("mimeType").text()?, bytes })
}

fn stopped(how: StopReason, words: RawValue<'_>) -> PieceContent<'_> {
    let words = words.text().filter(|_| how != StopReason::Interrupted).unwrap_or_default();
    PieceContent::Stopped { how, words }
}

fn thinking(thoughts: RawValue<'_>) -> Option<PieceContent<'_>> {
    let lines = thoughts.parts::<Thought<'_>>().into_iter().map(|Thought { subject, description }| {
        joined([subject, description].into_iter().filter_map(|OptText(text)| text), "\n")
    });
    let text = joined(lines, "\n\n");
    (!text.trim().is_empty()).then_some(PieceContent::Thinking { text })
}

/// The output that the model got, without the client's mark around it.
fn output(part: Part<'_>) -> Cow<'_, str> {
    let response = part.response.get("response");
    let text = ["output", "error"].into_iter().find_map(|name| response.get(name).text());
    let whole = text.or(part.text.0).unwrap_or(Cow::Borrowed(response.raw()));
    let [before, after] = UNTRUSTED;
    match whole.strip_prefix(before).and_then(|inner| inner.strip_suffix(after)) {
        Some(inner) => Cow::Owned(inner.to_owned()),
        None => whole,
    }
}

fn outcome(status: &str, output: &str) -> ToolOutcome {
    match status {
        "cancelled" => ToolOutcome::Interrupted,
        "error" => ToolOutcome::Failed,
        _ => command_outcome(output, output),
    }
}

/// The client's input count includes cached tokens, its output count no thoughts.
fn tokens(counts: RawValue<'_>) -> Option<TokenCounts> {
    let count = |name: &str| counts.get(name).number().unwrap_or(0);
    let cache_read = count("cached");
    let input = counts.get("input").number()?.saturating_sub(cache_read).saturating_add(count("tool"));
    let output = count("output").saturating_add(count("thoughts"));
    Some(TokenCounts { input, cache_read, cache_write: 0, cache_write_1h: 0, output })
}
