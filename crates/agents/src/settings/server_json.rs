//! Our server's entry in a JSON settings file: `{"mcpServers": {"towline": {…}}}`.
//!
//! Edits spans of the text. Never reformats a foreign byte, and never removes an object that existed before us.

use super::change::{Containers, EntryChange, NextEdit, opened_object, without_if_empty};
use super::edit::{self, Addition};
use super::json::{self, ByteSpan, Element, ValueKind};
use super::layout::{Layout, Node};
use super::refusal::RefusalCause;
use super::tool_server::{McpServerEntry, NAME, VERB, is_ours};

/// The object of all servers, under the agent's own name.
const KEY: &str = "mcpServers";
const VARIABLES: &str = "env";
const PASSED_ON: &str = "env_vars";

pub(super) fn opened(existing: Option<&[u8]>) -> Result<String, RefusalCause> {
    let text = opened_object(existing)?;
    match json::member(&text, &json::root(&text), KEY) {
        Some(servers) if json::kind(&text, &servers.value) != ValueKind::Object => {
            Err(RefusalCause::ServersNotObject { key: KEY })
        }
        _ => Ok(text),
    }
}

pub(super) fn step(server: &McpServerEntry, text: &str) -> NextEdit<String, RefusalCause> {
    let (root, layout) = (json::root(text), Layout::of(text));
    let added = |edited: String| Ok(Some((edited, EntryChange::Added { event: event() })));
    let Some(servers) = json::member(text, &root, KEY) else {
        let servers = Node::Object(vec![(NAME, entry(server))]);
        return added(edit::append(text, &root, &Addition::Member(KEY, &servers), &layout));
    };
    let Some(found) = json::member(text, &servers.value, NAME) else {
        let addition = Addition::Member(NAME, &entry(server));
        return added(edit::append(text, &servers.value, &addition, &layout));
    };
    if !is_our_entry(text, &found) {
        return Err(RefusalCause::ServerNotOurs { name: NAME });
    }
    let was = text[found.value.clone()].to_owned();
    let corrected = corrected(server, text, &layout, &found.value);
    Ok(corrected.map(|edited| (edited, EntryChange::Upgraded { event: event(), was })))
}

/// The text without our entry, and without the object if that held nothing else and did not exist before us.
pub(super) fn removed(text: &str, kept: &Containers) -> Option<(String, EntryChange)> {
    let servers = json::member(text, &json::root(text), KEY)?;
    let siblings = json::elements(text, &servers.value);
    let index = siblings.iter().rposition(|member| member.key.as_deref() == Some(NAME))?;
    if !is_our_entry(text, &siblings[index]) {
        return None;
    }
    let was = text[siblings[index].value.clone()].to_owned();
    let edited = edit::remove(text, &servers.value, index);
    let root = json::root(&edited);
    let edited = if kept.has(KEY) { edited } else { without_if_empty(edited, &root, KEY) };
    Some((edited, EntryChange::Removed { event: event(), was }))
}

/// The object of all servers, if the file would hold it without us.
pub(super) fn containers(text: &str) -> Containers {
    let servers = json::member(text, &json::root(text), KEY);
    let is_theirs = |servers: &Element| {
        let members = json::elements(text, &servers.value);
        members.is_empty() || members.iter().any(|member| member.key.as_deref() != Some(NAME))
    };
    Containers::of_lists(servers.filter(is_theirs).map(|_| KEY.to_owned()))
}

fn event() -> String {
    format!("{KEY}.{NAME}")
}

fn entry(server: &McpServerEntry) -> Node {
    let mut members = vec![
        ("type", Node::Text("stdio".to_owned())),
        ("command", Node::Text(server.command.clone())),
        ("args", Node::Array(vec![Node::Text(VERB.to_owned())])),
    ];
    if server.set_places().next().is_some() {
        members.push((VARIABLES, variables(server)));
    }
    if !server.passed_on.is_empty() {
        let names = server.passed_on.iter().map(|name| Node::Text((*name).to_owned()));
        members.push((PASSED_ON, Node::Array(names.collect())));
    }
    Node::Object(members)
}

fn variables(server: &McpServerEntry) -> Node {
    Node::Object(server.set_places().map(|(name, value)| (name, Node::Text(value.to_owned()))).collect())
}

fn is_our_entry(text: &str, found: &Element) -> bool {
    let value = json::value(text, &found.value);
    is_ours(value["command"].as_str(), value["args"][0].as_str())
}

/// Corrects the first difference from the wanted entry.
fn corrected(server: &McpServerEntry, text: &str, layout: &Layout, entry: &ByteSpan) -> Option<String> {
    let command = json::member(text, entry, "command")?;
    if json::value(text, &command.value) != server.command.as_str() {
        return Some(edit::replace(text, &command.value, &Node::Text(server.command.clone()), layout));
    }
    match json::member(text, entry, VARIABLES) {
        Some(found) if json::kind(text, &found.value) == ValueKind::Object => {
            with_variables(server, text, layout, &found.value)
        }
        Some(_) | None if server.set_places().next().is_none() => None,
        Some(found) => Some(edit::replace(text, &found.value, &variables(server), layout)),
        None => Some(edit::append(text, entry, &Addition::Member(VARIABLES, &variables(server)), layout)),
    }
}

/// Leaves foreign variables alone.
fn with_variables(server: &McpServerEntry, text: &str, layout: &Layout, object: &ByteSpan) -> Option<String> {
    server.places.iter().find_map(|(name, wanted)| {
        let members = json::elements(text, object);
        let index = members.iter().rposition(|member| member.key.as_deref() == Some(name));
        match (index, wanted) {
            (None, None) => None,
            (Some(index), None) => Some(edit::remove(text, object, index)),
            (None, Some(value)) => {
                let node = Node::Text(value.clone());
                Some(edit::append(text, object, &Addition::Member(name, &node), layout))
            }
            (Some(index), Some(value)) => {
                let is_right = json::value(text, &members[index].value) == value.as_str();
                let corrected =
                    || edit::replace(text, &members[index].value, &Node::Text(value.clone()), layout);
                (!is_right).then(corrected)
            }
        }
    })
}
