//! Which hook entries of a settings file are ours, and whether they are right.
//!
//! Goes by what an entry runs, never by where it stands or by a marker beside it. Changes nothing.

use serde_json::Value;

use super::json::{self, Element, Kind, Span};
use super::target::Target;
use super::words;

/// One entry of ours in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sighting {
    pub event: String,
    pub fit: Fit,
    /// Position of the group in the event's list.
    pub group: usize,
    /// Position of the entry in its group.
    pub index: usize,
    /// How many entries the group holds, ours included.
    pub company: usize,
    pub list: Span,
    pub group_span: Span,
    pub handlers: Span,
    pub handler: Span,
}

/// How an entry compares with the one we want.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Exactly what we want.
    Right,
    /// Stands where it should, but runs something else: an older form, path or timeout.
    Outdated,
    /// Stands in a group whose matcher is not the one we want.
    Confined,
    /// Registered for an event that we do not want.
    Unwanted,
}

/// The `hooks` object that the agent reads.
pub(super) fn hooks(text: &str) -> Option<Span> {
    json::member(text, &json::root(text), "hooks").map(|member| member.value)
}

/// All entries of ours, in the order of the file.
pub(super) fn sightings(target: &Target, text: &str) -> Vec<Sighting> {
    let Some(hooks) = hooks(text) else {
        return Vec::new();
    };
    let lists = json::elements(text, &hooks);
    let effective = lists.iter().enumerate().filter(|(at, list)| is_effective(list, &lists[at + 1..]));
    effective
        .filter_map(|(_, list)| Some((list.key.as_deref()?, &list.value)))
        .flat_map(|(event, list)| in_list(target, text, (event, list)))
        .collect()
}

/// Only the last of a repeated key is read by the agent; the others are the user's puzzle.
fn is_effective(list: &Element, later: &[Element]) -> bool {
    later.iter().all(|other| other.key != list.key)
}

fn in_list(target: &Target, text: &str, (event, list): (&str, &Span)) -> Vec<Sighting> {
    let mut found = Vec::new();
    if json::kind(text, list) != Kind::Array {
        return found;
    }
    for (group, element) in json::elements(text, list).into_iter().enumerate() {
        let Some(member) = json::member(text, &element.value, "hooks") else {
            continue;
        };
        let handlers = json::elements(text, &member.value);
        for (index, handler) in handlers.iter().enumerate() {
            let Some(value) = own_entry(&text[handler.value.clone()], target.agent()) else {
                continue;
            };
            found.push(Sighting {
                event: event.to_owned(),
                fit: fit(target, event, (&value, matcher(text, &element.value))),
                group,
                index,
                company: handlers.len(),
                list: list.clone(),
                group_span: element.value.clone(),
                handlers: member.value.clone(),
                handler: handler.value.clone(),
            });
        }
    }
    found
}

fn own_entry(handler: &str, agent: &str) -> Option<Value> {
    let value = serde_json::from_str(handler).ok()?;
    is_ours(&value, agent).then_some(value)
}

fn is_ours(handler: &Value, agent: &str) -> bool {
    let (Some("command"), Some(command)) = (text_of(handler, "type"), text_of(handler, "command")) else {
        return false;
    };
    match handler.get("args").and_then(Value::as_array) {
        Some(args) => {
            let leads = |at: usize, word| args.get(at).and_then(Value::as_str) == Some(word);
            is_tow(command) && leads(0, "hook") && leads(1, agent)
        }
        None => match words::split(command).as_deref() {
            Some([.., program, verb, name]) => is_tow(program) && verb == "hook" && name == agent,
            _ => false,
        },
    }
}

fn text_of<'a>(handler: &'a Value, key: &str) -> Option<&'a str> {
    handler.get(key).and_then(Value::as_str)
}

pub(super) fn is_tow(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next();
    matches!(name, Some("tow" | "tow.exe"))
}

fn fit(target: &Target, event: &str, (handler, matcher): (&Value, Option<&str>)) -> Fit {
    match target.wanted(event) {
        None => Fit::Unwanted,
        Some(wanted) if wanted.matcher() != matcher => Fit::Confined,
        Some(wanted) if wanted.handler().to_value() == *handler => Fit::Right,
        Some(_) => Fit::Outdated,
    }
}

/// What the group's entries are restricted to, as it stands in the file; `None` if they run at every occasion.
fn matcher<'a>(text: &'a str, group: &Span) -> Option<&'a str> {
    let value = &text[json::member(text, group, "matcher")?.value];
    let inside = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    (!matches!(inside, "" | "*" | "null")).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(handler: &str, expected: bool) {
        assert_eq!(own_entry(handler, "claude").is_some(), expected, "{handler}");
    }

    #[test]
    fn entry_that_runs_our_hook_is_ours_in_every_form() {
        check(r#"{"type":"command","command":"/opt/tow","args":["hook","claude"]}"#, true);
        check(
            r#"{"command":"C:\\bin\\tow.exe","args":["hook","claude","--x"],"type":"command","timeout":9}"#,
            true,
        );
        check(r#"{"type":"command","command":"tow hook claude"}"#, true);
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
