//! Parses Codex's rollouts, line by line.
//!
//! Reads the items of the model's conversation, never the events that repeat them as shown on the screen, in either
//! file format. The kinds that the client writes on every part of a message identify typed text; older clients wrote
//! none, and there the text itself must do.
//!
//! Ids are the client's own item ids, and the response's id for its usage. Lines without an id are identified by their
//! turn and their number. A fork and a revert start a file that holds only the remainder: nothing is repeated, the
//! numbers continue from the branch point (`ForkBase`, `Reverted`), and a revert reuses the numbers that it removed, always
//! in new turns. A fork in the older format repeats all items under their ids in the new session's file.

use super::entry::{
    ContentPart, Item, ItemProvenance, RolloutEvent, RolloutLine, SessionMeta, TokenUsage, UsageRecord,
};
use crate::json::{Nested, OptText, RawValue};
use crate::transcript::{
    EntryHead, Found, LineError, RecentSums, TurnStarts, checksum, decoded_length, joined, parse,
    prompt_origin,
};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::event::{PromptOrigin, ToolOutcome};
use towline_core::id::{SubagentId, TurnId};
use towline_core::piece::{ForkBase, PieceContent, StopReason, TokenCounts, TranscriptPiece};
use towline_core::time::Timestamp;

/// Longer model names are ignored.
const LONGEST_MODEL: usize = 128;

/// Parser state between two lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RolloutState {
    lines: u64,
    /// Of the newest line, used for lines without a timestamp.
    at: Timestamp,
    turn: Option<TurnId>,
    model: Option<String>,
    is_opened: bool,
    /// The subagent that this file belongs to.
    subagent: Option<SubagentId>,
    /// Whether the file records the usage of every response; its token counts then repeat the same usage.
    records_usage: bool,
    counted: RecentSums,
    /// Calls known to have failed before their output arrives.
    failed: RecentSums,
    #[serde(rename = "trail")]
    turn_starts: TurnStarts,
}

impl RolloutState {
    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, LineError>,
        found: &mut Found<'a>,
    ) -> Result<(), LineError> {
        let number = self.lines;
        self.lines += 1;
        let text = line?;
        if is_of_other_kind(text) {
            return Ok(());
        }
        if is_item(text) {
            let Some(mut line) = parse::<RolloutLine<'a, Nested<Item<'a>>>>(text)? else { return Ok(()) };
            let item = std::mem::take(&mut line.payload.0);
            let place = self.stamp(number, &line);
            self.item(item, line.metadata, place, found);
            return Ok(());
        }
        let Some(line) = parse::<RolloutLine<'a>>(text)? else { return Ok(()) };
        let place = self.stamp(number, &line);
        match line.kind.as_deref() {
            Some("session_meta") => self.session_meta(&line, place, found),
            Some("turn_context") => self.turn_context(&line),
            Some("response_item") => {
                self.item(line.payload.parse_as().unwrap_or_default(), line.metadata, place, found);
            }
            Some("event_msg") => self.event(&line, place, found),
            Some("compacted") => {
                let summary = line.payload.get("message").text().unwrap_or_default();
                found.push(self.head(place, &OptText(None)).main_piece(PieceContent::Compacted { summary }));
            }
            Some("token_usage_record") => self.usage_record(&line, place, found),
            _ => {}
        }
        Ok(())
    }

    /// Records a line's timestamp, and returns its number.
    fn stamp<P>(&mut self, number: u64, line: &RolloutLine<'_, P>) -> u64 {
        self.at = line.timestamp.as_deref().and_then(Timestamp::parse_utc).unwrap_or(self.at);
        line.ordinal.number().unwrap_or(number)
    }

    /// The common fields of a line without an id. `turn` is the turn that the line names.
    fn head<'a>(&self, place: u64, turn: &OptText<'_>) -> EntryHead<'a> {
        let own = turn.as_deref().and_then(|id| TurnId::parse(id).ok());
        let turn = own.or_else(|| self.turn.clone());
        let owner = turn.as_ref().map(TurnId::as_str).or(self.subagent.as_ref().map(SubagentId::as_str));
        let id = Cow::Owned(format!("{}@{place}", owner.unwrap_or("line")));
        EntryHead { id, place, at: self.at, turn, subagent: self.subagent.clone() }
    }

    fn session_meta<'a>(&mut self, line: &RolloutLine<'a>, place: u64, found: &mut Found<'a>) {
        let meta: SessionMeta<'a> = line.payload.parse_as().unwrap_or_default();
        let Some(id) = meta.id.0.clone().filter(|_| !self.is_opened) else { return };
        self.is_opened = true;
        if meta.source.get("subagent").is_present() || meta.thread_source.is("subagent") {
            self.subagent = SubagentId::parse(&id).ok();
        }
        let head = EntryHead { id, ..self.head(place, &OptText(None)) };
        let (base, reverted) = history(&meta);
        let session = meta.session_id.0.unwrap_or_else(|| head.id.clone());
        let (folder, branch) = (meta.cwd.0, meta.git.get("branch").text());
        found.push(
            head.part(format!("opened@{place}"), PieceContent::Opened { session, folder, branch, base }),
        );
        let reverted =
            reverted.map(|from| head.part(format!("reverted@{place}"), PieceContent::Reverted { from }));
        found.extend(reverted);
    }

    fn turn_context(&mut self, line: &RolloutLine<'_>) {
        self.begin_turn(&OptText(line.payload.get("turn_id").text()));
        if let Some(model) = line.payload.get("model").text().filter(|model| model.len() <= LONGEST_MODEL) {
            self.model = Some(model.into_owned());
        }
    }

    fn begin_turn(&mut self, id: &OptText<'_>) {
        if let Some(turn) = id.as_deref().and_then(|id| TurnId::parse(id).ok()) {
            self.turn = Some(turn);
        }
    }

    fn item<'a>(&mut self, item: Item<'a>, metadata: RawValue<'a>, place: u64, found: &mut Found<'a>) {
        let provenance: ItemProvenance<'a> = item.provenance.parse_as().unwrap_or_default();
        let mut head = self.head(place, &provenance.turn_id);
        if let Some(id) = &item.id.0 {
            head.id = id.clone();
        }
        match (item.kind.as_deref(), item.role.as_deref()) {
            (Some("message"), Some("assistant")) => {
                found.extend(answer(item, metadata).map(|content| head.main_piece(content)))
            }
            (Some("message"), Some("user" | "developer")) => {
                self.message(item, provenance.content_item_kinds, &head, found);
            }
            (Some("reasoning"), _) => found.extend(thinking(item).map(|content| head.main_piece(content))),
            (Some(kind), _) if kind.ends_with("_output") => self.output(item, &head, found),
            (Some(_), _) => found.extend(call(item).map(|content| head.main_piece(content))),
            (None, _) => {}
        }
    }

    /// A message in the user's or the client's name.
    fn message<'a>(
        &mut self,
        item: Item<'a>,
        kinds: RawValue<'a>,
        head: &EntryHead<'a>,
        found: &mut Found<'a>,
    ) {
        let kinds: Option<Vec<OptText<'a>>> = kinds.parse_as();
        let (mut words, mut details) = (vec![], vec![]);
        for (index, part) in item.content.0.into_iter().enumerate() {
            let named =
                kinds.as_ref().map(|kinds| kinds.get(index).and_then(OptText::as_deref).unwrap_or(""));
            let text = part.text.as_deref().unwrap_or("");
            let kind = named.map_or_else(|| kind_by_words(text, &item.role), kind_by_name);
            match (kind, part.text.0, part.image_url.0) {
                (ContentKind::Typed, _, Some(url)) => details.push(head.part(index, image(url))),
                (ContentKind::Typed, Some(text), None) if !is_image_tag(&text) => words.push(text),
                (ContentKind::Shell, Some(text), _) => details.extend(shell(&text, head)),
                (ContentKind::Note, Some(text), _) => {
                    details.push(head.part(index, PieceContent::Note { text }))
                }
                (_, _, _) => {}
            }
        }
        let text = joined(words, "\n");
        if !text.trim().is_empty() {
            self.begin_at(head);
            let origin =
                if head.subagent.is_some() { PromptOrigin::Notification } else { prompt_origin(&text) };
            found.push(head.main_piece(PieceContent::Prompt { text, origin }));
        }
        found.append(&mut details);
    }

    /// Records the start of a turn; a prompt that steers the running turn starts none.
    fn begin_at(&mut self, head: &EntryHead<'_>) {
        let checksum = checksum(&[head.turn.as_ref().map_or(&*head.id, TurnId::as_str).as_bytes()]);
        if self.turn_starts.last() != Some(checksum) {
            self.turn_starts.begin(checksum, head.place);
        }
    }

    fn output<'a>(&mut self, item: Item<'a>, head: &EntryHead<'a>, found: &mut Found<'a>) {
        let Some(call) = item.call_id.0 else { return };
        let raw = if item.output.is_present() { item.output } else { item.tools };
        let parts: Vec<ContentPart<'a>> = raw.parts();
        let urls = parts.iter().enumerate().filter_map(|(i, part)| Some((i, part.image_url.0.clone()?)));
        let images: Vec<TranscriptPiece<'a>> = urls.map(|(i, url)| head.part(i, image(url))).collect();
        let texts: Vec<Cow<'a, str>> = parts.into_iter().filter_map(|part| part.text.0).collect();
        let is_plain = !texts.is_empty() || !images.is_empty();
        let output = if is_plain { joined(texts, "\n") } else { Cow::Borrowed(raw.raw()) };
        let is_known_to_fail =
            outcome(&output) == ToolOutcome::Done && self.failed.contains(&[call.as_bytes()]);
        let outcome = if is_known_to_fail { ToolOutcome::Failed } else { outcome(&output) };
        found.push(head.main_piece(PieceContent::ToolResult { call, output, outcome }));
        found.extend(images);
    }

    fn event<'a>(&mut self, line: &RolloutLine<'a>, place: u64, found: &mut Found<'a>) {
        let event: RolloutEvent<'a> = line.payload.parse_as().unwrap_or_default();
        let stopped = |how, words| PieceContent::Stopped { how, words };
        match event.kind.as_deref() {
            Some("task_started") => self.begin_turn(&event.turn_id),
            Some("turn_aborted") if event.reason.is("interrupted") => {
                let content = stopped(StopReason::Interrupted, Cow::Borrowed(""));
                found.push(self.head(place, &event.turn_id).main_piece(content));
            }
            Some("task_complete") if event.error.raw().starts_with('{') => {
                let is_limit = is_usage_limit(event.error);
                let how = if is_limit { StopReason::Limited } else { StopReason::Failed };
                let words = event.error.get("message").text().unwrap_or_default();
                found.push(self.head(place, &event.turn_id).main_piece(stopped(how, words)));
            }
            Some("token_count") if !line.ordinal.is_present() => self.token_count(&event, place, found),
            Some("thread_rolled_back") => {
                let from = self.turn_starts.rewind(event.num_turns.number().unwrap_or(0));
                let reverted = from.map(|from| PieceContent::Reverted { from });
                found.extend(reverted.map(|content| self.head(place, &OptText(None)).main_piece(content)));
            }
            Some("item_completed") => self.record_failure(&event),
            _ => {}
        }
    }

    /// Records a failed call before its output arrives, since the output does not always say so.
    fn record_failure(&mut self, event: &RolloutEvent<'_>) {
        let is_failed = matches!(event.item.get("status").text().as_deref(), Some("failed" | "declined"));
        if let Some(call) = event.item.get("id").text().filter(|_| is_failed) {
            self.failed.insert(&[call.as_bytes()]);
        }
    }

    fn usage_record<'a>(&mut self, line: &RolloutLine<'a>, place: u64, found: &mut Found<'a>) {
        let record: UsageRecord<'a> = line.payload.parse_as().unwrap_or_default();
        self.records_usage = true;
        let (Some(id), Some(tokens)) = (record.response_id.0, tokens(record.usage)) else { return };
        let content = PieceContent::Usage { message: id.clone(), model: self.model(), tokens };
        found.push(self.head(place, &record.turn_id).piece(id, content));
    }

    /// Clients that do not record usage per response write running totals, and repeat a total when nothing was added.
    fn token_count<'a>(&mut self, event: &RolloutEvent<'a>, place: u64, found: &mut Found<'a>) {
        let total = event.info.get("total_token_usage");
        let last = tokens(event.info.get("last_token_usage"));
        let Some(tokens) = last.filter(|_| !self.records_usage) else { return };
        if tokens != TokenCounts::default() && self.counted.insert(&[total.raw().as_bytes()]) {
            let head = self.head(place, &event.turn_id);
            let message = usage_id(&head, total);
            let content = PieceContent::Usage { message: message.clone(), model: self.model(), tokens };
            found.push(head.piece(message, content));
        }
    }

    fn model<'a>(&self) -> Option<Cow<'a, str>> {
        self.model.clone().map(Cow::Owned)
    }
}

/// The part of a line that contains its kind, in the client's usual field order.
const HEAD: usize = 160;

/// The line from its kind on.
fn from_kind(line: &str) -> Option<&[u8]> {
    let head = &line.as_bytes()[..line.len().min(HEAD)];
    memmem::find(head, br#""type":""#).map(|at| &line.as_bytes()[at..])
}

fn is_item(line: &str) -> bool {
    from_kind(line).is_some_and(|rest| rest.starts_with(br#""type":"response_item","payload":{"#))
}

/// Whether the line is the client's own state, or an event that only repeats an item.
fn is_of_other_kind(line: &str) -> bool {
    let Some(rest) = from_kind(line) else { return false };
    if rest.starts_with(br#""type":"world_state","payload""#) {
        return true;
    }
    rest.starts_with(br#""type":"event_msg","payload":{"type":"item_completed""#)
        && memmem::find(rest, br#""status":"failed""#).is_none()
        && memmem::find(rest, br#""status":"declined""#).is_none()
}

/// The session that this one was forked from, and the number from which its own history was reverted.
fn history<'a>(meta: &SessionMeta<'a>) -> (Option<ForkBase<'a>>, Option<u64>) {
    let end = meta.history_base.get("end_ordinal_exclusive").number();
    let fork = meta.forked_from_id.0.clone();
    let before = meta.forked_from_ordinal_exclusive.number().or(end).unwrap_or(0);
    let is_of_fork = fork.is_some() && meta.history_base.get("thread_id").text() == fork;
    (fork.map(|session| ForkBase { session, before }), end.filter(|_| !is_of_fork))
}

/// The model's message to the user; not a compaction summary.
fn answer<'a>(item: Item<'a>, metadata: RawValue<'a>) -> Option<PieceContent<'a>> {
    let text = joined(item.content.0.into_iter().filter_map(|part| part.text.0), "\n");
    let is_said = !metadata.get("compaction_output").is_true() && !text.trim().is_empty();
    is_said.then_some(PieceContent::Answer { text })
}

/// The kind of a message part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContentKind {
    Typed,
    /// A command that the user ran, with its output.
    Shell,
    Note,
    /// The client's standard context, and content that another line has in better form.
    Nothing,
}

fn kind_by_name(name: &str) -> ContentKind {
    match name.split('.').next().unwrap_or("") {
        "user" => ContentKind::Typed,
        "shell" => ContentKind::Shell,
        "hooks" | "skills" | "multi_agent" | "unknown" => ContentKind::Note,
        _ => ContentKind::Nothing,
    }
}

fn kind_by_words(text: &str, role: &OptText<'_>) -> ContentKind {
    const NOTHING: [&str; 6] = [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<turn_aborted>",
        "<INSTRUCTIONS>",
        "<permissions instructions>",
    ];
    const NOTES: [&str; 4] = ["<skill>", "<hook_prompt", "<subagent_notification>", "<user_action>"];
    let begins = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
    match text {
        _ if role.is("developer") || begins(&NOTHING) => ContentKind::Nothing,
        text if text.starts_with("<user_shell_command>") => ContentKind::Shell,
        _ if begins(&NOTES) => ContentKind::Note,
        _ => ContentKind::Typed,
    }
}

/// The client wraps each image in tags that name it, and names it again in the prompt.
fn is_image_tag(text: &str) -> bool {
    text.starts_with("<image name=") || text == "</image>"
}

fn image(url: Cow<'_, str>) -> PieceContent<'_> {
    let data = url.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    let (media, bytes) = data.map_or(("image", 0), |(media, base64)| (media, decoded_length(base64)));
    PieceContent::Image { media: Cow::Owned(media.to_owned()), bytes }
}

/// A user's shell command as the prompt that it was typed as, and its output.
fn shell<'a>(text: &str, head: &EntryHead<'a>) -> Vec<TranscriptPiece<'a>> {
    let within = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>\n"))?;
        rest.rsplit_once(&format!("\n</{tag}>")).map(|(inner, _)| inner)
    };
    let command = format!("!{}", within("command").unwrap_or(""));
    let prompt = PieceContent::Prompt { text: Cow::Owned(command), origin: PromptOrigin::Command };
    let output = within("result").map(|output| PieceContent::Note { text: Cow::Owned(output.to_owned()) });
    std::iter::once(head.main_piece(prompt)).chain(output.map(|output| head.part("result", output))).collect()
}

fn thinking<'a>(item: Item<'a>) -> Option<PieceContent<'a>> {
    let parts = item.summary.0.into_iter().chain(item.content.0);
    let text = joined(parts.filter_map(|part| part.text.0), "\n\n");
    (!text.trim().is_empty()).then_some(PieceContent::Thinking { text })
}

/// A call of any kind. Calls without a call id have no output: their own id stands for it.
fn call(item: Item<'_>) -> Option<PieceContent<'_>> {
    let tool = match (item.kind.as_deref()?, item.name.0) {
        ("function_call" | "custom_tool_call", Some(name)) => name,
        ("function_call" | "custom_tool_call", None) => return None,
        (kind, _) => Cow::Owned(kind.strip_suffix("_call")?.to_owned()),
    };
    let tool = match item.namespace.as_deref() {
        Some(namespace) => Cow::Owned(format!("{namespace}__{tool}")),
        None => tool,
    };
    let given = [item.arguments, item.input, item.action].into_iter().find(|given| given.is_present());
    let input = given.unwrap_or_default();
    let input = input.text().unwrap_or(Cow::Borrowed(input.raw()));
    Some(PieceContent::ToolCall { call: item.call_id.0.or(item.id.0)?, tool, input })
}

/// If an output states a command's exit status, it does so in its first lines.
fn outcome(output: &str) -> ToolOutcome {
    let mut head = output.lines().take(4).take_while(|line| *line != "Output:");
    if head.clone().any(|line| line.starts_with("aborted by user")) {
        return ToolOutcome::Interrupted;
    }
    let is_failed = head.any(is_failure) || older_exit_code(output).is_some_and(|code| code != "0");
    if is_failed { ToolOutcome::Failed } else { ToolOutcome::Done }
}

/// `Process exited with code 3`, `Exit code: 3`, `unsupported call: name`, `name failed: why`.
fn is_failure(line: &str) -> bool {
    let code = line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "));
    let is_tool = |name: &str| {
        name.contains('_') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let refused = line.split_once(" failed: ").map(|(name, _)| name.trim_end_matches(" verification"));
    code.is_some_and(|code| code.trim() != "0")
        || line.starts_with("unsupported c")
        || refused.is_some_and(is_tool)
}

fn older_exit_code(output: &str) -> Option<&str> {
    let is_older = output.starts_with(r#"{"output":"#) && output.ends_with('}');
    let older: RawValue<'_> = is_older.then(|| serde_json::from_str(output).ok())??;
    older.get("metadata").get("exit_code").present()
}

/// Whether the error of a turn is a usage limit.
pub(super) fn is_usage_limit(error: RawValue<'_>) -> bool {
    error.get("codex_error_info").text().as_deref() == Some("usage_limit_exceeded")
}

/// The turn and its running total: the same in the copy that a fork makes, regardless of the line's position there.
fn usage_id<'a>(head: &EntryHead<'a>, total: RawValue<'_>) -> Cow<'a, str> {
    let total = total.parse_as::<TokenUsage<'_>>().and_then(|usage| usage.total_tokens.number());
    match (&head.turn, total) {
        (Some(turn), Some(total)) => Cow::Owned(format!("{}@{total}", turn.as_str())),
        (Some(_) | None, _) => head.id.clone(),
    }
}

/// The client's input count includes cached tokens.
fn tokens(usage: RawValue<'_>) -> Option<TokenCounts> {
    let usage: TokenUsage<'_> = usage.parse_as()?;
    let cache_read = usage.cached_input_tokens.number().unwrap_or(0);
    let cache_write = usage.cache_write_input_tokens.number().unwrap_or(0);
    let input = usage.input_tokens.number()?.saturating_sub(cache_read).saturating_sub(cache_write);
    let output = usage.output_tokens.number().unwrap_or(0);
    Some(TokenCounts { input, cache_read, cache_write, cache_write_1h: 0, output })
}
