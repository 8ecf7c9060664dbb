//! Our server's entry in a TOML settings file: `[mcp_servers.towline]`.
//!
//! Uses `toml_edit` only for positions, since its own printing changes line ends. Never changes a foreign byte, and
//! writes nothing that does not read back as wanted.

use std::collections::BTreeMap;
use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, Value};

use super::change::{EntryChange, NextEdit};
use super::edit::splice;
use super::layout::newline;
use super::refusal::RefusalCause;
use super::tool_server::{McpServerEntry, NAME, VERB, is_ours};

/// The table of all servers, under the agent's own name.
const KEY: &str = "mcp_servers";
const VARIABLES: &str = "env";
const BYTE_ORDER_MARK: char = '\u{feff}';

pub(super) fn opened(existing: Option<&[u8]>) -> Result<String, RefusalCause> {
    let text = std::str::from_utf8(existing.unwrap_or_default());
    let text = text.map_err(|error| RefusalCause::NotText { at: error.valid_up_to() })?;
    let document = parsed(text)?;
    match document.get(KEY) {
        Some(servers) if !servers.is_table_like() => Err(RefusalCause::ServersNotObject { key: KEY }),
        _ => Ok(text.to_owned()),
    }
}

pub(super) fn step(server: &McpServerEntry, text: &str) -> NextEdit<String, RefusalCause> {
    let document = parsed(text)?;
    let (edited, change) = match named_entry(&document) {
        None => (added(server, text, document.get(KEY)), EntryChange::Added { event: event() }),
        Some(entry) if !is_our_entry(entry) => return Err(RefusalCause::ServerNotOurs { name: NAME }),
        Some(entry) if is_right(server, entry) => return Ok(None),
        Some(entry) => {
            let was = shown(text, &document);
            (corrected(server, text, entry)?, EntryChange::Upgraded { event: event(), was })
        }
    };
    let is_as_wanted = parsed(&edited).is_ok_and(|document| {
        named_entry(&document).is_some_and(|entry| is_our_entry(entry) && is_right(server, entry))
    });
    if is_as_wanted { Ok(Some((edited, change))) } else { Err(NO_ROOM) }
}

/// The text without our entry.
pub(super) fn removed(text: &str) -> NextEdit<String, RefusalCause> {
    let document = parsed(text)?;
    if !named_entry(&document).is_some_and(is_our_entry) {
        return Ok(None);
    }
    let servers = document.get(KEY);
    let edited = match servers.and_then(Item::as_inline_table) {
        Some(siblings) => splice(text, &member_of(siblings, NAME), ""),
        None => without_lines(text, lines_of(text, NAME, servers)),
    };
    let is_gone = parsed(&edited).is_ok_and(|document| named_entry(&document).is_none());
    let change = EntryChange::Removed { event: event(), was: shown(text, &document) };
    if is_gone { Ok(Some((edited, change))) } else { Err(NO_ROOM) }
}

const NO_ROOM: RefusalCause = RefusalCause::NoRoomForServer { name: NAME };

fn event() -> String {
    format!("{KEY}.{NAME}")
}

/// The parsed document with its spans. A byte order mark is replaced by spaces of the same length before parsing.
fn parsed(text: &str) -> Result<Document<String>, RefusalCause> {
    let text = text.replacen(BYTE_ORDER_MARK, "   ", usize::from(text.starts_with(BYTE_ORDER_MARK)));
    Document::parse(text.clone()).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = at - before.rfind('\n').map_or(0, |line_break| line_break + 1) + 1;
        RefusalCause::NotToml { line, column, reason: error.message().to_owned() }
    })
}

/// The entry under our name, ours or foreign.
fn named_entry(document: &Document<String>) -> Option<&Item> {
    document.get(KEY)?.get(NAME)
}

/// Our entry as written.
fn shown(text: &str, document: &Document<String>) -> String {
    let servers = document.get(KEY);
    let spans = match servers.and_then(Item::as_inline_table) {
        Some(_) => named_entry(document).and_then(Item::span).into_iter().collect(),
        None => lines_of(text, NAME, servers),
    };
    spans.into_iter().map(|span| &text[span]).collect()
}

fn is_our_entry(entry: &Item) -> bool {
    let first = entry.get("args").and_then(|args| args.as_array()?.get(0)?.as_str());
    is_ours(entry.get("command").and_then(Item::as_str), first)
}

fn is_right(server: &McpServerEntry, entry: &Item) -> bool {
    let value = |name: &str| entry.get(VARIABLES).and_then(|variables| variables.get(name)?.as_str());
    entry.get("command").and_then(Item::as_str) == Some(&server.command)
        && server.places.iter().all(|(name, wanted)| value(name) == wanted.as_deref())
}

/// Appends a table, or a member if all servers are in an inline table.
fn added(server: &McpServerEntry, text: &str, servers: Option<&Item>) -> String {
    let command = quoted(&server.command);
    let variables = inline(&owned_variables(server));
    match servers.and_then(Item::as_inline_table) {
        Some(siblings) => {
            let variables = variables.map(|shown| format!(", {VARIABLES} = {shown}")).unwrap_or_default();
            let entry = format!("{NAME} = {{ command = {command}, args = [\"{VERB}\"]{variables} }}");
            with_member(text, siblings, &entry)
        }
        None => {
            let end = newline(text);
            let variables = variables.map(|shown| format!("{VARIABLES} = {shown}{end}")).unwrap_or_default();
            let gap = gap(text, end);
            format!(
                "{text}{gap}[{KEY}.{NAME}]{end}command = {command}{end}args = [\"{VERB}\"]{end}{variables}"
            )
        }
    }
}

/// Corrects our parts of the entry: the command first, since it shifts everything after it.
fn corrected(server: &McpServerEntry, text: &str, entry: &Item) -> Result<String, RefusalCause> {
    let command = entry.get("command").ok_or(NO_ROOM)?;
    if command.as_str() == Some(&server.command) {
        return with_places(server, text, entry);
    }
    let text = splice(text, &command.span().ok_or(NO_ROOM)?, &quoted(&server.command));
    let document = parsed(&text)?;
    with_places(server, &text, named_entry(&document).ok_or(NO_ROOM)?)
}

fn with_places(server: &McpServerEntry, text: &str, entry: &Item) -> Result<String, RefusalCause> {
    if is_right(server, entry) {
        return Ok(text.to_owned());
    }
    match (entry.get(VARIABLES), inline(&variables(server, entry))) {
        (Some(Item::Value(old)), Some(new)) => Ok(splice(text, &old.span().ok_or(NO_ROOM)?, &new)),
        (None, Some(new)) => with_variables(text, entry, &new),
        (_, new) => {
            let text = without_variables(text, entry);
            let document = parsed(&text)?;
            let entry = named_entry(&document).ok_or(NO_ROOM)?;
            new.map_or(Ok(text.clone()), |new| with_variables(&text, entry, &new))
        }
    }
}

/// The wanted variables of the entry, including foreign ones.
fn variables(server: &McpServerEntry, entry: &Item) -> BTreeMap<String, String> {
    let existing = entry.get(VARIABLES).and_then(Item::as_table_like);
    let existing = existing.into_iter().flat_map(|table| table.iter());
    let theirs = existing.filter(|(name, _)| !server.places.iter().any(|(ours, _)| ours == name));
    let theirs = theirs.filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
    theirs.chain(owned_variables(server)).collect()
}

fn with_variables(text: &str, entry: &Item, shown: &str) -> Result<String, RefusalCause> {
    let member = format!("{VARIABLES} = {shown}");
    if let Some(members) = entry.as_inline_table() {
        return Ok(with_member(text, members, &member));
    }
    let last = entry.get("args").and_then(Item::span).ok_or(NO_ROOM)?;
    let behind = end_of_line(text, last.end);
    let (end, before) = (newline(text), if text[..behind].ends_with('\n') { "" } else { newline(text) });
    Ok(splice(text, &(behind..behind), &format!("{before}{member}{end}")))
}

fn without_variables(text: &str, entry: &Item) -> String {
    match entry.as_inline_table() {
        Some(members) => splice(text, &member_of(members, VARIABLES), ""),
        None => without_lines(text, lines_of(text, VARIABLES, Some(entry))),
    }
}

/// The bytes of one inline member, with one adjacent comma.
fn member_of(members: &InlineTable, name: &str) -> Range<usize> {
    let values = members.get_values();
    let bounds = |at: usize| Some((values.get(at)?.0.first()?.span()?.start, values.get(at)?.1.span()?.end));
    let is_it = |keys: &[&toml_edit::Key]| keys.first().is_some_and(|key| key.get() == name);
    let first = values.iter().position(|(keys, _)| is_it(keys)).unwrap_or_default();
    // Dotted keys split one table into several members.
    let last = values.iter().rposition(|(keys, _)| is_it(keys)).unwrap_or_default();
    let (Some((start, _)), Some((_, end))) = (bounds(first), bounds(last)) else { return 0..0 };
    match (first.checked_sub(1).and_then(bounds), bounds(last + 1)) {
        (Some((_, before)), _) => before..end,
        (None, Some((next, _))) => start..next,
        (None, None) => members.span().map_or(start..end, |braces| braces.start + 1..braces.end - 1),
    }
}

fn with_member(text: &str, members: &InlineTable, member: &str) -> String {
    let values = members.get_values();
    match (values.last().and_then(|(_, value)| value.span()), members.span()) {
        (Some(last), _) => splice(text, &(last.end..last.end), &format!(", {member}")),
        (None, Some(braces)) => splice(text, &braces, &format!("{{ {member} }}")),
        (None, None) => text.to_owned(),
    }
}

/// The lines of member `name` in a table that is not inline.
fn lines_of(text: &str, name: &str, table: Option<&Item>) -> Vec<Range<usize>> {
    let Some(table) = table.and_then(Item::as_table) else { return vec![] };
    let whole_lines = |span: Range<usize>| start_of_line(text, span.start)..end_of_line(text, span.end);
    match table.get_key_value(name) {
        Some((key, Item::Value(value))) => {
            let span = key.span().zip(value.span()).map(|(key, value)| key.start..value.end);
            span.map(whole_lines).into_iter().collect()
        }
        Some((_, Item::Table(table))) => spans_of(table).into_iter().map(whole_lines).collect(),
        Some((_, Item::ArrayOfTables(_) | Item::None)) | None => vec![],
    }
}

/// The spans from header to last value, of the table and its subtables; single values if there is no header.
fn spans_of(table: &Table) -> Vec<Range<usize>> {
    let values = table.get_values();
    let values: Vec<Range<usize>> = values
        .iter()
        .filter_map(|(keys, value)| Some(keys.first()?.span()?.start..value.span()?.end))
        .collect();
    let has_header = !table.is_dotted() && !table.is_implicit();
    let headed = table.span().filter(|_| has_header).map(|header| {
        let end = values.iter().map(|span| span.end).fold(header.end, usize::max);
        header.start..end
    });
    let own = headed.map_or(values, |span| Vec::from([span]));
    let below = table.iter().filter_map(|(_, item)| item.as_table()).filter(|table| !table.is_dotted());
    own.into_iter().chain(below.flat_map(spans_of)).collect()
}

/// The text without these lines; if two blank lines would become adjacent, one of them goes too.
fn without_lines(text: &str, mut lines: Vec<Range<usize>>) -> String {
    lines.sort_by_key(|lines| lines.start);
    let mut text = text.to_owned();
    for gone in lines.into_iter().rev() {
        let end = newline(&text);
        let head = &text[..gone.start];
        let is_after_blank = head.ends_with(&end.repeat(2)) || head == end;
        let is_before_blank = text[gone.end..].is_empty() || text[gone.end..].starts_with(end);
        let start = if is_after_blank && is_before_blank { gone.start - end.len() } else { gone.start };
        text.replace_range(start..gone.end, "");
    }
    text
}

/// The separator before an appended table: the end of the last line, and one blank line.
fn gap(text: &str, end: &str) -> String {
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    match (text.is_empty(), text.ends_with('\n'), text.ends_with(&end.repeat(2))) {
        (true, _, _) | (_, _, true) => String::new(),
        (false, true, false) => end.to_owned(),
        (false, false, false) => end.repeat(2),
    }
}

fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |line_break| line_break + 1)
}

fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |line_break| at + line_break + 1)
}

fn inline(members: &BTreeMap<String, String>) -> Option<String> {
    let members =
        members.iter().map(|(name, value)| format!("{} = {}", toml_edit::Key::new(name), quoted(value)));
    let shown = members.collect::<Vec<_>>().join(", ");
    (!shown.is_empty()).then(|| format!("{{ {shown} }}"))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn owned_variables(server: &McpServerEntry) -> BTreeMap<String, String> {
    server.set_places().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}
