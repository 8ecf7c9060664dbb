//! What a transcript of Claude Code holds, entry by entry.
//!
//! A prompt is what a person's input box sent, or what stands in its place; everything else that the client writes in the
//! person's name is a note, or nothing. Entries of a kind that is not listed here are passed over, however large.
//!
//! Ids are the client's own: an entry's `uuid`, with the number of the block where one entry has several, and a message's
//! id for what it cost. A fork (`--fork-session`) copies the entries with their `uuid`s into the file of the new session,
//! so both sessions have pieces of the same ids; nothing in the file says where they came from, and the newer clients
//! write one and the same `promptId` on all that they copy.

use super::TASK_NOTIFICATION;
use super::entry::{
    Attachment, Block, CacheCreation, Entry, FileContent, HookError, Message, Origin as WireOrigin, Outcome,
    Source,
};
use super::tail::{INTERRUPTED, is_limit};
use crate::reader::{Any, Recent, Spot, Trail, Unreadable, decoded_length, joined, mark, parse, typed};
use crate::wire::Text;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::event::{Origin, ToolOutcome};
use towline_core::id::{SubagentId, TurnId};
use towline_core::piece::{Content, Piece, Stop, Tokens};
use towline_core::time::Timestamp;

/// Where the client names an entry's kind first, others than these need not be parsed at all.
const KINDS: [&str; 4] = ["user", "assistant", "attachment", "system"];

/// What the client writes in the model's name.
const SYNTHETIC: &str = "<synthetic>";
const FILLER: &str = "No response requested.";

/// What the client puts before the output of its own commands, each time anew.
const CAVEAT: &str = "<local-command-caveat>";

/// Said to the model where a person did not let a tool go on.
const REJECTED: &str = "The user doesn't want to proceed with this tool use.";

/// What other sessions of a team say.
const TEAMMATE: [&str; 2] = ["<teammate-message", "Another Claude session sent a message:"];

/// What editors and the client itself put beside a prompt's own words.
const BESIDE: [&str; 2] = ["<ide_", "<system-reminder>"];

/// Clients that give helpers no file of their own give them no name either.
const NAMELESS: &str = "sidechain";

/// What the next line needs of those before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    lines: u64,
    /// Of the newest entry, for one that has none.
    at: Timestamp,
    turn: Option<TurnId>,
    is_opened: bool,
    /// Whether this file's client says of every prompt how it came in.
    names_sources: bool,
    told: Recent,
    /// Where prompts stand, by the entry that they follow. Going back is not written down: the prompt that is sent then
    /// follows the entry that the prompt followed which it replaces.
    trail: Trail,
}

impl Memory {
    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, Unreadable>,
        found: &mut Vec<Piece<'a>>,
    ) -> Result<(), Unreadable> {
        let place = self.lines;
        self.lines += 1;
        let line = line?;
        if is_of_other_kind(line) {
            return Ok(());
        }
        let Some(mut entry) = parse::<Entry<'a>>(line)? else { return Ok(()) };
        let message = std::mem::take(&mut entry.message.0);
        let spot = self.spot(place, &entry);
        self.open(&entry, &spot, found);
        match entry.kind.as_deref() {
            Some("user") => self.user(message, (&entry, &spot), found),
            Some("assistant") => self.assistant(message, (&entry, &spot), found),
            Some("attachment") => attachment(&entry, &spot, found),
            Some("system") => system(&entry, &spot, found),
            _ => {}
        }
        Ok(())
    }

    fn spot<'a>(&mut self, place: u64, entry: &Entry<'a>) -> Spot<'a> {
        self.at = entry.timestamp.as_deref().and_then(Timestamp::parse_utc).unwrap_or(self.at);
        if let Some(turn) = entry.prompt_id.as_deref().and_then(|id| TurnId::parse(id).ok()) {
            self.turn = Some(turn);
        }
        self.names_sources |= entry.prompt_source.0.is_some();
        let helper = || SubagentId::parse(entry.agent_id.as_deref().unwrap_or(NAMELESS)).ok();
        let id = entry.uuid.0.clone().unwrap_or_else(|| Cow::Owned(format!("line-{place}")));
        let subagent = if entry.is_sidechain.is_true() { helper() } else { None };
        Spot { id, place, at: self.at, turn: self.turn.clone(), subagent }
    }

    fn open<'a>(&mut self, entry: &Entry<'a>, spot: &Spot<'a>, found: &mut Vec<Piece<'a>>) {
        if let (false, Some(session), Some(folder)) = (self.is_opened, &entry.session_id.0, &entry.cwd.0) {
            self.is_opened = true;
            let opened =
                Content::Opened { session: session.clone(), folder: Some(folder.clone()), base: None };
            found.push(spot.part("opened", opened));
        }
    }

    fn user<'a>(
        &mut self,
        message: Message<'a>,
        (entry, spot): (&Entry<'a>, &Spot<'a>),
        found: &mut Vec<Piece<'a>>,
    ) {
        let (mut words, mut details) = (vec![], vec![]);
        for (index, block) in message.content.0.into_iter().enumerate() {
            match block.kind.as_deref() {
                Some("text") => words.extend(beside(block, index, spot, &mut details)),
                Some("tool_result") => tool_result(&block, index, (entry, spot), &mut details),
                Some("image" | "document") => {
                    details.extend(image(&block).map(|image| spot.part(index, image)))
                }
                _ => {}
            }
        }
        let words = joined(words, "\n");
        if entry.is_compact_summary.is_true() {
            found.push(spot.whole(Content::Compacted { summary: words }));
        } else if !words.trim().is_empty() {
            self.said(words, (entry, spot), found);
        }
        found.append(&mut details);
    }

    /// What stands in a person's name.
    fn said<'a>(&mut self, words: Cow<'a, str>, of: (&Entry<'a>, &Spot<'a>), found: &mut Vec<Piece<'a>>) {
        let (entry, spot) = of;
        if INTERRUPTED.contains(&&*words) {
            found.push(spot.whole(Content::Stopped { how: Stop::Interrupted, words: Cow::Borrowed("") }));
        } else if entry.is_meta.is_true() {
            found.extend(note(words).map(|note| spot.whole(note)));
        } else if let Some(what) = unwrapped(&words) {
            self.go_back(&what, entry, spot, found);
            found.extend(what.map(|what| spot.whole(what)));
        } else if let Some(origin) = self.asked_by(&words, entry) {
            let prompt = Some(Content::Prompt { text: words, origin });
            self.go_back(&prompt, entry, spot, found);
            found.extend(prompt.map(|prompt| spot.whole(prompt)));
        } else {
            found.push(spot.whole(Content::Note { text: words }));
        }
    }

    /// Who asks; `None` where nobody does.
    fn asked_by(&self, words: &str, entry: &Entry<'_>) -> Option<Origin> {
        let origin: WireOrigin<'_> = entry.origin.as_a().unwrap_or_default();
        let is_teammate = TEAMMATE.iter().any(|start| words.starts_with(start));
        match (origin.kind.as_deref(), entry.prompt_source.as_deref()) {
            _ if entry.is_sidechain.is_true() || is_teammate || is_notification(words) => {
                Some(Origin::Notification)
            }
            (Some("human"), _) => Some(typed(words)),
            (Some(_), _) | (None, Some("system")) => Some(Origin::Notification),
            (None, Some(_)) => Some(typed(words)),
            (None, None) if self.names_sources => None,
            (None, None) => Some(typed(words)),
        }
    }

    fn go_back<'a>(
        &mut self,
        what: &Option<Content<'a>>,
        entry: &Entry<'a>,
        spot: &Spot<'a>,
        found: &mut Vec<Piece<'a>>,
    ) {
        let Some(followed) = entry.parent_uuid.as_deref() else { return };
        if !matches!(what, Some(Content::Prompt { .. })) || spot.subagent.is_some() {
            return;
        }
        let followed = mark(&[followed.as_bytes()]);
        if let Some(from) = self.trail.back_to(followed) {
            found.push(spot.part("reverted", Content::Reverted { from }));
        }
        self.trail.begin(followed, spot.place);
    }

    fn assistant<'a>(
        &mut self,
        mut message: Message<'a>,
        (entry, spot): (&Entry<'a>, &Spot<'a>),
        found: &mut Vec<Piece<'a>>,
    ) {
        let parts = std::mem::take(&mut message.content.0);
        if entry.is_api_error_message.is_true() {
            found.push(spot.whole(failure(entry, parts)));
            return;
        }
        for (index, block) in parts.into_iter().enumerate() {
            if block.kind.as_deref().is_some_and(|kind| kind.ends_with("tool_result")) {
                tool_result(&block, index, (entry, spot), found);
            } else {
                found.extend(said_by_model(block).map(|what| spot.block(index, what)));
            }
        }
        found.extend(self.usage(message).map(|(id, usage)| spot.piece(id, usage)));
    }

    /// What the message cost, with its id, unless that was told before: the client repeats it on every block's line.
    fn usage<'a>(&mut self, message: Message<'a>) -> Option<(Cow<'a, str>, Content<'a>)> {
        let usage = message.usage.0;
        let lifetimes: CacheCreation<'_> = usage.cache_creation.as_a().unwrap_or_default();
        let cache_write = usage.cache_creation_input_tokens.number().unwrap_or(0);
        let tokens = Tokens {
            input: usage.input_tokens.number().unwrap_or(0),
            cache_read: usage.cache_read_input_tokens.number().unwrap_or(0),
            cache_write,
            cache_write_1h: lifetimes.ephemeral_1h_input_tokens.number().unwrap_or(0).min(cache_write),
            output: usage.output_tokens.number().unwrap_or(0),
        };
        let (id, model) = (message.id.0?, message.model.0);
        let Tokens { input, cache_read, cache_write, cache_write_1h, output } = tokens;
        let counts = [input, cache_read, cache_write, cache_write_1h, output].map(u64::to_le_bytes);
        let is_real = model.as_deref() != Some(SYNTHETIC) && tokens != Tokens::default();
        let is_told = is_real && self.told.remember(&[id.as_bytes(), counts.as_flattened()]);
        is_told.then(|| (id.clone(), Content::Usage { message: id, model, tokens }))
    }
}

/// Whether the line begins with the name of a kind that holds nothing for us.
fn is_of_other_kind(line: &str) -> bool {
    let named = line.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"'));
    named.is_some_and(|(kind, _)| !KINDS.contains(&kind))
}

/// The block's words, unless they stand beside the prompt: then they become a note of their own.
fn beside<'a>(
    block: Block<'a>,
    index: usize,
    spot: &Spot<'a>,
    details: &mut Vec<Piece<'a>>,
) -> Option<Cow<'a, str>> {
    let text = block.text.0?;
    if !BESIDE.iter().any(|start| text.starts_with(start)) {
        return Some(text);
    }
    details.push(spot.part(index, Content::Note { text }));
    None
}

fn tool_result<'a>(
    block: &Block<'a>,
    index: usize,
    (entry, spot): (&Entry<'a>, &Spot<'a>),
    found: &mut Vec<Piece<'a>>,
) {
    let Some(call) = block.tool_use_id.0.clone() else { return };
    let parts: Vec<Block<'a>> = block.content.parts();
    let images: Vec<Content<'a>> = parts.iter().filter_map(image).collect();
    let texts: Vec<Cow<'a, str>> = parts.into_iter().filter_map(|part| part.text.0).collect();
    // What is no list of texts and images is given as it was written.
    let is_plain = !texts.is_empty() || !images.is_empty() || !block.content.raw().starts_with(['[', '{']);
    let output = if is_plain { joined(texts, "\n") } else { Cow::Borrowed(block.content.raw()) };
    let outcome = outcome(block, &output, entry);
    found.push(spot.block(index, Content::ToolResult { call, output, outcome }));
    let numbered = images.into_iter().enumerate();
    found.extend(numbered.map(|(number, image)| spot.part(format!("{index}.{number}"), image)));
}

fn outcome(block: &Block<'_>, output: &str, entry: &Entry<'_>) -> ToolOutcome {
    if output.starts_with(REJECTED) || is_interrupted(entry.tool_use_result) {
        ToolOutcome::Interrupted
    } else if block.is_error.is_true() {
        ToolOutcome::Failed
    } else {
        ToolOutcome::Done
    }
}

/// The client's own record of the result repeats it whole, so it is parsed only where it may say so.
fn is_interrupted(record: Any<'_>) -> bool {
    memmem::find(record.raw().as_bytes(), br#""interrupted":true"#).is_some()
        && record.as_a::<Outcome<'_>>().is_some_and(|outcome| outcome.interrupted.is_true())
}

fn image<'a>(block: &Block<'a>) -> Option<Content<'a>> {
    let source: Source<'a> = block.source.as_a()?;
    let bytes = decoded_length(source.data.as_deref().unwrap_or(""));
    source.media_type.0.map(|media| Content::Image { media, bytes })
}

/// What the client keeps in tags: commands and their output. `Some(None)` is known and holds nothing.
fn unwrapped<'a>(words: &str) -> Option<Option<Content<'a>>> {
    let owned =
        |text: String| Some((!text.trim().is_empty()).then_some(Content::Note { text: Cow::Owned(text) }));
    if words.starts_with("<command-message>") || words.starts_with("<command-name>") {
        let (name, arguments) = (within(words, "command-name")?, within(words, "command-args").unwrap_or(""));
        let command = format!("{name} {arguments}").trim_end().to_owned();
        // A command that the client carries out itself names itself first; a skill that the model chose has no slash.
        let is_prompt = words.starts_with("<command-message>") && name.starts_with('/');
        let prompt = |text| Some(Some(Content::Prompt { text: Cow::Owned(text), origin: Origin::Command }));
        return if is_prompt { prompt(command) } else { owned(command) };
    }
    if let Some(command) = words.strip_prefix("<bash-input>") {
        let text = format!("!{}", command.trim_end().trim_end_matches("</bash-input>"));
        return Some(Some(Content::Prompt { text: Cow::Owned(text), origin: Origin::Command }));
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

/// What stands between the tags; the last closing one counts, since output may hold anything.
fn within<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    rest.rsplit_once(&format!("</{tag}>")).map(|(inner, _)| inner)
}

fn is_notification(words: &str) -> bool {
    words.trim_start().starts_with(TASK_NOTIFICATION)
}

fn note(text: Cow<'_, str>) -> Option<Content<'_>> {
    (!text.trim().is_empty() && !text.starts_with(CAVEAT)).then_some(Content::Note { text })
}

fn failure<'a>(entry: &Entry<'_>, parts: Vec<Block<'a>>) -> Content<'a> {
    let words = joined(parts.into_iter().filter_map(|part| part.text.0), "\n");
    let how = if is_limit(&entry.error, &words) { Stop::Limited } else { Stop::Failed };
    Content::Stopped { how, words }
}

fn said_by_model(block: Block<'_>) -> Option<Content<'_>> {
    let is_said = |text: &Cow<'_, str>| !text.trim().is_empty() && text != FILLER;
    match block.kind.as_deref()? {
        "text" => block.text.0.filter(is_said).map(|text| Content::Answer { text }),
        "thinking" => block.thinking.0.filter(is_said).map(|text| Content::Thinking { text }),
        kind if kind.ends_with("tool_use") => Some(Content::ToolCall {
            call: block.id.0?,
            tool: block.name.0?,
            input: Cow::Borrowed(block.input.raw()),
        }),
        _ => None,
    }
}

fn attachment<'a>(entry: &Entry<'a>, spot: &Spot<'a>, found: &mut Vec<Piece<'a>>) {
    let attachment: Attachment<'a> = entry.attachment.as_a().unwrap_or_default();
    let note = match attachment.kind.as_deref() {
        Some("queued_command") => return queued(attachment, spot, found),
        Some("hook_additional_context") => contexts(attachment.content),
        Some("hook_success") => attachment.content.text().and_then(note),
        Some("hook_blocking_error") => refused(&attachment),
        Some("file" | "directory" | "edited_text_file") => shown_file(attachment),
        _ => None,
    };
    found.extend(note.map(|note| spot.whole(note)));
}

/// What a hook had against it. At the end of a turn the client says so in the person's name besides.
fn refused<'a>(attachment: &Attachment<'a>) -> Option<Content<'a>> {
    let is_said_twice = matches!(attachment.hook_event.as_deref(), Some("Stop" | "SubagentStop"));
    let error: HookError<'a> = attachment.blocking_error.as_a()?;
    error.blocking_error.0.filter(|_| !is_said_twice).and_then(note)
}

/// A prompt that was sent while the agent worked, and taken in between two steps: it has no entry of its own.
fn queued<'a>(attachment: Attachment<'a>, spot: &Spot<'a>, found: &mut Vec<Piece<'a>>) {
    let origin: WireOrigin<'_> = attachment.origin.as_a().unwrap_or_default();
    let is_prompt = attachment.command_mode.as_deref().is_none_or(|mode| mode == "prompt");
    let parts = attachment.prompt.0;
    let images = parts.iter().enumerate().filter_map(|(index, block)| Some(spot.part(index, image(block)?)));
    let images: Vec<Piece<'a>> = images.collect();
    let text = joined(parts.into_iter().filter_map(|part| part.text.0), "\n");
    let is_typed =
        is_prompt && origin.kind.as_deref().is_none_or(|kind| kind == "human") && !is_notification(&text);
    let origin = if is_typed { typed(&text) } else { Origin::Notification };
    if !text.trim().is_empty() {
        found.push(spot.whole(Content::Prompt { text, origin }));
    }
    found.extend(images);
}

fn contexts(content: Any<'_>) -> Option<Content<'_>> {
    let texts: Vec<Text<'_>> = content.as_a().unwrap_or_default();
    note(joined(texts.into_iter().filter_map(|text| text.0), "\n"))
}

/// The name of the file and what the client shows of it.
fn shown_file(attachment: Attachment<'_>) -> Option<Content<'_>> {
    let name = attachment.filename.0.or(attachment.path.0)?;
    let inner = || attachment.content.as_a::<FileContent<'_>>()?.file.as_a::<FileText<'_>>()?.content.0;
    let text = attachment.snippet.0.or_else(|| attachment.content.text()).or_else(inner)?;
    Some(Content::Note { text: Cow::Owned(format!("@{name}\n{text}")) })
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FileText<'a> {
    #[serde(borrow)]
    content: Text<'a>,
}

fn system<'a>(entry: &Entry<'a>, spot: &Spot<'a>, found: &mut Vec<Piece<'a>>) {
    let is_told = matches!(entry.subtype.as_deref(), Some("local_command" | "informational"));
    let Some(text) = entry.content.text().filter(|_| is_told) else { return };
    let what = unwrapped(&text).unwrap_or_else(|| note(text));
    found.extend(what.map(|what| spot.whole(what)));
}
