//! What a rollout of Codex holds, line by line.
//!
//! The items of the model's conversation count: the events that repeat them as shown on the screen do not, whichever of
//! the two formats the file has. What a person typed is told by the kinds that the client writes on every part of a
//! message; older clients wrote none, and there the words must do.
//!
//! Ids are the client's own of the items, and the id of a model's response for what it cost. Lines without an id are known
//! by their turn and their number. A fork and a revert begin a file that holds only the rest: nothing is repeated, the
//! numbers go on from where it branched off (`Base`, `Reverted`), and a revert uses the numbers again that it took back,
//! always in new turns. A fork of the older format repeats all items under their ids in the new session's file.

use super::line::{
    Compacted, CompletedItem, Event, ExitCode, HistoryBase, Item, ItemMetadata, Line, OlderOutput, Part,
    Provenance, SessionMeta, ThreadSource, TokenInfo, TurnContext, TurnError, Usage, UsageRecord,
};
use crate::json;
use crate::reader::{Any, Recent, Spot, Trail, Unreadable, decoded_length, joined, mark, parse, typed};
use crate::wire::{Nested, Text};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use towline_core::event::{Origin, ToolOutcome};
use towline_core::id::{SubagentId, TurnId};
use towline_core::piece::{Base, Content, Piece, Stop, Tokens};
use towline_core::time::Timestamp;

/// No model's name is longer.
const LONGEST_MODEL: usize = 128;

/// What the next line needs of those before it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    lines: u64,
    /// Of the newest line, for one that has none.
    at: Timestamp,
    turn: Option<TurnId>,
    model: Option<String>,
    is_opened: bool,
    /// The helper whose file this is.
    subagent: Option<SubagentId>,
    /// Whether the file says of every response what it cost; what it counts besides is the same again then.
    records_usage: bool,
    counted: Recent,
    /// Calls that are known to have failed before their output comes.
    failed: Recent,
    trail: Trail,
}

impl Memory {
    pub(crate) fn read<'a>(
        &mut self,
        line: Result<&'a str, Unreadable>,
        found: &mut Vec<Piece<'a>>,
    ) -> Result<(), Unreadable> {
        let number = self.lines;
        self.lines += 1;
        let text = line?;
        if is_of_other_kind(text) {
            return Ok(());
        }
        if is_item(text) {
            let Some(mut line) = parse::<Line<'a, Nested<Item<'a>>>>(text)? else { return Ok(()) };
            let item = std::mem::take(&mut line.payload.0);
            let place = self.stamp(number, &line);
            self.item((item, line.metadata), place, found);
            return Ok(());
        }
        let Some(line) = parse::<Line<'a>>(text)? else { return Ok(()) };
        let place = self.stamp(number, &line);
        match line.kind.as_deref() {
            Some("session_meta") => self.session_meta(&line, place, found),
            Some("turn_context") => self.turn_context(&line),
            Some("response_item") => {
                self.item((line.payload.as_a().unwrap_or_default(), line.metadata), place, found);
            }
            Some("event_msg") => self.event(&line, place, found),
            Some("compacted") => {
                let compacted: Compacted<'a> = line.payload.as_a().unwrap_or_default();
                let summary = compacted.message.0.unwrap_or_default();
                found.push(self.spot(place, &Text(None)).whole(Content::Compacted { summary }));
            }
            Some("token_usage_record") => self.usage_record(&line, place, found),
            _ => {}
        }
        Ok(())
    }

    /// Takes note of a line's time, and gives its place.
    fn stamp<P>(&mut self, number: u64, line: &Line<'_, P>) -> u64 {
        self.at = line.timestamp.as_deref().and_then(Timestamp::parse_utc).unwrap_or(self.at);
        line.ordinal.number().unwrap_or(number)
    }

    /// Where a line without an id stands. `turn` is the one that it names itself.
    fn spot<'a>(&self, place: u64, turn: &Text<'_>) -> Spot<'a> {
        let own = turn.as_deref().and_then(|id| TurnId::parse(id).ok());
        let turn = own.or_else(|| self.turn.clone());
        let owner = turn.as_ref().map(TurnId::as_str).or(self.subagent.as_ref().map(SubagentId::as_str));
        let id = Cow::Owned(format!("{}@{place}", owner.unwrap_or("line")));
        Spot { id, place, at: self.at, turn, subagent: self.subagent.clone() }
    }

    fn session_meta<'a>(&mut self, line: &Line<'a>, place: u64, found: &mut Vec<Piece<'a>>) {
        let meta: SessionMeta<'a> = line.payload.as_a().unwrap_or_default();
        let Some(id) = meta.id.0.clone().filter(|_| !self.is_opened) else { return };
        self.is_opened = true;
        let inside =
            meta.source.as_a::<ThreadSource<'_>>().is_some_and(|source| source.subagent.is_present());
        if inside || meta.thread_source.is("subagent") {
            self.subagent = SubagentId::parse(&id).ok();
        }
        let spot = Spot { id, ..self.spot(place, &Text(None)) };
        let (base, reverted) = history(&meta);
        let session = meta.session_id.0.unwrap_or_else(|| spot.id.clone());
        found.push(
            spot.part(format!("opened@{place}"), Content::Opened { session, folder: meta.cwd.0, base }),
        );
        let reverted =
            reverted.map(|from| spot.part(format!("reverted@{place}"), Content::Reverted { from }));
        found.extend(reverted);
    }

    fn turn_context(&mut self, line: &Line<'_>) {
        let context: TurnContext<'_> = line.payload.as_a().unwrap_or_default();
        self.begin_turn(&context.turn_id);
        if let Some(model) = context.model.0.filter(|model| model.len() <= LONGEST_MODEL) {
            self.model = Some(model.into_owned());
        }
    }

    fn begin_turn(&mut self, id: &Text<'_>) {
        if let Some(turn) = id.as_deref().and_then(|id| TurnId::parse(id).ok()) {
            self.turn = Some(turn);
        }
    }

    fn item<'a>(&mut self, (item, metadata): (Item<'a>, Any<'a>), place: u64, found: &mut Vec<Piece<'a>>) {
        let provenance: Provenance<'a> = item.provenance.as_a().unwrap_or_default();
        let mut spot = self.spot(place, &provenance.turn_id);
        if let Some(id) = &item.id.0 {
            spot.id = id.clone();
        }
        match (item.kind.as_deref(), item.role.as_deref()) {
            (Some("message"), Some("assistant")) => {
                found.extend(answer(item, metadata).map(|what| spot.whole(what)))
            }
            (Some("message"), Some("user" | "developer")) => {
                self.message(item, provenance.content_item_kinds, &spot, found);
            }
            (Some("reasoning"), _) => found.extend(thinking(item).map(|what| spot.whole(what))),
            (Some(kind), _) if kind.ends_with("_output") => self.output(item, &spot, found),
            (Some(_), _) => found.extend(call(item).map(|what| spot.whole(what))),
            (None, _) => {}
        }
    }

    /// What stands in a person's name, or in the client's.
    fn message<'a>(&mut self, item: Item<'a>, kinds: Any<'a>, spot: &Spot<'a>, found: &mut Vec<Piece<'a>>) {
        let kinds: Option<Vec<Text<'a>>> = kinds.as_a();
        let (mut words, mut details) = (vec![], vec![]);
        for (index, part) in item.content.0.into_iter().enumerate() {
            let named = kinds.as_ref().map(|kinds| kinds.get(index).and_then(Text::as_deref).unwrap_or(""));
            let text = part.text.as_deref().unwrap_or("");
            let kind = named.map_or_else(|| kind_by_words(text, &item.role), kind_by_name);
            match (kind, part.text.0, part.image_url.0) {
                (PartKind::Typed, _, Some(url)) => details.push(spot.part(index, image(url))),
                (PartKind::Typed, Some(text), None) if !is_image_tag(&text) => words.push(text),
                (PartKind::Shell, Some(text), _) => details.extend(shell(&text, spot)),
                (PartKind::Note, Some(text), _) => details.push(spot.part(index, Content::Note { text })),
                (PartKind::Typed | PartKind::Shell | PartKind::Note | PartKind::Nothing, _, _) => {}
            }
        }
        let text = joined(words, "\n");
        if !text.trim().is_empty() {
            self.begin_at(spot);
            let origin = if spot.subagent.is_some() { Origin::Notification } else { typed(&text) };
            found.push(spot.whole(Content::Prompt { text, origin }));
        }
        found.append(&mut details);
    }

    /// A prompt that steers the running turn begins none.
    fn begin_at(&mut self, spot: &Spot<'_>) {
        let mark = mark(&[spot.turn.as_ref().map_or(&*spot.id, TurnId::as_str).as_bytes()]);
        if self.trail.last() != Some(mark) {
            self.trail.begin(mark, spot.place);
        }
    }

    fn output<'a>(&mut self, item: Item<'a>, spot: &Spot<'a>, found: &mut Vec<Piece<'a>>) {
        let Some(call) = item.call_id.0 else { return };
        let raw = if item.output.is_present() { item.output } else { item.tools };
        let parts: Vec<Part<'a>> = raw.parts();
        let images: Vec<Piece<'a>> =
            parts.iter().enumerate().filter_map(|(i, part)| shown(i, part, spot)).collect();
        let texts: Vec<Cow<'a, str>> = parts.into_iter().filter_map(|part| part.text.0).collect();
        let is_plain = !texts.is_empty() || !images.is_empty();
        let output = if is_plain { joined(texts, "\n") } else { Cow::Borrowed(raw.raw()) };
        let is_known_to_fail = outcome(&output) == ToolOutcome::Done && self.failed.holds(&[call.as_bytes()]);
        let outcome = if is_known_to_fail { ToolOutcome::Failed } else { outcome(&output) };
        found.push(spot.whole(Content::ToolResult { call, output, outcome }));
        found.extend(images);
    }

    fn event<'a>(&mut self, line: &Line<'a>, place: u64, found: &mut Vec<Piece<'a>>) {
        let event: Event<'a> = line.payload.as_a().unwrap_or_default();
        let stopped = |how, words| Content::Stopped { how, words };
        match event.kind.as_deref() {
            Some("task_started") => self.begin_turn(&event.turn_id),
            Some("turn_aborted") if event.reason.is("interrupted") => {
                let what = stopped(Stop::Interrupted, Cow::Borrowed(""));
                found.push(self.spot(place, &event.turn_id).whole(what));
            }
            Some("task_complete") if event.error.raw().starts_with('{') => {
                let (how, words) = failure(event.error);
                found.push(self.spot(place, &event.turn_id).whole(stopped(how, words)));
            }
            Some("token_count") if !line.ordinal.is_present() => self.token_count(&event, place, found),
            Some("thread_rolled_back") => {
                let from = self.trail.back(event.num_turns.number().unwrap_or(0));
                let reverted = from.map(|from| Content::Reverted { from });
                found.extend(reverted.map(|what| self.spot(place, &Text(None)).whole(what)));
            }
            Some("item_completed") => self.completed(&event),
            _ => {}
        }
    }

    /// What an event tells of a call before its output comes, which does not always say so itself.
    fn completed(&mut self, event: &Event<'_>) {
        let item: CompletedItem<'_> = event.item.as_a().unwrap_or_default();
        if let (Some("failed" | "declined"), Some(call)) = (item.status.as_deref(), item.id.as_deref()) {
            self.failed.remember(&[call.as_bytes()]);
        }
    }

    fn usage_record<'a>(&mut self, line: &Line<'a>, place: u64, found: &mut Vec<Piece<'a>>) {
        let record: UsageRecord<'a> = line.payload.as_a().unwrap_or_default();
        self.records_usage = true;
        let (Some(id), Some(tokens)) = (record.response_id.0, tokens(record.usage)) else { return };
        let what = Content::Usage { message: id.clone(), model: self.model(), tokens };
        found.push(self.spot(place, &record.turn_id).piece(id, what));
    }

    /// Clients that do not record what a response cost count it together, and repeat the count when nothing was added.
    fn token_count<'a>(&mut self, event: &Event<'a>, place: u64, found: &mut Vec<Piece<'a>>) {
        let info: TokenInfo<'a> = event.info.as_a().unwrap_or_default();
        let Some(tokens) = tokens(info.last_token_usage).filter(|_| !self.records_usage) else { return };
        if tokens != Tokens::default() && self.counted.remember(&[info.total_token_usage.raw().as_bytes()]) {
            let spot = self.spot(place, &event.turn_id);
            let message = counted_as(&spot, info.total_token_usage);
            let what = Content::Usage { message: message.clone(), model: self.model(), tokens };
            found.push(spot.piece(message, what));
        }
    }

    fn model<'a>(&self) -> Option<Cow<'a, str>> {
        self.model.clone().map(Cow::Owned)
    }
}

/// How far into a line its kind stands, where the client writes what it always writes.
const HEAD: usize = 160;

/// The line from its kind on.
fn from_kind(line: &str) -> Option<&[u8]> {
    let head = &line.as_bytes()[..line.len().min(HEAD)];
    memmem::find(head, br#""type":""#).map(|at| &line.as_bytes()[at..])
}

fn is_item(line: &str) -> bool {
    from_kind(line).is_some_and(|rest| rest.starts_with(br#""type":"response_item","payload":{"#))
}

/// Whether the line is the client's own state, or an event that repeats an item and tells nothing more.
fn is_of_other_kind(line: &str) -> bool {
    let Some(rest) = from_kind(line) else { return false };
    if rest.starts_with(br#""type":"world_state","payload""#) {
        return true;
    }
    rest.starts_with(br#""type":"event_msg","payload":{"type":"item_completed""#)
        && memmem::find(rest, br#""status":"failed""#).is_none()
        && memmem::find(rest, br#""status":"declined""#).is_none()
}

/// The other session that this one goes on from, and the place from which on its own history was taken back.
fn history<'a>(meta: &SessionMeta<'a>) -> (Option<Base<'a>>, Option<u64>) {
    let base: Option<HistoryBase<'a>> = meta.history_base.as_a();
    let end = base.as_ref().and_then(|base| base.end_ordinal_exclusive.number());
    let fork = meta.forked_from_id.0.clone();
    let before = meta.forked_from_ordinal_exclusive.number().or(end).unwrap_or(0);
    let is_of_fork = base.is_some_and(|base| fork.is_some() && base.thread_id.0 == fork);
    (fork.map(|session| Base { session, before }), end.filter(|_| !is_of_fork))
}

/// What the model said to the person; not the summary that it wrote for itself.
fn answer<'a>(item: Item<'a>, metadata: Any<'a>) -> Option<Content<'a>> {
    let metadata: ItemMetadata<'_> = metadata.as_a().unwrap_or_default();
    let text = joined(item.content.0.into_iter().filter_map(|part| part.text.0), "\n");
    let is_said = !metadata.compaction_output.is_true() && !text.trim().is_empty();
    is_said.then_some(Content::Answer { text })
}

/// What a part of a message is to us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PartKind {
    Typed,
    /// A command that the person ran, with its output.
    Shell,
    Note,
    /// What the client tells every session about itself, and what another line tells better.
    Nothing,
}

fn kind_by_name(name: &str) -> PartKind {
    match name.split('.').next().unwrap_or("") {
        "user" => PartKind::Typed,
        "shell" => PartKind::Shell,
        "hooks" | "skills" | "multi_agent" | "unknown" => PartKind::Note,
        _ => PartKind::Nothing,
    }
}

fn kind_by_words(text: &str, role: &Text<'_>) -> PartKind {
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
        _ if role.is("developer") || begins(&NOTHING) => PartKind::Nothing,
        text if text.starts_with("<user_shell_command>") => PartKind::Shell,
        _ if begins(&NOTES) => PartKind::Note,
        _ => PartKind::Typed,
    }
}

/// The client names each image around it, and once more in the prompt.
fn is_image_tag(text: &str) -> bool {
    text.starts_with("<image name=") || text == "</image>"
}

fn image(url: Cow<'_, str>) -> Content<'_> {
    let data = url.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    let (media, bytes) = data.map_or(("image", 0), |(media, base64)| (media, decoded_length(base64)));
    Content::Image { media: Cow::Owned(media.to_owned()), bytes }
}

fn shown<'a>(index: usize, part: &Part<'a>, spot: &Spot<'a>) -> Option<Piece<'a>> {
    part.image_url.0.clone().map(|url| spot.part(index, image(url)))
}

/// A person's own command, as the prompt that it was typed as, and its output.
fn shell<'a>(text: &str, spot: &Spot<'a>) -> Vec<Piece<'a>> {
    let within = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>\n"))?;
        rest.rsplit_once(&format!("\n</{tag}>")).map(|(inner, _)| inner)
    };
    let command = format!("!{}", within("command").unwrap_or(""));
    let prompt = Content::Prompt { text: Cow::Owned(command), origin: Origin::Command };
    let output = within("result").map(|output| Content::Note { text: Cow::Owned(output.to_owned()) });
    std::iter::once(spot.whole(prompt)).chain(output.map(|output| spot.part("result", output))).collect()
}

fn thinking<'a>(item: Item<'a>) -> Option<Content<'a>> {
    let parts = item.summary.0.into_iter().chain(item.content.0);
    let text = joined(parts.filter_map(|part| part.text.0), "\n\n");
    (!text.trim().is_empty()).then_some(Content::Thinking { text })
}

/// A call of any kind. Some have no call id and no output: their own id stands for it.
fn call(item: Item<'_>) -> Option<Content<'_>> {
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
    Some(Content::ToolCall { call: item.call_id.0.or(item.id.0)?, tool, input })
}

/// Where the words of an output tell how a command ended, they do so in its first lines.
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
    let older: OlderOutput<'_> = is_older.then(|| json::read(output).ok())??;
    older.metadata.as_a::<ExitCode<'_>>()?.exit_code.present()
}

fn failure(error: Any<'_>) -> (Stop, Cow<'_, str>) {
    let error: TurnError<'_> = error.as_a().unwrap_or_default();
    let is_limit = error.codex_error_info.is("usage_limit_exceeded");
    (if is_limit { Stop::Limited } else { Stop::Failed }, error.message.0.unwrap_or_default())
}

/// The turn and how far its count had come: the same in the copy that a fork makes, wherever the line stands there.
fn counted_as<'a>(spot: &Spot<'a>, total: Any<'_>) -> Cow<'a, str> {
    let total = total.as_a::<Usage<'_>>().and_then(|usage| usage.total_tokens.number());
    match (&spot.turn, total) {
        (Some(turn), Some(total)) => Cow::Owned(format!("{}@{total}", turn.as_str())),
        (Some(_) | None, _) => spot.id.clone(),
    }
}

/// The client counts what came from the cache as input too.
fn tokens(usage: Any<'_>) -> Option<Tokens> {
    let usage: Usage<'_> = usage.as_a()?;
    let cache_read = usage.cached_input_tokens.number().unwrap_or(0);
    let cache_write = usage.cache_write_input_tokens.number().unwrap_or(0);
    let input = usage.input_tokens.number()?.saturating_sub(cache_read).saturating_sub(cache_write);
    let output = usage.output_tokens.number().unwrap_or(0);
    Some(Tokens { input, cache_read, cache_write, cache_write_1h: 0, output })
}
