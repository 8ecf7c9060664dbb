//! Parses Claude Code's transcripts, entry by entry.
//!
//! A prompt is text from the user's input box or its replacement; everything else that the client writes in the user's
//! name is a note, or ignored. Entries of a kind that is not listed here are skipped, however large.
//!
//! Ids are the client's own: an entry's `uuid`, with the block's index if the entry has several blocks, and a message's
//! id for its usage. A fork (`--fork-session`) copies the entries with their `uuid`s into the new session's file, so
//! both sessions have pieces with the same ids. The file does not say where they came from, and newer clients write the
//! same `promptId` on all copied entries.

use super::TASK_NOTIFICATION;
use super::entry::{Attachment, ContentBlock, EntryMessage, ImageSource, TranscriptEntry};
use super::tail::{INTERRUPTED, is_limit};
use crate::json::{OptText, RawValue};
use crate::transcript::{
    EntryHead, Found, LineError, RecentSums, TurnStarts, checksum, decoded_length, joined, parse,
    prompt_origin,
};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::event::{PromptOrigin, ToolOutcome};
use towline_core::id::{SubagentId, TurnId};
use towline_core::piece::{PieceContent, StopReason, TokenCounts, TranscriptPiece};
use towline_core::time::Timestamp;

/// Lines that start with the name of any other kind are skipped without parsing.
const KINDS: [&str; 4] = ["user", "assistant", "attachment", "system"];

/// The model name in entries that the client itself wrote for the model.
const SYNTHETIC: &str = "<synthetic>";
const FILLER: &str = "No response requested.";

/// The client's preamble to the output of its own commands.
const CAVEAT: &str = "<local-command-caveat>";

/// The tool result when the user rejected a tool call.
const REJECTED: &str = "The user doesn't want to proceed with this tool use.";

/// Beginnings of messages from other sessions of a team.
const TEAMMATE: [&str; 2] = ["<teammate-message", "Another Claude session sent a message:"];

/// Beginnings of text that editors and the client add to a prompt.
pub(super) const BESIDE: [&str; 2] = ["<ide_", "<system-reminder>"];

/// The id of subagents from clients that give them neither a file nor a name.
const NAMELESS: &str = "sidechain";

/// Parser state between two lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TranscriptState {
    lines: u64,
    /// Of the newest entry, used for entries without a timestamp.
    at: Timestamp,
    turn: Option<TurnId>,
    is_opened: bool,
    /// Whether this file's client records the source of every prompt.
    names_sources: bool,
    #[serde(rename = "told")]
    reported_usage: RecentSums,
    /// Prompts by the entry that they follow. A rewind is not recorded as such: the new prompt follows the same entry
    /// as the prompt that it replaces.
    #[serde(rename = "trail")]
    turn_starts: TurnStarts,
    /// The id of the prompt that the client numbered 1. After a rewind to it, the new prompt follows the last entry of the
    /// conversation that it replaces, and only this number shows the rewind.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_prompt: Option<u32>,
    /// Whether the conversation was compacted: then turns before the first prompt may remain.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_compacted: bool,
}

impl TranscriptState {
    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, LineError>,
        found: &mut Found<'a>,
    ) -> Result<(), LineError> {
        let place = self.lines;
        self.lines += 1;
        let line = line?;
        if is_of_other_kind(line) {
            return Ok(());
        }
        let Some(mut entry) = parse::<TranscriptEntry<'a>>(line)? else { return Ok(()) };
        let head = self.head(place, &entry);
        self.open(&entry, &head, found);
        match entry.kind.as_deref() {
            Some("user") => self.user(&mut entry, &head, found),
            Some("assistant") => self.answer(&mut entry, &head, found),
            Some("attachment") => attachment(&entry, &head, found),
            Some("system") => system(&entry, &head, found),
            _ => {}
        }
        Ok(())
    }

    fn head<'a>(&mut self, place: u64, entry: &TranscriptEntry<'a>) -> EntryHead<'a> {
        self.at = entry.timestamp.as_deref().and_then(Timestamp::parse_utc).unwrap_or(self.at);
        if let Some(turn) = entry.prompt_id.as_deref().and_then(|id| TurnId::parse(id).ok()) {
            self.turn = Some(turn);
        }
        self.names_sources |= entry.prompt_source.0.is_some();
        let subagent_id = || SubagentId::parse(entry.agent_id.as_deref().unwrap_or(NAMELESS)).ok();
        let id = entry.uuid.0.clone().unwrap_or_else(|| Cow::Owned(format!("line-{place}")));
        let subagent = if entry.is_sidechain.is_true() { subagent_id() } else { None };
        EntryHead { id, place, at: self.at, turn: self.turn.clone(), subagent }
    }

    fn open<'a>(&mut self, entry: &TranscriptEntry<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        if let (false, Some(session), Some(folder)) = (self.is_opened, &entry.session_id.0, &entry.cwd.0) {
            self.is_opened = true;
            let (session, folder, branch) =
                (session.clone(), Some(folder.clone()), entry.git_branch.0.clone());
            let opened = PieceContent::Opened { session, folder, branch, base: None };
            found.push(head.part("opened", opened));
        }
    }

    fn user<'a>(&mut self, entry: &mut TranscriptEntry<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let message = std::mem::take(&mut entry.message.0);
        let (mut words, mut details) = (vec![], vec![]);
        for (index, block) in message.content.0.into_iter().enumerate() {
            match block.kind.as_deref() {
                Some("text") => match block.text.0 {
                    // Added by an editor or the client: no part of the prompt.
                    Some(text) if BESIDE.iter().any(|start| text.starts_with(start)) => {
                        details.push(head.part(index, PieceContent::Note { text }))
                    }
                    text => words.extend(text),
                },
                Some("tool_result") => tool_result(&block, index, entry, head, &mut details),
                Some("image" | "document") => {
                    details.extend(image(&block).map(|image| head.part(index, image)))
                }
                _ => {}
            }
        }
        let words = joined(words, "\n");
        if entry.is_compact_summary.is_true() {
            self.is_compacted = true;
            found.push(head.main_piece(PieceContent::Compacted { summary: words }));
        } else if !words.trim().is_empty() {
            self.user_text(words, entry, head, found);
        }
        found.append(&mut details);
    }

    /// Text that the client recorded in the user's name.
    fn user_text<'a>(
        &mut self,
        words: Cow<'a, str>,
        entry: &TranscriptEntry<'a>,
        head: &EntryHead<'a>,
        found: &mut Found<'a>,
    ) {
        if INTERRUPTED.contains(&&*words) {
            found.push(head.main_piece(PieceContent::Stopped {
                how: StopReason::Interrupted,
                words: Cow::Borrowed(""),
            }));
        } else if entry.is_meta.is_true() {
            found.extend(note(words).map(|note| head.main_piece(note)));
        } else {
            let content = unwrapped(&words).unwrap_or_else(|| match self.origin(&words, entry) {
                Some(origin) => Some(PieceContent::Prompt { text: words, origin }),
                None => Some(PieceContent::Note { text: words }),
            });
            if matches!(content, Some(PieceContent::Prompt { .. })) && head.subagent.is_none() {
                self.go_back(entry, head, found);
            }
            found.extend(content.map(|content| head.main_piece(content)));
        }
    }

    /// The origin of a prompt; `None` if the text is not a prompt.
    fn origin(&self, words: &str, entry: &TranscriptEntry<'_>) -> Option<PromptOrigin> {
        let is_teammate = TEAMMATE.iter().any(|start| words.starts_with(start));
        match (entry.origin.get("kind").text().as_deref(), entry.prompt_source.as_deref()) {
            _ if entry.is_sidechain.is_true() || is_teammate || is_notification(words) => {
                Some(PromptOrigin::Notification)
            }
            (Some("human"), _) => Some(prompt_origin(words)),
            (Some(_), _) | (None, Some("system")) => Some(PromptOrigin::Notification),
            (None, Some(_)) => Some(prompt_origin(words)),
            (None, None) if self.names_sources => None,
            (None, None) => Some(prompt_origin(words)),
        }
    }

    /// Before a prompt: takes back the turns that it replaces.
    fn go_back<'a>(&mut self, entry: &TranscriptEntry<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let parent = entry.parent_uuid.as_deref();
        let followed = checksum(&[parent.unwrap_or_default().as_bytes()]);
        let from = match parent {
            _ if self.begins_anew(entry) => self.turn_starts.rewind(u64::MAX),
            Some(_) => self.turn_starts.rewind_to(followed),
            None => None,
        };
        if let Some(from) = from {
            found.push(head.part("reverted", PieceContent::Reverted { from }));
        }
        self.turn_starts.begin(followed, head.place);
    }

    /// Whether the client numbers this prompt as the first of its conversation, after another one. A prompt that joins the
    /// first turn while it runs has the same number, and that turn's id.
    fn begins_anew(&mut self, entry: &TranscriptEntry<'_>) -> bool {
        let is_first = entry.turn_position.get("turnIndex").number() == Some(1);
        let id = entry.prompt_id.as_deref().filter(|_| is_first).map(|id| checksum(&[id.as_bytes()]));
        let before = if id.is_some() { std::mem::replace(&mut self.first_prompt, id) } else { None };
        before.is_some_and(|before| Some(before) != id) && !self.is_compacted
    }

    fn answer<'a>(&mut self, entry: &mut TranscriptEntry<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let mut message = std::mem::take(&mut entry.message.0);
        let parts = std::mem::take(&mut message.content.0);
        if entry.is_api_error_message.is_true() {
            found.push(head.main_piece(failure(entry, parts)));
            return;
        }
        for (index, block) in parts.into_iter().enumerate() {
            if block.kind.as_deref().is_some_and(|kind| kind.ends_with("tool_result")) {
                tool_result(&block, index, entry, head, found);
            } else {
                found.extend(model_content(block).map(|content| head.block(index, content)));
            }
        }
        found.extend(self.usage(message).map(|(id, usage)| head.piece(id, usage)));
    }

    /// The message's usage with its id, unless already reported: the client repeats it on every block's line.
    fn usage<'a>(&mut self, message: EntryMessage<'a>) -> Option<(Cow<'a, str>, PieceContent<'a>)> {
        let usage = message.usage.0;
        let cache_write = usage.cache_creation_input_tokens.number().unwrap_or(0);
        let long_lived = usage.cache_creation.get("ephemeral_1h_input_tokens");
        let tokens = TokenCounts {
            input: usage.input_tokens.number().unwrap_or(0),
            cache_read: usage.cache_read_input_tokens.number().unwrap_or(0),
            cache_write,
            cache_write_1h: long_lived.number().unwrap_or(0).min(cache_write),
            output: usage.output_tokens.number().unwrap_or(0),
        };
        let (id, model) = (message.id.0?, message.model.0);
        let TokenCounts { input, cache_read, cache_write, cache_write_1h, output } = tokens;
        let counts = [input, cache_read, cache_write, cache_write_1h, output].map(u64::to_le_bytes);
        let is_real = model.as_deref() != Some(SYNTHETIC) && tokens != TokenCounts::default();
        let is_new = is_real && self.reported_usage.insert(&[id.as_bytes(), counts.as_flattened()]);
        is_new.then(|| (id.clone(), PieceContent::Usage { message: id, model, tokens }))
    }
}

/// Whether the line begins with the name of a kind that is not read.
fn is_of_other_kind(line: &str) -> bool {
    let named = line.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"'));
    named.is_some_and(|(kind, _)| !KINDS.contains(&kind))
}

fn tool_result<'a>(
    block: &ContentBlock<'a>,
    index: usize,
    entry: &TranscriptEntry<'a>,
    head: &EntryHead<'a>,
    found: &mut Found<'a>,
) {
    let Some(call) = block.tool_use_id.0.clone() else { return };
    let parts: Vec<ContentBlock<'a>> = block.content.parts();
    let images: Vec<PieceContent<'a>> = parts.iter().filter_map(image).collect();
    let texts: Vec<Cow<'a, str>> = parts.into_iter().filter_map(|part| part.text.0).collect();
    // Content other than a list of texts and images is kept as written.
    let is_plain = !texts.is_empty() || !images.is_empty() || !block.content.raw().starts_with(['[', '{']);
    let output = if is_plain { joined(texts, "\n") } else { Cow::Borrowed(block.content.raw()) };
    let outcome = outcome(block, &output, entry);
    found.push(head.block(index, PieceContent::ToolResult { call, output, outcome }));
    let numbered = images.into_iter().enumerate();
    found.extend(numbered.map(|(number, image)| head.part(format!("{index}.{number}"), image)));
}

fn outcome(block: &ContentBlock<'_>, output: &str, entry: &TranscriptEntry<'_>) -> ToolOutcome {
    if output.starts_with(REJECTED) || is_interrupted(entry.tool_use_result) {
        ToolOutcome::Interrupted
    } else if block.is_error.is_true() {
        ToolOutcome::Failed
    } else {
        ToolOutcome::Done
    }
}

/// The client's own record repeats the whole result, so it is parsed only if it may say so.
fn is_interrupted(record: RawValue<'_>) -> bool {
    memmem::find(record.raw().as_bytes(), br#""interrupted":true"#).is_some()
        && record.get("interrupted").is_true()
}

fn image<'a>(block: &ContentBlock<'a>) -> Option<PieceContent<'a>> {
    let source: ImageSource<'a> = block.source.parse_as()?;
    let bytes = decoded_length(source.data.as_deref().unwrap_or(""));
    source.media_type.0.map(|media| PieceContent::Image { media, bytes })
}

/// Content in the client's tags: commands and their output. `Some(None)` is recognised but empty.
fn unwrapped<'a>(words: &str) -> Option<Option<PieceContent<'a>>> {
    let owned = |text: String| {
        Some((!text.trim().is_empty()).then_some(PieceContent::Note { text: Cow::Owned(text) }))
    };
    if words.starts_with("<command-message>") || words.starts_with("<command-name>") {
        let (name, arguments) = (within(words, "command-name")?, within(words, "command-args").unwrap_or(""));
        let command = format!("{name} {arguments}").trim_end().to_owned();
        // A command that the client runs itself starts with its name; a skill that the model chose has no slash.
        let is_prompt = words.starts_with("<command-message>") && name.starts_with('/');
        let prompt =
            |text| Some(Some(PieceContent::Prompt { text: Cow::Owned(text), origin: PromptOrigin::Command }));
        return if is_prompt { prompt(command) } else { owned(command) };
    }
    if let Some(command) = words.strip_prefix("<bash-input>") {
        let text = format!("!{}", command.trim_end().trim_end_matches("</bash-input>"));
        return Some(Some(PieceContent::Prompt { text: Cow::Owned(text), origin: PromptOrigin::Command }));
    }
    if words.starts_with("<bash-stdout>") || words.starts_with("<bash-stderr>") {
        let outputs = ["bash-stdout", "bash-stderr"].into_iter().filter_map(|tag| within(words, tag));
        return owned(outputs.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"));
    }
    let output = ["local-command-stdout", "local-command-stderr"];
    let tag =
        output.into_iter().find(|tag| words.strip_prefix('<').is_some_and(|rest| rest.starts_with(tag)))?;
    owned(within(words, tag)?.to_owned())
}

/// The text between the tags, up to the last closing one, since output may hold anything.
fn within<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.rsplit_once(&format!("</{tag}>")).map(|(inner, _)| inner)
}

fn is_notification(words: &str) -> bool {
    words.trim_start().starts_with(TASK_NOTIFICATION)
}

fn note(text: Cow<'_, str>) -> Option<PieceContent<'_>> {
    (!text.trim().is_empty() && !text.starts_with(CAVEAT)).then_some(PieceContent::Note { text })
}

fn failure<'a>(entry: &TranscriptEntry<'_>, parts: Vec<ContentBlock<'a>>) -> PieceContent<'a> {
    let words = joined(parts.into_iter().filter_map(|part| part.text.0), "\n");
    let how = if is_limit(&entry.error, &words) { StopReason::Limited } else { StopReason::Failed };
    PieceContent::Stopped { how, words }
}

fn model_content(block: ContentBlock<'_>) -> Option<PieceContent<'_>> {
    let is_said = |text: &Cow<'_, str>| !text.trim().is_empty() && text != FILLER;
    match block.kind.as_deref()? {
        "text" => block.text.0.filter(is_said).map(|text| PieceContent::Answer { text }),
        "thinking" => block.thinking.0.filter(is_said).map(|text| PieceContent::Thinking { text }),
        kind if kind.ends_with("tool_use") => Some(PieceContent::ToolCall {
            call: block.id.0?,
            tool: block.name.0?,
            input: Cow::Borrowed(block.input.raw()),
        }),
        _ => None,
    }
}

fn attachment<'a>(entry: &TranscriptEntry<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
    let attachment: Attachment<'a> = entry.attachment.parse_as().unwrap_or_default();
    let note = match attachment.kind.as_deref() {
        Some("queued_command") => return queued(attachment, head, found),
        Some("hook_additional_context") => contexts(attachment.content),
        Some("hook_success") => attachment.content.text().and_then(note),
        Some("hook_blocking_error") => hook_error(&attachment),
        Some("file" | "directory" | "edited_text_file") => shown_file(attachment),
        _ => None,
    };
    found.extend(note.map(|note| head.main_piece(note)));
}

/// A hook's blocking error. For `Stop` events the client also writes it in the user's name.
fn hook_error<'a>(attachment: &Attachment<'a>) -> Option<PieceContent<'a>> {
    let is_repeated = matches!(attachment.hook_event.as_deref(), Some("Stop" | "SubagentStop"));
    attachment.blocking_error.get("blockingError").text().filter(|_| !is_repeated).and_then(note)
}

/// A prompt sent while the agent worked and accepted between two steps: it has no entry of its own.
fn queued<'a>(attachment: Attachment<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
    let origin = attachment.origin.get("kind").text();
    let is_prompt = attachment.command_mode.as_deref().is_none_or(|mode| mode == "prompt");
    let parts = attachment.prompt.0;
    let images = parts.iter().enumerate().filter_map(|(index, block)| Some(head.part(index, image(block)?)));
    let images: Vec<TranscriptPiece<'a>> = images.collect();
    let text = joined(parts.into_iter().filter_map(|part| part.text.0), "\n");
    let is_typed =
        is_prompt && origin.as_deref().is_none_or(|kind| kind == "human") && !is_notification(&text);
    let origin = if is_typed { prompt_origin(&text) } else { PromptOrigin::Notification };
    if !text.trim().is_empty() {
        found.push(head.main_piece(PieceContent::Prompt { text, origin }));
    }
    found.extend(images);
}

fn contexts(content: RawValue<'_>) -> Option<PieceContent<'_>> {
    let texts: Vec<OptText<'_>> = content.parse_as().unwrap_or_default();
    note(joined(texts.into_iter().filter_map(|text| text.0), "\n"))
}

/// The file's name and the contents that the client shows.
fn shown_file(attachment: Attachment<'_>) -> Option<PieceContent<'_>> {
    let name = attachment.filename.0.or(attachment.path.0)?;
    let inner = || attachment.content.get("file").get("content").text();
    let text = attachment.snippet.0.or_else(|| attachment.content.text()).or_else(inner)?;
    Some(PieceContent::Note { text: Cow::Owned(format!("@{name}\n{text}")) })
}

fn system<'a>(entry: &TranscriptEntry<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
    let is_shown = matches!(entry.subtype.as_deref(), Some("local_command" | "informational"));
    let Some(text) = entry.content.text().filter(|_| is_shown) else { return };
    let content = unwrapped(&text).unwrap_or_else(|| note(text));
    found.extend(content.map(|content| head.main_piece(content)));
}
