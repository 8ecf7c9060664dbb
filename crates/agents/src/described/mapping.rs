//! What the entries of a transcript mean: rules from JSON values to pieces, and the reader that applies them.
//!
//! Guesses nothing: an entry that no rule describes gives no piece, and a rule whose text is missing gives none either.

use super::json_path::{JsonPath, as_text};
use super::pattern::LinePattern;
use crate::transcript::{Found, LineError, checksum, prompt_origin};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use towline_core::event::ToolOutcome;
use towline_core::piece::{PieceContent, StopReason, TokenCounts, TranscriptPiece};
use towline_core::time::Timestamp;

/// The rules of one kind of transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    /// The entries within a line; the line itself if there are none. A whole file comes entry by entry.
    pub entries: Vec<JsonPath>,
    pub time: JsonPath,
    pub id: Option<JsonPath>,
    /// The session's folder, in any entry or in the file about the session.
    pub folder: Option<JsonPath>,
    pub rules: Vec<Rule>,
    /// A checksum of the description: what was read by another one is read again.
    pub version: u32,
}

impl Mapping {
    /// The session's folder, if this entry tells it. Only a whole path says which folder is meant.
    fn folder_in(&self, entry: &Value) -> Option<String> {
        let told = self.folder.as_ref()?.all(entry);
        let is_whole = |path: &&str| path.starts_with('/') && path.split('/').all(|part| part != "..");
        told.into_iter().filter_map(Value::as_str).find(is_whole).map(str::to_owned)
    }
}

/// One kind of piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub when: Vec<Condition>,
    /// The parts of the entry that give one piece each.
    pub each: Option<JsonPath>,
    pub gives: Gives,
}

/// A path from the entry, or from its part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ValuePath {
    Entry(JsonPath),
    Part(JsonPath),
    WholePart,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub of: ValuePath,
    pub test: Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Is(Wanted),
    IsNot(Wanted),
    Exists,
    Lacks,
}

/// A text, or a pattern of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Text(String),
    Like(LinePattern),
}

impl Wanted {
    fn is(&self, text: &str) -> bool {
        match self {
            Wanted::Text(wanted) => wanted == text,
            Wanted::Like(pattern) => pattern.matches(text),
        }
    }
}

/// What a rule takes from an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    Prompt { text: ValuePath, between: Option<(String, String)> },
    Answer { text: ValuePath },
    Thinking { text: ValuePath },
    Note { text: ValuePath },
    Compacted { text: ValuePath },
    ToolCall { call: ValuePath, tool: ValuePath, input: ValuePath },
    ToolResult { call: ValuePath, output: ValuePath, failed: Option<Condition> },
    Stopped { how: StopReason, text: Option<ValuePath> },
    Usage(UsagePaths),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsagePaths {
    pub model: Option<ValuePath>,
    pub input: ValuePath,
    pub output: ValuePath,
    pub cache_read: Option<ValuePath>,
    pub cache_write: Option<ValuePath>,
    /// Whether `input` counts what was read from the cache.
    pub input_holds_cache: bool,
}

/// More than any response takes: sums of millions of such counts do not overflow, here or in SQL.
const MOST_TOKENS: u64 = 1 << 40;

/// An entry, and the part of it that a rule looks at.
#[derive(Clone, Copy)]
struct At<'v> {
    entry: &'v Value,
    part: Option<&'v Value>,
}

impl ValuePath {
    fn text(&self, at: At<'_>) -> Option<String> {
        match self {
            ValuePath::Entry(path) => path.text(at.entry),
            ValuePath::Part(path) => path.text(at.part?),
            ValuePath::WholePart => Some(as_text(at.part?).into_owned()),
        }
    }

    fn tokens(&self, at: At<'_>) -> Option<u64> {
        let number = match self {
            ValuePath::Entry(path) => path.first(at.entry)?.as_u64(),
            ValuePath::Part(path) => path.first(at.part?)?.as_u64(),
            ValuePath::WholePart => at.part?.as_u64(),
        };
        number.map(|number| number.min(MOST_TOKENS))
    }
}

impl Condition {
    fn holds(&self, at: At<'_>) -> bool {
        let found = self.of.text(at);
        match &self.test {
            Test::Is(wanted) => found.is_some_and(|found| wanted.is(&found)),
            Test::IsNot(other) => !found.is_some_and(|found| other.is(&found)),
            Test::Exists => found.is_some_and(|found| is_told(&found)),
            Test::Lacks => !found.is_some_and(|found| is_told(&found)),
        }
    }
}

/// `false` and `null` are as good as absent: `failed = "error"` must not take a result without an error for a failed one.
fn is_told(found: &str) -> bool {
    found != "false" && found != "null"
}

impl Rule {
    fn piece(&self, at: At<'_>, id: &str) -> Option<PieceContent<'static>> {
        if !self.when.iter().all(|condition| condition.holds(at)) {
            return None;
        }
        let text = |from: &ValuePath| from.text(at).filter(|text| !text.trim().is_empty()).map(Cow::Owned);
        Some(match &self.gives {
            Gives::Prompt { text: from, between } => {
                let text = from.text(at)?;
                let text = match between {
                    Some((begin, end)) => inside(&text, begin, end)?.to_owned(),
                    None => text,
                };
                let origin = if text.trim().is_empty() { return None } else { prompt_origin(&text) };
                PieceContent::Prompt { text: Cow::Owned(text), origin }
            }
            Gives::Answer { text: from } => PieceContent::Answer { text: text(from)? },
            Gives::Thinking { text: from } => PieceContent::Thinking { text: text(from)? },
            Gives::Note { text: from } => PieceContent::Note { text: text(from)? },
            Gives::Compacted { text: from } => PieceContent::Compacted { summary: text(from)? },
            Gives::ToolCall { call, tool, input } => PieceContent::ToolCall {
                call: text(call)?,
                tool: text(tool)?,
                input: input.text(at).map_or(Cow::Borrowed(""), Cow::Owned),
            },
            Gives::ToolResult { call, output, failed } => {
                let has_failed = failed.as_ref().is_some_and(|failed| failed.holds(at));
                PieceContent::ToolResult {
                    call: text(call)?,
                    output: output.text(at).map_or(Cow::Borrowed(""), Cow::Owned),
                    outcome: if has_failed { ToolOutcome::Failed } else { ToolOutcome::Done },
                }
            }
            Gives::Stopped { how, text: from } => {
                let words = from.as_ref().and_then(text).unwrap_or_default();
                PieceContent::Stopped { how: *how, words }
            }
            Gives::Usage(paths) => paths.piece(at, id)?,
        })
    }
}

impl Gives {
    /// What the id of such a piece ends with, behind that of its entry.
    fn mark(&self) -> &'static str {
        match self {
            Gives::Prompt { .. } => "",
            Gives::Answer { .. } => "#answer",
            Gives::Thinking { .. } => "#thinking",
            Gives::Note { .. } => "#note",
            Gives::Compacted { .. } => "#compacted",
            Gives::ToolCall { .. } => "#call",
            Gives::ToolResult { .. } => "#result",
            Gives::Stopped { .. } => "#stopped",
            Gives::Usage(_) => "#usage",
        }
    }
}

impl UsagePaths {
    fn piece(&self, at: At<'_>, id: &str) -> Option<PieceContent<'static>> {
        let count = |from: &Option<ValuePath>| from.as_ref().and_then(|from| from.tokens(at)).unwrap_or(0);
        let (input, output) = (self.input.tokens(at)?, self.output.tokens(at)?);
        let (cache_read, cache_write) = (count(&self.cache_read), count(&self.cache_write));
        if [input, output, cache_read, cache_write] == [0; 4] {
            return None;
        }
        let input = if self.input_holds_cache { input.saturating_sub(cache_read) } else { input };
        let model = self.model.as_ref().and_then(|from| from.text(at)).map(Cow::Owned);
        let tokens = TokenCounts { input, cache_read, cache_write, output, ..TokenCounts::default() };
        Some(PieceContent::Usage { message: Cow::Owned(id.to_owned()), model, tokens })
    }
}

/// The text between two marks; a `*` in the first stands for any text. `None` without them.
fn inside<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let rest = match begin.split_once('*') {
        None => text.split_once(begin)?.1,
        Some((before, after)) => text.split_once(before)?.1.split_once(after)?.1,
    };
    Some(rest.rsplit_once(end)?.0.trim_matches('\n'))
}

/// The state between two lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedState {
    version: u32,
    /// The session's id, from the file's path.
    session: String,
    folder: Option<String>,
    /// A checksum of the file's path, for the ids of entries without one.
    file: u32,
    lines: u64,
    at: Timestamp,
    is_opened: bool,
    /// The folder was known when the session was opened last.
    is_placed: bool,
    #[serde(skip)]
    mapping: Option<Arc<Mapping>>,
}

impl MappedState {
    /// `about` is the file about the session, if there is one.
    pub(super) fn new(
        mapping: &Arc<Mapping>,
        session: &str,
        path: &str,
        about: Option<&[u8]>,
    ) -> MappedState {
        let mut state = MappedState {
            version: mapping.version,
            session: session.to_owned(),
            folder: None,
            file: checksum(&[path.as_bytes()]),
            lines: 0,
            at: Timestamp(0),
            is_opened: false,
            is_placed: false,
            mapping: Some(Arc::clone(mapping)),
        };
        about.into_iter().for_each(|about| state.find_folder(about));
        state
    }

    /// A stored state, to go on with; `None` if another version of the description wrote it.
    pub(super) fn with(self, mapping: &Arc<Mapping>) -> Option<MappedState> {
        (self.version == mapping.version).then(|| MappedState { mapping: Some(Arc::clone(mapping)), ..self })
    }

    /// The session's folder, as far as it is known.
    pub fn folder(&self) -> Option<&str> {
        self.folder.as_deref()
    }

    /// Whether the folder was not found yet, though the description says where it is told.
    pub fn lacks_folder(&self) -> bool {
        self.folder.is_none() && self.mapping.as_ref().is_some_and(|mapping| mapping.folder.is_some())
    }

    /// Looks for the folder in a line of the transcript, or in the file about the session. Gives no piece.
    pub fn find_folder(&mut self, text: &[u8]) {
        let Some(mapping) = self.mapping.clone().filter(|_| self.lacks_folder()) else { return };
        let Ok(value) = serde_json::from_slice::<Value>(text) else { return };
        let within = mapping.entries.iter().flat_map(|path| path.all(&value));
        self.folder = within.chain([&value]).find_map(|entry| mapping.folder_in(entry));
    }

    pub(crate) fn read(
        &mut self,
        line: Result<&str, LineError>,
        found: &mut Found<'_>,
    ) -> Result<(), LineError> {
        let number = self.lines;
        self.lines += 1;
        let line = line?;
        let Some(mapping) = self.mapping.clone() else { return Ok(()) };
        if line.trim().is_empty() {
            return Ok(());
        }
        let value: Value = serde_json::from_str(line).map_err(|_| LineError::NotJson)?;
        let own = [&value];
        let within: Vec<&Value> = mapping.entries.iter().flat_map(|path| path.all(&value)).collect();
        let entries = if mapping.entries.is_empty() { &own[..] } else { &within[..] };
        for (index, entry) in entries.iter().enumerate() {
            self.note(&mapping, entry);
            let id = mapping.id.as_ref().and_then(|path| path.text(entry));
            let id = id.unwrap_or_else(|| self.id_of(entry, (number, index)));
            self.apply(&mapping, entry, &id, found);
        }
        Ok(())
    }

    /// The id of an entry without one: by its place, and by its content, so that another entry at its place, in a file that
    /// was written anew, does not replace it.
    fn id_of(&self, entry: &Value, (line, index): (u64, usize)) -> String {
        let content = checksum(&[entry.to_string().as_bytes()]);
        format!("{:08x}-{line}.{index}-{content:08x}", self.file)
    }

    /// The entry's time, which never goes back, and the session's folder.
    fn note(&mut self, mapping: &Mapping, entry: &Value) {
        let at = mapping.time.first(entry).and_then(moment);
        self.at = at.map_or(self.at, |at| at.max(self.at));
        if self.folder.is_none() {
            self.folder = mapping.folder_in(entry);
        }
    }

    fn apply(&mut self, mapping: &Mapping, entry: &Value, id: &str, found: &mut Found<'_>) {
        let mut given: BTreeMap<&str, usize> = BTreeMap::new();
        let mut give = |rule: &Rule, part: Option<&Value>, state: &mut MappedState| {
            let Some(what) = rule.piece(At { entry, part }, id) else { return };
            state.open(found);
            // By kind, so that a rule of another kind, added later, leaves these ids as they are.
            let kind = rule.gives.mark();
            let before = given.entry(kind).or_default();
            let id = if *before == 0 { format!("{id}{kind}") } else { format!("{id}{kind}{before}") };
            *before += 1;
            found.push(state.piece(id, what));
        };
        for (index, rule) in mapping.rules.iter().enumerate() {
            let Some(each) = &rule.each else {
                give(rule, None, self);
                continue;
            };
            // Rules of the same parts are applied together, so that the parts keep their order.
            if mapping.rules[..index].iter().any(|earlier| earlier.each.as_ref() == Some(each)) {
                continue;
            }
            let same = || mapping.rules[index..].iter().filter(|rule| rule.each.as_ref() == Some(each));
            for part in each.all(entry) {
                same().for_each(|rule| give(rule, Some(part), self));
            }
        }
    }

    /// Before the first piece, and again when the folder is known, if it was told later.
    fn open(&mut self, found: &mut Found<'_>) {
        let is_placed = self.folder.is_some();
        if self.is_opened && self.is_placed == is_placed {
            return;
        }
        (self.is_opened, self.is_placed) = (true, is_placed);
        let (session, folder) = (Cow::Owned(self.session.clone()), self.folder.clone().map(Cow::Owned));
        let what = PieceContent::Opened { session, folder, branch: None, base: None };
        found.push(self.piece("opened".to_owned(), what));
    }

    fn piece(&self, id: String, what: PieceContent<'static>) -> TranscriptPiece<'static> {
        // Times order pieces of several files of one session, which line numbers would not.
        let place = u64::try_from(self.at.0).unwrap_or(0);
        TranscriptPiece { id: Cow::Owned(id), place, at: self.at, turn: None, subagent: None, what }
    }
}

/// A time as agents write it: RFC 3339 in UTC, or the seconds, milliseconds, microseconds or nanoseconds since 1970.
fn moment(value: &Value) -> Option<Timestamp> {
    if let Some(text) = value.as_str() {
        let utc = text.strip_suffix("+00:00").map(|text| format!("{text}Z"));
        return Timestamp::parse_utc(utc.as_deref().unwrap_or(text));
    }
    let number =
        value.as_i64().map_or_else(|| value.as_f64().map(|seconds| (seconds * 1000.0) as i64), Some)?;
    Some(Timestamp(match number {
        ..=-1 => return None,
        0..100_000_000_000 => number * 1000,
        100_000_000_000..100_000_000_000_000 => number,
        100_000_000_000_000..100_000_000_000_000_000 => number / 1000,
        _ => number / 1_000_000,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_are_read_in_every_unit_that_agents_write() {
        let at = |value: Value| moment(&value).map(|at| at.0);
        let second = 1_795_063_602;
        assert_eq!(at(json!("2026-11-19T04:46:42.728Z")), Some(second * 1000 + 728));
        assert_eq!(at(json!("2026-11-19T04:46:42+00:00")), Some(second * 1000));
        assert_eq!(at(json!(second)), Some(second * 1000));
        assert_eq!(at(json!(1_795_063_602.728)), Some(second * 1000 + 728));
        assert_eq!(at(json!(second * 1000 + 728)), Some(second * 1000 + 728));
        assert_eq!(at(json!(second * 1_000_000)), Some(second * 1000));
        assert_eq!(at(json!(second * 1_000_000_000)), Some(second * 1000));
        assert_eq!([at(json!("soon")), at(json!(-1)), at(json!([]))], [None, None, None]);
    }

    #[test]
    fn a_prompt_is_what_stands_between_its_marks() {
        assert_eq!(inside("<q>\nhello\n</q>", "<q>", "</q>"), Some("hello"));
        assert_eq!(inside("<in mode=\"act\">a </in> b</in>", "<in*>", "</in>"), Some("a </in> b"));
        assert_eq!(inside("hello", "<q>", "</q>"), None);
    }
}
