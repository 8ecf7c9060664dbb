//! Finds our hook entries in a settings file, and compares them with the wanted ones.
//!
//! Identifies an entry by its command, never by its position or by a marker beside it. Changes nothing.

use serde_json::Value;
use std::path::Path;

use super::json::{self, ByteSpan, Element, ValueKind};
use super::target::Target;
use super::words;

/// One entry of ours in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnEntry {
    pub event: String,
    /// `None` if it is exactly as wanted. Each entry is judged by itself: none is a duplicate here.
    pub fault: Option<EntryFault>,
    /// Position of the group in the event's list.
    pub group: usize,
    /// Position of the entry in its group.
    pub index: usize,
    /// The number of entries in the group, ours included.
    pub group_size: usize,
    pub list: ByteSpan,
    pub group_span: ByteSpan,
    pub handlers: ByteSpan,
    pub handler: ByteSpan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryFault {
    /// An older form, another path or another timeout.
    Outdated,
    /// Its matcher is not the wanted one: it runs too rarely, or too often.
    Confined,
    /// The event is not one that we register.
    Unwanted,
    /// A second entry for the same event.
    Duplicate,
}

/// The `hooks` object that the agent reads.
pub(super) fn hooks(text: &str) -> Option<ByteSpan> {
    json::member(text, &json::root(text), "hooks").map(|member| member.value)
}

/// All entries of ours, in the order of the file.
pub(super) fn own_entries(target: &Target, text: &str) -> Vec<OwnEntry> {
    let Some(hooks) = hooks(text) else {
        return Vec::new();
    };
    let lists = json::elements(text, &hooks);
    // The agent reads only the last of a repeated key; we leave the others alone.
    let is_last = |index: usize, list: &Element| lists[index + 1..].iter().all(|other| other.key != list.key);
    let effective = lists.iter().enumerate().filter(|(index, list)| is_last(*index, list));
    effective
        .filter_map(|(_, list)| Some((list.key.as_deref()?, &list.value)))
        .flat_map(|(event, list)| in_list(target, text, event, list))
        .collect()
}

fn in_list(target: &Target, text: &str, event: &str, list: &ByteSpan) -> Vec<OwnEntry> {
    let mut entries = Vec::new();
    if json::kind(text, list) != ValueKind::Array {
        return entries;
    }
    for (group, element) in json::elements(text, list).into_iter().enumerate() {
        let Some(member) = json::member(text, &element.value, "hooks") else {
            continue;
        };
        let handlers = json::elements(text, &member.value);
        for (index, handler) in handlers.iter().enumerate() {
            let value = json::value(text, &handler.value);
            if !is_ours(&value, target.agent(), event) {
                continue;
            }
            entries.push(OwnEntry {
                event: event.to_owned(),
                fault: fault(target, event, &value, matcher(text, &element.value)),
                group,
                index,
                group_size: handlers.len(),
                list: list.clone(),
                group_span: element.value.clone(),
                handlers: member.value.clone(),
                handler: handler.value.clone(),
            });
        }
    }
    entries
}

/// Some agents' commands name their event last.
fn is_ours(handler: &Value, agent: &str, event: &str) -> bool {
    let Some(command) = handler["command"].as_str().filter(|_| handler["type"] == "command") else {
        return false;
    };
    match handler["args"].as_array() {
        Some(args) => is_tow(command) && args.starts_with(&["hook".into(), agent.into()]),
        None => match words::split(command).as_deref() {
            Some([words @ .., last]) if last == event => is_hook_command(words, agent),
            Some(words) => is_hook_command(words, agent),
            None => false,
        },
    }
}

fn is_hook_command(words: &[String], agent: &str) -> bool {
    matches!(words, [.., program, verb, name] if is_tow(program) && verb == "hook" && name == agent)
}

/// Whether a program is `tow`, also under a name with a suffix such as `tow-0.2` or `tow.exe`, or this very program under
/// any name.
pub(super) fn is_tow(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let suffix = name.strip_prefix("towline").or_else(|| name.strip_prefix("tow"));
    suffix.is_some_and(|suffix| !suffix.starts_with(|letter: char| letter.is_alphanumeric()))
        || is_this_program(Path::new(program))
}

fn is_this_program(path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    path.is_absolute()
        && std::env::current_exe().is_ok_and(|own| real(&own).is_some() && real(path) == real(&own))
}

fn fault(target: &Target, event: &str, handler: &Value, matcher: Option<&str>) -> Option<EntryFault> {
    match target.entry_for(event) {
        None => Some(EntryFault::Unwanted),
        Some(wanted) if wanted.matcher != matcher => Some(EntryFault::Confined),
        Some(wanted) if wanted.handler().to_value() == *handler => None,
        Some(_) => Some(EntryFault::Outdated),
    }
}

/// The group's matcher as written in the file; `None` if its entries always run.
fn matcher<'a>(text: &'a str, group: &ByteSpan) -> Option<&'a str> {
    let value = &text[json::member(text, group, "matcher")?.value];
    let inside = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    (!matches!(inside, "" | "*" | "null")).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(handler: &str, expected: bool) {
        let value = serde_json::from_str(handler).unwrap_or_default();
        assert_eq!(is_ours(&value, "claude", "Stop"), expected, "{handler}");
    }

    #[test]
    fn entry_that_runs_our_hook_is_ours_in_every_form() {
        check(r#"{"type":"command","command":"/opt/tow","args":["hook","claude"]}"#, true);
        check(
            r#"{"command":"C:\\bin\\tow.exe","args":["hook","claude","--x"],"type":"command","timeout":9}"#,
            true,
        );
        check(r#"{"type":"command","command":"tow hook claude"}"#, true);
        check(r#"{"type":"command","command":"tow hook claude Stop"}"#, true);
        check(r#"{"type":"command","command":"/opt/tow-0.2","args":["hook","claude"]}"#, true);
        check(r#"{"type":"command","command":"/opt/towline","args":["hook","claude"]}"#, true);
        check(r#"{"type":"command","command":"TOWLINE_HOME=/x exec '/my bin/tow' hook \"claude\" "}"#, true);
    }

    #[test]
    fn entry_that_runs_anything_else_is_foreign() {
        check(r#"{"type":"command","command":"/opt/tow","args":["hook","codex"]}"#, false);
        check(r#"{"type":"command","command":"/opt/tow","args":["status"]}"#, false);
        check(r#"{"type":"command","command":"/opt/towboat","args":["hook","claude"]}"#, false);
        check(r#"{"type":"command","command":"tow hook codex"}"#, false);
        check(r#"{"type":"command","command":"tow hook claude --x"}"#, false);
        check(r#"{"type":"command","command":"lint && tow hook claude"}"#, false);
        check(r#"{"type":"command","command":"echo 'tow hook claude'"}"#, false);
        check(r#"{"type":"http","url":"http://x/tow hook claude"}"#, false);
        check(r#"{"type":"prompt","prompt":"tow hook claude"}"#, false);
        check(r#"{"type":"mcp_tool","server":"tow","tool":"hook"}"#, false);
        check(r#"{"command":"tow hook claude"}"#, false);
        check(r#"["tow","hook","claude"]"#, false);
        check("null", false);
    }
}
